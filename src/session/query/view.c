// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a screen's query and adds names to the result. Only the scan is done under the lock; names, zooms
 * into named things, and the idle loop follow after it. */
#include <string.h>

#include "session/samples.h"
#include "session/query/view_parts.h"

void view_done(struct view *v)
{
    struct view_memory *m = v->memory;
    if (m)
        inlines_restore(&m->inlines, v);
    result_done(&v->result);
    mem_free(v->frame_func);
    mem_free(v->funcs);
    mem_free(v->groups);
    if (m) {
        view_release_modules(m);
        arena_done(&m->strings);
        arena_done(&m->names);
        map_done(&m->func_numbers);
        map_done(&m->group_numbers);
        map_done(&m->module_numbers);
        mem_free(m->modules.items);
        mem_free(m->thread_group.items);
        mem_free(m->thread_pass.items);
        mem_free(m->func_idles.items);
        mem_free(m->func_settled.items);
        mem_free(m->stale.items);
        mem_free(m->func_hits.items);
        mem_free(m->path_hits.items);
        mem_free(m->drop.items);
        mem_free(m->thread_seen.items);
        inlines_done(&m->inlines);
        mem_free(m);
    }
    memset(v, 0, sizeof *v);
}

/* ---- verdicts by name ---- */

static struct select_trie trie_of(struct view *v, const struct view_query *q)
{
    struct view_memory *m = v->memory;
    uint16_t *func_hits = VEC_RESERVE(&m->func_hits, v->n_funcs);
    func_hits[0] = 0;
    static const struct view_function nameless;
    /* otherwise names are not needed: reading them each second would fill the cache */
    bool by_name = q->n_zooms || *q->filter;
    for (uint32_t i = 1; i < v->n_funcs; i++) {
        const struct view_function *f = by_name ? &v->funcs[i] : &nameless;
        func_hits[i] =
            select_hits(q, &(struct select_named){ f->name, f->module, f->key, m->func_idles.items[i] });
    }
    struct select_trie trie = {
        .parent = v->result.parent,
        .frame = v->result.frame,
        .by_frame = v->frame_func,
        .hits = func_hits,
        .frame_module = v->off_cpu ? v->result.frame_module : NULL,
    };
    if (select_by_path(&trie, q)) {
        trie.path_hits = VEC_RESERVE(&m->path_hits, v->result.n_nodes);
        select_mark(&trie, v->result.n_nodes);
    }
    return trie;
}

struct showing {
    const struct view *v;
    const struct select_trie *trie;
    bool show_idle;
};

static bool is_shown(void *ctx, struct sample *sample)
{
    const struct showing *w = ctx;
    sample->stack = inlines_node(&w->v->memory->inlines, w->v, sample->stack);
    return select_shows(w->trie, sample, w->show_idle);
}

/* Drops idle, zoomed-out and filtered entries. A CPU idles when the idle task is in an idle function.
 * Without the kernel's names the whole idle task counts as idle. */
static void decide_by_names(struct view *v, const struct view_query *q, struct session_samples *samples)
{
    struct view_memory *m = v->memory;
    struct select_trie trie = trie_of(v, q);
    const struct result *r = view_judged(v);
    const uint32_t *node_of = view_inlined_nodes(v);
    uint8_t *drop = VEC_RESERVE(&m->drop, r->n_entries + 1);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *en = &r->entries[i];
        uint32_t node = node_of ? node_of[en->node] : en->node;
        bool idle = en->idle && select_idles(&trie, node);
        v->idle_samples += idle ? en->count : 0;
        v->idle_weight += idle ? en->weight : 0;
        drop[i] = (idle && !q->show_idle) || !select_passes(&trie, node) || !en->count;
    }
    if (samples)
        samples_keep(samples, is_shown, &(struct showing){ v, &trie, q->show_idle });
}

bool view_judge(struct view *v, const struct view_query *q, struct view_verdicts *verdicts,
                struct result_moment *moment)
{
    const struct result *r = view_judged(v);
    const uint32_t *node_of = view_inlined_nodes(v);
    struct select_trie trie = trie_of(v, q);
    *moment = result_moment(r);
    uint8_t *verdict = VEC_RESERVE(verdicts, r->n_nodes);
    verdicts->n = r->n_nodes;
    for (uint32_t i = 0; i < r->n_nodes; i++) {
        uint32_t node = node_of ? node_of[i] : i;
        verdict[i] = (uint8_t)((select_passes(&trie, node) ? VIEW_PASSES : 0) |
                               (select_idles(&trie, node) ? VIEW_IDLES : 0));
    }
    return r->is_same_query && !r->some_left;
}

const struct result *view_judged(const struct view *v)
{
    return v->memory->inlines.replaced ? &v->memory->inlines.original : &v->result;
}

const uint32_t *view_inlined_nodes(const struct view *v)
{
    return v->memory->inlines.replaced ? v->memory->inlines.expanded.last_node.items : NULL;
}

