// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/interpreter_frames.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* typical distance from a thread's stack pointer up to its descriptor */
#define THREAD_STACK_MAX (UINT64_C(8) << 20)
/* The first words of a thread's descriptor, one of which is its tid: word 180 of glibc 2.36 for x86-64. */
#define DESCRIPTOR_WORDS 256

const struct maps_entry *interpreter_mapping(const struct maps *maps, const char **name)
{
    const struct maps_entry *found = NULL;
    for (uint32_t i = 0; i < maps->n; i++) {
        const struct maps_entry *e = &maps->items[i];
        const char *base = text_base_name(e->path);
        if (!e->exec || !interpreter_of_module(base) || (found && !text_begins_with(base, "lib")))
            continue;
        found = e;
        *name = base;
    }
    return found;
}

void interpreter_tids(const struct interpreter_memory *m, const struct interpreter_process *p, uint32_t pid,
                      struct interpreter_thread *all, uint32_t n)
{
    uint32_t words[DESCRIPTOR_WORDS], at = 0;
    if (!m->read(m->ctx, p->main_thread, words, sizeof words))
        return;
    while (at < DESCRIPTOR_WORDS && words[at] != pid)
        at++;
    for (uint32_t i = 0; i < n && at < DESCRIPTOR_WORDS; i++)
        if (!m->read(m->ctx, all[i].thread + at * sizeof *words, &all[i].tid, sizeof all[i].tid))
            all[i].tid = 0;
}

uint64_t interpreter_state_of(const struct interpreter_process *p, const struct interpreter_thread *all,
                              uint32_t n, bool is_main, uint64_t sp)
{
    const struct interpreter_thread *nearest = NULL;
    for (uint32_t i = 0; i < n; i++) {
        if (is_main && all[i].thread == p->main_thread)
            return all[i].state;
        if (all[i].thread > sp && (!nearest || all[i].thread < nearest->thread))
            nearest = &all[i];
    }
    return nearest && !is_main ? nearest->state : 0;
}

/* ---- copies ---- */

/* As in the kernel's program, what cannot be read is 0. */
static uint64_t word_at(const struct interpreter_memory *m, uint64_t base, uint32_t offset)
{
    uint64_t word = 0;
    return m->read(m->ctx, base + offset, &word, sizeof word) ? word : 0;
}

void interpreter_copy(const struct interpreter_memory *m, const struct interpreter_process *p, uint64_t state,
                      struct stackprobe_sample *out)
{
    const struct stackprobe_layout *at = &p->layout;
    uint64_t frame = word_at(m, state, at->top);
    out->state = state;
    out->thread = word_at(m, state, at->thread);
    out->outer = frame;
    out->n = 0;
    if (at->indirect != STACKPROBE_NONE)
        frame = word_at(m, frame, at->indirect);
    for (; frame && out->n < STACKPROBE_FRAMES_MAX; frame = word_at(m, frame, at->back)) {
        struct stackprobe_frame *f = &out->frames[out->n++];
        *f = (struct stackprobe_frame){ .address = frame,
                                        .code = word_at(m, frame, at->code),
                                        .instr = word_at(m, frame, at->instr),
                                        .flags = word_at(m, frame, at->flags) };
        f->ident = word_at(m, f->code, at->ident);
    }
    out->rest = frame;
}

/* ---- groups ---- */

void interpreter_group(const struct interpreter_process *p, const struct stackprobe_sample *t,
                       struct interpreter_groups *out)
{
    uint16_t first = 0;
    *out = (struct interpreter_groups){ 0 };
    for (uint16_t i = 0; i < t->n; i++) {
        enum interpreter_frame kind = p->of->frame(p, &t->frames[i]);
        if (kind == INTERPRETER_FRAME_INNER)
            continue;
        if (kind == INTERPRETER_FRAME_SHIM && !out->shim)
            out->shim = t->frames[i].address;
        out->first[out->n] = first;
        out->end[out->n++] = (uint16_t)(i + (kind == INTERPRETER_FRAME_ENTRY));
        first = (uint16_t)(i + 1);
    }
    if (t->rest && first < t->n) {
        out->last_is_truncated = true;
        out->first[out->n] = first;
        out->end[out->n++] = (uint16_t)t->n;
    }
}

bool interpreter_is_on_stack(const struct interpreter_process *p, const struct stackprobe_sample *t,
                             const struct interpreter_groups *g, bool is_main, uint64_t sp, uint64_t bytes)
{
    uint64_t inside = p->layout.indirect != STACKPROBE_NONE ? t->outer : g->shim;
    if (inside)
        return inside >= sp && inside - sp < bytes;
    if (is_main)
        return t->thread == p->main_thread;
    return t->thread > sp && t->thread - sp < THREAD_STACK_MAX;
}

bool interpreter_align(uint32_t n_evaluators, bool whole, uint32_t n_groups, bool truncated, int *shift)
{
    *shift = 0;
    if (whole && !truncated && n_evaluators == n_groups + 1) {
        *shift = -1;
        return true;
    }
    if (whole && !truncated)
        return n_evaluators == n_groups;
    return whole ? n_evaluators >= n_groups : truncated || n_evaluators <= n_groups;
}

bool interpreter_evaluates(const struct interpreter *of, const char *function)
{
    size_t n = strlen(of->evaluator);
    return !strncmp(function, of->evaluator, n) && (!function[n] || function[n] == '.');
}

void interpreter_frame_text(char *dst, size_t cap, const struct interpreter *of,
                            const struct interpreter_code *c, uint32_t line)
{
    if (line)
        snprintf(dst, cap, "%s (%s:%u)", c->name, c->file, line);
    else
        snprintf(dst, cap, "[%s frame not read]", of->name);
}
