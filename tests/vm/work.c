// SPDX-License-Identifier: GPL-2.0-or-later
/* work N [wait]: does the same work each time, N rounds: three quarters below heavy(), a quarter below light(). With "wait" it
 * begins at SIGUSR1. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned sink;

__attribute__((noinline)) static void spin(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink += i;
}

__attribute__((noinline)) void heavy(void)
{
    spin(3000);
    sink++;
}

__attribute__((noinline)) void light(void)
{
    spin(1000);
    sink++;
}

__attribute__((noinline)) void round_of_work(void)
{
    heavy();
    light();
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    if (argc > 2 && strcmp(argv[2], "wait") == 0) {
        sigset_t set;
        int sig;
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        sigprocmask(SIG_BLOCK, &set, NULL);
        sigwait(&set, &sig);
    }
    while (n--)
        round_of_work();
    return 0;
}
