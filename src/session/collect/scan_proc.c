// SPDX-License-Identifier: GPL-2.0-or-later
/* Scans /proc for what records do not contain: mappings from before the start, memfds, namespaces, and what
 * was in lost records. Reading /proc may be slow (a process that is stuck in the kernel holds its map lock),
 * so it is not done under the lock. */
#include "base/clock.h"
#include "base/mem.h"
#include "process/namespaces.h"
#include "session/session_state.h"

#define CPU_SHARE      100 /* one part of this many of a CPU's time is used for stale processes */
#define WAIT_SHARE     10  /* the same for the time spent waiting */
#define STALE_SAVED_NS (5 * NS_PER_SEC) /* the shares of this time can be used at once */

static void read_proc(struct session *s, uint32_t pid)
{
    pthread_mutex_unlock(&s->store.lock);
    struct proc_snapshot *snapshot = world_read_proc(pid);
    pthread_mutex_lock(&s->store.lock);
    world_install(s->store.world, pid, snapshot);
}

/* If records are lost all the time, each process could be read again and again: this uses 1 % of one CPU at
 * most, and a tenth of the time. After a loss many are read at once, with what was not used before. */
static void read_stale(struct session *s, uint32_t pid)
{
    uint64_t start_ns = clock_now_ns(), start_cpu_ns = clock_thread_cpu_ns();
    uint64_t *paid_ns = &s->collect.stale_paid_ns;
    if (*paid_ns > start_ns + STALE_SAVED_NS)
        return;
    read_proc(s, pid);
    uint64_t cpu_ns = CPU_SHARE * (clock_thread_cpu_ns() - start_cpu_ns),
             wait_ns = WAIT_SHARE * (clock_now_ns() - start_ns);
    *paid_ns = (*paid_ns > start_ns ? *paid_ns : start_ns) + (cpu_ns > wait_ns ? cpu_ns : wait_ns);
}

static void read_memfd(struct session *s, const struct world_memfd *m)
{
    bool elf;
    pthread_mutex_unlock(&s->store.lock);
    bool known = world_read_memfd(m, &elf);
    pthread_mutex_lock(&s->store.lock);
    world_tell_memfd(s->store.world, m, known, elf);
}

static void read_remap(struct session *s, struct world_remap *r)
{
    pthread_mutex_unlock(&s->store.lock);
    bool same = world_read_remap(r);
    pthread_mutex_lock(&s->store.lock);
    world_tell_remap(s->store.world, r, same);
}

/* Namespaces are read here, since recording them would make the kernel look them up at each fork on the
 * system. */
static void read_namespaces(struct session *s, uint32_t pid)
{
    struct namespaces ns;
    pthread_mutex_unlock(&s->store.lock);
    bool known = namespaces_of_process(pid, &ns);
    pthread_mutex_lock(&s->store.lock);
    world_set_namespaces(s->store.world, pid, known ? &ns : NULL);
}

void scan_proc_of(struct session *s, uint32_t pid)
{
    for (struct world_memfd m; world_wants_memfd(s->store.world, &m);)
        read_memfd(s, &m);
    for (struct world_remap r; world_wants_remap(s->store.world, &r);)
        read_remap(s, &r);
    for (uint32_t next; (next = world_wants_proc(s->store.world, pid));)
        read_proc(s, next);
    if (world_is_stale(s->store.world, pid))
        read_stale(s, pid);
    if (world_wants_namespaces(s->store.world, pid))
        read_namespaces(s, pid);
}

void scan_proc_namespaces(struct session *s)
{
    uint32_t n = 0;
    pthread_mutex_lock(&s->store.lock);
    uint32_t *pids = mem_array(world_thread_count(s->store.world) + 1, sizeof *pids);
    for (uint32_t i = 1; i < world_thread_count(s->store.world); i++) {
        const struct world_thread *t = world_thread(s->store.world, i);
        if (t && !t->exited && t->pid && t->pid == t->tid)
            pids[n++] = t->pid;
    }
    for (uint32_t i = 0; i < n; i++)
        read_namespaces(s, pids[i]);
    pthread_mutex_unlock(&s->store.lock);
    mem_free(pids);
}

void scan_proc_of_targets(struct session *s)
{
    const struct scope *scope = &s->source.scope;
    bool named = scope->kind == SCOPE_PIDS || scope->kind == SCOPE_TIDS;
    if (s->source.targets_read == s->store.scope_number)
        return;
    s->source.targets_read = s->store.scope_number;
    if (!named || scope->own || scope->command)
        return;
    for (uint32_t i = 0; i < scope->n_ids && !s->stop; i++) {
        uint32_t pid = scope->kind == SCOPE_PIDS ? scope->ids[i] : scope_process_of(scope->ids[i]);
        pthread_mutex_lock(&s->store.lock);
        scan_proc_of(s, pid);
        pthread_mutex_unlock(&s->store.lock);
    }
}
