// SPDX-License-Identifier: GPL-2.0-or-later
/* Decides which samples a query counts. Zooms and filters by name are decided after the scan, on the
 * query's own copy of the trie or on the copy that is saved. So `profile` needs no names and is tested
 * with bare numbers. */
#include "session/query/select.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "process/cgroup.h"

#define HIT_FILTER (1u << VIEW_ZOOMS_MAX) /* lower bits: one per zoom */
#define HIT_IDLE   (HIT_FILTER << 1)

/* ---- during the scan ---- */

static void choose_range(struct session *s, const struct view_query *q, uint64_t *from_ns, uint64_t *to_ns)
{
    uint64_t now = s->load.file ? s->load.last_ns : s->store.frozen_ns;
    *to_ns = q->to_ns && (!s->store.frozen_ns || q->to_ns < s->store.frozen_ns) ? q->to_ns : now;
    *from_ns = q->from_ns;
    if (!q->from_ns && q->window_ns) {
        uint64_t end = *to_ns ? *to_ns : s->store.drained_ns;
        *from_ns = end > q->window_ns ? end - q->window_ns : 0;
    }
    if (!q->from_ns && *from_ns < s->store.scope_ns)
        *from_ns = s->store.scope_ns;
    if (*from_ns < s->store.clear_ns)
        *from_ns = s->store.clear_ns;
}

/* Samples from before a switch of scope are shown if they belong to the new scope. */
static bool in_scope(struct session *s, const struct map *ids, const struct world_thread *t)
{
    const struct scope *scope = &s->source.scope;
    switch (scope->kind) {
    case SCOPE_PIDS:
        return map_get(ids, t->pid, NULL);
    case SCOPE_TIDS:
        return map_get(ids, t->tid, NULL);
    case SCOPE_USER:
        return t->uid == scope->uid;
    case SCOPE_CGROUP:
        return scope_cgroup_of(s, t) >= 0;
    case SCOPE_ALL:
        break;
    }
    return true;
}

/* Compares by the path of the zoom's number: its text is only a label, and too short for some paths. */
static bool in_cgroup(struct session *s, uint64_t id, const struct world_thread *t)
{
    char root[PATH_MAX];
    snprintf(root, sizeof root, "%s", world_cgroup_path(s->store.world, id));
    return t->cgroup == id ||
           (*root && t->cgroup && cgroup_is_below(world_cgroup_path(s->store.world, t->cgroup), root));
}

static bool in_list(const char *list, uint32_t number, const char *comm)
{
    char copy[sizeof((struct zoom *)NULL)->text], *rest = copy, *word;
    snprintf(copy, sizeof copy, "%s", list);
    while ((word = strsep(&rest, ","))) {
        uint64_t id;
        if (text_parse_u64(word, 0, UINT32_MAX, &id) ? id == number : !strcmp(word, comm))
            return true;
    }
    return false;
}

static bool in_zoom(struct session *s, const struct zoom *z, const struct world_thread *t)
{
    switch (z->kind) {
    case ZOOM_COMM:
        return !strcmp(t->comm, z->text);
    case ZOOM_PROCESS:
        return z->number == ZOOM_LIST ? in_list(z->text, t->pid, t->comm) : t->pid == z->number;
    case ZOOM_THREAD:
        return z->number == ZOOM_LIST ? in_list(z->text, t->tid, t->comm) : t->tid == z->number;
    case ZOOM_PARENT:
        return t->ppid == z->number;
    case ZOOM_CGROUP:
        return in_cgroup(s, z->number, t);
    default: /* the others do not depend on threads */
        return true;
    }
}

