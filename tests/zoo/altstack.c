// SPDX-License-Identifier: GPL-2.0-or-later
/* A signal handler that works, on a stack of its own: "near", inside the interrupted stack and above it, so that one
 * dump holds both; "far", where no dump of the handler's stack holds the interrupted one; or "none": on the same stack.
 * truth: @start;main;first;second;third;interrupted;~.*raise.*;..;@signal;handler;in_one;in_two;hot
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "zoo.h"

static volatile uint64_t result;

static HOT(hot)
static LEVEL(in_two, hot)
static LEVEL(in_one, in_two)

static void handler(int sig)
{
    result = in_one(result + (uint64_t)sig, 10 * LONG) + 1;
}

static FRAME void interrupted(void)
{
    raise(SIGUSR1);
    result++;
}

static FRAME void third(const char *where, char *far_away)
{
    char near_by[8192];
    stack_t on = { .ss_sp = strcmp(where, "near") ? far_away : near_by, .ss_size = sizeof near_by };
    if (strcmp(where, "none") && sigaltstack(&on, NULL))
        exit(1);
    for (int i = 0; i < 10; i++)
        interrupted();
    result++;
}

static FRAME void second(const char *where, char *far_away)
{
    third(where, far_away);
    result++;
}

static FRAME void first(const char *where, char *far_away)
{
    second(where, far_away);
    result++;
}

int main(int argc, char **argv)
{
    static char far_away[8192];
    struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    if (argc < 2 || sigaction(SIGUSR1, &act, NULL))
        return 2;
    zoo_ready();
    for (;;)
        first(argv[1], far_away);
}
