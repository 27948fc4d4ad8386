// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the parser of /proc/PID/maps: any bytes, split anywhere, give the same valid mappings. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "process/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct maps *m)
{
    for (uint32_t i = 0; i < m->n; i++)
        if (m->items[i].start >= m->items[i].end || !m->items[i].exec || !m->items[i].path)
            abort();
}

static void parse(const uint8_t *data, size_t size, size_t cut, struct maps *m)
{
    char *text = mem_alloc(size + 1);
    size_t used;

    memcpy(text, data, cut);
    used = maps_add_text(m, text, cut, false);
    if (used > cut)
        abort();
    memcpy(text, data + used, size - used);
    if (maps_add_text(m, text, size - used, true) != size - used)
        abort();
    check(m);
    mem_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct maps whole = { 0 }, parts = { 0 }, read = { 0 };
    int fd = memfd_create("maps", MFD_CLOEXEC);

    parse(data, size, size, &whole);
    parse(data, size, size ? data[0] % (size + 1) : 0, &parts);
    if (whole.n != parts.n)
        abort();
    for (uint32_t i = 0; i < whole.n; i++)
        if (whole.items[i].start != parts.items[i].start || strcmp(whole.items[i].path, parts.items[i].path))
            abort();
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))
        abort();
    maps_read_fd(&read, fd);
    check(&read);
    close(fd);
    maps_done(&read);
    maps_done(&whole);
    maps_done(&parts);
    return 0;
}
