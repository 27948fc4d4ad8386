// SPDX-License-Identifier: GPL-2.0-or-later
/* Location of a function's code, targets of its calls, and the skid of its samples. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/annotate.h"
#include "session/session_state.h"

#define STUB_MARK "@plt"

void annotate_location_done(struct annotate_location *p)
{
    if (p->module)
        module_put(p->module);
    *p = (struct annotate_location){ 0 };
}

static void set_target(struct annotate_location *out, struct module *m, uint64_t offset,
                       const struct symbol *sym)
{
    *out = (struct annotate_location){ .module = module_get(m),
                                       .start = sym->start,
                                       .size = sym->size,
                                       .offset = offset,
                                       .key = sym->key,
                                       .class = sym->class };
    text_clean(out->name, sizeof out->name, sym->name, strlen(sym->name));
}

/* The function that contains a frame, ignoring inlined functions. */
static void location_of_frame(struct session *s, const struct view *v, uint32_t frame,
                              struct annotate_location *out)
{
    struct symbol sym;
    symbolizer_lookup(s->store.symbolizer, view_module(v, frame), v->result.frame_offset[frame], &sym);
    set_target(out, view_module(v, frame), v->result.frame_offset[frame], &sym);
}

bool annotate_location_renew(struct session *s, struct annotate_location *location)
{
    struct symbol sym;
    symbolizer_lookup(s->store.symbolizer, location->module, location->offset, &sym);
    bool same = sym.key == location->key && sym.start == location->start && sym.size == location->size;
    if (same || sym.state == SYMBOL_PENDING)
        return false;
    struct module *held = location->module;
    set_target(location, held, location->offset, &sym);
    module_put(held);
    return true;
}

/* Weights per (module, start), with one frame for each. */
struct tally_item {
    uint64_t weight;
    uint32_t frame;
};
struct tally {
    struct map by_location;
    VEC(struct tally_item);
};

static void add_frame(struct tally *t, struct session *s, const struct view *v, uint32_t frame,
                      uint64_t weight)
{
    struct symbol sym;
    bool created;
    symbolizer_lookup(s->store.symbolizer, view_module(v, frame), v->result.frame_offset[frame], &sym);
    uint64_t key = map_mix(v->result.frame_module[frame] + map_mix(sym.size ? sym.start : sym.key));
    uint64_t *at = map_at(&t->by_location, key, t->n, &created);
    if (created)
        *VEC_PUSH(t) = (struct tally_item){ .frame = frame };
    t->items[*at].weight += weight;
}

/* The frame of the heaviest item; 0: none. Frees the tally. */
static uint32_t heaviest(struct tally *t)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < t->n; i++)
        best = t->items[i].weight > t->items[best].weight ? i : best;
    uint32_t frame = t->n ? t->items[best].frame : 0;
    map_done(&t->by_location);
    mem_free(t->items);
    return frame;
}

/* The weight at and below each node. */
static uint64_t *weigh_nodes(const struct result *r)
{
    uint64_t *weights = mem_array((size_t)r->n_nodes + 1, sizeof *weights);
    for (uint32_t i = 0; i < r->n_entries; i++)
        weights[r->entries[i].node] += r->entries[i].weight;
    for (uint32_t node = r->n_nodes; node-- > 1;)
        weights[r->parent[node]] += weights[node];
    return weights;
}

/* Decides by self samples or, without any, by total samples. */
bool annotate_find(struct session *s, const struct view *v, uint64_t func_key, struct annotate_location *out)
{
    const struct result *r = &v->result;
    struct tally self = { .n = 0 }, total = { .n = 0 };
    uint64_t *weights = weigh_nodes(r);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        uint32_t frame = r->frame[r->entries[i].node];
        if (frame && v->funcs[v->frame_func[frame]].key == func_key)
            add_frame(&self, s, v, frame, r->entries[i].weight);
    }
    for (uint32_t node = 1; node < r->n_nodes && !self.n; node++)
        if (weights[node] && v->funcs[v->frame_func[r->frame[node]]].key == func_key)
            add_frame(&total, s, v, r->frame[node], weights[node]);
    mem_free(weights);
    uint32_t of_self = heaviest(&self), of_total = heaviest(&total), frame = of_self ? of_self : of_total;
    if (frame)
        location_of_frame(s, v, frame, out);
    return frame != 0;
}

bool annotate_has_code(const struct view *v, uint64_t func_key)
{
    for (uint32_t f = 1; f < v->result.n_frames; f++) {
        enum module_kind kind = view_module(v, f)->kind;
        if (v->funcs[v->frame_func[f]].key == func_key)
            return kind != MODULE_UNKNOWN && kind != MODULE_BROKEN && kind != MODULE_GUEST &&
                   kind != MODULE_SCRIPT;
    }
    return true;
}

bool annotate_find_hottest(struct session *s, const struct view *v, uint32_t n, struct annotate_location *out)
{
    const struct result *r = &v->result;
    uint64_t *by_func = mem_array((size_t)v->n_funcs + 1, sizeof *by_func);
    uint32_t best = 0;
    for (uint32_t i = 0; i < r->n_entries; i++) {
        uint32_t frame = r->frame[r->entries[i].node];
        by_func[frame ? v->frame_func[frame] : 0] += frame ? r->entries[i].weight : 0;
    }
    by_func[0] = 0;
    for (uint32_t rank = 0; rank <= n; rank++) {
        by_func[best] = 0; /* the previous rank */
        best = 0;
        for (uint32_t f = 1; f < v->n_funcs; f++)
            best = by_func[f] > by_func[best] ? f : best;
    }
    mem_free(by_func);
    return best && annotate_find(s, v, v->funcs[best].key, out);
}

/* ---- jumps and calls ---- */

