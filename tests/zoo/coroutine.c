// SPDX-License-Identifier: GPL-2.0-or-later
/* Two coroutines on their own stacks (ucontext) that run alternately.
 * truth: @coroutine;ping;first;second;third;fourth;fifth;sixth;hot
 * truth: @coroutine;pong;first;second;third;fourth;fifth;sixth;hot
 */
#include <stdlib.h>
#include <ucontext.h>

#include "zoo.h"

#define STACK 65536

static ucontext_t contexts[2];

static HOT(hot)
static LEVEL(sixth, hot)
static LEVEL(fifth, sixth)
static LEVEL(fourth, fifth)
static LEVEL(third, fourth)
static LEVEL(second, third)
static LEVEL(first, second)

static void ping(void)
{
    for (volatile uint64_t x = 1;; swapcontext(&contexts[0], &contexts[1]))
        x = first(x, 10 * LONG);
}

static void pong(void)
{
    for (volatile uint64_t x = 2;; swapcontext(&contexts[1], &contexts[0]))
        x = first(x, 10 * LONG);
}

int main(void)
{
    void (*const bodies[])(void) = { ping, pong };
    for (int i = 0; i < 2; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = malloc(STACK);
        contexts[i].uc_stack.ss_size = STACK;
        contexts[i].uc_link = NULL;
        makecontext(&contexts[i], bodies[i], 0);
    }
    zoo_ready();
    return setcontext(&contexts[0]);
}
