// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "unit_test.h"

#define SPAWNS 200

static void keep_running(int sig)
{
    (void)sig;
}

/* Types ^Z without end, for the process group of the parent. */
static void stop_group(pid_t group)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGTSTP, SIG_IGN);
    for (;;)
        kill(-group, SIGTSTP);
}

/* Leads a group of its own, as in a shell, and starts children while ^Z is typed. */
static void spawn_while_stopping(void)
{
    char *const argv[] = { "true", NULL }, *const env[] = { NULL };
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t leader = getpid(), stopper, child;

    setpgid(0, 0);
    signal(SIGTSTP, keep_running);
    stopper = fork();
    if (stopper == 0)
        stop_group(leader);
    for (int i = 0; i < SPAWNS; i++)
        if (child_spawn("/bin/true", argv, env, fd, -1, &child) || child_wait(child, NULL, 0) != child)
            _exit(1);
    kill(stopper, SIGKILL);
    _exit(0);
}

/* A child that stops in vfork(2) would hold the thread that starts it there. */
TEST(a_stop_key_does_not_stop_a_child_that_starts)
{
    int ended = -1;
    pid_t pid = fork(), done = 0;

    if (pid == 0)
        spawn_while_stopping();
    assert_true(pid > 0);
    for (int i = 0; i < 6000 && done == 0; i++) {
        usleep(10000);
        done = waitpid(pid, &ended, WNOHANG);
    }
    if (done == 0) {
        kill(-pid, SIGKILL);
        waitpid(pid, &ended, 0);
    }
    assert_int_equal(ended, 0);
}

TEST_MAIN(NULL, NULL)
