// SPDX-License-Identifier: GPL-2.0-or-later
/* Helpers shared by the tests of counting and sampling. */
#ifndef FLAMETOP_TESTS_PERF_FIXTURE_H
#define FLAMETOP_TESTS_PERF_FIXTURE_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "perf/scope.h"
#include "unit_test.h"

/* A child that waits until it is killed: at the latest when the test ends. */
static inline pid_t paused_child(void)
{
    pid_t pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pause();
    }
    return pid;
}

static inline void scope_to_myself(struct scope *scope)
{
    char list[16];
    snprintf(list, sizeof list, "%d", getpid());
    assert_true(scope_set_pids(scope, list, false, NULL));
}

/* True if the descriptor is a perf event of this process. */
static inline bool is_event_fd(int fd)
{
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(path, link, sizeof link - 1);
    link[n > 0 ? n : 0] = '\0';
    return strstr(link, "perf_event");
}

#endif
