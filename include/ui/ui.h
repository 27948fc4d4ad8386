// SPDX-License-Identifier: GPL-2.0-or-later
/* The screens: checking their options, and running them. Used by main. */
#ifndef FLAMETOP_UI_UI_H
#define FLAMETOP_UI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/count.h"
#include "session/baseline.h"
#include "session/exporter.h"
#include "session/log_groups.h"
#include "session/session.h"
#include "session/view.h"
#include "ui/action.h"

struct ui_config {
    const char *theme;           /* name or path; NULL: default */
    const char *view;            /* name; NULL: the first */
    const struct log_by *log_by; /* how the log is grouped at first; by.n 0: not; NULL: not */
    const char *sort;    /* column names of the functions table, "self" or "total,self"; NULL: the default */
    const char *columns; /* columns shown in the functions table; NULL: all */
    const char *config_path;  /* file that setup saves to; NULL: none */
    const char *config_model; /* initial text of a file that setup creates; NULL: none */
    bool no_color, no_unicode, mouse;
    struct view_query query;  /* that the screens start with */
    double delay_s;           /* between redraws; 0: 1 */
    unsigned counters_detail; /* as in struct count_options */
    enum count_by counters_by;
    const struct key_binding *keys; /* from the config file */
    size_t n_keys;
    const struct exporter *const *exporters; /* export_table, passed by main */
    size_t n_exporters;
    const struct export_options *export_options;
    bool (*export_run)(const struct exporter *x, struct session *s, const struct view_query *q,
                       const struct export_options *o, const char *path, struct error *e);
    struct session_baseline baseline; /* the baseline */
    bool negate;                      /* swap the signs of differences */
    double from_s, to_s;              /* initial time range in seconds; to_s 0: none */
    const char *version;              /* for help; may be NULL */
};

/* Checks theme, view, sort columns and keys. Call before anything starts, so that an error can be printed. */
bool ui_check(const struct ui_config *cfg, struct error *e);
/* Call as early, before ui_run: puts the terminal's description into the environment if needed. */
void ui_prepare(void);
/* Runs the screens until the user quits. Returns 0; 128+signal if a signal ended it; -1 with e set if the
 * terminal cannot be used. */
int ui_run(struct session *s, const struct ui_config *cfg, struct error *e);

/* Writes the views, as items of a list, for the manual. */
void ui_views_document(struct buf *out);

#endif
