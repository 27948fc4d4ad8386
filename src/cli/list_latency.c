// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --list-latency: the rows of latencies, and why this system cannot measure some of them. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "cli/options.h"
#include "perf/event.h"
#include "perf/pair_rows.h"

/* Why rows cannot be measured; most rows share one reason. */
struct reason {
    char text[sizeof((struct error *)0)->text];
    uint32_t rows;
    struct buf names; /* of these rows: "syscalls, block" */
};
struct listing {
    struct buf out;
    VEC(int) held; /* opened events: the kernel needs tens of milliseconds to close each */
    VEC(struct reason) reasons;
};

static bool opens(struct listing *l, const struct pair_row *row, struct error *e)
{
    int fd = event_try(&(struct event){ .latency = true, .pair = row }, e);
    if (fd >= 0)
        *VEC_PUSH(&l->held) = fd;
    return fd >= 0;
}

/* Returns its index plus one. */
static size_t add_reason(struct listing *l, const struct pair_row *row, const char *text)
{
    char own[96];
    int n = snprintf(own, sizeof own, "latency row '%s': ", row->name);
    text += strncmp(text, own, (size_t)n) ? 0 : n;
    size_t i = 0;
    while (i < l->reasons.n && strcmp(l->reasons.items[i].text, text) != 0)
        i++;
    if (i == l->reasons.n)
        *VEC_PUSH(&l->reasons) = (struct reason){ .rows = 0 };
    struct reason *r = &l->reasons.items[i];
    snprintf(r->text, sizeof r->text, "%s", text);
    buf_printf(&r->names, "%s%s", r->rows++ ? ", " : "", row->name);
    return i + 1;
}

static void put_rows(struct listing *l, const struct pair_rows *rows)
{
    size_t *why = mem_array(rows->n + 1, sizeof *why); /* by row; 0: none */
    for (size_t i = 0; i < rows->n; i++) {
        struct error e = { 0 };
        why[i] = opens(l, &rows->items[i], &e) ? 0 : add_reason(l, &rows->items[i], e.text);
    }
    for (size_t i = 0; i < rows->n; i++) {
        const struct reason *r = why[i] ? &l->reasons.items[why[i] - 1] : NULL;
        buf_printf(&l->out, "%c %-16s %s\n", r ? ' ' : '+', rows->items[i].name, rows->items[i].help);
        if (r && r->rows == 1)
            buf_printf(&l->out, "    not here: %s\n", r->text);
    }
    for (size_t i = 0; i < l->reasons.n; i++)
        if (l->reasons.items[i].rows > 1)
            buf_printf(&l->out, "not here: %s\n    %s\n", buf_str(&l->reasons.items[i].names),
                       l->reasons.items[i].text);
    mem_free(why);
}

static void listing_done(struct listing *l)
{
    for (size_t i = 0; i < l->held.n; i++)
        close(l->held.items[i]);
    for (size_t i = 0; i < l->reasons.n; i++)
        buf_done(&l->reasons.items[i].names);
    mem_free(l->held.items);
    mem_free(l->reasons.items);
    buf_done(&l->out);
}

bool list_latency(struct error *e)
{
    struct pair_rows rows = { 0 };
    struct listing l = { .out = { 0 } };
    bool ok = pair_rows_read(&rows, e);
    put_rows(&l, &rows);
    buf_puts(
        &l.out,
        "no row for page faults: no event tells their end. Faults that wait for a disk are waits of off-cpu, "
        "with the reason 'page fault'\n");
    bool written = file_write_all(STDOUT_FILENO, buf_str(&l.out), l.out.len, ok ? e : NULL);
    listing_done(&l);
    pair_rows_done(&rows);
    return ok && written;
}
