// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/interpreted.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define PROCESSES_MAX  4096
#define CODES_MAX      65536
#define LINES_BYTES    ((size_t)64 << 20)
#define EVALUATORS_MAX 65536

void interpreted_open(struct session *s)
{
    s->unwind.interpreted = mem_zalloc(sizeof *s->unwind.interpreted);
    pthread_mutex_init(&s->unwind.interpreted->reading, NULL);
}

struct stackprobe *interpreted_probe(const struct session *s)
{
    return s->unwind.interpreted ? s->unwind.interpreted->probe : NULL;
}

static void forget_codes(struct interpreted *in)
{
    for (size_t i = 0; i < in->codes.n; i++)
        interpreter_code_done(&in->codes.items[i].code);
    map_clear(&in->by_code);
    map_clear(&in->lines);
    in->codes.n = in->n_read = 0;
    in->line_bytes = 0;
    in->cleared++;
}

void interpreted_done(struct session *s)
{
    struct interpreted *in = s->unwind.interpreted;
    if (!in)
        return;
    forget_codes(in);
    interpreted_drop_taken(in);
    stackprobe_close(in->probe);
    map_done(&in->images);
    map_done(&in->by_code);
    map_done(&in->lines);
    map_done(&in->evaluators);
    mem_free(in->processes.items);
    mem_free(in->codes.items);
    mem_free(in->current);
    pthread_mutex_destroy(&in->reading);
    mem_free(in);
    s->unwind.interpreted = NULL;
}

/* ---- processes ---- */

static bool is_library(const struct module *m)
{
    return text_begins_with(m->name, "lib");
}

/* Finds the mapping of an interpreter. Prefers the library to the program that is linked to it. */
static const struct world_map *find_interpreter(struct session *s, uint32_t image,
                                                const struct module **module)
{
    const struct world_map *maps, *found = NULL;
    uint32_t n = world_image_maps(s->store.world, image, &maps);
    for (uint32_t i = 0; i < n; i++) {
        const struct module *m = world_module(s->store.world, maps[i].module);
        if (!m || m->kind != MODULE_FILE || !interpreter_of_module(m->name) || (found && !is_library(m)))
            continue;
        found = &maps[i];
        *module = m;
        if (is_library(m))
            break;
    }
    return found;
}

static uint32_t add_process(struct session *s, const struct frame_owner *o)
{
    struct interpreted *in = s->unwind.interpreted;
    const struct module *m = NULL;
    const struct world_map *map = find_interpreter(s, o->image, &m);
    const struct world_thread *t = world_thread(s->store.world, o->thread);
    if (!map || !t || in->processes.n >= PROCESSES_MAX)
        return 0;
    struct script_process *p = VEC_PUSH(&in->processes);
    *p = (struct script_process){ .image = o->image,
                                  .pid = t->pid,
                                  .of = interpreter_of_module(m->name),
                                  .base = map->start - map->pgoff };
    snprintf(p->module, sizeof p->module, "%s", m->name);
    in->wants = true;
    return (uint32_t)in->processes.n;
}

static void forget_processes(struct interpreted *in)
{
    forget_codes(in);
    map_clear(&in->images);
    in->processes.n = 0;
    in->n_threads = 0;
}

/* Searches again after new mappings: the interpreter may be in a library that was loaded later. */
static void look_again(struct session *s, struct script_process *p)
{
    const struct module *m = NULL;
    const struct world_map *map = find_interpreter(s, p->image, &m);
    if (p->state == SCRIPT_READY || !map || p->base == map->start - map->pgoff)
        return;
    p->of = interpreter_of_module(m->name);
    p->base = map->start - map->pgoff;
    snprintf(p->module, sizeof p->module, "%s", m->name);
    p->state = SCRIPT_WANTED;
    p->tries = 0;
    p->next_ns = 0;
    s->unwind.interpreted->wants = true;
}

