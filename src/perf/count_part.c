// SPDX-License-Identifier: GPL-2.0-or-later
/* Split the total by CPU, core, socket, process, thread or cgroup, and issue slots by use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/procfile.h"
#include "base/text.h"
#include "perf/count_set.h"

const char *const count_by_names[COUNT_BY_KINDS] = {
    [COUNT_BY_CPU] = "cpu",         [COUNT_BY_CORE] = "core",     [COUNT_BY_SOCKET] = "socket",
    [COUNT_BY_PROCESS] = "process", [COUNT_BY_THREAD] = "thread", [COUNT_BY_CGROUP] = "cgroup",
};

/* Key shared by all slots of a part. */
static uint64_t key_of(const struct count_slot *slot, enum count_by by)
{
    switch (by) {
    case COUNT_BY_CORE:
        return (uint64_t)slot->at.socket << 32 | slot->at.core;
    case COUNT_BY_SOCKET:
        return slot->at.socket;
    case COUNT_BY_THREAD:
        return (uint64_t)slot->pid;
    case COUNT_BY_PROCESS:
    case COUNT_BY_CGROUP:
        return slot->owner;
    default:
        return (uint64_t)slot->cpu;
    }
}

static bool takes(const struct count_slot *slot, enum count_by by)
{
    switch (slot->kind) {
    case SLOT_CPU:
        return by == COUNT_BY_CPU || by == COUNT_BY_CORE || by == COUNT_BY_SOCKET;
    case SLOT_SOCKET:
        return by == COUNT_BY_SOCKET;
    case SLOT_TASK:
        return by == COUNT_BY_PROCESS || by == COUNT_BY_THREAD;
    default:
        return by == COUNT_BY_CGROUP;
    }
}

bool count_can_split(const struct count_set *c, enum count_by by)
{
    for (uint32_t i = 0; i < c->slots.n; i++)
        if (takes(&c->slots.items[i], by) && c->slots.items[i].kind != SLOT_SOCKET)
            return true;
    return false;
}

static void read_comm(char *dst, size_t cap, const struct count_part *part)
{
    procfile_read_comm(part->number, dst, cap);
    if (!*dst)
        (void)snprintf(dst, cap, "(ended)");
}

static void name_core(const struct count_set *c, uint64_t key, char *dst, size_t cap)
{
    size_t n = (size_t)snprintf(dst, cap, "%u/%u (", (unsigned)(key >> 32), (unsigned)(uint32_t)key);
    const char *before = "CPU ";
    for (uint32_t i = 0; i < c->n_cpus && n < cap; i++) {
        if (key_of(&c->slots.items[i], COUNT_BY_CORE) != key)
            continue;
        n += (size_t)snprintf(dst + n, cap - n, "%s%d", before, c->slots.items[i].cpu);
        before = ",";
    }
    if (n < cap)
        (void)snprintf(dst + n, cap - n, ")");
}

static void name_part(const struct count_set *c, enum count_by by, uint64_t key, struct count_part *part)
{
    part->key = key;
    part->number = (uint32_t)key;
    if (by == COUNT_BY_CORE)
        name_core(c, key, part->name, sizeof part->name);
    else if (by == COUNT_BY_CGROUP)
        text_clean(part->name, sizeof part->name, c->cgroups.items[key], strlen(c->cgroups.items[key]));
    else if (by == COUNT_BY_PROCESS || by == COUNT_BY_THREAD)
        read_comm(part->name, sizeof part->name, part);
    else
        (void)snprintf(part->name, sizeof part->name, "%u", part->number);
}

struct keyed {
    uint64_t key;
    uint32_t slot;
};

static int compare(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key)
                            : (x->slot > y->slot) - (x->slot < y->slot);
}

static void heat(const struct count_set *c, enum count_by by, struct count_part *part)
{
    for (uint32_t i = 0; by == COUNT_BY_SOCKET && i < c->n_heats; i++)
        if (c->heats[i].socket == part->number)
            part->values[COUNT_TEMPERATURE] = (struct count_value){ COUNT_OK, c->heats[i].celsius, 1 };
}

struct count_part *count_split(const struct count_set *c, enum count_by by, uint32_t *n)
{
    struct keyed *keys = mem_array(c->slots.n + 1, sizeof *keys);
    uint32_t *slots = mem_array(c->slots.n + 1, sizeof *slots);
    VEC(struct count_part) parts = { 0 };
    uint32_t taken = 0;
    for (uint32_t i = 0; i < c->slots.n; i++)
        if (takes(&c->slots.items[i], by))
            keys[taken++] = (struct keyed){ key_of(&c->slots.items[i], by), i };
    qsort(keys, taken, sizeof *keys, compare);
    for (uint32_t i = 0; i < taken; i++)
        slots[i] = keys[i].slot;
    for (uint32_t i = 0, end; i < taken; i = end) {
        for (end = i + 1; end < taken && keys[end].key == keys[i].key;)
            end++;
        struct count_part *part = VEC_PUSH(&parts);
        name_part(c, by, keys[i].key, part);
        count_sum(c, slots + i, end - i, part->values);
        heat(c, by, part);
    }
    mem_free(keys);
    mem_free(slots);
    *n = (uint32_t)parts.n;
    return parts.items;
}

bool count_part_has_cpu(const struct count_set *c, enum count_by by, const struct count_part *part,
                        uint32_t i)
{
    return takes(&c->slots.items[i], by) && key_of(&c->slots.items[i], by) == part->key;
}
