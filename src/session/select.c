// SPDX-License-Identifier: GPL-2.0-or-later
/* Which samples a query is about: the range of time, and the threads that the scope and the zooms let pass. */
#include <string.h>

#include "session/state.h"

void view_range(struct session *s, const struct view_query *q, uint64_t *from_ns, uint64_t *to_ns)
{
    uint64_t now = s->file ? s->file_last_ns : s->frozen_ns;
    *to_ns = q->to_ns && (!s->frozen_ns || q->to_ns < s->frozen_ns) ? q->to_ns : now;
    *from_ns = q->from_ns;
    if (!q->from_ns && q->window_ns) {
        uint64_t end = *to_ns ? *to_ns : s->drained_ns;
        *from_ns = end > q->window_ns ? end - q->window_ns : 0;
    }
    if (*from_ns < s->clear_ns)
        *from_ns = s->clear_ns;
}

static bool below_cgroup(const char *path, const char *root)
{
    size_t n = strlen(root);
    if (n && root[n - 1] == '/')
        n--;
    return !strncmp(path, root, n) && (path[n] == '/' || !path[n]);
}

/* Samples from before a switch of scope are shown when they are of what the scope now means. */
static bool in_scope(struct session *s, const struct map *ids, const struct world_thread *t)
{
    const struct scope *scope = &s->running_scope;
    switch (scope->kind) {
    case SCOPE_PIDS:
        return map_get(ids, t->pid, NULL);
    case SCOPE_TIDS:
        return map_get(ids, t->tid, NULL);
    case SCOPE_USER:
        return t->uid == scope->uid;
    case SCOPE_CGROUP:
        return t->cgroup && below_cgroup(world_cgroup_path(s->world, t->cgroup), scope->cgroup);
    case SCOPE_ALL:
        break;
    }
    return true;
}

static bool in_zoom(struct session *s, const struct zoom *z, const struct world_thread *t)
{
    switch (z->kind) {
    case ZOOM_COMM:
        return !strcmp(t->comm, z->text);
    case ZOOM_PROCESS:
        return t->pid == z->number;
    case ZOOM_THREAD:
        return t->tid == z->number;
    case ZOOM_CGROUP:
        return t->cgroup == z->number || below_cgroup(world_cgroup_path(s->world, t->cgroup), z->text);
    default: /* the others are no matter of threads */
        return true;
    }
}

void view_filter_threads(struct session *s, const struct view_query *q, uint8_t *pass, uint32_t n)
{
    struct map ids = { 0 };
    for (uint32_t i = 0; i < s->running_scope.n_ids; i++)
        map_put(&ids, s->running_scope.ids[i], 1);
    for (uint32_t id = 0; id < n; id++) {
        const struct world_thread *t = world_thread(s->world, id);
        bool sampled_now = id < s->thread_scope_cap && s->thread_scope[id] == s->scope_number;
        pass[id] = t && (s->file || sampled_now || in_scope(s, &ids, t));
        for (uint32_t i = 0; i < q->n_zooms && pass[id]; i++)
            pass[id] = in_zoom(s, &q->zooms[i], t);
    }
    map_done(&ids);
}
