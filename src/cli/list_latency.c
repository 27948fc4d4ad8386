// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --list-latency: the rows of latencies, and why this system cannot measure some of them. */
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/options.h"
#include "perf/event.h"
#include "perf/pair_rows.h"

/* True if the events of the row open on this system. */
static bool opens(const struct pair_row *row, struct error *e)
{
    struct event latency = { .latency = true, .pair = row }, parts[PAIR_SIDES];
    if (!event_latency_parts(&latency, parts, e))
        return false;
    for (int side = 0; side < PAIR_SIDES; side++)
        if (!event_supported(&parts[side], e))
            return false;
    return true;
}

static void put_row(const struct pair_row *row, struct buf *out)
{
    struct error e = { 0 };
    bool ok = opens(row, &e);
    buf_printf(out, "%c %-16s %s\n", ok ? '+' : ' ', row->name, row->help);
    if (!ok)
        buf_printf(out, "    not here: %s\n", e.text);
}

bool list_latency(struct error *e)
{
    struct pair_rows rows = { 0 };
    struct buf out = { 0 };
    bool ok = pair_rows_read(&rows, e);
    for (size_t i = 0; i < rows.n; i++)
        put_row(&rows.items[i], &out);
    bool written = file_write_all(STDOUT_FILENO, buf_str(&out), out.len, ok ? e : NULL);
    pair_rows_done(&rows);
    buf_done(&out);
    return ok && written;
}
