// SPDX-License-Identifier: GPL-2.0-or-later
/* Exporters: what is shown, as a file. Each is one file that exports one const struct, and one row of the table. */
#ifndef FLAMETOP_EXPORT_EXPORT_H
#define FLAMETOP_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "export/svg.h"
#include "session/before.h"
#include "session/samples.h"
#include "session/session.h"

/* What formats take besides the query; all zero: each format's defaults. Strings are borrowed. */
struct export_options {
    bool pid, tid; /* folded: "comm-pid;…", "comm-pid/tid;…", as stackcollapse-perf.pl */
    bool annotate_kernel, annotate_jit; /* folded: "_[k]" and "_[j]" behind names */
    bool fold_period, fold_raw;         /* folded: counts of periods; names as the screens have them */
    bool each_event;                    /* formats with sections: one for each event that has samples */
    bool as_perf;                       /* folded, script: of a session by perf's rules (session_config) */
    const char *fields;                 /* script: as perf script -F; NULL: its default */
    const char *title, *count_name;     /* pictures; NULL: the format's own */
    struct svg_options svg;
    struct session_before before;
    enum export_compare_by {
        COMPARE_BY_DEFAULT,
        COMPARE_BY_SAMPLES,
        COMPARE_BY_PERIOD
    } compare_by; /* default: pictures
                                        * are of samples, tables of periods, as the screens */
};

/* Where a long text goes piece by piece: to a file, or to standard output. */
struct export_sink {
    struct buf text; /* what is added here … */
    struct outfile *file;
    struct buf *memory; /* or to memory */
    bool failed;
    struct error error;
};
/* … is written, and `text` emptied, when there is enough of it. False: no more is wanted, the error is known. */
bool export_flush(struct export_sink *to);

/* Formats that say what they will write before they do. */
enum export_step {
    EXPORT_MORE,
    EXPORT_WAIT,
    EXPORT_DONE,
    EXPORT_FAILED
}; /* WAIT: the next step has to wait for something */
struct export_plan {
    void *(*begin)(struct session *s, const struct view_query *q, const struct export_options *o,
                   const char *path, struct error *e); /* NULL: why not; o must stay */
    /* Goes on making it, for a part of a second; *what: what comes next. */
    enum export_step (*step)(void *plan, struct session *s, const char **what, struct error *e);
    void (*list)(const void *plan,
                 struct buf *out); /* a line per file that will be in it: size, name, what it is */
    bool (*write)(void *plan, const char *path, struct error *e); /* in any thread: needs the plan only */
    void (*cancel)(void *plan);                                   /* from another thread: write fails soon */
    void (*free)(void *plan);
};

struct exporter {
    const char *name;        /* --export NAME */
    const char *suffix;      /* ".folded": of -o, when --export is not given */
    const char *suffixes[3]; /* others that mean it, too */
    const char *help;        /* one line */
    bool compares;           /* takes export_options.before */
    bool
        by_comm; /* whatever the screen groups by, it is asked by comm and symbol; by thread with pid or tid */
    bool whole;  /* without a screen: with the idle loop, as perf's own tools */
    bool all_events;  /* without a screen: of all events */
    bool sections;    /* several texts behind each other are one: see export_options.each_event */
    bool as_recorded; /* over a file, without a screen: of whole callchains (session_config) */
    bool binary;      /* no terminal takes it */
    /* At least one of the three; write goes before stream, and that before text. text: the whole file, for any path and
     * for standard output. stream: the same, piece by piece; it asks q itself. */
    void (*text)(struct session *s, const struct view_query *q, const struct view *v,
                 const struct export_options *o, struct buf *out);
    bool (*stream)(struct session *s, const struct view_query *q, const struct export_options *o,
                   struct export_sink *to, struct error *e);
    bool (*write)(struct session *s, const struct view_query *q, const struct export_options *o,
                  const char *path, struct error *e);
    const struct export_plan *plan; /* in place of the three; NULL: none */
};
extern const struct exporter *const export_table[];
extern const size_t export_table_n;

extern const struct exporter export_perfdata, export_folded, export_svg, export_json, export_script,
    export_report;
extern const struct exporter export_bundle, export_pprof, export_speedscope, export_callgraph, export_callers;
extern const struct exporter export_annotate, export_doctor;

/* By name, or (name NULL) by the ending of path; "perf.data" when nothing fits. NULL with e set: unknown name. */
const struct exporter *export_find(const char *name, const char *path, struct error *e);
/* Bytes that are no text must not reach a terminal: false if path is "-" and standard output is one. */
/* All steps of a plan, waiting where one has to; NULL: why not. */
void *export_make_plan(const struct export_plan *plan, struct session *s, const struct view_query *q,
                       const struct export_options *o, const char *path, struct error *e);
bool export_may_write(const char *what, const char *path, struct error *e);
/* Waits for names (bounded), asks q, writes. path "-": standard output. */
bool export_run(const struct exporter *x, struct session *s, const struct view_query *q,
                const struct export_options *o, const char *path, struct error *e);
/* A format's text or stream into memory. */
bool export_text(const struct exporter *x, struct session *s, const struct view_query *q,
                 const struct export_options *o, struct buf *out, struct error *e);
/* q's answer with as many names as come within a few seconds. */
void export_query(struct session *s, const struct view_query *q, struct view *v);
/* The same, and its samples. */
bool export_samples(struct session *s, const struct view_query *q, struct view *v,
                    struct session_samples *samples, struct error *e);
/* Is there a name for one of the result's frames? If not, perf says "[unknown]", for chains that lead nowhere, too. */
bool export_is_named(const struct view *v, uint32_t frame);
#define EXPORT_PATH_MAX (4096 + 16)
/* A module's path as perf writes it, " (deleted)" behind it; in dst, if it has to be made. As it was recorded: anything may
 * be in it. */
const char *export_module_path(const struct module *m, char *dst, size_t cap);
void export_put_path(struct buf *out, const char *path); /* cleaned */
/* The lines above a table: machine, event, scope, samples, what is degraded. */
void report_header(struct session *s, const struct view *v, struct buf *out);
/* The line about what most samples lack, if that is worth a word. */
void doctor_print_worst(struct session *s, const struct view_query *q, struct buf *out);
/* One frame as text: header lines and the `lines` hottest rows (0: all). Batch and report share it. */
void report_print(struct session *s, const struct view_query *q, const struct view *v, unsigned lines,
                  struct buf *out);

#endif
