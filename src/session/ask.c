// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests a Java VM's symbol map in a thread of its own, since the reply is slow. The status shows the
 * result. */
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "session/session_state.h"
#include "symbols/jvm.h"

static void *ask_main(void *session)
{
    struct session *s = session;
    struct error e = { 0 };
    bool ok = jvm_ask_map(s->ask_pid, &e);
    pthread_mutex_lock(&s->store.lock);
    if (ok)
        snprintf(s->said, sizeof s->said, "the Java VM %u wrote its map: names come in a moment", s->ask_pid);
    else
        snprintf(s->said, sizeof s->said, "%.*s", (int)sizeof s->said - 1, e.text);
    s->said_number++;
    s->store.generation++;
    log_add("%s", s->said);
    s->asking = false;
    pthread_mutex_unlock(&s->store.lock);
    return NULL;
}

static void wait_for_result(struct session *s)
{
    if (s->ask_started)
        pthread_join(s->ask, NULL);
    s->ask_started = false;
}

bool session_ask_jvm(struct session *s, uint32_t pid, struct error *e)
{
    if (!jvm_can_ask(pid, e))
        return false;
    pthread_mutex_lock(&s->store.lock);
    bool busy = s->asking;
    pthread_mutex_unlock(&s->store.lock);
    if (busy)
        return error_set(e, ERROR_LIMIT, "another Java VM is writing its map: wait a moment");
    wait_for_result(s);
    s->ask_pid = pid;
    s->asking = true;
    s->ask_started = session_start_thread(&s->ask, ask_main, s, e);
    s->asking = s->ask_started;
    return s->ask_started;
}
