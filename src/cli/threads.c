// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints --threads: the threads of processes at this moment, one row for threads with equal stacks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"
#include "session/threads_now.h"

#define COLUMNS       110
#define NAME_COLUMNS  72 /* of a function */
#define LABEL_COLUMNS 11
#define CALLS_SHOWN   3
#define TIDS_SHOWN    8
#define COMMS_SHOWN   4

static const char *state_name(char state)
{
    static const char *const names[] = {
        ['R'] = "running or runnable", ['S'] = "sleeping", ['D'] = "blocked", ['T'] = "stopped",
        ['t'] = "stopped by a tracer", ['I'] = "idle",     ['Z'] = "zombie",  ['X'] = "ended"
    };
    unsigned char at = (unsigned char)state;
    return at < sizeof names / sizeof *names && names[at] ? names[at] : "in an unknown state";
}

static const char *end_text(enum remote_end end)
{
    static const char *const texts[REMOTE_ENDS] = {
        [REMOTE_COMPLETE] = NULL,
        [REMOTE_NO_TABLE] = "code without an unwind table",
        [REMOTE_GENERATED] = "code that a JIT generated",
        [REMOTE_NO_CODE] = "its address is not code",
        [REMOTE_COPY_END] = "deeper than the copied 1M of the stack",
        [REMOTE_DEEP] = "too many frames",
        [REMOTE_FAILED] = "its unwind table does not allow the step",
    };
    return texts[end];
}

static void put_seconds(struct buf *out, uint64_t ns)
{
    char text[32];
    if (ns < 100 * NS_PER_SEC)
        buf_printf(out, "%.*f s", ns < NS_PER_SEC ? 3 : 1, (double)ns / 1e9);
    else
        buf_puts(out, text_duration(text, sizeof text, ns / NS_PER_SEC));
}

/* " for 3.2 s", " for 1.0 to 3.2 s"; "" while threads run. */
static void put_since(struct buf *out, const struct threads_now_row *row)
{
    uint64_t least = UINT64_MAX, most = 0;
    if (row->threads[0]->stat.state == 'R')
        return;
    for (uint32_t i = 0; i < row->n; i++)
        if (row->threads[i]->since_known) {
            least = row->threads[i]->since_ns < least ? row->threads[i]->since_ns : least;
            most = row->threads[i]->since_ns > most ? row->threads[i]->since_ns : most;
        }
    if (least == UINT64_MAX) {
        buf_puts(out, ", since when is not known");
        return;
    }
    buf_puts(out, " for ");
    put_seconds(out, least);
    if (most / (NS_PER_SEC / 10) != least / (NS_PER_SEC / 10)) {
        buf_puts(out, " to ");
        put_seconds(out, most);
    }
}

static void put_title(struct buf *out, const struct threads_now_row *row)
{
    const struct task_now *first = row->threads[0];
    if (row->n == 1)
        buf_printf(out, "\nthread %u %s, ", first->tid, first->stat.comm);
    else
        buf_printf(out, "\n%u threads, ", row->n);
    buf_puts(out, state_name(first->stat.state));
    put_since(out, row);
    bool waits = first->stat.state == 'S' || first->stat.state == 'D';
    if (waits && *wait_reason_name(row->reason))
        buf_printf(out, ": %s", wait_reason_name(row->reason));
    buf_putc(out, '\n');
}

static void put_line(struct buf *out, const char *label, const char *text)
{
    char line[1024];
    text_elide(line, sizeof line, text, COLUMNS - LABEL_COLUMNS, false);
    buf_printf(out, "  %-*s%s\n", LABEL_COLUMNS - 2, label, line);
}

/* Returns how many threads of the row are like the thread at `i`, 0 if an earlier one is. */
static uint32_t count_like(const struct threads_now_row *row, uint32_t i,
                           bool (*like)(const struct task_now *, const struct task_now *))
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < row->n; k++)
        if (like(row->threads[k], row->threads[i])) {
            if (k < i)
                return 0;
            n++;
        }
    return n;
}

static bool same_comm(const struct task_now *a, const struct task_now *b)
{
    return !strcmp(a->stat.comm, b->stat.comm);
}

static bool same_argument(const struct task_now *a, const struct task_now *b)
{
    return a->call.arguments[0] == b->call.arguments[0];
}

/* "998 worker, 2 main: 4243 4244 4245 and 997 more" */
static void put_threads(struct buf *out, const struct threads_now_row *row)
{
    struct buf text = { 0 };
    uint32_t comms = 0, seen = 0;
    for (uint32_t i = 0; i < row->n && seen < row->n && comms < COMMS_SHOWN; i++) {
        uint32_t n = count_like(row, i, same_comm);
        if (n)
            buf_printf(&text, "%s%u %s", comms++ ? ", " : "", n, row->threads[i]->stat.comm);
        seen += n;
    }
    buf_puts(&text, seen < row->n ? ", ...:" : ":");
    for (uint32_t i = 0; i < row->n && i < TIDS_SHOWN; i++)
        buf_printf(&text, " %u", row->threads[i]->tid);
    if (row->n > TIDS_SHOWN)
        buf_printf(&text, " and %u more", row->n - TIDS_SHOWN);
    put_line(out, "threads", buf_str(&text));
    buf_done(&text);
}

