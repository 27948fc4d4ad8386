// SPDX-License-Identifier: GPL-2.0-or-later
/* The screens: what main needs to run them and to check what the user asked for before they start. */
#ifndef FLAMETOP_UI_UI_H
#define FLAMETOP_UI_UI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/count.h"
#include "session/before.h"
#include "session/session.h"
#include "ui/action.h"

enum ui_export_step {
    UI_EXPORT_MORE,
    UI_EXPORT_WAIT,
    UI_EXPORT_DONE,
    UI_EXPORT_FAILED
};                   /* as enum export_step */
struct ui_exporter { /* E: main passes them on, so that ui and export need not know each other */
    const char *name, *help, *suffix; /* "folded", one line, ".folded" */
    const void *self;
    bool (*run)(const void *self, struct session *s, const struct view_query *q, const char *path,
                struct error *e);
    /* Those that show what they will write first, and are made by steps (struct export_plan); NULL: not this one. */
    void *(*begin)(const void *self, struct session *s, const struct view_query *q, const char *path,
                   struct error *e);
    enum ui_export_step (*step)(const void *self, void *plan, struct session *s, const char **what,
                                struct error *e);
    void (*list)(const void *self, const void *plan, struct buf *out); /* lines */
    bool (*write)(const void *self, void *plan, const char *path,
                  struct error *e);               /* may be in another thread */
    void (*cancel)(const void *self, void *plan); /* write fails soon */
    void (*free)(const void *self, void *plan);
};

struct ui_config {
    const char *theme;   /* name or path; NULL: default */
    const char *view;    /* name; NULL: the first */
    const char *sort;    /* column names of the functions table, "self" or "total,self"; NULL: the default */
    const char *columns; /* names of those that the functions table shows; NULL: all */
    const char *config_path;  /* where setup saves; NULL: there is no place */
    const char *config_model; /* what a file that setup makes begins with; NULL: nothing */
    bool no_color, no_unicode, mouse;
    bool show_idle;
    double delay_s;     /* between redraws; 0: 1 */
    uint64_t window_ns; /* 0: since start */
    enum view_group group;
    unsigned counters_detail; /* as in struct count_options */
    enum count_by counters_by;
    bool no_inlines;                /* as in struct view_query */
    const struct key_binding *keys; /* from the config */
    size_t n_keys;
    const struct ui_exporter *exporters;
    size_t n_exporters;
    struct session_before before; /* what is compared with */
    bool negate;                  /* … so that more is less */
    double from_s, to_s;          /* to_s not 0: only these seconds are looked at first */
    const char *version;          /* for help; may be NULL */
};

/* Whether theme, view, sort and keys are good; called before anything starts, so that a message can be printed. */
bool ui_check(const struct ui_config *cfg, struct error *e);
/* For a screen, and as early: the terminal's description, which may have to be put into the environment. */
void ui_prepare(void);
/* Runs until the user leaves. 0; 128+signal when one ended it; -1 with e set when the terminal cannot be used. */
int ui_run(struct session *s, const struct ui_config *cfg, struct error *e);

/* Names of the views for --view and completions. */
const char *const *ui_view_names(size_t *n);
const char *const *ui_sort_names(size_t *n);
/* The table of keys for the manual. */
void ui_keys_document(struct buf *out, enum action_format format);

#endif
