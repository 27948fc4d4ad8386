// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/threads_json.h"

#include <string.h>

#include "export/json.h"
#include "session/threads_text.h"

static void put_call(struct buf *out, const struct task_now *t)
{
    json_open_key(out, "call", '{');
    json_number(out, "number", t->call.number);
    if (t->call_name)
        json_text(out, "name", t->call_name);
    json_open_key(out, "arguments", '[');
    for (int i = 0; i < TASK_CALL_ARGUMENTS; i++)
        buf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)t->call.arguments[i]);
    buf_putc(out, ']');
    if (t->holder)
        json_number(out, "holder", t->holder);
    if (t->file)
        json_text(out, "file", t->file);
    if (t->path)
        json_text(out, "path", t->path);
    buf_putc(out, '}');
}

static void put_thread(struct buf *out, const struct task_now *t)
{
    json_open(out, '{');
    json_number(out, "tid", t->tid);
    json_text(out, "comm", t->stat.comm);
    if (t->since_known)
        json_number(out, "since_ns", t->since_ns);
    if (t->call.state == TASK_CALL_IN)
        put_call(out, t);
    buf_putc(out, '}');
}

static void put_kernel(struct buf *out, const struct task_now *t)
{
    json_open_key(out, "kernel", '[');
    for (uint32_t i = 0; i < t->n_functions; i++)
        json_item(out, t->functions[i]);
    buf_putc(out, ']');
}

static void put_user(struct buf *out, const struct threads_now_row *row)
{
    if (row->moved)
        json_number(out, "user_is_later", 1);
    json_open_key(out, "user", '[');
    for (uint32_t i = 0; i < row->n_frames; i++) {
        const struct threads_now_frame *f = &row->frames[i];
        json_open(out, '{');
        if (f->address)
            json_number(out, "address", f->address);
        json_text(out, "name", f->name);
        if (f->address)
            json_text(out, "module", f->module);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    if (threads_text_end(row->stack->end))
        json_text(out, "user_end", threads_text_end(row->stack->end));
}

static void put_row(struct buf *out, const struct threads_now_row *row)
{
    json_open(out, '{');
    json_text(out, "state", (char[]){ row->threads[0]->stat.state, '\0' });
    if (row->reason)
        json_text(out, "reason", wait_reason_name(row->reason));
    put_kernel(out, row->threads[0]);
    if (row->stack)
        put_user(out, row);
    json_open_key(out, "threads", '[');
    for (uint32_t i = 0; i < row->n; i++)
        put_thread(out, row->threads[i]);
    buf_puts(out, "]}");
}

static void put_notes(struct buf *out, const char *notes)
{
    struct buf line = { 0 };
    json_open_key(out, "notes", '[');
    for (size_t n; *notes; notes += n + (notes[n] == '\n')) {
        n = strcspn(notes, "\n");
        buf_clear(&line);
        buf_add(&line, notes, n);
        json_item(out, buf_str(&line));
    }
    buf_putc(out, ']');
    buf_done(&line);
}

static void put_stopped(struct buf *out, const struct livestacks *s)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += s->items[i].stopped_ns > 0;
    json_open_key(out, "stopped", '{');
    json_number(out, "threads", n);
    json_number(out, "longest_ns", s->longest_ns);
    json_number(out, "total_ns", s->total_ns);
    buf_putc(out, '}');
}

void threads_json(struct buf *out, const struct threads_now *t)
{
    json_open(out, '{');
    json_number(out, "pid", t->pid);
    json_text(out, "comm", t->comm);
    put_stopped(out, &t->stacks);
    put_notes(out, buf_str(&t->notes));
    json_open_key(out, "rows", '[');
    for (uint32_t i = 0; i < t->n; i++)
        put_row(out, &t->rows[i]);
    buf_puts(out, "]}");
}
