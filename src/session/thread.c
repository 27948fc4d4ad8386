// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/thread.h"
#include "session/session_state.h"

bool session_start_thread(pthread_t *thread, void *(*body)(void *), struct session *s, struct error *e)
{
    int sys = thread_start(thread, body, s);
    return !sys || error_sys(e, sys, "cannot start a thread");
}