/* The process of an owner; NULL: it runs no interpreter. */
static struct script_process *process_of(struct session *s, const struct frame_owner *o)
{
    struct interpreted *in = s->unwind.interpreted;
    bool created;
    if (in->processes.n >= PROCESSES_MAX)
        forget_processes(in);
    uint64_t *at = map_at(&in->images, o->image, 0, &created);
    uint32_t index = (uint32_t)*at;
    if (!o->maps && (created || *at >> 32 != o->version)) {
        if (index)
            look_again(s, &in->processes.items[index - 1]);
        else
            index = add_process(s, o);
        *at = (uint64_t)o->version << 32 | index;
    }
    return index ? &in->processes.items[index - 1] : NULL;
}

/* ---- native frames ---- */

enum answer { NO, YES, PENDING };

static enum answer is_evaluator(struct session *s, const struct script_process *p, uint32_t frame)
{
    struct interpreted *in = s->unwind.interpreted;
    uint32_t module = stacks_frame_modules(s->store.stacks)[frame];
    uint64_t offset = stacks_frame_offsets(s->store.stacks)[frame], key = (uint64_t)module << 40 | offset,
             known;
    struct symbol symbol;
    if (module < MODULE_ID_FIRST || offset >> 40)
        return NO;
    if (map_get(&in->evaluators, key, &known))
        return known ? YES : NO;
    struct module *m = world_module(s->store.world, module);
    bool is = m && m->kind == MODULE_FILE && p->of->is_module(m->name);
    if (is) {
        symbolizer_lookup(s->store.symbolizer, m, offset, &symbol);
        if (symbol.state == SYMBOL_PENDING)
            return PENDING;
        is = interpreter_evaluates(p->of, symbol.name);
    }
    if (in->evaluators.n >= EVALUATORS_MAX)
        map_clear(&in->evaluators);
    map_put(&in->evaluators, key, is);
    return is ? YES : NO;
}

struct native {
    uint32_t n, n_evaluators;
    bool whole;                       /* up to its true root */
    uint32_t frames[USER_FRAMES_MAX]; /* leaf first */
    bool evaluates[USER_FRAMES_MAX];
};

static enum answer take_native(struct session *s, const struct script_process *p, uint32_t node,
                               struct native *out)
{
    const uint32_t *parents = stacks_parents(s->store.stacks), *frames = stacks_frames(s->store.stacks);
    enum answer all = NO;
    out->n = out->n_evaluators = 0;
    for (; node && out->n < USER_FRAMES_MAX; node = parents[node]) {
        enum answer is = is_evaluator(s, p, frames[node]);
        all = is == PENDING ? PENDING : all;
        out->n_evaluators += is == YES;
        out->evaluates[out->n] = is == YES;
        out->frames[out->n++] = frames[node];
    }
    out->whole =
        out->n && !node && stacks_frame_modules(s->store.stacks)[out->frames[out->n - 1]] != MODULE_ID_BROKEN;
    return all == PENDING ? PENDING : out->n_evaluators ? YES : NO;
}

/* ---- frames ---- */

static size_t code_index(struct interpreted *in, uint32_t process, const struct stackprobe_frame *f)
{
    uint64_t key = map_mix(map_mix(f->code ^ (uint64_t)process << 48) ^ f->ident), found;
    if (map_get(&in->by_code, key, &found)) {
        const struct script_code *c = &in->codes.items[found];
        if (c->address == f->code && c->ident == f->ident && c->process == process)
            return (size_t)found;
    }
    map_put(&in->by_code, key, in->codes.n);
    *VEC_PUSH(&in->codes) = (struct script_code){ .process = process, .address = f->code, .ident = f->ident };
    in->wants = true;
    return in->codes.n - 1;
}

static uint64_t named_offset(struct session *s, size_t index, uint32_t line)
{
    struct interpreted *in = s->unwind.interpreted;
    const struct script_code *c = &in->codes.items[index];
    char text[INTERPRETER_TEXT_MAX];
    bool created;
    uint64_t *known = map_at(&in->lines, (uint64_t)index << 32 | line, 0, &created);
    if (created) {
        interpreter_frame_text(text, sizeof text, in->processes.items[c->process].of, &c->code, line);
        *known = symbolizer_script(s->store.symbolizer, text);
    }
    return *known;
}

struct merge {
    struct session *s;
    const struct script_process *p;
    uint32_t process;
    bool waits, unread;
    uint32_t *frames, n;
};

