// SPDX-License-Identifier: GPL-2.0-or-later
/* A query in the words of the field → a result with names. Under the lock only the scan; names, zooms into what has
 * a name, and the idle loop are dealt with after it. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "session/inlines.h"
#include "session/samples.h"
#include "session/select.h"

const char *const view_group_names[VIEW_GROUP_COUNT] = {
    [VIEW_GROUP_SYMBOL] = "symbol",   [VIEW_GROUP_COMM_SYMBOL] = "comm,symbol", [VIEW_GROUP_COMM] = "comm",
    [VIEW_GROUP_MODULE] = "module",   [VIEW_GROUP_PROCESS] = "process",         [VIEW_GROUP_THREAD] = "thread",
    [VIEW_GROUP_CPU] = "cpu",         [VIEW_GROUP_CGROUP] = "cgroup",
    [VIEW_GROUP_CGROUP_SYMBOL] = "cgroup,symbol",
};

/* A module of the result's frames, and one of them that has no name: it is asked for again with every query, for a JIT
 * may have told one meanwhile. 0: all have one. */
struct view_module {
    struct module *module; /* held */
    uint32_t unnamed;
};

struct view_memory {
    struct arena strings, names; /* of groups; of functions */
    struct map func_numbers, group_numbers;
    uint32_t *thread_group;
    uint8_t *thread_pass, *thread_seen;
    size_t thread_group_cap, thread_pass_cap, thread_seen_cap;
    struct view_module *modules;
    size_t n_modules, modules_cap;
    struct map module_numbers; /* module id → index */
    uint32_t n_named;          /* frames below have their functions, named … */
    uint32_t names_generation; /* … when the symbolizer was at this */
    bool names_change;         /* functions have other frames than before */
    size_t funcs_cap, groups_cap, frame_func_cap, drop_cap;
    uint8_t *drop; /* by entry */
    bool *func_idles;
    uint16_t *func_hits, *path_hits; /* see session/select.h */
    size_t func_idles_cap, func_hits_cap, path_hits_cap;
    struct inlines inlines;
};

static void release_modules(struct view_memory *m)
{
    for (size_t i = 0; i < m->n_modules; i++)
        module_put(m->modules[i].module);
    m->n_modules = 0;
    map_clear(&m->module_numbers);
}

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
        release_modules(m);
        arena_done(&m->strings);
        arena_done(&m->names);
        map_done(&m->func_numbers);
        map_done(&m->group_numbers);
        map_done(&m->module_numbers);
        mem_free(m->modules);
        mem_free(m->thread_group);
        mem_free(m->thread_pass);
        mem_free(m->func_idles);
        mem_free(m->func_hits);
        mem_free(m->path_hits);
        mem_free(m->drop);
        mem_free(m->thread_seen);
        inlines_done(&m->inlines);
        mem_free(m);
    }
    memset(v, 0, sizeof *v);
}

/* ---- groups ---- */

static uint32_t add_group(struct view *v, uint64_t key, uint64_t number, const char *label)
{
    struct view_memory *m = v->memory;
    MEM_GROW(v->groups, m->groups_cap, v->n_groups + 1);
    const char *kept = arena_strndup(&m->strings, label, strlen(label));
    v->groups[v->n_groups] = (struct view_group_info){ .label = kept, .full = kept, .number = number, .key = key };
    return v->n_groups++;
}

static uint64_t thread_group_key(enum view_group group, const struct world_thread *t)
{
    switch (group) {
    case VIEW_GROUP_COMM:
    case VIEW_GROUP_COMM_SYMBOL:
        return map_hash_bytes(t->comm, strlen(t->comm), 1);
    case VIEW_GROUP_PROCESS:
        return map_mix(t->pid) ^ 2;
    case VIEW_GROUP_THREAD:
        return map_hash_bytes(t->comm, strlen(t->comm), 3 + t->tid);
    case VIEW_GROUP_CGROUP:
    case VIEW_GROUP_CGROUP_SYMBOL:
        return map_mix(t->cgroup) ^ 4;
    default:
        return 0;
    }
}

static uint32_t add_cgroup(struct session *s, struct view *v, uint64_t key, uint64_t id, const char *path)
{
    char label[256];
    containers_label(s->containers, path, label, sizeof label);
    uint32_t group = add_group(v, key, id, *path ? label : "[no cgroup]");
    if (*path)
        v->groups[group].full = arena_strndup(&v->memory->strings, path, strlen(path));
    return group;
}

