// SPDX-License-Identifier: GPL-2.0-or-later
/* Starts threads that block all signals: these are for the main thread. */
#ifndef FLAMETOP_BASE_THREAD_H
#define FLAMETOP_BASE_THREAD_H

#include <pthread.h>

/* Both return 0 or an errno. */
int thread_start(pthread_t *thread, void *(*body)(void *), void *arg);
int thread_start_detached(void *(*body)(void *), void *arg); /* it is not joined */

#endif
