// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds a session by hand around an empty world, for synthetic records. Each test defines feed_record(),
 * which processes a record. */
#ifndef FLAMETOP_TESTS_COLLECTOR_FIXTURE_H
#define FLAMETOP_TESTS_COLLECTOR_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "session/session_state.h"
#include "unit_test.h"

#define MB     (UINT64_C(1) << 20)
#define BUDGET (2 * MB)
#define TEXT   UINT64_C(0x400000)
#define JIT    UINT64_C(0x7f0000000000)

static struct session *s;
static uint64_t now_ns;

static void feed_record(const struct record *r);

static inline int set_up(void **state)
{
    s = mem_zalloc(sizeof *s);
    pthread_mutex_init(&s->store.lock, NULL);
    s->store.world = world_new(false);
    s->store.stacks = stacks_new();
    s->store.history = history_new();
    s->unwind.locations = mem_lines(LOCATION_CACHE_SLOTS, sizeof *s->unwind.locations);
    s->unwind.callers = mem_lines(CALLERS_CACHE_SLOTS, sizeof *s->unwind.callers);
    unwind_cache_open(&s->unwind.user.unwind_cache, 0);
    s->collect.budget_bytes = BUDGET;
    s->collect.world_floor_bytes = world_bytes(s->store.world);
    session_add_event(s);
    s->store.scope_number = 1;
    now_ns = 1000;
    return 0;
}

static inline int tear_down(void **state)
{
    world_free(s->store.world);
    stacks_free(s->store.stacks);
    history_free(s->store.history);
    mem_free(s->unwind.locations);
    mem_free(s->unwind.callers);
    mem_free(s->store.events);
    unwind_cache_done(&s->unwind.user.unwind_cache);
    mem_free(s->store.thread_scope.items);
    pthread_mutex_destroy(&s->store.lock);
    mem_free(s);
    return 0;
}

static inline struct record record(uint32_t type, uint32_t pid)
{
    return (struct record){ .type = type,
                            .misc = PERF_RECORD_MISC_USER,
                            .known = true,
                            .id = { .time_ns = ++now_ns, .pid = pid, .tid = pid } };
}

static inline void do_fork(uint32_t pid, uint32_t ppid)
{
    struct record r = record(PERF_RECORD_FORK, pid);
    r.task.pid = r.task.tid = pid;
    r.task.ppid = r.task.ptid = ppid;
    feed_record(&r);
}

static inline void do_exit(uint32_t pid)
{
    struct record r = record(PERF_RECORD_EXIT, pid);
    r.task.pid = r.task.tid = pid;
    feed_record(&r);
}

static inline void do_comm(uint32_t pid, const char *comm, bool exec)
{
    struct record r = record(PERF_RECORD_COMM, pid);
    r.comm.pid = r.comm.tid = pid;
    r.comm.comm = comm;
    r.comm.exec = exec;
    feed_record(&r);
}

static inline void do_mmap(uint32_t pid, uint64_t addr, uint64_t len, const char *path, uint64_t ino)
{
    struct record r = record(PERF_RECORD_MMAP2, pid);
    r.mmap.pid = r.mmap.tid = pid;
    r.mmap.addr = addr;
    r.mmap.len = len;
    r.mmap.prot = PROT_EXEC | PROT_READ;
    r.mmap.path = path;
    r.mmap.ino = ino;
    feed_record(&r);
}

#endif
