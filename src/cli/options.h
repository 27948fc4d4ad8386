// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of the command line and the config file in one struct. The table of options is src/cli/options.def. */
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
#include "cli/options.def"
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
    struct event_list events; /* from -e or the config */
    const char **chosen;      /* events from -e with -i; the array is owned, its strings are not */
    size_t n_chosen, chosen_cap;
    bool in_config; /* the config is being read */
    bool stat_csv;
    bool window_named, view_named; /* given on the command line (the window: or in the config) */
    enum option_id target;         /* -p, -t, -u or -G if given; 0: none */
    struct preset_list presets;    /* read when --preset is given */
    uint64_t iterations;           /* 0: no limit */
    double duration_s;             /* 0: no limit */
    char *servers;                 /* debuginfod URLs; owned */
    const char *diff;              /* baseline file */
    double from_s, to_s;           /* if to_s is not 0, only these seconds are compared with the baseline */
    const char *diff_range;        /* as typed */
    const char *output, *export_format, *list_glob, *generate, *config_path;
    struct key_binding *keys; /* owned; its strings are in `strings` */
    size_t n_keys, keys_cap;
    char **strings; /* values from the config file; owned */
    size_t n_strings, strings_cap;
};

/* Reads the config (the user's, else the system's), then the command line, which overrides it. Borrows argv.
 * Returns false with the error for a wrong option or combination. */
bool options_parse(struct options *o, int argc, char **argv, struct error *e);
void options_done(struct options *o);

struct option_row {
    char letter; /* 0: none */
    const char *name, *arg;
    bool config; /* allowed in the config file */
    const char *heading, *help;
};
const struct option_row *option_row(enum option_id id);
/* Sets one option from text, for the config file and the command line. Borrows value. */
bool options_set(struct options *o, enum option_id id, const char *value, struct error *e);
/* True for -b --view counters, which samples nothing. */
bool options_only_count(const struct options *o);
/* options_events.c: add the events of one -e; set the filter of the last event name of -e; copy the events to
 * the session's config after all options were read. */
bool options_set_event(struct options *o, const char *value, struct error *e);
bool options_set_filter(struct options *o, const char *value, struct error *e);
bool options_take_events(struct options *o, struct error *e);
/* list_events.c: runs --list-events; returns the exit status */
int list_events(const char *glob);
/* stat.c: runs --stat; returns the exit status */
int stat_run(struct options *o, struct error *e);
/* options_folded.c: sets --fold */
bool options_set_fold(struct options *o, const char *value, struct error *e);
/* Returns the index of a word in the option's argument such as a|b[,X]|c, or -1 with an error that suggests
 * the nearest word. */
int options_word_of(enum option_id id, const char *value, struct error *e);
/* Sets a flag: value is NULL on the command line, and yes or no in the config. */
bool options_set_flag(bool *to, enum option_id id, const char *value, struct error *e);
/* options_picture.c: set --diff-range; set the options of SVG flame graphs and --diff-by. */
bool options_set_diff_range(struct options *o, const char *value, struct error *e);
bool options_set_picture(struct export_options *x, enum option_id id, const char *value, struct error *e);
/* Appends the text of --help. */
void options_help(struct buf *out);

/* document.c: generates the manual, the keys or completions. format: a word of --generate. */
bool document_generate(const char *format, struct buf *out, struct error *e);
/* batch.c: runs a session without a screen; returns the exit status */
int batch_run(struct session *s, const struct options *o, struct error *e);
/* batch_counters.c: prints updates of the counters view; returns the exit status */
int batch_counters(const struct options *o, struct error *e);
/* servers.c: sets --debuginfod. value: URLs; NULL or yes: the URLs of the environment or the system; no:
 * none. */
bool options_set_debuginfod(struct options *o, const char *value, struct error *e);
/* config.c: reads the config file, if there is one */
bool config_read(struct options *o, struct error *e);
/* Return the path where settings are saved, and that of the system's config, which is not read if the user
 * has one. NULL: none. */
const char *config_own_path(const struct options *o, char *path, size_t cap);
const char *config_model_path(const struct options *o);
/* features.c: appends the text of --version */
void features_print(struct buf *out);

#endif
