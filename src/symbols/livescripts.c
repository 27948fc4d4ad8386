// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/livescripts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/interpreter_frames.h"
#include "symbols/livestacks.h"
#include "symbols/livestacks_report.h"

#define THREADS_MAX LIVESTACKS_MAX

struct livescripts {
    int memory;
    struct interpreter_process process;
    struct interpreter_thread *threads;
    uint32_t n_threads;
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t n)
{
    const struct livescripts *s = ctx;
    return address <= INT64_MAX && pread(s->memory, to, n, (off_t)address) == (ssize_t)n;
}

static bool find(struct livescripts *s, const struct maps *maps)
{
    const struct interpreter_memory m = { s, read_memory };
    const char *name = "";
    const struct maps_entry *e = interpreter_mapping(maps, &name);
    return e && interpreter_of_module(name)->find(&m, name, e->start - e->pgoff, &s->process, NULL);
}

struct livescripts *livescripts_new(char *maps, size_t n, int memory)
{
    struct livescripts *s = mem_zalloc(sizeof *s);
    const struct interpreter_memory m = { s, read_memory };
    struct maps mappings = { 0 };
    s->memory = memory;
    maps_add_text(&mappings, maps, n, true);
    bool found = find(s, &mappings);
    maps_done(&mappings);
    if (!found) {
        mem_free(s);
        return NULL;
    }
    s->threads = mem_array(THREADS_MAX, sizeof *s->threads);
    s->n_threads = s->process.of->threads(&m, &s->process, s->threads, THREADS_MAX);
    return s;
}

struct stackprobe_sample *livescripts_copy(const struct livescripts *s, bool is_main,
                                           const struct remote_stack *stack)
{
    static struct stackprobe_sample room;
    struct interpreter_groups g;
    uint64_t state =
        s ? interpreter_state_of(&s->process, s->threads, s->n_threads, is_main, stack->start) : 0;
    if (!state)
        return NULL;
    const struct interpreter_memory m = { (void *)(uintptr_t)s, read_memory };
    interpreter_copy(&m, &s->process, state, &room);
    interpreter_group(&s->process, &room, &g);
    if (!room.n ||
        !interpreter_is_on_stack(&s->process, &room, &g, is_main, stack->start, stack->end - stack->start))
        return NULL;
    size_t bytes = offsetof(struct stackprobe_sample, frames) + room.n * sizeof *room.frames;
    return memcpy(mem_alloc(bytes), &room, bytes);
}

/* line 0: the code could not be read. */
static void report_text(const struct livescripts *s, const struct interpreter_code *c, uint32_t line,
                        uint32_t group, struct buf *out)
{
    char text[INTERPRETER_TEXT_MAX];
    interpreter_frame_text(text, sizeof text, s->process.of, c, line);
    struct livestacks_script head = { group, (uint32_t)strlen(text) };
    buf_add(out, &head, sizeof head);
    buf_add(out, text, head.bytes);
}

static void report_frame(const struct livescripts *s, const struct stackprobe_frame *f, uint32_t group,
                         struct buf *out)
{
    const struct interpreter_memory m = { (void *)(uintptr_t)s, read_memory };
    const struct interpreter *of = s->process.of;
    struct interpreter_code c;
    bool read = of->read_code(&m, &s->process, f->code, &c);
    if (!read || !c.shim)
        report_text(s, &c, read ? of->line(&s->process, &c, f->instr) : 0, group, out);
    interpreter_code_done(&c);
}

uint32_t livescripts_report(const struct livescripts *s, const struct stackprobe_sample *t, struct buf *out)
{
    struct interpreter_groups g;
    interpreter_group(&s->process, t, &g);
    for (uint32_t group = 0; group < g.n; group++)
        for (uint16_t i = g.first[group]; i < g.end[group]; i++)
            report_frame(s, &t->frames[i], group, out);
    if (g.last_is_truncated)
        report_text(s, NULL, 0, g.n - 1, out);
    return g.n;
}