static void put(struct merge *m, uint32_t frame)
{
    if (m->n < USER_FRAMES_MAX)
        m->frames[m->n++] = frame;
}

static void put_script(struct merge *m, uint64_t offset)
{
    put(m, stacks_frame(m->s->store.stacks, MODULE_ID_SCRIPT, offset));
}

static void put_unread(struct merge *m)
{
    char text[INTERPRETER_TEXT_MAX];
    interpreter_frame_text(text, sizeof text, m->p->of, NULL, 0);
    m->unread = true;
    put_script(m, symbolizer_script(m->s->store.symbolizer, text));
}

static void put_frame(struct merge *m, const struct stackprobe_frame *f)
{
    struct interpreted *in = m->s->unwind.interpreted;
    size_t index = code_index(in, m->process, f);
    const struct script_code *c = &in->codes.items[index];
    uint32_t line = 0;
    m->waits |= c->state == SCRIPT_WANTED;
    if (c->state == SCRIPT_READY && c->code.shim)
        return;
    if (c->state == SCRIPT_READY)
        line = m->p->of->line(&m->p->process, &c->code, f->instr);
    if (!line) {
        put_unread(m);
        return;
    }
    put_script(m, named_offset(m->s, index, line));
}

/* t NULL: the frames are unknown. */
static void merge(struct merge *m, const struct native *native, const struct stackprobe_sample *t,
                  const struct interpreter_groups *g, int shift)
{
    int group = shift;
    for (uint32_t i = 0; i < native->n; i++) {
        if (!native->evaluates[i]) {
            put(m, native->frames[i]);
            continue;
        }
        bool known = t && group >= 0 && (uint32_t)group < g->n;
        if (t && (group < 0 || (known && g->first[group] == g->end[group])))
            put(m, native->frames[i]); /* the evaluator starts, or ends */
        else if (!known)
            put_unread(m);
        else
            for (uint16_t k = g->first[group]; k < g->end[group]; k++)
                put_frame(m, &t->frames[k]);
        if (known && g->last_is_truncated && (uint32_t)group + 1 == g->n)
            put_unread(m);
        group++;
    }
}

static void want_thread(struct interpreted *in, uint32_t process, const struct record *r, uint64_t sp)
{
    for (unsigned i = 0; i < in->n_threads; i++)
        if (in->threads[i].tid == r->id.tid)
            return;
    if (in->n_threads < SCRIPT_THREADS_WANTED)
        in->threads[in->n_threads++] =
            (struct script_thread){ .process = process, .pid = r->id.pid, .tid = r->id.tid, .sp = sp };
    in->wants = true;
}

/* Drops code objects and lines when their memory is used up. */
static void bound_codes(struct interpreted *in)
{
    if (in->codes.n + STACKPROBE_FRAMES_MAX >= CODES_MAX || in->line_bytes >= LINES_BYTES)
        forget_codes(in);
}

static bool can_run_probe(const struct session *s, uint32_t event)
{
    const struct session_event *ev = &s->store.events[event];
    return ev->attr.type != PERF_TYPE_TRACEPOINT || live_runs(interpreted_probe(s), &ev->event, &ev->attr);
}

/* True if all samples of an event have frames. Of operations only some may be sampled, by events that do not
 * run the probe. */
static bool must_have_frames(const struct session *s, uint32_t event)
{
    const struct session_event *ev = &s->store.events[event];
    return ev->attr.type != PERF_TYPE_TRACEPOINT || ev->event.off_cpu;
}

/* The interpreter's frames are merged after three proofs: the same thread copied them within a
 * millisecond of the sample (interpreted_find); a record that the interpreter keeps on the native stack
 * lies in the sample's dump (interpreter_is_on_stack); and there are as many evaluators as groups of frames,
 * except one that is just beginning or returning (interpreter_align). Stacks by fp or lbr are not merged,
 * because callers may be missing in them. */
