// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/threads_text.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"

#define CALLS_SHOWN 3
#define TIDS_SHOWN  8
#define COMMS_SHOWN 4
#define SECONDS_MAX 32
#define MOVED       "[of a later moment: the thread has run since its kernel stack was read]"

/* ---- state ---- */

const char *threads_text_state(const struct threads_now_row *row)
{
    static const char *const names[] = {
        ['R'] = "running or runnable", ['S'] = "sleeping", ['D'] = "blocked", ['T'] = "stopped",
        ['t'] = "stopped by a tracer", ['I'] = "idle",     ['Z'] = "zombie",  ['X'] = "ended"
    };
    unsigned char at = (unsigned char)row->threads[0]->stat.state;
    return at < sizeof names / sizeof *names && names[at] ? names[at] : "in an unknown state";
}

static const char *seconds(char text[static SECONDS_MAX], uint64_t ns)
{
    if (ns >= 100 * NS_PER_SEC)
        return text_duration(text, SECONDS_MAX, ns / NS_PER_SEC);
    snprintf(text, SECONDS_MAX, "%.*f s", ns < NS_PER_SEC ? 3 : 1, (double)ns / 1e9);
    return text;
}

/* Finds for how long the threads of a row have not run. False: for no thread it is known. */
static bool find_since(const struct threads_now_row *row, uint64_t *least, uint64_t *most)
{
    *least = UINT64_MAX;
    *most = 0;
    for (uint32_t i = 0; i < row->n; i++)
        if (row->threads[i]->since_known) {
            *least = row->threads[i]->since_ns < *least ? row->threads[i]->since_ns : *least;
            *most = row->threads[i]->since_ns > *most ? row->threads[i]->since_ns : *most;
        }
    return *least != UINT64_MAX;
}

void threads_text_longest(struct buf *out, const struct threads_now_row *row)
{
    char text[SECONDS_MAX];
    uint64_t least, most;
    if (row->threads[0]->stat.state != 'R' && find_since(row, &least, &most))
        buf_puts(out, seconds(text, most));
}

/* " for 3.2 s", " for 1.0 s to 3.2 s"; "" while threads run. */
static void put_since(struct buf *out, const struct threads_now_row *row)
{
    char from[SECONDS_MAX], to[SECONDS_MAX];
    uint64_t least, most;
    if (row->threads[0]->stat.state == 'R')
        return;
    if (!find_since(row, &least, &most)) {
        buf_puts(out, ", since when is not known");
        return;
    }
    buf_printf(out, " for %s", seconds(from, least));
    if (strcmp(from, seconds(to, most)) != 0)
        buf_printf(out, " to %s", to);
}

void threads_text_wait(struct buf *out, const struct threads_now_row *row)
{
    char state = row->threads[0]->stat.state;
    buf_puts(out, threads_text_state(row));
    put_since(out, row);
    if ((state == 'S' || state == 'D') && *wait_reason_name(row->reason))
        buf_printf(out, ": %s", wait_reason_name(row->reason));
}

/* ---- threads and calls ---- */

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
    if (a->path && b->path && strcmp(a->path, b->path) != 0)
        return false;
    switch (task_call_argument(a->call_name)) {
    case TASK_ARGUMENT_NONE:
        return true;
    case TASK_ARGUMENT_PATH:
        return a->path && b->path ? true : task_call_path(&a->call) == task_call_path(&b->call);
    case TASK_ARGUMENT_AT:
        return a->call.arguments[0] == b->call.arguments[0] &&
               ((a->path && b->path) || task_call_path(&a->call) == task_call_path(&b->call));
    default:
        return a->call.arguments[0] == b->call.arguments[0];
    }
}

void threads_text_comms(struct buf *out, const struct threads_now_row *row)
{
    uint32_t comms = 0, seen = 0;
    for (uint32_t i = 0; i < row->n && seen < row->n && comms < COMMS_SHOWN; i++) {
        uint32_t n = count_like(row, i, same_comm);
        if (n)
            buf_printf(out, "%s%u %s", comms++ ? ", " : "", n, row->threads[i]->stat.comm);
        seen += n;
    }
    if (seen < row->n)
        buf_puts(out, ", ...");
}

/* "998 worker, 2 main: 4243 4244 4245 and 997 more" */
static void put_threads(struct buf *out, const struct threads_now_row *row)
{
    threads_text_comms(out, row);
    buf_putc(out, ':');
    for (uint32_t i = 0; i < row->n && i < TIDS_SHOWN; i++)
        buf_printf(out, " %u", row->threads[i]->tid);
    if (row->n > TIDS_SHOWN)
        buf_printf(out, " and %u more", row->n - TIDS_SHOWN);
}

static void put_child(struct buf *out, int pid)
{
    if (pid > 0)
        buf_printf(out, "(pid %d)", pid);
    else if (pid < -1)
        buf_printf(out, "(any child of group %lld)", -(long long)pid);
    else
        buf_puts(out, pid ? "(any child)" : "(any child of its own group)");
}

/* "(/etc/passwd)", "(7 /srv, index.html)": a folder's descriptor with a path that is relative to it */
static void put_path(struct buf *out, const struct task_now *t, bool at)
{
    int folder = (int)t->call.arguments[0];
    buf_putc(out, '(');
    if (at && folder >= 0 && !(t->path && t->path[0] == '/')) {
        buf_printf(out, "%d%s%s", folder, t->file ? " " : "", t->file ? t->file : "");
        buf_puts(out, t->path ? ", " : "");
    }
    if (t->path)
        buf_puts(out, t->path);
    else if (!at || folder < 0)
        buf_printf(out, "0x%llx", (unsigned long long)task_call_path(&t->call));
    buf_putc(out, ')');
}

