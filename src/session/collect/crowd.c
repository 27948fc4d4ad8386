// SPDX-License-Identifier: GPL-2.0-or-later
/* Detects an overloaded system, where flametop waits for CPUs: it loses samples, and names come late. */
#include <stdio.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/log.h"
#include "session/session_state.h"

/* Largest share of the time that flametop may wait for a CPU while runnable. OWN: the collector, which
 * needs little CPU but promptly. ALL: all its processes together while they read names; where two share a
 * CPU, one waits half of the time. */
#define OWN_MOST      0.25
#define ALL_MOST      0.9
#define START_MOST_NS (500 * NS_PER_MS) /* waiting time before there is anything to do */
#define START_RUNNING 4                 /* runnable tasks per CPU that count as overload at the start */
#define TOLD_NS       (10 * NS_PER_SEC)
/* Real-time priority ends if the collector uses more than a part of a CPU. It may be the only CPU. */
#define REAL_TIME_MOST    0.5
#define REAL_TIME_LOOK_NS (200 * NS_PER_MS)
#define REAL_TIME_OFF_NS  (10 * NS_PER_SEC)

static void raise_priority(struct session *s)
{
    if (s->collect.crowd.priority != CROWD_NEVER)
        return;
    s->collect.crowd.priority = child_raise_priority() ? CROWD_RAISED : CROWD_REFUSED;
    log_add(s->collect.crowd.priority == CROWD_RAISED
                ? "the system is overloaded: flametop runs at a higher priority (nice -10)"
                : "the system is overloaded, and flametop may not raise its priority");
}

static void note(struct session *s, uint64_t now_ns, uint64_t waited_ns)
{
    s->collect.crowd.told_ns = now_ns;
    s->collect.crowd.waited_ns = waited_ns;
    raise_priority(s);
}

static bool waited_long(uint64_t delay_ns, uint64_t before_ns, uint64_t elapsed_ns, double most)
{
    return delay_ns > before_ns && (double)(delay_ns - before_ns) > most * (double)elapsed_ns;
}

/* The collector's own delay is cheap to read; the delay of all processes is read only while names are
 * missing. */
void crowd_look(struct session *s, uint64_t now_ns)
{
    struct symbolizer_stats names = { 0 };
    uint64_t own_ns = child_thread_delay_ns(), all_ns = 0, elapsed_ns = now_ns - s->collect.crowd.time_ns;
    if (s->store.symbolizer)
        symbolizer_stats(s->store.symbolizer, &names);
    if (names.pending || names.mangled || s->unwind.user.aside.n)
        all_ns = child_delay_ns();
    if (s->collect.crowd.time_ns && waited_long(own_ns, s->collect.crowd.own_ns, elapsed_ns, OWN_MOST))
        note(s, now_ns, own_ns - s->collect.crowd.own_ns);
    else if (s->collect.crowd.time_ns && all_ns && s->collect.crowd.all_ns &&
             waited_long(all_ns, s->collect.crowd.all_ns, elapsed_ns, ALL_MOST))
        note(s, now_ns, all_ns - s->collect.crowd.all_ns);
    s->collect.crowd.own_ns = own_ns;
    s->collect.crowd.all_ns = all_ns;
    s->collect.crowd.time_ns = now_ns;
}

/* With hundreds of threads that want CPUs, an ordinary thread waits for longer than it takes to fill a ring
 * with switches, even at nice -20. */
void crowd_keep_real_time(struct session *s, uint64_t now_ns)
{
    struct crowd_real_time *r = &s->collect.crowd.real_time;
    bool wanted = s->collect.offcpu.runs && now_ns >= r->off_until_ns;
    if (wanted == r->on && (!r->on || now_ns - r->time_ns < REAL_TIME_LOOK_NS))
        return;
    uint64_t cpu_ns = clock_thread_cpu_ns();
    bool greedy = r->on && (double)(cpu_ns - r->cpu_ns) > REAL_TIME_MOST * (double)(now_ns - r->time_ns);
    bool on = wanted && !greedy;
    bool refused = on != r->on && !child_thread_set_real_time(on);
    if (greedy || refused)
        r->off_until_ns = now_ns + REAL_TIME_OFF_NS;
    if (greedy)
        log_add("the collector used more than half of a CPU: no real-time priority for 10 s");
    r->on = refused ? r->on : on;
    r->cpu_ns = cpu_ns;
    r->time_ns = now_ns;
}

/* Number of running or runnable tasks, from /proc/loadavg: "0.21 0.23 0.15 3/123 4567". */
static unsigned count_running(void)
{
    unsigned running = 0;
    FILE *f = fopen("/proc/loadavg", "re");
    if (f && fscanf(f, "%*s %*s %*s %u/", &running) != 1)
        running = 0;
    if (f)
        fclose(f);
    return running;
}

void crowd_start(struct session *s, uint64_t now_ns)
{
    s->collect.crowd.all_ns = child_delay_ns();
    s->collect.crowd.time_ns = now_ns;
    if (s->collect.crowd.all_ns > START_MOST_NS ||
        count_running() > START_RUNNING * (unsigned)sysconf(_SC_NPROCESSORS_ONLN))
        note(s, now_ns, s->collect.crowd.all_ns);
}

bool crowd_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap)
{
    if (!s->collect.crowd.told_ns || clock_now_ns() - s->collect.crowd.told_ns > TOLD_NS)
        return false;
    int n = snprintf(what, what_cap, "the system is overloaded");
    if (s->collect.crowd.waited_ns >= NS_PER_SEC / 10)
        snprintf(what + n, what_cap - (size_t)n, ": flametop waited %.1f s for a CPU",
                 (double)s->collect.crowd.waited_ns / NS_PER_SEC);
    snprintf(fix, fix_cap,
             s->collect.crowd.priority == CROWD_RAISED
                 ? "flametop runs at a higher priority now (nice -10)"
                 : "start flametop as root: it may not raise its priority");
    return true;
}
