// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a live session on children of the test and inspects its query results. */
#ifndef FLAMETOP_TESTS_SESSION_FIXTURE_H
#define FLAMETOP_TESTS_SESSION_FIXTURE_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "session/session.h"
#include "worker_test.h"

#define CHILDREN_MAX 4

static struct session_config cfg;
static struct session *session;
__attribute__((unused)) static struct session_status status;
static struct view view;
static struct view_query query;
static struct error error;
static pid_t children[CHILDREN_MAX];
static int n_children;

static inline int set_up(void **state)
{
    memset(&cfg, 0, sizeof cfg);
    memset(&query, 0, sizeof query);
    memset(&view, 0, sizeof view);
    error_clear(&error);
    scope_init(&cfg.scope);
    if (!event_parse("cpu-clock", &cfg.events[0], &error))
        return -1;
    cfg.n_events = 1;
    cfg.event_named = true;
    cfg.freq_hz = 499;
    cfg.callchain = CALLCHAIN_FP;
    cfg.history_bytes = 16 << 20;
    session = NULL;
    n_children = 0;
    return 0;
}

static inline int tear_down(void **state)
{
    view_done(&view);
    session_close(session);
    scope_done(&cfg.scope);
    for (int i = 0; i < n_children; i++) {
        kill(children[i], SIGKILL);
        waitpid(children[i], NULL, 0);
    }
    return 0;
}

__attribute__((noinline, unused)) static void session_test_spin(void)
{
    for (volatile uint64_t n = 0;; n++)
        ;
}

/* Spends about half of its time in the kernel. */
__attribute__((noinline, unused)) static void session_test_spin_and_call(void)
{
    for (;;) {
        for (volatile unsigned n = 0; n < 2000; n++)
            ;
        for (int i = 0; i < 20; i++)
            getppid();
    }
}

/* Starts a child that runs until the test ends, and never longer than the test program. Most compute without
 * end: others who want the CPU get more of it. */
static inline pid_t start_child(void (*run)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setpriority(PRIO_PROCESS, 0, 10);
        alarm(590);
        run();
        _exit(0);
    }
    assert_true(pid > 0 && n_children < CHILDREN_MAX);
    children[n_children++] = pid;
    return pid;
}

static inline void end_child(int i)
{
    kill(children[i], SIGKILL);
    waitpid(children[i], NULL, 0);
    children[i] = children[--n_children];
}

static inline void scope_to(struct scope *scope, pid_t pid)
{
    char list[16];
    snprintf(list, sizeof list, "%d", (int)pid);
    assert_true(scope_set_pids(scope, list, false, &error));
}

static inline void open_or_skip(void)
{
    session = session_open(&cfg, &error);
    if (session)
        return;
    assert_int_not_equal(error.class, ERROR_NONE);
    if (error.class != ERROR_PERMISSION && error.class != ERROR_UNSUPPORTED)
        fail_msg("%s", error.text);
    print_message("skipped: %s\n", error.text);
    skip();
}

static inline void open_on(void (*run)(void))
{
    scope_to(&cfg.scope, start_child(run));
    open_or_skip();
}

static inline void pause_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static inline uint64_t run_query(void)
{
    session_query(session, &query, &view);
    return view.result.samples;
}

/* The limit is far above the time any test needs. */
#define WAIT_UNTIL(condition)                                                                                \
    do {                                                                                                     \
        for (int i_ = 0; i_ < 1200 && !(condition); i_++)                                                    \
            pause_ms(50);                                                                                    \
        assert_true(condition);                                                                              \
    } while (0)

static inline uint32_t function_named(const char *name)
{
    for (uint32_t i = 1; i < view.n_funcs; i++)
        if (!strcmp(view.funcs[i].name, name))
            return i;
    return 0;
}

static inline bool passes_function(const struct result_entry *en, uint32_t func)
{
    for (uint32_t node = en->node; node; node = view.result.parent[node])
        if (view.frame_func[view.result.frame[node]] == func)
            return true;
    return false;
}

/* Returns the percentage of the view's samples whose stack contains the function. */
static inline double share_of(const char *name)
{
    uint32_t func = function_named(name);
    uint64_t samples = 0;
    for (uint32_t i = 0; i < view.result.n_entries && func; i++)
        if (passes_function(&view.result.entries[i], func))
            samples += view.result.entries[i].count;
    return view.result.samples ? 100.0 * samples / view.result.samples : 0;
}

/* Returns the number of samples of the group with the label. */
static inline uint64_t samples_of_group(const char *label)
{
    uint64_t samples = 0;
    for (uint32_t i = 0; i < view.result.n_entries; i++)
        if (!strcmp(view.groups[view.result.entries[i].group].label, label))
            samples += view.result.entries[i].count;
    return samples;
}

static inline void zoom_to(enum zoom_kind kind, uint64_t number, const char *text)
{
    struct zoom *z = &query.zooms[0];
    query.n_zooms = 1;
    *z = (struct zoom){ .kind = kind, .number = number };
    snprintf(z->text, sizeof z->text, "%s", text);
}

#endif
