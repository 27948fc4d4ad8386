// SPDX-License-Identifier: GPL-2.0-or-later
/* Exporters: write the result of a query as a file. Each exporter is one source file with one const struct
 * (session/exporter.h), and one row of export/exporters.def. */
#ifndef FLAMETOP_EXPORT_EXPORT_H
#define FLAMETOP_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "export/svg.h"
#include "session/baseline.h"
#include "session/exporter.h"
#include "session/log_groups.h"
#include "session/log_rows.h"
#include "session/samples.h"
#include "session/session.h"

/* Options of the formats besides the query. All zero: each format's defaults. Strings are borrowed. */
struct export_options {
    bool pid, tid; /* folded: "comm-pid;…", "comm-pid/tid;…", as stackcollapse-perf.pl */
    bool annotate_kernel, annotate_jit; /* folded: "_[k]" and "_[j]" after names */
    bool fold_period, fold_raw;         /* folded: sums of periods; names as on the screen */
    bool each_event;                    /* formats with sections: one section for each event with samples */
    bool as_perf;                   /* folded, script: the session follows perf's rules (session_config) */
    const char *fields;             /* script: as perf script -F; NULL: the default */
    struct log_by log_by;           /* log: groups instead of rows */
    const char *title, *count_name; /* svg; NULL: the format's default */
    struct svg_options svg;
    struct session_baseline baseline;
    /* default: samples in flame graphs, periods in tables, as on the screen */
    enum export_compare_by { COMPARE_BY_DEFAULT, COMPARE_BY_SAMPLES, COMPARE_BY_PERIOD } compare_by;
};

/* The destination of a long text that is written piece by piece: a file, memory or, if both are NULL,
 * standard output. */
struct export_sink {
    struct buf text; /* text that is not written yet */
    struct outfile *file;
    struct buf *memory;
    bool failed;
    struct error error;
};
/* Writes and empties `text` when it is large enough. Returns false if writing failed: the exporter should
 * stop, and the error is kept. */
bool export_flush(struct export_sink *to);

extern const struct exporter *const export_table[];
extern const size_t export_table_n;

#define EXPORTER(name) extern const struct exporter export_##name;
#include "export/exporters.def"
#undef EXPORTER

/* Returns the exporter by name or, if name is NULL, by the extension of path; "perf.data" if no extension
 * matches. Returns NULL with the error for an unknown name. */
const struct exporter *export_find(const char *name, const char *path, struct error *e);
/* Runs all steps of a plan, with the waits between them. Returns the plan, or NULL with the error. */
void *export_make_plan(const struct export_plan *plan, struct session *s, const struct view_query *q,
                       const struct export_options *o, const char *path, struct error *e);
/* Keeps binary data from a terminal: returns false with the error if path is "-" and standard output is a
 * terminal. */
bool export_may_write(const char *what, const char *path, struct error *e);
/* Waits for names up to the session's patience, runs q, and writes the file. path "-": standard output. */
bool export_run(const struct exporter *x, struct session *s, const struct view_query *q,
                const struct export_options *o, const char *path, struct error *e);
/* Appends a format's text or stream to memory. */
bool export_text(const struct exporter *x, struct session *s, const struct view_query *q,
                 const struct export_options *o, struct buf *out, struct error *e);
/* Runs q, and again while more names come in, up to the session's patience. */
void export_query(struct session *s, const struct view_query *q, struct view *v);
/* Does the same, and returns the samples of the result. */
bool export_samples(struct session *s, const struct view_query *q, struct view *v,
                    struct session_samples *samples, struct error *e);
/* True if a frame of the result has a name. If not, perf prints "[unknown]", also for broken callchains. */
bool export_is_named(const struct view *v, uint32_t frame);
#define EXPORT_PATH_MAX (4096 + 16)
/* Returns a module's path as perf writes it, with " (deleted)" after it; in dst, if it must be composed. The
 * path is as recorded: it may contain any bytes. */
const char *export_module_path(const struct module *m, char *dst, size_t cap);
/* Appends a path with unsafe characters replaced (text_clean). */
void export_put_path(struct buf *out, const char *path);
/* Appends the lines above a table: system, event, scope, samples, and what is degraded. */
void report_header(struct session *s, const struct view_query *q, const struct view *v, struct buf *out);
/* Appends `before` and what restricts the samples, "kernel only, in process 12". Nothing if nothing does. */
void export_put_selection(struct buf *out, const char *before, const struct session_status *st,
                          const struct view_query *q);
/* Appends a line with the doctor's largest problem, if there is one. */
void doctor_print_worst(struct session *s, const struct view_query *q, struct buf *out);
/* Parts of the log format, for -b. base_ns: the moment from which times are counted. */
uint64_t log_text_base(struct session *s);
void log_text_head(struct buf *out);
void log_text_row(struct log_rows *r, size_t row, uint64_t base_ns, struct buf *out);
/* Appends the log format's text with groups. False: no event has a field, or not enough memory. */
bool log_groups_text(struct session *s, const struct view_query *q, const struct log_by *by, struct buf *out,
                     struct error *e);
/* Appends the report: header lines and the `lines` hottest rows (0: all). Used by -b and the report
 * format. */
void report_print(struct session *s, const struct view_query *q, const struct view *v, unsigned lines,
                  struct buf *out);

#endif
