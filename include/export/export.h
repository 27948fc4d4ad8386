// SPDX-License-Identifier: GPL-2.0-or-later
/* Exporters: what is shown, as a file. Each is one file that exports one const struct, and one row of the table. */
#ifndef FLAMETOP_EXPORT_EXPORT_H
#define FLAMETOP_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "session/session.h"

/* What formats take besides the query; all zero: each format's defaults. Strings are borrowed. */
struct export_options {
    bool pid, tid;                     /* folded: "comm-pid;…", "comm-pid/tid;…", as stackcollapse-perf.pl */
    bool annotate_kernel, annotate_jit; /* folded: "_[k]" and "_[j]" behind names */
    const char *fields;                /* script: as perf script -F; NULL: its default */
    const char *title, *count_name;    /* pictures; NULL: the format's own */
};

struct exporter {
    const char *name;   /* --export NAME */
    const char *suffix; /* ".folded": of -o, when --export is not given */
    const char *help;   /* one line */
    bool by_comm;       /* whatever the screen groups by, it is asked by comm and symbol */
    /* One of the two. text: the whole file as text, for any path and for standard output. */
    void (*text)(struct session *s, const struct view_query *q, const struct view *v,
                 const struct export_options *o, struct buf *out);
    bool (*write)(struct session *s, const struct view_query *q, const struct export_options *o, const char *path,
                  struct error *e);
};
extern const struct exporter *const export_table[];
extern const size_t export_table_n;

extern const struct exporter export_perfdata, export_folded, export_report;

/* By name, or (name NULL) by the ending of path; "perf.data" when nothing fits. NULL with e set: unknown name. */
const struct exporter *export_find(const char *name, const char *path, struct error *e);
/* Waits for names (bounded), asks q, writes. path "-": standard output, text only. */
bool export_run(const struct exporter *x, struct session *s, const struct view_query *q,
                const struct export_options *o, const char *path, struct error *e);
/* q's answer with as many names as come within a few seconds. */
void export_query(struct session *s, const struct view_query *q, struct view *v);
/* One frame as text: header lines and the `lines` hottest rows (0: all). Batch and report share it. */
void report_print(struct session *s, const struct view_query *q, const struct view *v, unsigned lines, struct buf *out);

#endif
