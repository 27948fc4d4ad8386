// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/thread.h"

#include <signal.h>

int thread_start(pthread_t *thread, void *(*body)(void *), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int sys = pthread_create(thread, NULL, body, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return sys;
}

int thread_start_detached(void *(*body)(void *), void *arg)
{
    pthread_t thread;
    int sys = thread_start(&thread, body, arg);
    if (!sys)
        pthread_detach(thread);
    return sys;
}
