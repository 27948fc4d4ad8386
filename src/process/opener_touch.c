// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a byte of each page of a thread's stack, so that all its pages are in memory. The kernel copies a
 * sampled stack with page faults disabled and stops at the first page that was never used, such as the end of
 * a large local array. Reading such a page maps the kernel's shared zero page, for which the process is
 * charged no memory. A kernel without that page charges OPENER_TOUCH_MAX per thread at most. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "process/cputime.h"
#include "process/maps.h"
#include "process/opener_serve.h"

#define STAT_MAX      4096
#define MAPPINGS_READ (1u << 16) /* of one process; a stack beyond that is left as it is */

/* Returns the process's start time by CLOCK_BOOTTIME. UINT64_MAX: unknown. */
static uint64_t start_of(int proc_dir)
{
    struct buf text = { 0 };
    struct cputime_task task;
    bool known = file_read_at(proc_dir, "stat", STAT_MAX, &text, NULL) &&
                 cputime_parse(buf_str(&text), sysconf(_SC_CLK_TCK), &task);

    buf_done(&text);
    return known ? task.start_ns : UINT64_MAX;
}

/* A younger process has only reused the pid. */
static bool is_older(int proc_dir, uint64_t age_ns)
{
    uint64_t now_ns = clock_read_ns(CLOCK_BOOTTIME), start_ns = start_of(proc_dir);

    return start_ns <= now_ns && now_ns - start_ns >= age_ns;
}

/* Returns the end of the mapping that contains the address, if it is private anonymous memory, which needs no
 * file system. 0: it is not. */
static uint64_t find_end(int proc_dir, uint64_t address)
{
    int fd = openat(proc_dir, "maps", O_RDONLY | O_CLOEXEC);
    FILE *text = fd < 0 ? NULL : fdopen(fd, "r");
    struct maps_entry e = { 0 };
    char *line = NULL;
    size_t cap = 0;
    uint64_t end = 0;
    ssize_t n;

    for (uint32_t i = 0; text && i < MAPPINGS_READ && e.end <= address; i++) {
        if ((n = getline(&line, &cap, text)) <= 0)
            break;
        bool known = maps_parse_line(line, (size_t)n - (line[n - 1] == '\n'), &e);
        if (known && e.private_memory && e.start <= address && address < e.end)
            end = e.end;
    }
    free(line);
    if (text)
        fclose(text);
    else if (fd >= 0)
        close(fd);
    return end;
}

/* Stays above the address, because below it the kernel might grow the stack, and within the mapping. */
static int touch(int proc_dir, uint64_t address, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = find_end(proc_dir, address);
    int fd = end ? openat(proc_dir, "mem", O_RDONLY | O_CLOEXEC) : -1, err = 0;
    char byte;

    if (fd < 0)
        return end ? errno : EFAULT;
    if (end - address > size)
        end = address + size;
    for (uint64_t at = address; !err && at < end; at = (at / page + 1) * page)
        if (pread(fd, &byte, 1, (off_t)at) != 1)
            err = EFAULT;
    close(fd);
    return err;
}

int opener_touch_stack(const struct opener_request *q, uint64_t *spent_ns)
{
    uint64_t began_ns = clock_thread_cpu_ns();
    char path[24];
    int dir, err;

    if (q->size > OPENER_TOUCH_MAX)
        return EINVAL;
    snprintf(path, sizeof path, "/proc/%u", q->user.pid);
    dir = q->user.pid ? open(path, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0)
        return ESRCH;
    err = is_older(dir, q->age_ns) ? touch(dir, q->address, q->size) : ESRCH;
    close(dir);
    *spent_ns = clock_thread_cpu_ns() - began_ns;
    return err;
}
