// SPDX-License-Identifier: GPL-2.0-or-later
/* Creates threads that end at once: most samples are where the kernel creates them, below clone3(), whose call-frame
 * information ends at its system call.
 * truth: @start;main;live;bear;*
 */
#include <pthread.h>

#include "zoo.h"

static void *end(void *arg)
{
    return arg;
}

static FRAME int bear(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, end, NULL) || pthread_join(thread, NULL);
}

static FRAME int live(void)
{
    while (!bear())
        ;
    return 1;
}

int main(void)
{
    zoo_ready();
    return live() + 1;
}
