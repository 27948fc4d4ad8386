// SPDX-License-Identifier: GPL-2.0-or-later
/* The command line and the config file, both from src/options.def, gathered into one struct. */
#ifndef FLAMETOP_OPTIONS_H
#define FLAMETOP_OPTIONS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "export/export.h"
#include "session/session.h"
#include "ui/preset.h"
#include "ui/ui.h"

#define OPTIONS_DEFAULT_CALLCHAIN CALLCHAIN_AUTO

enum option_id {
#define OPTION(id, letter, name, arg, config, heading, help) OPTION_##id,
#include "options.def"
#undef OPTION
    OPTION_COUNT_ALL
};

enum run_mode {
    RUN_SCREEN,
    RUN_BATCH,
    RUN_RECORD,
    RUN_REPORT,
    RUN_STAT,
    RUN_LIST_EVENTS,
    RUN_LIST_EXPORTS,
    RUN_LIST_PRESETS,
    RUN_GENERATE,
    RUN_COMPLETE,
    RUN_VERSION,
    RUN_HELP
};

struct options {
    enum run_mode mode;
    struct session_config session;
    struct ui_config ui;
    struct export_options exports;
    struct event_list events; /* of -e, or of the config */
    const char **chosen;      /* of -e with -i; owned, the strings are not */
    size_t n_chosen, chosen_cap;
    bool in_config; /* while the config is read */
    bool stat_csv;
    bool window_named, view_named; /* on the command line; the window in the config, too */
    enum option_id target;         /* -p, -t, -u or -G, as soon as one was given; 0: none */
    struct preset_list presets;    /* read when one is asked for */
    uint64_t iterations;           /* 0: without end */
    double duration_s;             /* 0: none */
    char *servers;                 /* owned: of debuginfod */
    const char *diff;              /* file to compare with */
    double from_s, to_s;           /* to_s not 0: only these seconds are compared with another range */
    const char *diff_range;        /* as typed */
    const char *output, *export_format, *list_glob, *generate, *config_path;
    struct key_binding *keys; /* owned, with its strings */
    size_t n_keys, keys_cap;
    char **strings; /* owned: values from the config file */
    size_t n_strings, strings_cap;
};

/* Config first (user's, else system's), then the command line over it. argv stays borrowed. */
bool options_parse(struct options *o, int argc, char **argv, struct error *e);
void options_done(struct options *o);

struct option_row {
    char letter; /* 0: none */
    const char *name, *arg;
    bool config;
    const char *heading, *help;
};
const struct option_row *option_row(enum option_id id);
/* Sets one option from text; config keys and the command line both end here. */
bool options_set(struct options *o, enum option_id id, const char *value, struct error *e);
bool options_only_count(const struct options *o); /* -b --view counters: nothing is sampled */
/* options_events.c: adds what -e names; --filter belongs to the last name of these. options_take_events: what the session is to
 * sample, when all was read. */
bool options_set_event(struct options *o, const char *value, struct error *e);
bool options_set_filter(struct options *o, const char *value, struct error *e);
bool options_take_events(struct options *o, struct error *e);
/* list_events.c: --list-events, by its exit status */
int list_events(const char *glob);
/* stat.c: --stat, by its exit status */
int stat_run(struct options *o, struct error *e);
/* options_folded.c */
bool options_set_fold(struct options *o, const char *value, struct error *e);
/* Which of the words a|b[,X]|c that an option takes: its place, or -1 with the nearest one named. */
int options_word_of(enum option_id id, const char *value, struct error *e);
/* Flags stand alone on the command line (value NULL); in the config they are yes or no. */
bool options_set_flag(bool *to, enum option_id id, const char *value, struct error *e);
/* options_picture.c: what is compared, and those of pictures. */
bool options_set_diff_range(struct options *o, const char *value, struct error *e);
bool options_set_picture(struct export_options *x, enum option_id id, const char *value, struct error *e);
void options_help(struct buf *out); /* --help */

/* document.c: what comes from the tables. format: one of --generate's words. */
bool document_generate(const char *format, struct buf *out, struct error *e);
/* batch.c */
int batch_run(struct session *s, const struct options *o, struct error *e);
/* batch_counters.c: frames of the counters view, without a session */
int batch_counters(const struct options *o, struct error *e);
/* servers.c: NULL or yes: those of the environment or the system; no: none. */
bool options_set_debuginfod(struct options *o, const char *value, struct error *e);
/* config.c */
bool config_read(struct options *o, struct error *e);
/* Where settings are saved, and the system's config, which is read no more once there is a user's; NULL: none. */
const char *config_own_path(const struct options *o, char *path, size_t cap);
const char *config_model_path(const struct options *o);
/* features.c */
void features_print(struct buf *out); /* --version */

#endif