static void choose_threads(struct session *s, const struct view_query *q, uint8_t *pass, uint32_t n)
{
    struct map ids = { 0 };
    for (uint32_t i = 0; i < s->source.scope.n_ids; i++)
        map_put(&ids, s->source.scope.ids[i], 1);
    for (uint32_t id = 0; id < n; id++) {
        const struct world_thread *t = world_thread(s->store.world, id);
        bool sampled_now =
            id < s->store.thread_scope.cap && s->store.thread_scope.items[id] == s->store.scope_number;
        pass[id] = t && (s->load.file || sampled_now || in_scope(s, &ids, t));
        for (uint32_t i = 0; i < q->n_zooms && pass[id]; i++)
            pass[id] = in_zoom(s, &q->zooms[i], t);
    }
    map_done(&ids);
}

/* A zoom overrides the scope: it may show samples from before a switch. */
static void choose_cpus(struct session *s, const struct view_query *q, struct query *out)
{
    const struct scope *scope = s->load.file ? &s->cfg.scope : &s->source.scope;
    bool by_list = !s->load.file;
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == ZOOM_CPU && q->zooms[i].number == ZOOM_LIST)
            by_list = true;
        else if (q->zooms[i].kind == ZOOM_CPU)
            out->only_cpu = q->zooms[i].number < UINT16_MAX ? (uint32_t)q->zooms[i].number + 1 : UINT32_MAX;
    if (!out->only_cpu && by_list && scope->cpus) {
        out->cpu_pass = scope->cpus;
        out->n_cpu_pass = scope->n_cpus;
    }
}

const char *const zoom_words[] = {
    [ZOOM_MODULE] = "module",     [ZOOM_COMM] = "comm",
    [ZOOM_PROCESS] = "process",   [ZOOM_THREAD] = "thread",
    [ZOOM_CPU] = "cpu",           [ZOOM_CGROUP] = "cgroup",
    [ZOOM_FUNCTION] = "function", [ZOOM_PARALLELISM] = "parallelism",
    [ZOOM_DEVICE] = "device",     [ZOOM_PARENT] = "parent",
};

static void remove_parallelism(struct view_query *q)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind != ZOOM_PARALLELISM)
            q->zooms[n++] = q->zooms[i];
    memset(&q->zooms[n], 0, (q->n_zooms - n) * sizeof *q->zooms);
    q->n_zooms = n;
}

bool view_zoom_parallelism(struct view_query *q, uint32_t from, uint32_t to)
{
    remove_parallelism(q);
    if (!to)
        return true;
    if (q->n_zooms == VIEW_ZOOMS_MAX)
        return false;
    struct zoom *z = &q->zooms[q->n_zooms++];
    *z = (struct zoom){ .kind = ZOOM_PARALLELISM, .number = (uint64_t)to << 32 | from };
    if (to == SAMPLE_RUNNING)
        snprintf(z->text, sizeof z->text, "%u or more", from);
    else if (from < to)
        snprintf(z->text, sizeof z->text, "%u-%u", from, to);
    else
        snprintf(z->text, sizeof z->text, "%u", from);
    return true;
}

static void choose_parallelism(const struct view_query *q, struct query *out)
{
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == ZOOM_PARALLELISM) {
            out->running_from = (uint32_t)q->zooms[i].number;
            out->running_to = (uint32_t)(q->zooms[i].number >> 32);
        }
}

static bool shows_operations(const struct session *s)
{
    return s->store.n_events && s->store.events[s->store.current_event].event.latency;
}

struct query select_samples(struct session *s, const struct view_query *q, uint8_t *pass)
{
    struct query out = {
        .event = q->all_events ? QUERY_ANY_EVENT : s->store.current_event,
        .need_flags = q->mode == VIEW_MODE_KERNEL ? SAMPLE_KERNEL
                      : q->mode == VIEW_MODE_USER ? SAMPLE_USER
                                                  : 0,
        .thread_pass = pass,
        .n_threads = world_thread_count(s->store.world),
    };
    if (offcpu_file_is_apart(s, s->collect.offcpu.event))
        out.apart = s->collect.offcpu.event + 1;
    out.hidden = s->collect.offcpu.running ? s->collect.offcpu.running + 1 : 0;
    if (q->max_ns && shows_operations(s)) {
        out.event = s->store.current_event;
        out.weight_from = q->min_ns;
        out.weight_to = q->max_ns;
    }
    choose_range(s, q, &out.from_ns, &out.to_ns);
    choose_threads(s, q, pass, out.n_threads);
    choose_cpus(s, q, &out);
    choose_parallelism(q, &out);
    return out;
}