/* The first thread of a Java VM sleeps while others work, but says what they are part of. */
static uint32_t add_process(struct session *s, struct view *v, uint64_t key, const struct world_thread *t)
{
    const char *first = t->tid == t->pid ? NULL : world_process_comm(s->world, t->pid);
    char label[64];
    snprintf(label, sizeof label, "%s/%u", first ? first : t->comm, t->pid);
    return add_group(v, key, t->pid, label);
}

static uint32_t add_thread(struct view *v, uint64_t key, const char *label, const struct world_thread *t)
{
    uint32_t group = add_group(v, key, t->tid, label);
    v->groups[group].pid = t->pid;
    return group;
}

static uint32_t add_thread_group(struct session *s, struct view *v, enum view_group group, uint64_t key,
                                 const struct world_thread *t)
{
    char label[64];
    switch (group) {
    case VIEW_GROUP_PROCESS:
        return add_process(s, v, key, t);
    case VIEW_GROUP_THREAD:
        snprintf(label, sizeof label, "%s/%u", t->comm, t->tid);
        return add_thread(v, key, label, t);
    case VIEW_GROUP_CGROUP:
    case VIEW_GROUP_CGROUP_SYMBOL:
        return add_cgroup(s, v, key, t->cgroup, world_cgroup_path(s->world, t->cgroup));
    default:
        return add_group(v, key, 0, t->comm);
    }
}

static void group_thread(struct session *s, struct view *v, enum view_group group, uint32_t id)
{
    const struct world_thread *t = world_thread(s->world, id);
    uint64_t key = thread_group_key(group, t);
    bool created = false;
    if (!key)
        return;
    int64_t chosen = v->n_chosen ? select_cgroup(s, t) : -1;
    if (chosen >= 0) {
        v->memory->thread_group[id] = (uint32_t)chosen + 1;
        return;
    }
    uint64_t at = *map_at(&v->memory->group_numbers, key, v->n_groups, &created);
    v->memory->thread_group[id] = created ? add_thread_group(s, v, group, key, t) : (uint32_t)at;
}

struct seen {
    const struct query *q;
    uint8_t *threads;
};

static void see_run(void *ctx, struct sample *samples, size_t n)
{
    struct seen *seen = ctx;
    const struct query *q = seen->q;
    for (size_t i = 0; i < n; i++) {
        const struct sample *sample = &samples[i];
        if (sample->thread < q->n_threads && sample->time_ns >= q->from_ns &&
            (!q->to_ns || sample->time_ns <= q->to_ns))
            seen->threads[sample->thread] = 1;
    }
}

/* Only those that have samples in the range get a label: there may be many more that had some once. A process is
 * called what its newest first thread is called, of those with samples if there are any. */
static void group_threads(struct session *s, struct view *v, const struct view_query *q, const struct query *scan)
{
    struct view_memory *m = v->memory;
    uint32_t n = scan->n_threads;
    MEM_GROW(m->thread_seen, m->thread_seen_cap, n + 1);
    memset(m->thread_seen, 0, n + 1);
    memset(m->thread_group, 0, n * sizeof *m->thread_group);
    history_scan(s->history, scan->from_ns, scan->to_ns, see_run, &(struct seen){ scan, m->thread_seen });
    for (int leaders = q->group == VIEW_GROUP_PROCESS; leaders >= 0; leaders--)
        for (uint32_t id = n; id-- > 1;) {
            const struct world_thread *t = m->thread_seen[id] && m->thread_pass[id] ? world_thread(s->world, id) : NULL;
            if (t && (!leaders || t->tid == t->pid))
                group_thread(s, v, q->group, id);
        }
}

/* Of the cgroups that are measured each has its place, whether it has samples or not. */
static void group_chosen(struct session *s, struct view *v)
{
    const struct scope *scope = &s->running_scope;
    v->n_chosen = scope_cgroups(scope) > 1 ? scope_cgroups(scope) : 0;
    for (uint32_t i = 0; i < v->n_chosen; i++) {
        const char *path = scope_cgroup(scope, i);
        add_cgroup(s, v, map_hash_bytes(path, strlen(path), 6), 0, path);
    }
}

static bool groups_threads(enum view_group group)
{
    return group != VIEW_GROUP_SYMBOL && group != VIEW_GROUP_MODULE && group != VIEW_GROUP_CPU;
}

/* A CPU's group is its number plus one; those between that were not seen are groups without samples. */
static void group_cpus(struct view *v)
{
    for (uint32_t i = 0; i < v->result.n_entries; i++)
        while (v->n_groups <= v->result.entries[i].group) {
            uint32_t cpu = v->n_groups - 1;
            char label[24];
            snprintf(label, sizeof label, "cpu %u", cpu);
            add_group(v, map_mix(cpu) ^ 5, cpu, label);
        }
}

