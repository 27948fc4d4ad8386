// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of the command line and the config file in one struct. The table of options is
 * src/cli/options.def. */
#ifndef FLAMETOP_OPTIONS_H
#define FLAMETOP_OPTIONS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "export/export.h"
#include "session/session.h"
#include "ui/preset.h"
#include "ui/ui.h"

#define OPTIONS_DEFAULT_CALLCHAIN CALLCHAIN_AUTO

enum option_id {
#define OPTION(id, letter, name, arg, where, heading, kind, help) OPTION_##id,
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
    RUN_THREADS,
    RUN_LIST_EVENTS,
    RUN_LIST_LATENCY,
    RUN_LIST_PROBES,
    RUN_REMOVE_PROBES,
    RUN_PROBE_DEFINITION,
    RUN_LIST_EXPORTS,
    RUN_LIST_PRESETS,
    RUN_GENERATE,
    RUN_COMPLETE,
    RUN_VERSION,
    RUN_HELP
};

/* In increasing order: the command line overrides the config. */
enum option_given { GIVEN_NOT, GIVEN_IN_CONFIG, GIVEN_ON_LINE };

struct options {
    enum run_mode mode;
    const char *mode_arg; /* argument of the option that set the mode; may be NULL */
    enum option_given given[OPTION_COUNT_ALL];
    struct session_config session;
    struct ui_config ui;
    struct export_options exports;
    struct event_list events; /* from -e or the config */
    VEC(const char *) chosen; /* events from -e with -i; its strings are not owned */
    bool in_config;           /* the config is being read */
    bool stat_csv, threads_json;
    bool latencies;                  /* --latency ROW: print latencies instead of a report */
    const struct option_row *target; /* -p, -t, -u or -G if given */
    const char *ids, *cpus;          /* of -p or -t, and of -C; NULL: not given */
    struct preset_list presets;      /* read when --preset is given */
    uint64_t iterations;             /* 0: no limit */
    double duration_s;               /* 0: no limit */
    char *servers;                   /* debuginfod URLs; owned */
    const char *diff;                /* baseline file */
    double from_s, to_s;             /* if to_s is not 0, only these seconds are compared with the baseline */
    const char *diff_range;          /* as typed */
    const char *output, *export_format, *config_path;
    VEC(struct key_binding) keys; /* its strings are in `strings` */
    VEC(char *) strings;          /* values from the config file; owned */
};

/* Reads the config (the user's, else the system's), then the command line, which overrides it. Borrows argv.
 * Returns false with the error for a wrong option or combination. */
bool options_parse(struct options *o, int argc, char **argv, struct error *e);
void options_done(struct options *o);

/* A row of options.def. One of `set` and `special` sets the option; value is NULL if there is no argument. */
struct option_row {
    char letter; /* 0: none */
    enum option_where { WHERE_LINE, WHERE_CONFIG, WHERE_FIRST } where;
    const char *name, *arg, *heading, *help;
    bool (*special)(struct options *o, const char *value, struct error *e);
    bool (*set)(struct options *o, const struct option_row *r, const char *value, struct error *e);
    size_t field, share; /* offsets in struct options; share 0: none */
    double least, most;  /* bounds of a number; least: also the constant of a kind */
};
extern const struct option_row option_table[OPTION_COUNT_ALL];
/* Sets one option from text, for the config file and the command line. Borrows value. */
bool options_set(struct options *o, enum option_id id, const char *value, struct error *e);
/* True for -b --view counters, which samples nothing. */
bool options_only_count(const struct options *o);
/* options_events.c: add the events of one -e; set the filter of the last event name of -e; copy the events to
 * the session's config after all options were read. */
bool options_set_event(struct options *o, const char *value, struct error *e);
bool options_set_wall(struct options *o, const char *value, struct error *e);
bool options_set_off_cpu(struct options *o, const char *value, struct error *e);
bool options_set_latency(struct options *o, const char *value, struct error *e);
bool options_set_filter(struct options *o, const char *value, struct error *e);
bool options_take_events(struct options *o, struct error *e);
/* Sets the scope from -p, -t and -C, or the part of a file that they select. */
bool options_take_scope(struct options *o, struct error *e);
/* list_events.c: runs --list-events; returns the exit status */
int list_events(const char *glob);
/* list_latency.c: runs --list-latency. False: it failed, also after a list was printed. */
bool list_latency(struct error *e);
/* probes.c: run --list-probes, --remove-probes and --probe-definition; and --list-events sdt:..., for the
 * scope of -p */
bool probes_list(struct error *e);
bool probes_remove(struct error *e);
bool probes_print_definition(const char *definition, struct error *e);
#define PROBES_MARKERS "sdt:" /* such an argument of --list-events lists markers */
bool probes_list_markers(const char *glob, const struct scope *scope, struct error *e);
/* stat.c: runs --stat; returns the exit status */
int stat_run(struct options *o, struct error *e);
/* threads.c: runs --threads */
bool threads_run(const struct options *o, struct error *e);
/* options_range.c: sets --parallelism and --diff-range */
bool options_set_parallelism(struct options *o, const char *value, struct error *e);
bool options_set_took(struct options *o, const char *value, struct error *e);
bool options_set_diff_range(struct options *o, const char *value, struct error *e);
/* Appends the text of --help. */
void options_help(struct buf *out);

/* document.c: generates the manual, the keys or completions. format: a word of --generate. */
bool document_generate(const char *format, struct buf *out, struct error *e);
/* completions.c: append the completion script of a shell, with the options and their fixed words. */
void completions_bash(struct buf *out);
void completions_zsh(struct buf *out);
void completions_fish(struct buf *out);
/* candidates.c: true if --complete has candidates for this option, which depend on the system. */
bool candidates_known(enum option_id id);
/* Appends the candidates for a text such as "event=cycles,sched:", one per line: the value, a tab, its
 * description. Only the last part of a list is completed; the parts before it are repeated in each value. An
 * unknown option has no candidates. */
void candidates_print(const char *option_and_text, struct buf *out);
/* waiting.c: call these before and after a recording is opened. If reading takes long, there is a progress
 * line, and ^C stops the reading instead of the program: what was read is used. */
const struct spool_wait *waiting_begin(void);
void waiting_end(void);
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