static void put_argument(struct buf *out, const struct task_now *t)
{
    uint64_t value = t->call.arguments[0];
    switch (task_call_argument(t->call_name)) {
    case TASK_ARGUMENT_NUMBER:
        buf_printf(out, "(0x%llx", (unsigned long long)value);
        if (t->holder)
            buf_printf(out, ", held by %u", t->holder);
        buf_putc(out, ')');
        break;
    case TASK_ARGUMENT_FILE:
        buf_printf(out, "(%d%s%s)", (int)value, t->file ? " " : "", t->file ? t->file : "");
        break;
    case TASK_ARGUMENT_PATH:
    case TASK_ARGUMENT_AT:
        put_path(out, t, task_call_argument(t->call_name) == TASK_ARGUMENT_AT);
        break;
    case TASK_ARGUMENT_CHILD:
        put_child(out, (int)value);
        break;
    case TASK_ARGUMENT_ID:
        buf_printf(out, "(id %d)", (int)value);
        break;
    case TASK_ARGUMENT_NONE:
        buf_puts(out, "()");
    }
}

static void put_arguments(struct buf *out, const struct threads_now_row *row)
{
    uint32_t shown = 0, seen = 0;
    for (uint32_t i = 0; i < row->n && seen < row->n && shown < CALLS_SHOWN; i++) {
        uint32_t n = count_like(row, i, same_argument);
        if (!n)
            continue;
        buf_puts(out, shown++ ? ", " : "");
        put_argument(out, row->threads[i]);
        if (n < row->n)
            buf_printf(out, " %u", n);
        seen += n;
    }
    if (seen < row->n)
        buf_puts(out, ", ...");
}

void threads_text_call(struct buf *out, const struct threads_now_row *row)
{
    const struct task_now *first = row->threads[0];
    if (first->call.state == TASK_CALL_NONE)
        buf_puts(out, row->reason == WAIT_STOPPED
                          ? "none: stopped in user space"
                          : "none: in the kernel for another reason, such as a page fault");
    if (first->call.state != TASK_CALL_IN)
        return;
    if (first->call_name) {
        buf_puts(out, first->call_name);
        put_arguments(out, row);
    } else {
        buf_printf(out, "number %llu%s", (unsigned long long)first->call.number,
                   first->call.of_32_bits ? " of a 32-bit program" : "");
    }
}

/* ---- lines ---- */

const char *threads_text_end(enum remote_end end)
{
    static const char *const texts[REMOTE_ENDS] = {
        [REMOTE_COMPLETE] = NULL,
        [REMOTE_NO_TABLE] = "code without an unwind table",
        [REMOTE_GENERATED] = "code that a JIT generated",
        [REMOTE_NO_CODE] = "its address is not code",
        [REMOTE_COPY_END] = "deeper than the copied 1M of the stack",
        [REMOTE_ELSEWHERE] = "it continues on another stack",
        [REMOTE_DEEP] = "too many frames",
        [REMOTE_FAILED] = "its unwind table does not allow the step",
    };
    return texts[end];
}

typedef void line_fn(void *ctx, const struct threads_line *line);

static void user_lines(const struct threads_now_row *row, line_fn *line, void *ctx)
{
    const struct livestack *s = row->stack;
    char end[128];
    if (row->moved)
        line(ctx, &(struct threads_line){ THREADS_LINE_TEXT, "user", MOVED, "" });
    for (uint32_t i = 0; i < row->n_frames; i++)
        line(ctx, &(struct threads_line){ THREADS_LINE_USER, i || row->moved ? "" : "user",
                                          row->frames[i].name, row->frames[i].module });
    if (!s || !threads_text_end(s->end))
        return;
    snprintf(end, sizeof end, "[the rest of the stack could not be unwound: %s]", threads_text_end(s->end));
    line(ctx, &(struct threads_line){ THREADS_LINE_TEXT, s->n ? "" : "user", end, "" });
}

void threads_text_lines(const struct threads_now_row *row, line_fn *line, void *ctx)
{
    const struct task_now *first = row->threads[0];
    struct buf text = { 0 };
    if (row->n > 1) {
        put_threads(&text, row);
        line(ctx, &(struct threads_line){ THREADS_LINE_TEXT, "threads", buf_str(&text), "" });
        buf_clear(&text);
    }
    threads_text_call(&text, row);
    if (text.len)
        line(ctx, &(struct threads_line){ THREADS_LINE_TEXT, "call", buf_str(&text), "" });
    for (uint32_t i = 0; i < first->n_functions; i++)
        line(ctx, &(struct threads_line){ THREADS_LINE_KERNEL, i ? "" : "kernel", first->functions[i], "" });
    user_lines(row, line, ctx);
    buf_done(&text);
}

void threads_text_process(struct buf *out, const struct threads_now *t)
{
    uint32_t stopped = 0;
    for (uint32_t i = 0; i < t->stacks.n; i++)
        stopped += t->stacks.items[i].stopped_ns > 0;
    buf_printf(out, "process %u %s: %u thread%s", t->pid, t->comm, t->tasks.n, t->tasks.n == 1 ? "" : "s");
    if (stopped)
        buf_printf(out, ". %u stopped, one at a time, for %.2f ms at most and %.2f ms in all", stopped,
                   (double)t->stacks.longest_ns / 1e6, (double)t->stacks.total_ns / 1e6);
}