/* ---- names ---- */

static uint32_t module_number(struct session *s, struct view *v, uint32_t id)
{
    struct view_memory *m = v->memory;
    bool created;
    uint64_t *at = map_at(&m->module_numbers, id, m->n_modules, &created);
    if (!created)
        return (uint32_t)*at;
    struct module *module = world_module(s->world, id);
    if (!module)
        module = world_module(s->world, MODULE_ID_UNKNOWN);
    MEM_GROW(m->modules, m->modules_cap, m->n_modules + 1);
    m->modules[m->n_modules] = (struct view_module){ .module = module_get(module) };
    return m->n_modules++;
}

/* Under lock: of the frames that are new. */
static void hold_modules(struct session *s, struct view *v)
{
    const struct result *r = &v->result;
    if (r->n_frames_before <= 1) {
        release_modules(v->memory);
        v->memory->n_named = 0;
        inlines_forget(&v->memory->inlines);
    }
    for (uint32_t i = r->n_frames_before; i < r->n_frames; i++)
        module_number(s, v, r->frame_module[i]);
}

static const char *keep_string(struct view_memory *m, const char *text)
{
    return arena_strndup(&m->names, text, strlen(text));
}

static uint32_t function_number(struct view *v, const struct symbol *sym, const struct module *module)
{
    struct view_memory *m = v->memory;
    bool created;
    uint64_t *at = map_at(&m->func_numbers, sym->key, v->n_funcs, &created);
    if (!created)
        return (uint32_t)*at;
    MEM_GROW(v->funcs, m->funcs_cap, v->n_funcs + 1);
    v->funcs[v->n_funcs] = (struct view_function){
        .name = keep_string(m, sym->name),
        .module = keep_string(m, module->name),
        .key = sym->key,
        .class = sym->class,
        .state = sym->state,
        .module_id = module->id,
        .start = sym->start,
        .size = sym->size,
    };
    MEM_GROW(m->func_idles, m->func_idles_cap, v->n_funcs + 1);
    m->func_idles[v->n_funcs] = sym->idle || sym->state != SYMBOL_FOUND; /* see select_idles */
    return v->n_funcs++;
}

static void name_frame(struct session *s, struct view *v, uint32_t frame)
{
    struct view_module *m = &v->memory->modules[module_number(s, v, v->result.frame_module[frame])];
    struct symbol sym;
    symbolizer_lookup(s->symbolizer, m->module, v->result.frame_offset[frame], &sym);
    v->frame_func[frame] = function_number(v, &sym, m->module);
    if (sym.state != SYMBOL_FOUND)
        m->unnamed = frame;
}

static bool ask_again(struct session *s, struct view *v, uint32_t frame)
{
    uint32_t func = v->frame_func[frame];
    name_frame(s, v, frame);
    return v->frame_func[frame] != func;
}

static void forget_names(struct view *v)
{
    struct view_memory *m = v->memory;
    arena_clear(&m->names);
    map_clear(&m->func_numbers);
    MEM_GROW(v->funcs, m->funcs_cap, 1);
    memset(v->funcs, 0, sizeof *v->funcs);
    v->n_funcs = 1;
    MEM_GROW(v->frame_func, m->frame_func_cap, 1);
    v->frame_func[0] = 0;
    m->n_named = 1;
    for (size_t i = 0; i < m->n_modules; i++)
        m->modules[i].unnamed = 0;
}

/* The names of frames that were there before are as they were until the symbolizer says that there are new ones. */
static void name_frames(struct session *s, struct view *v)
{
    struct view_memory *m = v->memory;
    struct result *r = &v->result;
    uint32_t generation = symbolizer_generation(s->symbolizer); /* before the first look */
    m->names_change = !m->n_named || generation != m->names_generation;
    m->names_generation = generation;
    if (m->names_change)
        forget_names(v);
    for (size_t i = 0; i < m->n_modules; i++)
        m->names_change |= m->modules[i].unnamed && ask_again(s, v, m->modules[i].unnamed);
    if (m->names_change)
        inlines_forget(&m->inlines);
    MEM_GROW(v->frame_func, m->frame_func_cap, r->n_frames);
    for (; m->n_named < r->n_frames; m->n_named++)
        name_frame(s, v, m->n_named);
}

