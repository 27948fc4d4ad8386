// SPDX-License-Identifier: GPL-2.0-or-later
/* A load for probes: probed WORD. It waits for a byte, does what WORD says, and prints what a profiler should
 * find. Its functions have known arguments, results and times:
 *
 *   sleeps  work() sleeps 1, 2, 4 ... 64 ms, three times; "MS NS RESULT" for each call
 *   nested  deeper() calls itself, 5 deep, 10 times
 *   text    speak() with hostile texts: escapes, a megabyte, 3,000 bytes, unmapped memory, no text
 *   marks   passes the marker flametop_test:step 20 times, at two places; "enabled N": how often its
 *           semaphore was set
 *   hot     calls spin() until it is told to stop; "calls N" */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"

struct pair {
    long a, b;
};
static volatile long sink;

__attribute__((noinline)) long work(int ms, const char *name, unsigned char small, double ignored,
                                    struct pair *p)
{
    struct timespec t = { 0, ms * 1000000L };
    nanosleep(&t, NULL);
    return -(ms * 3L + small + p->b + (long)ignored + (long)strlen(name));
}

static void sleeps(void)
{
    struct pair p = { 1, 7 };
    for (int round = 0; round < 3; round++)
        for (int ms = 1; ms <= 64; ms *= 2) {
            long long from_ns = now_ns(CLOCK_MONOTONIC);
            long result = work(ms, "a name", 200, 2.5, &p);
            printf("%d %lld %ld\n", ms, now_ns(CLOCK_MONOTONIC) - from_ns, result);
        }
}

__attribute__((noinline)) static long deeper(int depth)
{
    struct timespec t = { 0, 2000000 };
    nanosleep(&t, NULL);
    return depth > 1 ? deeper(depth - 1) + 1 : 1; /* work after the call: no jump in its place */
}

__attribute__((noinline)) static void speak(const char *text)
{
    sink += text != NULL;
}

static void hostile(void)
{
    char *large = malloc(1 << 20);
    memset(large, 'x', (1 << 20) - 1);
    large[(1 << 20) - 1] = '\0';
    char *long_text = large + (1 << 20) - 3001;
    speak("\033[31mred\033]0;title\007\nline\xff");
    speak(large);
    speak(long_text);
    speak((const char *)8);
    speak(NULL);
    speak("");
    free(large);
}

/* A marker as sys/sdt.h writes it. */
__attribute__((section(".probes"))) volatile unsigned short step_semaphore;
#define STEP(number, text) \
    __asm__ volatile("990: nop\n" \
                     ".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
                     ".4byte 992f-991f, 994f-993f, 3\n" \
                     "991: .asciz \"stapsdt\"\n992: .balign 4\n" \
                     "993: .8byte 990b, _.stapsdt.base, step_semaphore\n" \
                     ".asciz \"flametop_test\"\n.asciz \"step\"\n.asciz \"-4@%0 8@%1\"\n" \
                     "994: .balign 4\n.popsection\n" \
                     ".ifndef _.stapsdt.base\n" \
                     ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
                     ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
                     "_.stapsdt.base: .space 1\n.size _.stapsdt.base,1\n.popsection\n.endif\n" \
                     : \
                     : "r"(number), "r"(text))

__attribute__((noinline)) static int mark(int i)
{
    int set = step_semaphore > 0;
    if (i % 2)
        STEP(i, "odd");
    else
        STEP(-i, "even");
    return set;
}

__attribute__((always_inline)) static inline long folded(long n)
{
    return n * 3 + sink;
}

__attribute__((noinline)) void spin(void)
{
    sink += folded(sink);
}

static long until_told(void)
{
    struct pollfd in = { .fd = 0, .events = POLLIN };
    long calls = 0;
    while (!poll(&in, 1, 0))
        for (int i = 0; i < 1000; i++, calls++)
            spin();
    return calls;
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    char byte;
    if (read(0, &byte, 1) != 1)
        return 1;
    if (!strcmp(word, "sleeps"))
        sleeps();
    if (!strcmp(word, "nested"))
        for (int i = 0; i < 10; i++)
            sink += deeper(5);
    if (!strcmp(word, "text"))
        hostile();
    if (!strcmp(word, "marks")) {
        int enabled = 0;
        for (int i = 1; i <= 20; i++)
            enabled += mark(i);
        printf("enabled %d\n", enabled);
    }
    if (!strcmp(word, "hot"))
        printf("calls %ld\n", until_told());
    return 0;
}