uint32_t interpreted_merge(struct session *s, const struct record *r, const struct frame_owner *owner,
                           uint32_t native, uint64_t sp, bool give_up, uint32_t frames[USER_FRAMES_MAX],
                           uint32_t *awaits)
{
    struct interpreted *in = s->unwind.interpreted;
    struct script_process *p = in ? process_of(s, owner) : NULL;
    static _Thread_local struct native n;
    struct interpreter_groups g = { 0 };
    int shift = 0;
    if (!p || p->state == SCRIPT_FAILED || in->refused[0] || in->unable == s->source.n_sources ||
        !can_run_probe(s, session_event_of(s, r)))
        return 0;
    if (!owner->frames) {
        mem_free(in->current);
        in->current = interpreted_find(in, r);
    }
    const struct stackprobe_sample *t = owner->frames ? owner->frames : in->current;
    if (!t && !must_have_frames(s, session_event_of(s, r)))
        return 0;
    if (t && t->tag && t->tag != p->image) { /* frames from before an exec */
        t = NULL;
        if (p->state == SCRIPT_READY)
            stackprobe_follow(in->probe, p->pid, &p->process.layout);
    }
    if (*awaits)
        return 0;
    enum answer evaluates = take_native(s, p, native, &n);
    if (evaluates == PENDING && !give_up)
        *awaits = stacks_frame_modules(s->store.stacks)[n.frames[0]];
    if (evaluates != YES)
        return 0;
    if (t && p->state == SCRIPT_WANTED && !give_up) {
        *awaits = stacks_frame_modules(s->store.stacks)[n.frames[0]];
        return 0;
    }
    if (p->state != SCRIPT_READY)
        t = NULL;
    struct merge m = { .s = s, .p = p, .process = (uint32_t)(p - in->processes.items), .frames = frames };
    bound_codes(in);
    if (t)
        interpreter_group(&p->process, t, &g);
    if (t &&
        (!interpreter_is_on_stack(&p->process, t, &g, r->id.tid == r->id.pid, sp, r->sample.stack_dyn_size) ||
         !interpreter_align(n.n_evaluators, n.whole, g.n, t->rest != 0, &shift))) {
        if (!owner->frames)
            want_thread(in, m.process, r, sp);
        t = NULL;
    }
    merge(&m, &n, t, &g, shift);
    if (m.waits && !give_up) {
        *awaits = stacks_frame_modules(s->store.stacks)[n.frames[0]];
        return 0;
    }
    in->merged++;
    in->unread += m.unread;
    return m.n;
}

struct stackprobe_sample *interpreted_take(struct session *s, const struct record *r)
{
    struct stackprobe_sample *t = s->unwind.interpreted ? s->unwind.interpreted->current : NULL;
    if (!t || !interpreted_is_of(t, r))
        return NULL;
    s->unwind.interpreted->current = NULL;
    return t;
}

bool interpreted_waits(const struct session *s)
{
    return s->unwind.interpreted && s->unwind.interpreted->wants;
}

bool interpreted_trouble(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap)
{
    const struct interpreted *in = s->unwind.interpreted;
    what[0] = fix[0] = '\0';
    if (!in || !in->processes.n)
        return false;
    if (in->refused[0]) {
        snprintf(what, what_cap, "%s frames are not read: %s", in->processes.items[0].of->name, in->refused);
        snprintf(fix, fix_cap, "run flametop as root, or with CAP_BPF and CAP_PERFMON; Linux 5.8 or later");
        return true;
    }
    if (in->unable || !can_run_probe(s, s->store.current_event)) {
        snprintf(what, what_cap,
                 "%s frames are not read: this event cannot run a BPF program with its samples",
                 in->processes.items[0].of->name);
        snprintf(fix, fix_cap, "tracepoints have them with each event (-c 1) and stack dumps (m, dwarf)");
        return true;
    }
    for (size_t i = 0; i < in->processes.n; i++) {
        const struct script_process *p = &in->processes.items[i];
        if (p->state != SCRIPT_FAILED)
            continue;
        snprintf(what, what_cap, "%s frames of process %u are not read: %s", p->of->name, p->pid, p->why);
        snprintf(fix, fix_cap, "python -X perf names the functions of Python 3.12 and later");
        return true;
    }
    if (in->unread * 100 <= in->merged)
        return false;
    snprintf(what, what_cap, "%.0f %% of the samples in interpreters have frames that were not read",
             100.0 * (double)in->unread / (double)in->merged);
    snprintf(fix, fix_cap, "normal for a process's first samples, and for code that is freed at once");
    return true;
}
