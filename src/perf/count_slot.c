// SPDX-License-Identifier: GPL-2.0-or-later
/* The slots of a set of counters. */
#include <string.h>

#include "base/mem.h"
#include "perf/count_set.h"

#define SLOTS_MAX 16384

struct count_slot *count_slot_add(struct count_set *c, enum count_slot_kind kind, pid_t pid, int cpu,
                                  uint32_t source)
{
    if (c->slots.n >= SLOTS_MAX)
        return NULL;
    struct count_slot *slot = VEC_PUSH(&c->slots);
    memset(slot, 0, sizeof *slot);
    *slot = (struct count_slot){ .kind = kind, .pid = pid, .cpu = cpu, .source = source, .main = true };
    if (cpu >= 0)
        slot->at = topology_of((uint32_t)cpu);
    for (int i = 0; i < COUNT_EVENTS; i++)
        slot->fds[i] = -1;
    return slot;
}

bool count_is_open(const struct count_set *c, enum count_event event)
{
    for (uint32_t i = 0; i < c->slots.n; i++)
        if (c->slots.items[i].fds[event] >= 0 && c->slots.items[i].kind != SLOT_CGROUP)
            return true;
    return false;
}
