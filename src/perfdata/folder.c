// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens a folder made by perf record --threads: "data", a perf.data file, and "data.0", "data.1", …, the
 * records of each reader (perf.data-directory-format.txt in the kernel's tools/perf/Documentation). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/search.h"
#include "base/text.h"
#include "perfdata/perfdata_file.h"

#define DATA_NAME  "data"
#define PART_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

int folder_open_data(int dir_fd, const char *path, struct error *e)
{
    int fd = openat(dir_fd, DATA_NAME, PART_FLAGS);
    if (fd < 0 && errno == ENOENT)
        error_set(e, ERROR_FORMAT,
                  "%s is a folder, but not one of perf record --threads: it has no file \"data\"", path);
    else if (fd < 0)
        error_sys(e, errno, "cannot open %s/data", path);
    return fd;
}

static bool stack_subset_number(const char *name, uint32_t *number)
{
    uint64_t n;
    if (strncmp(name, DATA_NAME ".", sizeof DATA_NAME) ||
        !text_parse_u64(name + sizeof DATA_NAME, 0, PLACE_PARTS - 1, &n))
        return false;
    *number = (uint32_t)n;
    return true;
}

/* Returns the sorted numbers of the existing files. */
static uint32_t list_parts(int dir_fd, uint32_t **numbers)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    VEC(uint32_t) found = { 0 };
    uint32_t number;
    while (dir && found.n < PLACE_PARTS && (entry = readdir(dir))) {
        if (stack_subset_number(entry->d_name, &number))
            *VEC_PUSH(&found) = number;
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    if (found.n)
        qsort(found.items, found.n, sizeof *found.items, search_compare_u32);
    *numbers = found.items;
    return (uint32_t)found.n;
}

static bool is_empty(int fd)
{
    return lseek(fd, 0, SEEK_END) == 0;
}

/* A reader whose CPUs had no records leaves an empty file. */
static void open_part(struct perfdata *p, int dir_fd, uint32_t number)
{
    char name[32];
    struct input in;
    snprintf(name, sizeof name, DATA_NAME ".%u", number);
    int fd = openat(dir_fd, name, PART_FLAGS);
    if (fd >= 0 && is_empty(fd)) {
        close(fd);
        return;
    }
    if (fd >= 0 && input_open(&in, fd, name, NULL) && in.size_bytes <= PLACE_OFFSET) {
        p->parts[p->n_parts++] = in;
        return;
    }
    if (fd >= 0)
        input_close(&in);
    damage_note(p, DAMAGE_PARTS, 1);
}

void folder_open_parts(struct perfdata *p, int dir_fd)
{
    uint32_t *numbers, n = list_parts(dir_fd, &numbers);
    p->parts = n ? mem_array(n, sizeof *p->parts) : NULL;
    if (n)
        damage_note(p, DAMAGE_PARTS, numbers[n - 1] + 1 - n);
    for (uint32_t i = 0; i < n; i++)
        open_part(p, dir_fd, numbers[i]);
    mem_free(numbers);
}
