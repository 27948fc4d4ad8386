// SPDX-License-Identifier: GPL-2.0-or-later
/* Applies records to a world, one nanosecond apart, and queries it. */
#ifndef FLAMETOP_TESTS_WORLD_FIXTURE_H
#define FLAMETOP_TESTS_WORLD_FIXTURE_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"
#include "process/proc.h"
#include "process/world.h"
#include "unit_test.h"

static uint64_t now_ns;

static inline struct record record(uint32_t type)
{
    return (struct record){ .type = type, .known = true, .id.time_ns = ++now_ns };
}

static inline void do_fork(struct world *w, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid)
{
    struct record r = record(PERF_RECORD_FORK);

    r.task.pid = pid;
    r.task.tid = tid;
    r.task.ppid = ppid;
    r.task.ptid = ptid;
    r.task.time_ns = now_ns;
    world_apply(w, &r);
}

static inline void do_exit(struct world *w, uint32_t pid, uint32_t tid)
{
    struct record r = record(PERF_RECORD_EXIT);

    r.task.pid = pid;
    r.task.tid = tid;
    world_apply(w, &r);
}

static inline void do_comm(struct world *w, uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
    struct record r = record(PERF_RECORD_COMM);

    r.comm.pid = pid;
    r.comm.tid = tid;
    r.comm.comm = comm;
    r.comm.exec = exec;
    world_apply(w, &r);
}

static inline void do_map(struct world *w, uint32_t pid, uint64_t start, uint64_t end, uint64_t pgoff,
                          const char *path)
{
    struct record r = record(PERF_RECORD_MMAP2);

    r.mmap.pid = r.mmap.tid = pid;
    r.mmap.addr = start;
    r.mmap.len = end - start;
    r.mmap.pgoff = pgoff;
    r.mmap.prot = PROT_READ | PROT_EXEC;
    r.mmap.path = path;
    world_apply(w, &r);
}

static inline void do_lose(struct world *w)
{
    struct record r = record(PERF_RECORD_LOST);

    world_apply(w, &r);
}

static inline void do_kernel_map(struct world *w, uint64_t start, uint64_t len, const char *path)
{
    struct record r = record(PERF_RECORD_MMAP);

    r.misc = PERF_RECORD_MISC_KERNEL;
    r.mmap.pid = ~0u;
    r.mmap.addr = start;
    r.mmap.len = len;
    r.mmap.prot = PROT_EXEC;
    r.mmap.path = path;
    world_apply(w, &r);
}

static inline void do_ksymbol(struct world *w, uint64_t addr, uint32_t len, const char *name, bool gone)
{
    struct record r = record(PERF_RECORD_KSYMBOL);

    r.ksymbol.addr = addr;
    r.ksymbol.len = len;
    r.ksymbol.ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF;
    r.ksymbol.flags = gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0;
    r.ksymbol.name = name;
    world_apply(w, &r);
}

/* ---- /proc ---- */

static inline void read_and_install(struct world *w, uint32_t pid)
{
    world_install(w, pid, world_read_proc(pid));
}

static inline struct proc_snapshot *snapshot(uint32_t pid, const char *comm, uint32_t uid)
{
    struct proc_snapshot *p = mem_zalloc(sizeof *p);

    p->pid = pid;
    p->uid = uid;
    MEM_GROW(p->threads, p->threads_cap, 1);
    p->threads[p->n_threads] = (struct proc_thread){ .tid = pid };
    snprintf(p->threads[p->n_threads++].comm, 16, "%s", comm);
    return p;
}

static inline void snapshot_map(struct proc_snapshot *p, const char *line)
{
    char text[256];

    snprintf(text, sizeof text, "%s", line);
    maps_add_text(&p->maps, text, strlen(text), true);
}

/* ---- queries ---- */

static inline uint32_t thread_of(struct world *w, uint32_t pid, uint32_t tid)
{
    return world_thread_of(w, pid, tid, now_ns, 0);
}

static inline const char *comm_of(struct world *w, uint32_t pid, uint32_t tid)
{
    return world_thread(w, thread_of(w, pid, tid))->comm;
}

/* "libc.so.6+0x123" or "?" */
static inline const char *place_of(struct world *w, uint32_t thread, uint64_t addr)
{
    static char text[4][300];
    static int next;
    char *out = text[next++ % 4];
    struct location place;

    if (!world_resolve(w, thread, addr, false, &place)) {
        assert_int_equal(place.module, MODULE_ID_UNKNOWN);
        assert_int_equal(place.offset, addr);
        return "?";
    }
    snprintf(out, sizeof text[0], "%s+0x%llx", world_module(w, place.module)->name,
             (unsigned long long)place.offset);
    return out;
}

static inline uint32_t module_at(struct world *w, uint32_t thread, uint64_t addr)
{
    struct location place;

    assert_true(world_resolve(w, thread, addr, false, &place));
    return place.module;
}

static inline void collect_all(struct world *w)
{
    world_collect(w, NULL, NULL, 0, NULL);
}

#endif
