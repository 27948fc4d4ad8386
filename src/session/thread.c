// SPDX-License-Identifier: GPL-2.0-or-later
#include <signal.h>

#include "session/session_state.h"

/* Starts a thread that blocks all signals: these are for the screen's thread. */
static int start_thread(pthread_t *thread, void *(*body)(void *), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int sys = pthread_create(thread, NULL, body, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return sys;
}

bool session_start_thread(pthread_t *thread, void *(*body)(void *), struct session *s, struct error *e)
{
    int sys = start_thread(thread, body, s);
    return !sys || error_sys(e, sys, "cannot start a thread");
}

int session_start_detached(void *(*body)(void *), void *arg)
{
    pthread_t thread;
    int sys = start_thread(&thread, body, arg);
    if (!sys)
        pthread_detach(thread);
    return sys;
}
