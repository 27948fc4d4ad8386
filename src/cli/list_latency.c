// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --list-latency: the rows of latencies, and why this system cannot measure some of them. */
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/options.h"
#include "perf/event.h"
#include "perf/pair_rows.h"

struct listing {
    struct buf out;
    VEC(int) held; /* opened events: the kernel needs tens of milliseconds to close each */
};

static bool opens(struct listing *l, const struct pair_row *row, struct error *e)
{
    int fd = event_try(&(struct event){ .latency = true, .pair = row }, e);
    if (fd >= 0)
        *VEC_PUSH(&l->held) = fd;
    return fd >= 0;
}

static void put_row(struct listing *l, const struct pair_row *row)
{
    struct error e = { 0 };
    bool ok = opens(l, row, &e);
    buf_printf(&l->out, "%c %-16s %s\n", ok ? '+' : ' ', row->name, row->help);
    if (!ok)
        buf_printf(&l->out, "    not here: %s\n", e.text);
}

bool list_latency(struct error *e)
{
    struct pair_rows rows = { 0 };
    struct listing l = { .out = { 0 } };
    bool ok = pair_rows_read(&rows, e);
    for (size_t i = 0; i < rows.n; i++)
        put_row(&l, &rows.items[i]);
    buf_puts(
        &l.out,
        "no row for page faults: no event tells their end. Faults that wait for a disk are waits of off-cpu, "
        "with the reason 'page fault'\n");
    bool written = file_write_all(STDOUT_FILENO, buf_str(&l.out), l.out.len, ok ? e : NULL);
    for (size_t i = 0; i < l.held.n; i++)
        close(l.held.items[i]);
    mem_free(l.held.items);
    pair_rows_done(&rows);
    buf_done(&l.out);
    return ok && written;
}
