// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups of a view: its rows, or the roots of its stacks, when it is not grouped as a whole. */
#include <stdio.h>
#include <string.h>

#include "session/query/view_parts.h"

/* clang-format off */
const char *const view_group_names[VIEW_GROUP_COUNT] = {
    [VIEW_GROUP_SYMBOL] = "symbol",
    [VIEW_GROUP_COMM_SYMBOL] = "comm,symbol",
    [VIEW_GROUP_COMM] = "comm",
    [VIEW_GROUP_MODULE] = "module",
    [VIEW_GROUP_PROCESS] = "process",
    [VIEW_GROUP_THREAD] = "thread",
    [VIEW_GROUP_CPU] = "cpu",
    [VIEW_GROUP_CGROUP] = "cgroup",
    [VIEW_GROUP_CGROUP_SYMBOL] = "cgroup,symbol",
};
/* clang-format on */

uint32_t view_add_group(struct view *v, uint64_t key, uint64_t number, const char *label)
{
    struct view_memory *m = v->memory;
    MEM_GROW(v->groups, m->groups_cap, v->n_groups + 1);
    const char *kept = arena_strndup(&m->strings, label, strlen(label));
    v->groups[v->n_groups] =
        (struct view_group_info){ .label = kept, .full = kept, .number = number, .key = key };
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
    uint32_t group = view_add_group(v, key, id, *path ? label : "[no cgroup]");
    if (*path)
        v->groups[group].full = arena_strndup(&v->memory->strings, path, strlen(path));
    return group;
}

/* Labels a process by its first thread, which names the program even if it sleeps, as a Java VM's does. */
static uint32_t add_process(struct session *s, struct view *v, uint64_t key, const struct world_thread *t)
{
    const char *first = t->tid == t->pid ? NULL : world_process_comm(s->store.world, t->pid);
    char label[64];
    world_task_label(first ? first : t->comm, t->pid, label, sizeof label);
    return view_add_group(v, key, t->pid, label);
}

static uint32_t add_thread(struct view *v, uint64_t key, const char *label, const struct world_thread *t)
{
    uint32_t group = view_add_group(v, key, t->tid, label);
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
        world_task_label(t->comm, t->tid, label, sizeof label);
        return add_thread(v, key, label, t);
    case VIEW_GROUP_CGROUP:
    case VIEW_GROUP_CGROUP_SYMBOL:
        return add_cgroup(s, v, key, t->cgroup, world_cgroup_path(s->store.world, t->cgroup));
    default:
        return view_add_group(v, key, 0, t->comm);
    }
}

static void group_thread(struct session *s, struct view *v, enum view_group group, uint32_t id)
{
    const struct world_thread *t = world_thread(s->store.world, id);
    uint64_t key = thread_group_key(group, t);
    bool created = false;
    if (!key)
        return;
    int64_t chosen = v->n_chosen ? scope_cgroup_of(s, t) : -1;
    if (chosen >= 0) {
        v->memory->thread_group.items[id] = (uint32_t)chosen + 1;
        return;
    }
    uint64_t at = *map_at(&v->memory->group_numbers, key, v->n_groups, &created);
    v->memory->thread_group.items[id] = created ? add_thread_group(s, v, group, key, t) : (uint32_t)at;
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

/* Groups threads. Only threads with samples in the range get a label, as many more may have had some
 * earlier. A process is named after its newest main thread with samples, if there is one. */
void view_group_threads(struct session *s, struct view *v, const struct view_query *q,
                        const struct query *scan)
{
    struct view_memory *m = v->memory;
    uint32_t n = scan->n_threads;
    uint8_t *thread_seen = memset(VEC_RESERVE(&m->thread_seen, n + 1), 0, n + 1);
    memset(m->thread_group.items, 0, n * sizeof *m->thread_group.items);
    history_scan(s->store.history, scan->from_ns, scan->to_ns, see_run, &(struct seen){ scan, thread_seen });
    for (int leaders = q->group == VIEW_GROUP_PROCESS; leaders >= 0; leaders--)
        for (uint32_t id = n; id-- > 1;) {
            const struct world_thread *t =
                thread_seen[id] && m->thread_pass.items[id] ? world_thread(s->store.world, id) : NULL;
            if (t && (!leaders || t->tid == t->pid))
                group_thread(s, v, q->group, id);
        }
}

void view_group_chosen(struct session *s, struct view *v)
{
    const struct scope *scope = &s->source.scope;
    v->n_chosen = scope_cgroups(scope) > 1 ? scope_cgroups(scope) : 0;
    for (uint32_t i = 0; i < v->n_chosen; i++) {
        const char *path = scope_cgroup(scope, i);
        add_cgroup(s, v, map_hash_bytes(path, strlen(path), 6), 0, path);
    }
}

bool view_groups_threads(enum view_group group)
{
    return group != VIEW_GROUP_SYMBOL && group != VIEW_GROUP_MODULE && group != VIEW_GROUP_CPU;
}

void view_group_cpus(struct view *v)
{
    for (uint32_t i = 0; i < v->result.n_entries; i++)
        while (v->n_groups <= v->result.entries[i].group) {
            uint32_t cpu = v->n_groups - 1;
            char label[24];
            snprintf(label, sizeof label, "cpu %u", cpu);
            view_add_group(v, map_mix(cpu) ^ 5, cpu, label);
        }
}
