// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads with a large local array of which only the end next to the leaf was used: the pages between that end and the
 * callers are not in memory.
 * truth: @thread;begin;outer;frame;hot
 * truth: @start;main;*
 */
#include <pthread.h>

#include "zoo.h"

#define THREADS 4
#define ARRAY   20000 /* bytes: several pages, and less than a dump has */

static HOT(hot)

static FRAME uint64_t frame(uint64_t x, int n)
{
    volatile char array[ARRAY];
    array[0] = 1;
    x = hot(x, n);
    return x + (uint64_t)array[0];
}
static LEVEL(outer, frame)

static void *begin(void *arg)
{
    volatile uint64_t x = (uintptr_t)arg;
    for (;;)
        x = outer(x, LONG);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, begin, (void *)(i + 1)))
            return 1;
    zoo_ready();
    pthread_join(threads[0], NULL);
}
