// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares long waits for a CPU with /proc. Threads whose switches are hidden from the events (the kernel of
 * some VMs hides its own agent) would seem to wait from their first wakeup on: profile/waits.h forgets such
 * waits. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/task.h"
#include "session/session_state.h"

#define EVERY_NS   (NS_PER_SEC / 2)
#define CHECKS_MAX 64 /* threads at a time */
/* Within this time a thread that runs is seen to run: the kernel counts its time at each tick (CONFIG_HZ is
 * at least 100). */
#define TICKS_NS (25 * NS_PER_MS)

struct check {
    struct waits_open open;
    struct task_stat stat;
    enum waits_finding finding;
    uint64_t progress, time_ns;
    bool made; /* false: the kernel does not tell */
};

static void read_thread(struct check *c)
{
    int dir = task_open(c->open.pid, c->open.tid);
    bool gone = dir < 0 && errno == ENOENT;
    c->time_ns = clock_now_ns();
    c->made = gone || (dir >= 0 && task_read_progress(dir, c->open.tid, &c->progress) &&
                       task_read_stat(dir, &c->stat));
    if (gone || c->stat.state == 'Z' || c->stat.state == 'X')
        c->finding = WAITS_GONE;
    else if (c->stat.state != 'R')
        c->finding = WAITS_RAN;
    else if (!c->open.checked)
        c->finding = WAITS_READY;
    else
        c->finding = c->progress == c->open.progress ? WAITS_QUEUED : WAITS_RAN;
    if (dir >= 0)
        close(dir);
}

/* At the end there is no later check to compare with. Until then there is one: a pause would lose records. */
static void read_again(struct check *checks, size_t n)
{
    bool paused = false;
    for (size_t i = 0; i < n; i++) {
        struct check *c = &checks[i];
        if (!c->made || c->finding != WAITS_READY)
            continue;
        if (!paused)
            nanosleep(&(struct timespec){ .tv_nsec = TICKS_NS }, NULL);
        paused = true;
        c->open.checked = true;
        c->open.progress = c->progress;
        read_thread(c);
    }
}

static void tell(struct session *s, const struct check *c)
{
    struct session_offcpu *o = &s->collect.offcpu;
    if (!c->made)
        return;
    waits_checked(&o->waits, &c->open, c->time_ns, c->progress, c->finding);
    if (c->finding == WAITS_RAN && c->stat.comm[0])
        snprintf(o->unseen_comm, sizeof o->unseen_comm, "%s", c->stat.comm);
}

void offcpu_check(struct session *s, uint64_t now_ns, bool final)
{
    struct session_offcpu *o = &s->collect.offcpu;
    struct waits_open open[CHECKS_MAX];
    struct check checks[CHECKS_MAX];
    bool due = o->runs && o->waits.checks && (final || now_ns >= o->checked_ns + EVERY_NS);
    size_t n = due ? waits_unsure(&o->waits, now_ns, open, CHECKS_MAX) : 0;
    if (!n)
        return;
    o->checked_ns = now_ns;
    pthread_mutex_unlock(&s->store.lock);
    for (size_t i = 0; i < n; i++) {
        checks[i] = (struct check){ .open = open[i] };
        read_thread(&checks[i]);
    }
    if (final)
        read_again(checks, n);
    pthread_mutex_lock(&s->store.lock);
    for (size_t i = 0; i < n; i++)
        tell(s, &checks[i]);
}
