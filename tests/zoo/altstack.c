// SPDX-License-Identifier: GPL-2.0-or-later
/* A signal handler on its own stack: "near", just below the interrupted stack, so that one dump contains both; "far",
 * where no dump of the handler's stack contains the interrupted one; or "none": on the same stack.
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

static FRAME void third(const char *where)
{
    static char far_away[8192];
    char *frame = __builtin_frame_address(0);
    /* the interrupted code needs far less than the 4 KB between */
    char *near_by = (char *)((uintptr_t)frame & ~(uintptr_t)15) - 4096 - sizeof far_away;
    stack_t on = { .ss_sp = strcmp(where, "near") ? far_away : near_by, .ss_size = sizeof far_away };
    if (strcmp(where, "none") && sigaltstack(&on, NULL))
        exit(1);
    for (int i = 0; i < 10; i++)
        interrupted();
    result++;
}

static FRAME void second(const char *where)
{
    third(where);
    result++;
}

static FRAME void first(const char *where)
{
    second(where);
    result++;
}

int main(int argc, char **argv)
{
    struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
    if (argc < 2 || sigaction(SIGUSR1, &act, NULL))
        return 2;
    zoo_ready();
    for (;;)
        first(argv[1]);
}
