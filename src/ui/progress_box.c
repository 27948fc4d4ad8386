// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/progress_box.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ui/dialog.h"

#define PAUSE_MS 20 /* interval of polling for data that a job waits for */

static void forget(struct job *j)
{
    if (j->plan)
        j->exporter->plan->free(j->plan);
    *j = (struct job){ 0 };
}

static bool is_busy(const struct app *a)
{
    return a->job.state != JOB_NONE;
}

static unsigned say_busy(struct app *a)
{
    return app_message(a, "%s is not finished: one file at a time",
                       a->job.path[0] ? a->job.path : "the previous file");
}

unsigned job_run(struct app *a, const char *progress, unsigned (*run)(struct app *a))
{
    if (is_busy(a))
        return say_busy(a);
    a->job = (struct job){ .state = JOB_SHOWN, .run = run };
    (void)snprintf(a->job.progress, sizeof a->job.progress, "%s", progress);
    return APP_REDRAW;
}

unsigned job_make(struct app *a, const struct exporter *exporter, const struct view_query *q,
                  const char *path)
{
    struct job *j = &a->job;
    struct error e = { 0 };
    if (is_busy(a))
        return say_busy(a);
    void *plan = exporter->plan->begin(a->session, q, a->cfg->export_options, path, &e);
    if (!plan)
        return app_error(a, &e);
    *j = (struct job){ .state = JOB_MAKING, .exporter = exporter, .plan = plan };
    (void)snprintf(j->path, sizeof j->path, "%s", path);
    (void)snprintf(j->progress, sizeof j->progress, "making the %s ...", exporter->name);
    return APP_REDRAW;
}

/* ---- confirming, and writing ---- */

static void *write_main(void *job)
{
    struct job *j = job;
    j->ok = j->exporter->plan->write(j->plan, j->path, &j->error);
    atomic_store(&j->written, true);
    return NULL;
}

static unsigned start_writing(void *ctx, struct app *a)
{
    struct job *j = &a->job;
    (void)ctx;
    if (j->state != JOB_MADE)
        return APP_HANDLED;
    int why = pthread_create(&j->thread, NULL, write_main, j);
    if (why) {
        struct error e = { 0 };
        error_sys(&e, why, "cannot start a thread to write %s", j->path);
        forget(j);
        return app_error(a, &e);
    }
    j->state = JOB_WRITING;
    (void)snprintf(j->progress, sizeof j->progress, "writing the %s ...", j->exporter->name);
    return APP_REDRAW;
}

/* The dialog was closed: without a yes, nothing is written. */
static void end_review(void *app)
{
    struct job *j = &((struct app *)app)->job;
    if (j->state == JOB_MADE)
        forget(j);
}

static unsigned ask_to_stop(struct app *a)
{
    struct job *j = &a->job;
    struct buf list = { 0 };
    char title[320];
    j->exporter->plan->list(j->plan, &list);
    (void)snprintf(title, sizeof title, "%s will contain", j->path);
    unsigned flags = dialog_review(a, title, buf_str(&list), "write it?", start_writing, end_review, a);
    buf_done(&list);
    return flags;
}

static unsigned end_writing(struct app *a)
{
    struct job *j = &a->job;
    (void)pthread_join(j->thread, NULL);
    unsigned flags =
        j->ok ? app_message(a, "written to %s as %s", j->path, j->exporter->name) : app_error(a, &j->error);
    forget(j);
    return flags;
}

/* ---- steps ---- */

static unsigned make_step(struct app *a)
{
    struct job *j = &a->job;
    struct error e = { 0 };
    const char *what = "";
    switch (j->exporter->plan->step(j->plan, a->session, &what, &e)) {
    case EXPORT_FAILED:
        forget(j);
        return app_error(a, &e);
    case EXPORT_DONE:
        j->state = JOB_MADE;
        return ask_to_stop(a);
    case EXPORT_WAIT:
        j->pauses = true;
        break;
    default:
        j->pauses = false;
        break;
    }
    char progress[sizeof j->progress];
    (void)snprintf(progress, sizeof progress, "making the %s: %s ...", j->exporter->name, what);
    bool same = !strcmp(progress, j->progress);
    memcpy(j->progress, progress, sizeof progress);
    return same ? APP_HANDLED : APP_REDRAW;
}

/* While a dialog has the keys, no confirmation opens: a key meant for the dialog would confirm it. */
unsigned job_tick(struct app *a)
{
    struct job *j = &a->job;
    switch (j->state) {
    case JOB_SHOWN:
        j->state = JOB_RUN;
        return APP_REDRAW;
    case JOB_RUN: {
        unsigned (*run)(struct app *) = j->run;
        forget(j);
        return run(a) | APP_REDRAW;
    }
    case JOB_MAKING:
        return a->dialog ? (unsigned)APP_HANDLED : make_step(a);
    case JOB_WRITING:
        return atomic_load(&j->written) ? end_writing(a) : (unsigned)APP_HANDLED;
    default:
        return APP_HANDLED;
    }
}

int job_pause_ms(const struct app *a)
{
    const struct job *j = &a->job;
    if (j->state == JOB_NONE || j->state == JOB_MADE)
        return -1;
    return j->state == JOB_WRITING || a->dialog || j->pauses ? PAUSE_MS : 0;
}

bool job_cancel(struct app *a)
{
    struct job *j = &a->job;
    /* the thread reports its end */
    if (j->state == JOB_WRITING)
        j->exporter->plan->cancel(j->plan);
    else if (j->state == JOB_MAKING)
        forget(j);
    else
        return false;
    return true;
}

void job_end(struct app *a, bool finish)
{
    struct job *j = &a->job;
    if (j->state == JOB_WRITING) {
        if (!finish)
            j->exporter->plan->cancel(j->plan);
        (void)pthread_join(j->thread, NULL);
    }
    forget(j);
}
