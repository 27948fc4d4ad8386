// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/idle_check.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"
#include "perf/cpus.h"
#include "perf/event.h"
#include "perf/ring.h"

#define NAP_NS      NS_PER_MS
#define NAPS_MAX    24 /* on a CPU: until it was idle often enough */
#define IDLE_ENOUGH 4

/* A wakeup that interrupts another task has a record, unless it is one of the few threads that some kernels
 * hide, too. So one without proves nothing, if the CPU did not stay idle. */
enum idle_finding idle_judge(const struct idle_naps *n)
{
    if (n->idle < IDLE_ENOUGH)
        return IDLE_UNKNOWN;
    return n->hidden * 2 > n->idle ? IDLE_HIDDEN : n->hidden ? IDLE_UNKNOWN : IDLE_RECORDED;
}

/* Shared by its user and the thread; the last one frees it. */
struct idle_check {
    atomic_uchar findings[CPU_MASK_MAX]; /* enum idle_finding */
    atomic_uint n;
    atomic_bool runs, complete, stop;
    atomic_uint users;
};

/* The events of a CPU. */
struct counters {
    int idle, woken;  /* -1: not open */
    struct ring ring; /* of woken */
};
#define NO_COUNTERS ((struct counters){ .idle = -1, .woken = -1 })

static int open_counter(const char *name, const char *filter, int cpu, uint64_t period)
{
    struct event ev;
    struct error e = { 0 };
    if (!event_parse(name, &ev, &e))
        return -1;
    ev.attr.sample_period = period;
    ev.attr.disabled = 1; /* or others' wakeups could fill the ring before there is a filter */
    snprintf(ev.filter, sizeof ev.filter, "%s", filter);
    int fd = event_open_fd(&ev.attr, -1, cpu, -1, 0);
    if (fd < 0 || (event_set_filter(fd, &ev) && !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)))
        return fd;
    close(fd);
    return -1;
}

static void close_counters(struct counters *c)
{
    ring_unmap(&c->ring);
    if (c->idle >= 0)
        close(c->idle);
    if (c->woken >= 0)
        close(c->woken);
    *c = NO_COUNTERS;
}

static bool open_counters(struct counters *c, int cpu)
{
    char idle[64], woken[32];
    *c = NO_COUNTERS;
    snprintf(idle, sizeof idle, "prev_pid == %d && next_pid == 0", (int)gettid());
    snprintf(woken, sizeof woken, "pid == %d", (int)gettid());
    c->idle = open_counter("sched:sched_switch", idle, cpu, 0);
    c->woken = c->idle < 0 ? -1 : open_counter("sched:sched_waking", woken, cpu, 1);
    if (c->woken >= 0 && ring_map(&c->ring, c->woken, (uint64_t)sysconf(_SC_PAGESIZE)))
        return true;
    close_counters(c);
    return false;
}

struct counts {
    uint64_t idle, woken, recorded;
};

/* Without any sample_type, each record is only a header: the ring has room for all of them. */
static bool read_counters(const struct counters *c, struct counts *n)
{
    n->recorded = ring_written(&c->ring) / sizeof(struct perf_event_header);
    return read(c->idle, &n->idle, sizeof n->idle) == sizeof n->idle &&
           read(c->woken, &n->woken, sizeof n->woken) == sizeof n->woken;
}

/* Nothing is counted if the timer interrupts another CPU (nohz_full), or if the thread has another number
 * where events are filtered, outside a container. */
static enum idle_finding nap(const struct idle_check *check, const struct counters *c)
{
    struct idle_naps n = { 0 };
    struct counts before = { 0 }, now = { 0 };
    bool ok = true;
    for (int i = 0; ok && i < NAPS_MAX && n.idle < IDLE_ENOUGH && !check->stop; i++) {
        ok = !nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL) && read_counters(c, &now);
        bool idle = ok && now.idle > before.idle && now.woken > before.woken;
        n.idle += idle;
        n.hidden += idle && now.recorded == before.recorded;
        before = now;
    }
    return ok ? idle_judge(&n) : IDLE_UNKNOWN;
}

/* False: this thread may not run there. */
static bool go_to(uint32_t cpu)
{
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    CPU_ZERO_S(size, set);
    CPU_SET_S(cpu, size, set);
    bool ok = !sched_setaffinity(0, size, set);
    CPU_FREE(set);
    return ok;
}

/* False: events cannot be recorded. */
static bool check_cpu(struct idle_check *check, uint32_t cpu, struct counters *before)
{
    struct counters c;
    if (check->findings[cpu] != IDLE_UNKNOWN || !go_to(cpu))
        return true;
    if (!open_counters(&c, (int)cpu))
        return false;
    close_counters(before); /* not earlier: the kernel waits when the last event of a tracepoint is closed */
    *before = c;
    enum idle_finding found = nap(check, &c);
    if (found == IDLE_HIDDEN)
        log_add("CPU %u: events in interrupts of its idle task are not recorded", cpu);
    check->findings[cpu] = (unsigned char)found;
    if (check->n <= cpu && found != IDLE_UNKNOWN)
        check->n = cpu + 1;
    return true;
}

static void drop(struct idle_check *check)
{
    if (atomic_fetch_sub(&check->users, 1) == 1)
        mem_free(check);
}

static void *check_main(void *arg)
{
    struct idle_check *check = arg;
    struct counters open = NO_COUNTERS;
    struct cpus online;
    bool records = true, complete = true;
    cpus_read("online", &online);
    for (uint32_t cpu = 0; cpu < online.n && cpu < CPU_MASK_MAX && records && !check->stop; cpu++) {
        if (!online.in[cpu])
            continue;
        records = check_cpu(check, cpu, &open);
        complete &= check->findings[cpu] != IDLE_UNKNOWN;
    }
    cpus_done(&online);
    close_counters(&open);
    check->complete = complete || !records;
    check->runs = false;
    drop(check);
    return NULL;
}

struct idle_check *idle_check_new(void)
{
    struct idle_check *check = mem_zalloc(sizeof *check);
    check->users = 1;
    return check;
}

bool idle_check_start(struct idle_check *check)
{
    if (check->runs || check->complete)
        return false;
    check->runs = true;
    check->users++;
    if (!thread_start_detached(check_main, check))
        return true;
    check->runs = false;
    check->users--;
    return false;
}

enum idle_finding idle_check_of(const struct idle_check *check, uint32_t cpu)
{
    return cpu < CPU_MASK_MAX ? (enum idle_finding)check->findings[cpu] : IDLE_UNKNOWN;
}

uint32_t idle_check_cpus(const struct idle_check *check)
{
    return check->n;
}

void idle_check_leave(struct idle_check *check)
{
    if (!check)
        return;
    check->stop = true;
    drop(check);
}
