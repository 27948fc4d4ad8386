// SPDX-License-Identifier: GPL-2.0-or-later
/* A file that is made and written while keys are answered: by steps between keys what needs the session, in a thread what
 * only writes. One at a time; its progress is in the bottom line. */
#ifndef FLAMETOP_UI_JOB_H
#define FLAMETOP_UI_JOB_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "session/view.h"

struct app;
struct ui_exporter;
struct job { /* zero-initialised: none */
    enum { JOB_NONE, JOB_SHOWN, JOB_RUN, JOB_MAKING, JOB_MADE, JOB_WRITING } state;
    unsigned (*run)(struct app *a); /* JOB_SHOWN, JOB_RUN */
    const struct ui_exporter *exporter;
    void *plan;
    char path[256], progress[96];
    bool pauses; /* the next step has to wait for something */
    pthread_t thread;
    atomic_bool written;
    bool ok;
    struct error error;
};

/* Runs `run` once the progress line is on the screen. */
unsigned job_run(struct app *a, const char *progress, unsigned (*run)(struct app *a));
/* Makes what exporter will write to path; then the user is asked, and it is written. */
unsigned job_make(struct app *a, const struct ui_exporter *exporter, const struct view_query *q,
                  const char *path);
/* Goes a step on. */
unsigned job_tick(struct app *a);
/* Milliseconds until the next step; -1: there is no job. */
int job_pause_ms(const struct app *a);
/* For the bottom line; NULL: there is no job. */
const char *job_progress(const struct app *a);
/* Gives the job up. False: there is none. */
bool job_cancel(struct app *a);
/* Before the end: what is being written is finished, unless a signal ends flametop; what is being made is given up. */
void job_end(struct app *a, bool finish);

#endif