/* ---- verdicts by name ---- */

/* "[block: vda write]" is of the device vda. Without a device in its names, a row's whole name is one. */
static bool is_of_device(const char *name, const char *device)
{
    const char *row_end = strstr(name, ": "), *from = row_end ? row_end + 2 : name + 1;
    size_t n = strlen(device);
    return *name == '[' && !strncmp(from, device, n) && (from[n] == ' ' || from[n] == ']');
}

uint16_t select_hits(const struct view_query *q, const struct select_named *n)
{
    unsigned hits = n->idles ? HIT_IDLE : 0;
    for (uint32_t i = 0; i < q->n_zooms; i++) {
        const struct zoom *z = &q->zooms[i];
        if (z->kind == ZOOM_MODULE   ? !strcmp(n->module, z->text)
            : z->kind == ZOOM_DEVICE ? is_of_device(n->name, z->text)
                                     : z->kind == ZOOM_FUNCTION && n->key == z->number)
            hits |= 1u << i;
    }
    if (*q->filter && text_find_nocase(n->name, q->filter))
        hits |= HIT_FILTER;
    return (uint16_t)hits;
}

static uint16_t zooms_of(const struct view_query *q, enum zoom_kind kind)
{
    unsigned bits = 0;
    for (uint32_t i = 0; i < q->n_zooms; i++)
        bits |= (unsigned)(q->zooms[i].kind == kind) << i;
    return (uint16_t)bits;
}

bool select_ignores_names(const struct view_query *q)
{
    return !*q->filter && !zooms_of(q, ZOOM_FUNCTION) && !zooms_of(q, ZOOM_DEVICE);
}

bool select_by_path(struct select_trie *t, const struct view_query *q)
{
    t->path_wanted =
        (uint16_t)(zooms_of(q, ZOOM_FUNCTION) | zooms_of(q, ZOOM_DEVICE) | (*q->filter ? HIT_FILTER : 0));
    t->leaf_wanted = zooms_of(q, ZOOM_MODULE);
    return t->path_wanted;
}

static uint16_t hits_at(const struct select_trie *t, uint32_t node)
{
    uint32_t frame = t->frame[node];
    return node ? t->hits[t->by_frame ? t->by_frame[frame] : frame] : 0;
}

/* Parents come first. */
void select_mark(struct select_trie *t, uint32_t n_nodes)
{
    t->path_hits[0] = 0;
    for (uint32_t i = 1; i < n_nodes; i++)
        t->path_hits[i] = t->path_hits[t->parent[i]] | hits_at(t, i);
}

bool select_passes(const struct select_trie *t, uint32_t node)
{
    return (!t->path_wanted || (t->path_hits[node] & t->path_wanted) == t->path_wanted) &&
           (!t->leaf_wanted || (hits_at(t, node) & t->leaf_wanted) == t->leaf_wanted);
}

bool select_idles(const struct select_trie *t, uint32_t node)
{
    if (!node || hits_at(t, node) & HIT_IDLE)
        return true;
    while (node && t->frame_module && t->frame_module[t->frame[node]] != MODULE_ID_WAIT)
        node = t->parent[node]; /* a waker's stack is on top of the wait */
    return node && t->frame_module;
}

bool select_shows(const struct select_trie *t, const struct sample *sample, bool show_idle)
{
    bool idle = sample->flags & SAMPLE_IDLE && select_idles(t, sample->stack);
    return select_passes(t, sample->stack) && (!idle || show_idle);
}