static struct module *module_of_frame(const struct view *v, uint32_t frame)
{
    uint64_t number;
    map_get(&v->memory->module_numbers, v->result.frame_module[frame], &number);
    return v->memory->modules[number].module;
}

uint64_t view_symbol_start(struct session *s, const struct view *v, uint32_t frame)
{
    struct symbol sym;
    symbolizer_lookup(s->symbolizer, module_of_frame(v, frame), v->result.frame_offset[frame], &sym);
    return sym.state == SYMBOL_FOUND ? sym.start : 0;
}

const struct module *view_module(const struct view *v, uint32_t frame)
{
    return module_of_frame(v, frame);
}

static uint32_t number_inlined(struct view *v, uint32_t real, const struct symbol *sym)
{
    return function_number(v, sym, module_of_frame(v, real));
}

static void expand_inlines(struct session *s, const struct view_query *q, struct view *v)
{
    bool hot_only = q->hot_inlines && !s->file && !q->n_zooms && !q->filter[0];
    if (!q->no_inlines && q->group != VIEW_GROUP_MODULE)
        inlines_expand(&v->memory->inlines, s, v, hot_only, module_of_frame, number_inlined);
}

/* By module: every frame of a module becomes one "function" with the module's name. */
static void name_modules(struct view *v)
{
    struct map numbers = { 0 };
    struct view_function *old = v->funcs;
    uint32_t n = 1;
    uint32_t *new_number = mem_array(v->n_funcs, sizeof *new_number);
    for (uint32_t i = 1; i < v->n_funcs; i++) {
        uint64_t key = map_hash_bytes(old[i].module, strlen(old[i].module), 6);
        bool created;
        uint64_t *at = map_at(&numbers, key, n, &created);
        new_number[i] = (uint32_t)*at;
        if (!created)
            continue;
        old[n] = old[i]; /* n <= i: what is overwritten was read */
        old[n].name = old[i].module;
        old[n].key = key;
        old[n].start = old[n].size = 0;
        n++;
    }
    for (uint32_t i = 1; i < v->result.n_frames; i++)
        v->frame_func[i] = new_number[v->frame_func[i]];
    v->n_funcs = n;
    v->memory->n_named = 0; /* names were written over */
    v->result.since = 0;
    map_done(&numbers);
    mem_free(new_number);
}

/* ---- what needs names to be decided ---- */

