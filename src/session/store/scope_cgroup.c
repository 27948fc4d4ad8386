// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the cgroup of the scope that contains a thread. */
#include "process/cgroup.h"
#include "session/session_state.h"

int64_t scope_cgroup_of(struct session *s, const struct world_thread *t)
{
    const struct scope *scope = &s->source.scope;
    const char *path = t->cgroup ? world_cgroup_path(s->store.world, t->cgroup) : "";
    for (uint32_t i = 0; *path && i < scope_cgroups(scope); i++)
        if (cgroup_is_below(path, scope_cgroup(scope, i)))
            return i;
    return -1;
}
