// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/threads_now.h"

#include "base/mem.h"
#include "base/thread.h"
#include "session/session_state.h"

struct threads_job {
    uint32_t pid;
    struct threads_now_how how;
    bool ok;
    struct threads_now result;
    struct error error;
    atomic_bool ready, cancelled;
    atomic_uint users; /* the screen, the thread, the session, the next job: the last one frees it */
    struct threads_job *earlier;
};

void threads_job_forget(struct threads_job *j)
{
    if (!j || atomic_fetch_sub(&j->users, 1) > 1)
        return;
    threads_now_done(&j->result);
    mem_free(j);
}

static void *job_main(void *job)
{
    struct threads_job *j = job;
    j->ok = threads_now_take(j->pid, j->how, &j->cancelled, &j->result, &j->error);
    if (j->ok && j->earlier && j->earlier->ready && j->earlier->pid == j->pid)
        threads_now_follow(&j->result, &j->earlier->result);
    threads_job_forget(j->earlier);
    j->ready = true;
    threads_job_forget(j);
    return NULL;
}

struct threads_job *threads_job_start(struct session *s, uint32_t pid)
{
    struct threads_job *j = mem_zalloc(sizeof *j);
    j->pid = pid;
    j->how = (struct threads_now_how){ s->cfg.no_cache, s->cfg.no_interpreted };
    j->users = 3;
    j->earlier = s->threads;
    s->threads = j;
    int sys = thread_start_detached(job_main, j);
    if (!sys)
        return j;
    error_sys(&j->error, sys, "cannot start a thread that reads the threads of process %u", pid);
    threads_job_forget(j->earlier);
    j->users = 2;
    j->ready = true;
    return j;
}

bool threads_job_ready(const struct threads_job *j)
{
    return j->ready;
}

const struct threads_now *threads_job_result(const struct threads_job *j, struct error *e)
{
    if (j->ok)
        return &j->result;
    *e = j->error;
    return NULL;
}

void threads_job_leave(struct threads_job *j)
{
    if (!j)
        return;
    j->cancelled = true;
    threads_job_forget(j);
}
