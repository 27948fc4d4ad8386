// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

#define CHILDREN_MAX 64
#define RAISED_NICE  (-10)

static struct {
    pthread_mutex_t lock;
    pid_t pids[CHILDREN_MAX]; /* any further children count only after they end */
    unsigned n;
    int nice; /* before it was raised */
    bool raised;
} children = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Resets a child's signals to those of a fresh program: the spawning thread has most of them blocked. ^Z does
 * not stop it: if it did so before the program is executed, the spawning thread would wait in vfork(2), where
 * it cannot stop, and the shell would wait for this process. */
static void reset_signals(posix_spawnattr_t *attr)
{
    sigset_t stops, all;

    sigemptyset(&stops);
    sigaddset(&stops, SIGTSTP);
    sigaddset(&stops, SIGTTIN);
    sigaddset(&stops, SIGTTOU);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &stops);
    posix_spawnattr_setsigdefault(attr, &all);
    posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

int child_spawn(const char *path, char *const argv[], char *const env[], int fd, int rest, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    /* by way of high descriptors: they may be among those that they replace */
    int high = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    int others = high < 0 || rest < 0 ? high : fcntl(rest, F_DUPFD_CLOEXEC, 10);
    int failed = others < 0 ? errno : 0;
    if (!failed) {
        posix_spawn_file_actions_init(&actions);
        posix_spawnattr_init(&attr);
        reset_signals(&attr);
        posix_spawn_file_actions_adddup2(&actions, high, 3);
        for (int i = 0; i < 3; i++)
            posix_spawn_file_actions_adddup2(&actions, others, i);
        failed = posix_spawn(pid, path ? path : "/proc/self/exe", &actions, &attr, argv, env);
        posix_spawnattr_destroy(&attr);
        posix_spawn_file_actions_destroy(&actions);
    }
    if (others >= 0 && others != high)
        close(others);
    if (high >= 0)
        close(high);
    if (!failed)
        child_started(*pid);
    return failed;
}

void child_started(pid_t pid)
{
    pthread_mutex_lock(&children.lock);
    if (children.n < CHILDREN_MAX)
        children.pids[children.n++] = pid;
    pthread_mutex_unlock(&children.lock);
}

/* Reaps under the lock: until then the pid cannot be reused, so no other thread reads the CPU time of a wrong
 * process. */
pid_t child_wait(pid_t pid, int *status, int flags)
{
    pid_t done;

    if (!(flags & WNOHANG)) { /* block outside the lock */
        siginfo_t info;
        while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) && errno == EINTR)
            ;
    }
    pthread_mutex_lock(&children.lock);
    done = waitpid(pid, status, flags);
    for (unsigned i = 0; done == pid && i < children.n; i++)
        if (children.pids[i] == pid) {
            children.pids[i] = children.pids[--children.n];
            break;
        }
    pthread_mutex_unlock(&children.lock);
    return done;
}

bool child_kill(pid_t pid, int *status, uint64_t wait_ns)
{
    const struct timespec pause = { .tv_nsec = 500000 };
    uint64_t end_ns = clock_now_ns() + wait_ns;
    pid_t done;

    kill(pid, SIGKILL);
    while (!(done = child_wait(pid, status, WNOHANG)) && clock_now_ns() < end_ns)
        nanosleep(&pause, NULL);
    return done;
}

bool child_is(pid_t pid)
{
    bool found = false;
    pthread_mutex_lock(&children.lock);
    for (unsigned i = 0; i < children.n && !found; i++)
        found = children.pids[i] == pid;
    pthread_mutex_unlock(&children.lock);
    return found;
}

unsigned child_reap(pid_t *pids, unsigned n)
{
    unsigned left = 0;

    for (unsigned i = 0; i < n; i++)
        if (!child_wait(pids[i], NULL, WNOHANG))
            pids[left++] = pids[i];
    return left;
}

uint64_t child_cpu_ns(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return UINT64_MAX;
    return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

static uint64_t timeval_ns(struct timeval t)
{
    return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_usec * 1000;
}

uint64_t child_total_cpu_ns(void)
{
    struct rusage ended = { .ru_nvcsw = 0 };
    uint64_t sum = clock_self_cpu_ns();

    pthread_mutex_lock(&children.lock);
    getrusage(RUSAGE_CHILDREN, &ended);
    for (unsigned i = 0; i < children.n; i++) {
        uint64_t ns = child_cpu_ns(children.pids[i]);
        sum += ns == UINT64_MAX ? 0 : ns;
    }
    pthread_mutex_unlock(&children.lock);
    return sum + timeval_ns(ended.ru_utime) + timeval_ns(ended.ru_stime);
}

/* ---- run-queue delay ---- */

static uint64_t delay_in(const char *path)
{
    unsigned long long ran, waited;
    FILE *f = fopen(path, "re");
    bool told = f && fscanf(f, "%llu %llu", &ran, &waited) == 2;

    if (f)
        fclose(f);
    return told ? waited : 0;
}

/* Calls fn for each thread of this process. */
static void each_thread(void (*fn)(void *ctx, int tid), void *ctx)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *d;

    while (tasks && (d = readdir(tasks)))
        if (d->d_name[0] != '.')
            fn(ctx, atoi(d->d_name));
    if (tasks)
        closedir(tasks);
}

static void add_delay(void *ctx, int tid)
{
    uint64_t *sum = ctx;
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", tid);
    *sum += delay_in(path);
}

uint64_t child_delay_ns(void)
{
    uint64_t sum = 0;
    char path[64];

    each_thread(add_delay, &sum);
    pthread_mutex_lock(&children.lock);
    for (unsigned i = 0; i < children.n; i++) {
        snprintf(path, sizeof path, "/proc/%d/schedstat", (int)children.pids[i]);
        sum += delay_in(path);
    }
    pthread_mutex_unlock(&children.lock);
    return sum;
}

uint64_t child_thread_delay_ns(void)
{
    return delay_in("/proc/thread-self/schedstat");
}

static void raise_one(void *ctx, int tid)
{
    bool *raised = ctx;

    *raised &= !setpriority(PRIO_PROCESS, (id_t)tid, RAISED_NICE);
}

bool child_raise_priority(void)
{
    bool raised = true;
    int nice = getpriority(PRIO_PROCESS, 0);

    if (nice <= RAISED_NICE)
        return true;
    each_thread(raise_one, &raised);
    pthread_mutex_lock(&children.lock);
    children.raised = raised;
    children.nice = nice;
    for (unsigned i = 0; i < children.n && raised; i++)
        (void)setpriority(PRIO_PROCESS, (id_t)children.pids[i], RAISED_NICE);
    pthread_mutex_unlock(&children.lock);
    return raised;
}

bool child_thread_set_real_time(bool on)
{
    struct sched_param param = { .sched_priority = on ? 1 : 0 };

    return !sched_setscheduler(0, (on ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK, &param);
}

void child_has_first_priority(void)
{
    if (children.raised)
        (void)setpriority(PRIO_PROCESS, 0, children.nice);
}
