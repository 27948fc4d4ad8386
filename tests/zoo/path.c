// SPDX-License-Identifier: GPL-2.0-or-later
/* A path through every kind of stack frame that a C compiler makes. Half of the time it stays long in the leaf, half
 * of the time so briefly that every instruction of every prologue and epilogue is sampled.
 * truth: @start;main;with_alloca;realigned;many_arguments;through_pointer;saved_registers;large_frame;last;hot
 * truth: @start;main;with_alloca;realigned;many_arguments;through_pointer;saved_registers;large_frame;into_noreturn;never_returns;last;hot
 * truth: @start;main;~_*(sig)?setjmp
 * truth: @start;main;..;~__u?(mod|div)di3
 * truth: @start;main;with_alloca;realigned;many_arguments;through_pointer;saved_registers;large_frame;into_noreturn;never_returns;~.*longjmp.*;*
 */
#include <alloca.h>
#include <setjmp.h>

#include "zoo.h"

static jmp_buf home;
static volatile uint64_t result;
static volatile int size = 48;

static HOT(hot)
static LEVEL(last, hot)

/* The call is the last instruction of its caller: the return address is in the function that follows. */
static FRAME __attribute__((noreturn)) void never_returns(uint64_t x, int n)
{
    result = last(x, n);
    longjmp(home, 1);
}

static FRAME void into_noreturn(uint64_t x, int n)
{
    never_returns(x + 1, n);
}

static FRAME uint64_t large_frame(uint64_t x, int n)
{
    volatile char space[3000];
    space[x % sizeof space] = (char)n;
    if (n == LONG)
        into_noreturn(x, n);
    x = last(x, n) + (uint64_t)space[1];
    return x;
}

static FRAME uint64_t saved_registers(uint64_t x, int n)
{
    uint64_t a = x + 1, b = x + 2, c = x + 3, d = x + 4, e = x + 5, f = x + 6;
    KEEP(a);
    KEEP(b);
    KEEP(c);
    KEEP(d);
    KEEP(e);
    KEEP(f);
    x = large_frame(x, n);
    return x + a + b + c + d + e + f;
}

static uint64_t (*volatile pointer)(uint64_t, int) = saved_registers;

static FRAME uint64_t through_pointer(uint64_t x, int n)
{
    x = pointer(x, n) + 1;
    return x;
}

static FRAME uint64_t many_arguments(uint64_t x, int n, long c, long d, long e, long f, long g, long h, long i)
{
    x = through_pointer(x, n) + (uint64_t)(c + d + e + f + g + h + i);
    return x;
}

/* Aligned locals and a variable size make the compiler keep the frame's address in memory (DRAP). */
static FRAME uint64_t realigned(uint64_t x, int n)
{
    uint64_t lanes[8] __attribute__((aligned(64)));
    char *space = alloca((size_t)size);
    for (int i = 0; i < 8; i++)
        lanes[i] = (uint64_t)n;
    __asm__ volatile("" : : "r"(lanes), "r"(space) : "memory");
    x = many_arguments(x, n, 3, 4, 5, 6, 7, 8, 9) + lanes[x & 7];
    return x;
}

static FRAME uint64_t with_alloca(uint64_t x, int n)
{
    char *space = alloca((size_t)size);
    space[3] = (char)n;
    __asm__ volatile("" : : "r"(space) : "memory");
    x = realigned(x, n) + (uint64_t)space[3];
    return x;
}

int main(void)
{
    static unsigned round;
    zoo_ready();
    (void)setjmp(home);
    for (;;)
        result = with_alloca(result + 88172645463325252u, round++ % 4000 ? SHORT : LONG);
}