static void put_argument(struct buf *text, const struct task_now *t)
{
    if (task_call_has_file(t->call_name))
        buf_printf(text, "(%d%s%s)", (int)t->call.arguments[0], t->file ? " " : "", t->file ? t->file : "");
    else
        buf_printf(text, "(0x%llx)", (unsigned long long)t->call.arguments[0]);
}

/* "futex(0x55d0c0de4060)", or of several threads "futex(0x55d0c0de4060) 2, (0x55d0c0de4088) 1" */
static void put_call(struct buf *out, const struct threads_now_row *row)
{
    const struct task_now *first = row->threads[0];
    struct buf text = { 0 };
    uint32_t shown = 0, seen = 0;
    if (first->call.state == TASK_CALL_NONE)
        put_line(out, "call", "none: in the kernel for another reason, such as a page fault");
    if (first->call.state != TASK_CALL_IN)
        return;
    if (first->call_name)
        buf_puts(&text, first->call_name);
    else
        buf_printf(&text, "number %llu%s", (unsigned long long)first->call.number,
                   first->call.of_32_bits ? " of a 32-bit program" : "");
    for (uint32_t i = 0; first->call_name && i < row->n && seen < row->n && shown < CALLS_SHOWN; i++) {
        uint32_t n = count_like(row, i, same_argument);
        if (!n)
            continue;
        buf_puts(&text, shown++ ? ", " : "");
        put_argument(&text, row->threads[i]);
        if (n < row->n)
            buf_printf(&text, " %u", n);
        seen += n;
    }
    if (first->call_name && seen < row->n)
        buf_puts(&text, ", ...");
    put_line(out, "call", buf_str(&text));
    buf_done(&text);
}

static void put_frame(struct buf *out, const char *label, const struct threads_now_frame *f)
{
    char name[512], module[256];
    text_shorten_name(name, sizeof name, f->name, NAME_COLUMNS);
    text_elide(module, sizeof module, f->module, COLUMNS - LABEL_COLUMNS - NAME_COLUMNS - 2, true);
    int pad = *module ? 40 - text_width(name) : 0;
    buf_printf(out, "  %-*s%s%*s%s%s\n", LABEL_COLUMNS - 2, label, name, pad > 0 ? pad : 0, "",
               *module ? "  " : "", module);
}

static void put_user(struct buf *out, const struct threads_now_row *row)
{
    const struct livestack *s = row->stack;
    if (!s)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        put_frame(out, i ? "" : "user", &row->frames[i]);
    if (end_text(s->end)) {
        char text[128];
        snprintf(text, sizeof text, "[the rest of the stack could not be unwound: %s]", end_text(s->end));
        put_line(out, s->n ? "" : "user", text);
    }
}

static void put_row(struct buf *out, const struct threads_now_row *row)
{
    const struct task_now *first = row->threads[0];
    put_title(out, row);
    if (row->n > 1)
        put_threads(out, row);
    put_call(out, row);
    for (uint32_t i = 0; i < first->n_functions; i++)
        put_line(out, i ? "" : "kernel", first->functions[i]);
    put_user(out, row);
}

static void put_notes(struct buf *out, const char *notes)
{
    for (size_t n; *notes; notes += n + (notes[n] == '\n')) {
        n = strcspn(notes, "\n");
        const char *from = notes, *end = notes + n;
        while (from < end) { /* a word that would pass the last column begins a line */
            size_t length = (size_t)(end - from);
            if (length > COLUMNS) {
                length = COLUMNS;
                while (length > 1 && from[length] != ' ')
                    length--;
                if (length == 1)
                    length = COLUMNS;
            }
            buf_printf(out, "%.*s\n", (int)length, from);
            from += length;
            from += from < end && *from == ' ';
        }
    }
}

static void put_process(struct buf *out, const struct threads_now *t)
{
    uint32_t stopped = 0;
    for (uint32_t i = 0; i < t->stacks.n; i++)
        stopped += t->stacks.items[i].stopped_ns > 0;
    buf_printf(out, "process %u %s: %u thread%s", t->pid, t->comm, t->tasks.n, t->tasks.n == 1 ? "" : "s");
    if (stopped)
        buf_printf(out, ". %u stopped, one at a time, for %.2f ms at most and %.2f ms in all", stopped,
                   (double)t->stacks.longest_ns / 1e6, (double)t->stacks.total_ns / 1e6);
    buf_putc(out, '\n');
    put_notes(out, buf_str(&t->notes));
    for (uint32_t i = 0; i < t->n; i++)
        put_row(out, &t->rows[i]);
}

bool threads_run(const struct options *o, struct error *e)
{
    const struct scope *scope = &o->session.scope;
    bool ok = true;
    for (uint32_t i = 0; i < scope->n_ids && ok; i++) {
        struct threads_now t;
        struct buf out = { 0 };
        ok = threads_now_take(scope->ids[i], o->session.no_cache, &t, e);
        if (ok) {
            buf_puts(&out, i ? "\n" : "");
            put_process(&out, &t);
            ok = file_write_all(STDOUT_FILENO, buf_str(&out), out.len, e);
        }
        buf_done(&out);
        threads_now_done(&t);
    }
    return ok;
}