static struct select_trie trie_of(struct view *v, const struct view_query *q)
{
    struct view_memory *m = v->memory;
    MEM_GROW(m->func_hits, m->func_hits_cap, v->n_funcs);
    m->func_hits[0] = 0;
    for (uint32_t i = 1; i < v->n_funcs; i++) {
        const struct view_function *f = &v->funcs[i];
        m->func_hits[i] = select_hits(q, &(struct select_named){ f->name, f->module, f->key, m->func_idles[i] });
    }
    struct select_trie trie = {
        .parent = v->result.parent,
        .frame = v->result.frame,
        .by_frame = v->frame_func,
        .hits = m->func_hits,
    };
    if (select_by_path(&trie, q)) {
        MEM_GROW(m->path_hits, m->path_hits_cap, v->result.n_nodes);
        trie.path_hits = m->path_hits;
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
    bool idle = sample->flags & SAMPLE_IDLE && select_idles(w->trie, sample->stack);
    return select_passes(w->trie, sample->stack) && (!idle || w->show_idle);
}

/* A CPU idles when the idle task sits in one of the idle functions; while the kernel's names are not there yet the
 * whole idle task counts as that, and where they never come, too. */
static void decide_by_names(struct view *v, const struct view_query *q, struct session_samples *samples)
{
    struct view_memory *m = v->memory;
    struct select_trie trie = trie_of(v, q);
    const struct result *r = view_judged(v);
    const uint32_t *node_of = view_inlined_nodes(v);
    MEM_GROW(m->drop, m->drop_cap, r->n_entries + 1);
    for (uint32_t i = 0; i < r->n_entries; i++) {
        const struct result_entry *en = &r->entries[i];
        uint32_t node = node_of ? node_of[en->node] : en->node;
        bool idle = en->idle && select_idles(&trie, node);
        v->idle_samples += idle ? en->count : 0;
        v->idle_weight += idle ? en->weight : 0;
        m->drop[i] = (idle && !q->show_idle) || !select_passes(&trie, node) || !en->count;
    }
    if (samples)
        samples_keep(samples, is_shown, &(struct showing){ v, &trie, q->show_idle });
}

bool view_judge(struct view *v, const struct view_query *q, uint8_t **verdicts, size_t *cap, uint32_t *n,
                struct result_moment *moment)
{
    const struct result *r = view_judged(v);
    const uint32_t *node_of = view_inlined_nodes(v);
    struct select_trie trie = trie_of(v, q);
    *n = r->n_nodes;
    *moment = result_moment(r);
    MEM_GROW(*verdicts, *cap, (size_t)*n);
    for (uint32_t i = 0; i < *n; i++) {
        uint32_t node = node_of ? node_of[i] : i;
        (*verdicts)[i] = (uint8_t)((select_passes(&trie, node) ? VIEW_PASSES : 0) |
                                   (select_idles(&trie, node) ? VIEW_IDLES : 0));
    }
    return r->n_frames_before > 1;
}

const struct result *view_judged(const struct view *v)
{
    return v->memory->inlines.replaced ? &v->memory->inlines.original : &v->result;
}

const uint32_t *view_inlined_nodes(const struct view *v)
{
    return v->memory->inlines.replaced ? v->memory->inlines.expanded.last_node : NULL;
}

/* ---- the whole ---- */

static void trim_names(struct session *s)
{
    pthread_mutex_lock(&s->lock);
    uint32_t n = 0;
    uint8_t *keep = s->trim_wanted ? bounds_modules_in_use(s, &n) : NULL;
    s->trim_wanted = false;
    if (keep) {
        symbolizer_trim(s->symbolizer, keep, n); /* under the lock: unwinding uses its tables */
        userstack_forget(s);
    }
    pthread_mutex_unlock(&s->lock);
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
    add_group(v, 0, 0, "all");
}

static void view_scan(struct session *s, const struct view_query *q, struct view *v, struct session_samples *samples)
{
    struct view_memory *m = v->memory;
    uint32_t n = world_thread_count(s->world);
    MEM_GROW(m->thread_group, m->thread_group_cap, n + 1);
    MEM_GROW(m->thread_pass, m->thread_pass_cap, n + 1);
    struct query scan = select_samples(s, q, m->thread_pass);
    scan.by_cpu = q->group == VIEW_GROUP_CPU;
    scan.thread_group = groups_threads(q->group) ? m->thread_group : NULL;
    if (q->group == VIEW_GROUP_CGROUP_SYMBOL)
        group_chosen(s, v);
    if (groups_threads(q->group))
        group_threads(s, v, q, &scan);
    memset(v->beside, 0, sizeof v->beside);
    if (q->beside && !q->all_events)
        beside_choose(s, &scan, v->beside);
    query_run(&scan, s->history, s->stacks, &v->result);
    if (samples)
        samples_take(samples, s, &scan);
    hold_modules(s, v);
    v->weight_is_time = s->n_events && event_is_clock(&s->events[s->current_event].event);
}

static void scan_anew(struct session *s, const struct view_query *q, struct view *v, struct session_samples *samples)
{
    trim_names(s);
    view_start(v);
    v->generation = session_generation(s); /* before the scan: what comes meanwhile is news */
    pthread_mutex_lock(&s->lock);
    view_scan(s, q, v, samples);
    pthread_mutex_unlock(&s->lock);
}

void session_query_names(struct session *s, const struct view_query *q, struct view *v)
{
    if (s->bundle) /* it brought them */
        return;
    scan_anew(s, q, v, NULL);
    for (size_t i = 0; i < v->memory->n_modules; i++)
        symbolizer_request(s->symbolizer, v->memory->modules[i].module);
}

static void ask(struct session *s, const struct view_query *q, struct view *v, struct session_samples *samples)
{
    scan_anew(s, q, v, samples);
    if (q->group == VIEW_GROUP_CPU)
        group_cpus(v);
    name_frames(s, v);
    expand_inlines(s, q, v);
    v->all_samples = view_judged(v)->samples;
    decide_by_names(v, q, samples);
    inlines_filter(&v->memory->inlines, v, v->memory->drop);
    if (v->memory->names_change)
        v->result.since = 0;
    if (q->group == VIEW_GROUP_MODULE)
        name_modules(v);
}

void session_query(struct session *s, const struct view_query *q, struct view *v)
{
    ask(s, q, v, NULL);
}

bool session_samples(struct session *s, const struct view_query *q, struct view *v, struct session_samples *out,
                     struct error *e)
{
    session_samples_done(out);
    ask(s, q, v, out);
    samples_sort(out);
    return !out->no_memory ||
           error_set(e, ERROR_LIMIT, "not enough memory to copy the samples: narrow the window or the scope");
}
