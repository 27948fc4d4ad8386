// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens live sources on children of the test and counts their records. A test that the kernel does not
 * permit prints why and is skipped. */
#ifndef FLAMETOP_TESTS_LIVE_FIXTURE_H
#define FLAMETOP_TESTS_LIVE_FIXTURE_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "perf/live.h"
#include "unit_test.h"

#define NOBODY       65534
#define CHILDREN_MAX 4

static struct live_config cfg;
static struct live *live;
static struct error error;
static pid_t children[CHILDREN_MAX];
static int n_children;

/* What the drains have returned so far. */
static struct seen {
    uint32_t pid;          /* samples of this process count as mine */
    uint64_t mine, others; /* samples */
    uint64_t chained;      /* samples of mine with at least two entries */
    uint64_t kernel;       /* samples that were in the kernel */
    uint64_t on_cpu[64];
    uint64_t forks, execs;
    uint64_t records, newest_ns, far_back; /* records more than a millisecond older than earlier ones */
    uint32_t last_fork_pid;
} seen;

/* Returns the number of this process's open events. */
static inline uint32_t open_events(void)
{
    struct rlimit files;
    uint64_t id;
    uint32_t n = 0;
    getrlimit(RLIMIT_NOFILE, &files);
    for (int fd = 0; fd < (int)files.rlim_cur; fd++)
        n += ioctl(fd, PERF_EVENT_IOC_ID, &id) == 0;
    return n;
}

/* Called with each record if a test sets it. */
static void (*closer)(const struct record *r);

static inline int setup(void **state)
{
    memset(&cfg, 0, sizeof cfg);
    memset(&seen, 0, sizeof seen);
    error_clear(&error);
    scope_init(&cfg.scope);
    cfg.event = (struct event){ .name = "cpu-clock", .kind = EVENT_SOFTWARE };
    cfg.event.attr.type = PERF_TYPE_SOFTWARE;
    cfg.event.attr.config = PERF_COUNT_SW_CPU_CLOCK;
    cfg.freq_hz = 999;
    cfg.callchain = CALLCHAIN_FP;
    cfg.inherit = true;
    cfg.named = true;
    live = NULL;
    closer = NULL;
    n_children = 0;
    return 0;
}

static inline int teardown(void **state)
{
    live_close(live);
    scope_done(&cfg.scope);
    for (int i = 0; i < n_children; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    return 0;
}

static inline bool on_record(void *ctx, const struct record *r)
{
    struct seen *s = ctx;
    uint64_t t = r->id.time_ns;
    s->records++;
    s->far_back += t < s->newest_ns && s->newest_ns - t > NS_PER_MS;
    if (t > s->newest_ns)
        s->newest_ns = t;
    /* ThreadSanitizer starts its own thread in every child. */
    if (r->type == PERF_RECORD_FORK && r->task.pid != r->task.ppid) {
        s->forks++;
        s->last_fork_pid = r->task.pid;
    }
    s->execs += r->type == PERF_RECORD_COMM && r->comm.exec;
    if (closer)
        closer(r);
    if (r->type != PERF_RECORD_SAMPLE)
        return true;
    bool mine = r->id.pid == s->pid;
    s->mine += mine;
    s->others += !mine;
    s->chained += mine && r->sample.chain_n >= 2;
    s->kernel += (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    s->on_cpu[r->id.cpu % 64]++;
    return true;
}

static inline void spin(void)
{
    for (volatile uint64_t n = 0;; n++)
        ;
}

static inline void *spin_thread(void *arg)
{
    spin();
    return arg;
}

/* Starts a child that runs until the test ends, and never longer than the test program. */
static inline pid_t child(void (*run)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(590);
        run();
        _exit(0);
    }
    assert_true(pid > 0 && n_children < CHILDREN_MAX);
    children[n_children++] = pid;
    seen.pid = (uint32_t)pid;
    return pid;
}

static inline void scope_to(pid_t pid)
{
    char list[16];
    snprintf(list, sizeof list, "%d", pid);
    assert_true(scope_set_pids(&cfg.scope, list, false, &error));
}

static inline void open_or_skip(void)
{
    live = live_open(&cfg, &error);
    if (live)
        return;
    assert_int_not_equal(error.class, ERROR_NONE);
    if (error.class != ERROR_PERMISSION && error.class != ERROR_UNSUPPORTED)
        fail_msg("%s", error.text);
    print_message("skipped: %s\n", error.text);
    skip();
}

/* Opens a system-wide source. Skips the test without the permission for it. */
static inline void open_all_or_skip(void)
{
    open_or_skip();
    if (!live_config_of(live)->scope.own)
        return;
    print_message("skipped: the kernel permits only own processes\n");
    skip();
}

static inline void run(int ms)
{
    uint64_t end = clock_now_ns() + (uint64_t)ms * NS_PER_MS;
    while (clock_now_ns() < end) {
        struct pollfd p = { .fd = live_fd(live), .events = POLLIN };
        poll(&p, 1, 50);
        live_drain(live, false, on_record, &seen);
    }
}

/* Drains until the condition holds. The limit is far above the time any test needs. */
#define RUN_UNTIL(condition)                                                                                 \
    do {                                                                                                     \
        for (int i_ = 0; i_ < 1200 && !(condition); i_++)                                                    \
            run(50);                                                                                         \
        assert_true(condition);                                                                              \
    } while (0)

static inline void fork_storm(void)
{
    for (;;) {
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        waitpid(pid, NULL, 0);
    }
}

static inline bool make_cgroup(char *path, size_t cap, const char *name)
{
    char root[400];
    if (geteuid() != 0 || !scope_cgroup_root(root, sizeof root, NULL, NULL))
        return false;
    snprintf(path, cap, "%s/%s", root, name);
    return mkdir(path, 0755) == 0 || errno == EEXIST;
}

#define HOTPLUG "/sys/devices/system/cpu/cpu1/online"

static inline bool switch_cpu(bool on)
{
    int fd = open(HOTPLUG, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;
    if (fd >= 0)
        close(fd);
    return ok;
}

static inline struct event software(const char *name, uint64_t config)
{
    struct event ev = { .kind = EVENT_SOFTWARE };
    snprintf(ev.name, sizeof ev.name, "%s", name);
    ev.attr.type = PERF_TYPE_SOFTWARE;
    ev.attr.config = config;
    return ev;
}

#endif
