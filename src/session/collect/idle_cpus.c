// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/idle_cpus.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "perf/idle_check.h"
#include "session/session_state.h"

/* Between two checks of CPUs that were busy; doubled each time. */
#define PAUSE_NS      NS_PER_SEC
#define PAUSE_MOST_NS (16 * NS_PER_SEC)
#define LISTED        4 /* CPUs */

bool idle_cpus_concern(const struct event *ev)
{
    /* of these, no event occurs in an interrupt */
    static const char *const of_tasks[] = { "syscalls:",   "raw_syscalls:", "sched:sched_switch",
                                            "exceptions:", "ext4:",         "sched:sched_process_" };
    if (ev->kind != EVENT_TRACEPOINT)
        return false;
    for (size_t i = 0; i < sizeof of_tasks / sizeof *of_tasks; i++)
        if (!strncmp(ev->tracepoint, of_tasks[i], strlen(of_tasks[i])))
            return false;
    return true;
}

/* True if an event runs that should also see what interrupts idle CPUs. */
static bool is_needed(const struct session *s)
{
    bool all = s->source.scope.kind == SCOPE_ALL; /* the idle task is in no other scope */
    for (uint32_t i = s->store.live_event; i < s->store.n_events; i++) {
        const struct session_event *ev = &s->store.events[i];
        if (ev->first == s->store.live_event && !ev->left_out && !ev->attr.exclude_kernel &&
            (all || ev->event.wakers || ev->event.everywhere) && idle_cpus_concern(&ev->event))
            return true;
    }
    return false;
}

void idle_cpus_look(struct session *s, uint64_t now_ns)
{
    struct session_idle_cpus *idle = &s->collect.idle_cpus;
    if (now_ns < idle->next_ns || !is_needed(s))
        return;
    if (!idle->check)
        idle->check = idle_check_new();
    idle_check_start(idle->check);
    idle->pause_ns = !idle->pause_ns                      ? PAUSE_NS
                     : idle->pause_ns < PAUSE_MOST_NS / 2 ? 2 * idle->pause_ns
                                                          : PAUSE_MOST_NS;
    idle->next_ns = now_ns + idle->pause_ns;
}

bool idle_cpus_tell(const struct session *s, char *what, size_t what_cap, char *fix, size_t fix_cap)
{
    const struct idle_check *check = s->collect.idle_cpus.check;
    char list[64] = "";
    size_t len = 0;
    uint32_t n = 0, cpus = check && is_needed(s) ? idle_check_cpus(check) : 0;
    for (uint32_t cpu = 0; cpu < cpus; cpu++) {
        if (idle_check_of(check, cpu) != IDLE_HIDDEN || !scope_has_cpu(&s->source.scope, cpu))
            continue;
        if (n < LISTED)
            len += (size_t)snprintf(list + len, sizeof list - len, "%s%u", n ? ", " : "", cpu);
        n++;
    }
    if (!n)
        return false;
    snprintf(what, what_cap,
             "this kernel hides events in interrupts of the idle CPU%s %s%s: timers' wakeups, TCP and disk "
             "events there are missing",
             n == 1 ? "" : "s", list, n > LISTED ? ", …" : "");
    snprintf(fix, fix_cap, "counters (4, --stat) count them; or keep %s busy while you measure",
             n == 1 ? "that CPU" : "these CPUs");
    return true;
}

void idle_cpus_done(struct session *s)
{
    idle_check_leave(s->collect.idle_cpus.check);
    s->collect.idle_cpus.check = NULL;
}
