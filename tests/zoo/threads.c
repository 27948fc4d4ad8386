// SPDX-License-Identifier: GPL-2.0-or-later
/* Many threads, each on the same path; some of them end and others replace them.
 * truth: @thread;begin;first;second;third;fourth;fifth;sixth;hot
 * truth: @start;main;*
 */
#include <pthread.h>

#include "zoo.h"

#define THREADS 48

static HOT(hot)
static LEVEL(sixth, hot)
static LEVEL(fifth, sixth)
static LEVEL(fourth, fifth)
static LEVEL(third, fourth)
static LEVEL(second, third)
static LEVEL(first, second)

static void *begin(void *arg)
{
    volatile uint64_t x = (uintptr_t)arg;
    for (unsigned i = 0; i < (unsigned)(uintptr_t)arg * 20 + 20; i++)
        x = first(x, LONG);
    return NULL;
}

int main(void)
{
    static pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, begin, (void *)i))
            return 1;
    zoo_ready();
    for (uintptr_t i = 0;; i = (i + 1) % THREADS) {
        pthread_join(threads[i], NULL);
        if (pthread_create(&threads[i], NULL, begin, (void *)i))
            return 1;
    }
}