static const char *append_target(const struct annotation *a, struct session *s, uint64_t target,
                                 bool absolute, char *dst, size_t cap)
{
    struct symbol sym;
    size_t n = strlen(dst);
    if (a->location.size && target - a->location.start < a->location.size) {
        snprintf(dst + n, cap - n, "%" PRIx64,
                 absolute ? target + a->code->view.header.bias : target - a->location.start);
        return dst;
    }
    symbolizer_lookup(s->store.symbolizer, a->location.module, target, &sym);
    if (sym.state != SYMBOL_FOUND)
        snprintf(dst + n, cap - n, "0x%" PRIx64, target + a->code->view.header.bias);
    else if (target == sym.start)
        snprintf(dst + n, cap - n, "%s", sym.name);
    else
        snprintf(dst + n, cap - n, "%s+0x%" PRIx64, sym.name, target - sym.start);
    return dst;
}

const char *annotate_text(const struct annotation *a, struct session *s, uint32_t slot, bool absolute,
                          char *dst, size_t cap)
{
    const struct code_view *v = &a->code->view;
    text_clean(dst, cap, v->strings + v->rows[slot].text, strlen(v->strings + v->rows[slot].text));
    return v->rows[slot].target == CODE_NO_TARGET
               ? dst
               : append_target(a, s, v->rows[slot].target, absolute, dst, cap);
}

static bool is_kernel(const struct module *m)
{
    return m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD;
}

/* The module of a target. The kernel and its modules call each other: the target belongs to the module in
 * which it was sampled. */
static struct module *module_at(const struct annotation *a, const struct view *v, const struct symbol *sym)
{
    const struct result *r = &v->result;
    for (uint32_t f = 1; f < r->n_frames && is_kernel(a->location.module); f++)
        if (is_kernel(view_module(v, f)) && r->frame_offset[f] - sym->start < sym->size)
            return view_module(v, f);
    return a->location.module;
}

/* "memcpy@plt": finds memcpy, if it was sampled. */
static bool find_behind_stub(struct session *s, const struct view *v, const char *name,
                             struct annotate_location *out)
{
    size_t n = strlen(name), mark = strlen(STUB_MARK);
    if (n <= mark || strcmp(name + n - mark, STUB_MARK))
        return false;
    for (uint32_t f = 1; f < v->n_funcs; f++)
        if (v->funcs[f].state == SYMBOL_FOUND && !strncmp(v->funcs[f].name, name, n - mark) &&
            !v->funcs[f].name[n - mark] && annotate_find(s, v, v->funcs[f].key, out))
            return true;
    return false;
}

/* Finds the most frequent callee above this call. A function inlined at the call has the same address, and
 * is skipped. */
static bool find_seen(const struct annotation *a, struct session *s, const struct view *v,
                      const struct code_row *call, struct annotate_location *out)
{
    const struct result *r = &v->result;
    struct tally callees = { .n = 0 };
    uint64_t *weights = weigh_nodes(r);
    for (uint32_t node = 1; node < r->n_nodes; node++) {
        uint32_t frame = r->frame[node], by = r->frame[r->parent[node]];
        if (by && weights[node] && r->frame_module[by] == a->location.module->id &&
            r->frame_offset[by] - call->offset < call->size &&
            (r->frame_module[frame] != r->frame_module[by] || r->frame_offset[frame] != r->frame_offset[by]))
            add_frame(&callees, s, v, frame, weights[node]);
    }
    mem_free(weights);
    uint32_t frame = heaviest(&callees);
    if (frame)
        location_of_frame(s, v, frame, out);
    return frame != 0;
}

bool annotate_callee(const struct annotation *a, struct session *s, const struct view *v, uint32_t slot,
                     struct annotate_location *out)
{
    const struct code_row *row = &a->code->view.rows[slot];
    struct symbol sym = { .state = SYMBOL_NONE };
    if (row->target != CODE_NO_TARGET)
        symbolizer_lookup(s->store.symbolizer, a->location.module, row->target, &sym);
    bool stub = sym.state == SYMBOL_FOUND && strstr(sym.name, STUB_MARK);
    if (stub && find_behind_stub(s, v, sym.name, out))
        return true;
    if ((!sym.size || stub) && find_seen(a, s, v, row, out))
        return true;
    if (sym.size)
        set_target(out, module_at(a, v, &sym), sym.start, &sym);
    return sym.size != 0;
}

/* ---- skid ---- */

static const char *skid_of(const struct session_event *ev)
{
    const struct perf_event_attr *attr = &ev->attr;
    if (event_is_time(&ev->event))
        return "has skid: samples are behind the instruction that took the time (timer)";
    if (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT)
        return "has no skid: samples are where it happened";
    if (attr->type == PERF_TYPE_BREAKPOINT)
        return "has hardly any skid: samples are at the watched access, or one instruction behind";
    switch (attr->precise_ip) {
    case 0:
        return "has skid: samples are behind the instruction that caused it; with :pp after its name it may "
               "have none";
    case 1:
        return "has constant skid (precise_ip 1): samples are one instruction behind the cause";
    case 2:
        return "has no skid, as far as the CPU can (precise_ip 2)";
    default:
        return "has no skid (precise_ip 3)";
    }
}

void annotate_skid(struct session *s, char *dst, size_t cap)
{
    dst[0] = '\0';
    pthread_mutex_lock(&s->store.lock);
    if (s->store.n_events) {
        const struct session_event *ev = &s->store.events[s->store.current_event];
        char name[64];
        text_clean(name, sizeof name, ev->event.name, strlen(ev->event.name));
        snprintf(dst, cap, "%s %s", name, skid_of(ev));
    }
    pthread_mutex_unlock(&s->store.lock);
}
