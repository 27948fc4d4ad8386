// SPDX-License-Identifier: GPL-2.0-or-later
/* Background jobs: making and writing a file while keys still work.
 * Steps between keys do what needs the session; a thread does what only writes. There is one job at a
 * time; the bottom line shows its progress. */
#ifndef FLAMETOP_UI_PROGRESS_BOX_H
#define FLAMETOP_UI_PROGRESS_BOX_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "session/view.h"

struct app;
struct exporter;
struct job { /* zero-initialised: no job */
    enum { JOB_NONE, JOB_SHOWN, JOB_RUN, JOB_MAKING, JOB_MADE, JOB_WRITING } state;
    unsigned (*run)(struct app *a); /* for JOB_SHOWN and JOB_RUN */
    const struct exporter *exporter;
    void *plan;
    char path[256], progress[96];
    bool pauses; /* the next step waits for data */
    pthread_t thread;
    atomic_bool written;
    bool ok;
    struct error error;
};

/* Runs `run` after the progress line was drawn. */
unsigned job_run(struct app *a, const char *progress, unsigned (*run)(struct app *a));
/* Makes what the exporter will write to path, asks the user, then writes it. */
unsigned job_make(struct app *a, const struct exporter *exporter, const struct view_query *q,
                  const char *path);
/* Runs the next step. */
unsigned job_tick(struct app *a);
/* Returns milliseconds until the next step; -1: no job. */
int job_pause_ms(const struct app *a);
/* Cancels the job. Returns false if there is none. */
bool job_cancel(struct app *a);
/* Ends the job on exit. finish: a file being written is finished, unless a signal ends flametop; a file
 * being made is dropped. */
void job_end(struct app *a, bool finish);

#endif
