// SPDX-License-Identifier: GPL-2.0-or-later
/* The description of an exporter: one const struct in its file in export/. The screens read it too: main
 * passes them the table, since ui and export do not include each other. */
#ifndef FLAMETOP_SESSION_EXPORTER_H
#define FLAMETOP_SESSION_EXPORTER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "session/view.h"

struct export_options;
struct export_sink;
struct session_chosen;

/* EXPORT_WAIT: the next step must wait for something. */
enum export_step { EXPORT_MORE, EXPORT_WAIT, EXPORT_DONE, EXPORT_FAILED };
/* Operations of formats that list their contents before they write them. */
struct export_plan {
    /* Returns a new plan, or NULL with the error. o must stay valid. */
    void *(*begin)(struct session *s, const struct view_query *q, const struct export_options *o,
                   const char *path, struct error *e);
    /* Makes the next part, for a fraction of a second. Sets *what to the name of the part after it. */
    enum export_step (*step)(void *plan, struct session *s, const char **what, struct error *e);
    /* Appends a line for each file of the contents: size, name, description. */
    void (*list)(const void *plan, struct buf *out);
    /* Writes the contents. May run in any thread: it needs only the plan. */
    bool (*write)(void *plan, const char *path, struct error *e);
    void (*cancel)(void *plan); /* called in another thread: write fails soon */
    void (*free)(void *plan);
};

struct exporter {
    const char *name;   /* --export NAME */
    const char *suffix; /* such as ".folded": extension of -o that selects this format without --export */
    const char *suffixes[3]; /* further extensions */
    const char *help;        /* one line */
    const char *save_help;   /* help in the menu of w: perf.data and formats with a plan; NULL: not listed */
    bool compares;           /* supports export_options.baseline */
    bool by_comm;            /* groups by comm and symbol (by thread with pid or tid), unlike the screen */
    bool whole;              /* without a screen: includes the idle loop, as perf's own tools do */
    bool all_events;         /* without a screen: includes all events */
    bool sections;           /* texts of several events may be concatenated: see export_options.each_event */
    /* Of texts with sections: true for events that have something to show. NULL: all have. */
    bool (*shows)(const struct session_chosen *event);
    bool as_recorded; /* for a file, without a screen: uses callchains as recorded (session_config) */
    bool binary;      /* must not be written to a terminal */
    /* At least one of these three is set; write is preferred to stream, and stream to text. text makes the
     * whole file in memory, for any path and standard output. stream does the same piece by piece, and runs
     * the query q itself. */
    void (*text)(struct session *s, const struct view_query *q, const struct view *v,
                 const struct export_options *o, struct buf *out);
    bool (*stream)(struct session *s, const struct view_query *q, const struct export_options *o,
                   struct export_sink *to, struct error *e);
    bool (*write)(struct session *s, const struct view_query *q, const struct export_options *o,
                  const char *path, struct error *e);
    const struct export_plan *plan; /* used instead of the three; NULL: none */
};

#endif
