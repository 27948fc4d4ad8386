// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads that wait already when sampling begins: no record says so, and one that hangs writes none. Their state and
 * reason are read from /proc, without the user's part of the stack. Since when they wait is unknown: their time
 * counts from now on. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "process/task.h"
#include "process/wait_reason.h"
#include "session/session_state.h"

#define SCAN_NS   (NS_PER_SEC / 2) /* longest time for all threads */
#define SCAN_MAX  65536
#define TEXT_MAX  (16u << 10)
#define STACK_MAX 32

struct waiting {
    struct waits_at at;
    enum thread_state state;
    enum wait_reason reason;
};
struct scanning {
    struct session *s;
    VEC(struct waiting) found;
    uint64_t until_ns;
};

static enum wait_reason read_reason(int dir)
{
    const char *functions[STACK_MAX];
    struct buf text = { 0 };
    size_t n = 0;
    if (file_read_at(dir, "stack", TEXT_MAX, &text, NULL) && text.len)
        n = task_parse_stack(text.data, functions, STACK_MAX);
    else if (file_read_at(dir, "wchan", TEXT_MAX, &text, NULL) && text.len)
        functions[n++] = buf_str(&text);
    enum wait_reason reason = wait_reason_of(functions, n);
    buf_done(&text);
    return reason;
}

static enum thread_state state_of(char state)
{
    switch (state) {
    case 'S':
        return THREAD_SLEEPING;
    case 'D':
        return THREAD_BLOCKED;
    case 'T':
    case 't':
        return THREAD_STOPPED;
    default: /* it runs, is an idle worker, or ends */
        return THREAD_UNKNOWN;
    }
}

static void scan_thread(struct scanning *sc, uint32_t pid, uint32_t tid)
{
    char path[64];
    struct buf text = { 0 };
    struct task_stat stat;
    snprintf(path, sizeof path, "/proc/%u/task/%u", pid, tid);
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = dir >= 0 && file_read_at(dir, "stat", TEXT_MAX, &text, NULL) &&
              task_parse_stat(buf_str(&text), &stat) && state_of(stat.state) != THREAD_UNKNOWN;
    enum wait_reason reason = ok ? read_reason(dir) : WAIT_UNKNOWN;
    if (ok && !(stat.kernel && wait_reason_is_for_work(reason))) {
        *VEC_PUSH(&sc->found) =
            (struct waiting){ { pid, tid, stat.cpu, clock_now_ns() }, state_of(stat.state), reason };
    }
    buf_done(&text);
    if (dir >= 0)
        close(dir);
}

/* Calls `each` with the numbers in a folder. */
static void each_number(struct scanning *sc, const char *folder, uint32_t pid,
                        void (*each)(struct scanning *sc, uint32_t pid, uint32_t number))
{
    DIR *list = opendir(folder);
    for (struct dirent *d; list && (d = readdir(list)) && sc->found.n < SCAN_MAX && !sc->s->stop;) {
        uint64_t number;
        if (clock_now_ns() < sc->until_ns && text_parse_u64(d->d_name, 1, UINT32_MAX, &number))
            each(sc, pid ? pid : (uint32_t)number, (uint32_t)number);
    }
    if (list)
        closedir(list);
}

static void scan_process(struct scanning *sc, uint32_t pid, uint32_t number)
{
    char path[32];
    struct stat owner;
    const struct scope *scope = &sc->s->source.scope;
    snprintf(path, sizeof path, "/proc/%u/task", number);
    if (scope->kind != SCOPE_USER || (!stat(path, &owner) && owner.st_uid == scope->uid))
        each_number(sc, path, pid, scan_thread);
}

/* The tasks of the scope: processes, or threads. */
static void scan_targets(struct scanning *sc)
{
    uint32_t n, *ids = live_known(sc->s->source.live, &n);
    for (uint32_t i = 0; i < n; i++)
        if (sc->s->source.scope.kind == SCOPE_TIDS)
            scan_thread(sc, scope_process_of(ids[i]), ids[i]);
        else
            scan_process(sc, ids[i], ids[i]);
    mem_free(ids);
}

static void scan(struct scanning *sc)
{
    switch (sc->s->source.scope.kind) {
    case SCOPE_ALL:
    case SCOPE_USER:
        each_number(sc, "/proc", 0, scan_process);
        break;
    case SCOPE_PIDS:
    case SCOPE_TIDS:
        scan_targets(sc);
        break;
    case SCOPE_CGROUP: /* its threads are found when they run */
        break;
    }
}

void offcpu_scan(struct session *s)
{
    struct session_offcpu *o = &s->collect.offcpu;
    struct scanning sc = { .s = s, .until_ns = clock_now_ns() + SCAN_NS };
    if (!o->runs || !o->scan_wanted)
        return;
    o->scan_wanted = false;
    if (s->source.scope.command && s->source.n_sources == 1) /* from its exec on there are records */
        return;
    scan(&sc);
    pthread_mutex_lock(&s->store.lock);
    for (size_t i = 0; i < sc.found.n; i++) {
        scan_proc_of(s, sc.found.items[i].at.pid);
        offcpu_found(s, sc.found.items[i].at, sc.found.items[i].state, sc.found.items[i].reason);
    }
    pthread_mutex_unlock(&s->store.lock);
    mem_free(sc.found.items);
}