/* ---- queries ---- */

static void trim_names(struct session *s)
{
    pthread_mutex_lock(&s->store.lock);
    uint32_t n = 0;
    uint8_t *keep = s->collect.trim_wanted ? bounds_modules_in_use(s, &n) : NULL;
    s->collect.trim_wanted = false;
    if (keep) {
        symbolizer_trim(s->store.symbolizer, keep, n); /* under the lock: unwinding uses its tables */
        userstack_forget(s);
    }
    pthread_mutex_unlock(&s->store.lock);
    mem_free(keep);
}

static void view_start(struct view *v)
{
    if (!v->memory)
        v->memory = mem_zalloc(sizeof *v->memory);
    struct view_memory *m = v->memory;
    inlines_restore(&m->inlines, v);
    arena_clear(&m->strings);
    map_clear(&m->group_numbers);
    v->n_groups = v->n_chosen = 0;
    v->idle_samples = v->idle_weight = 0;
    view_add_group(v, 0, 0, "all");
}

/* Part of the range in which the event was sampled, as far as its samples have been collected. */
static uint64_t span_of(const struct session *s, const struct query *scan)
{
    uint64_t from = s->load.file        ? s->load.first_ns
                    : s->store.n_events ? s->store.events[s->store.current_event].since_ns
                                        : 0;
    uint64_t to = s->load.file ? s->load.last_ns : s->store.drained_ns;
    from = scan->from_ns > from ? scan->from_ns : from;
    to = scan->to_ns && scan->to_ns < to ? scan->to_ns : to;
    return to > from ? to - from : 0;
}

static void view_scan(struct session *s, const struct view_query *q, struct view *v,
                      struct session_samples *samples)
{
    struct view_memory *m = v->memory;
    uint32_t n = world_thread_count(s->store.world);
    uint32_t *thread_group = VEC_RESERVE(&m->thread_group, n + 1);
    struct query scan = select_samples(s, q, VEC_RESERVE(&m->thread_pass, n + 1));
    scan.by_cpu = q->group == VIEW_GROUP_CPU;
    scan.thread_group = view_groups_threads(q->group) ? thread_group : NULL;
    if (q->group == VIEW_GROUP_CGROUP_SYMBOL)
        view_group_chosen(s, v);
    if (view_groups_threads(q->group))
        view_group_threads(s, v, q, &scan);
    memset(v->group_sums, 0, sizeof v->group_sums);
    if (q->group_sums)
        group_column_choose(s, &scan, v->group_sums);
    query_run(&scan, s->store.history, s->store.stacks, &v->result);
    if (samples)
        samples_take(samples, s, &scan);
    view_hold_modules(s, v);
    v->span_ns = span_of(s, &scan);
    const struct event *shown = s->store.n_events ? &s->store.events[s->store.current_event].event : NULL;
    v->weight_is_time = shown && event_is_time(shown);
    v->off_cpu = shown && event_is_wait(shown);
    v->wall = shown && shown->wall;
    v->latency = shown && shown->latency;
}

static void scan_anew(struct session *s, const struct view_query *q, struct view *v,
                      struct session_samples *samples)
{
    trim_names(s);
    view_start(v);
    v->generation = session_generation(s); /* before the scan: later changes count as new */
    pthread_mutex_lock(&s->store.lock);
    view_scan(s, q, v, samples);
    pthread_mutex_unlock(&s->store.lock);
}

void session_query_names(struct session *s, const struct view_query *q, struct view *v)
{
    if (s->load.bundle) /* a bundle contains its names */
        return;
    scan_anew(s, q, v, NULL);
    for (size_t i = 0; i < v->memory->modules.n; i++)
        symbolizer_request(s->store.symbolizer, v->memory->modules.items[i].module);
}

static void run_query(struct session *s, const struct view_query *q, struct view *v,
                      struct session_samples *samples)
{
    scan_anew(s, q, v, samples);
    if (q->group == VIEW_GROUP_CPU)
        view_group_cpus(v);
    view_name_frames(s, v);
    view_expand_inlines(s, q, v);
    v->all_samples = view_judged(v)->samples;
    v->all_weight = view_judged(v)->weight;
    decide_by_names(v, q, samples);
    inlines_filter(&v->memory->inlines, v, v->memory->drop.items);
    group_column_total(v->group_sums, &v->result);
    if (v->memory->names_change)
        v->result.since = 0;
    if (q->group == VIEW_GROUP_MODULE)
        view_name_modules(v);
}

void session_query(struct session *s, const struct view_query *q, struct view *v)
{
    run_query(s, q, v, NULL);
}

bool session_samples(struct session *s, const struct view_query *q, struct view *v,
                     struct session_samples *out, struct error *e)
{
    session_samples_done(out);
    run_query(s, q, v, out);
    samples_sort(out);
    return !out->no_memory ||
           error_set(e, ERROR_LIMIT, "not enough memory to copy the samples: narrow the window or the scope");
}
