// SPDX-License-Identifier: GPL-2.0-or-later
/* The charts of the latency view, one file each. Private to view_latency*.c. */
#ifndef FLAMETOP_UI_VIEW_LATENCY_H
#define FLAMETOP_UI_VIEW_LATENCY_H

#include "session/log_rows.h"
#include "session/operation_rows.h"
#include "session/timeline_query.h"
#include "ui/app.h"
#include "ui/list.h"
#include "ui/time_axis.h"

enum latency_chart { LATENCY_TABLE, LATENCY_HEAT, LATENCY_SLOW, LATENCY_CHARTS };

/* A cell of the heat map: its time, and the exponent of its shortest duration. */
struct latency_cell {
    uint64_t time_ns;
    uint32_t exponent;
};
/* Heat map of the row under the cursor of the table: time across, powers of two of the duration upwards. */
struct latency_heat {
    struct session_times *times; /* NULL: not shown */
    struct times_counts counts;
    struct time_axis axis;
    uint32_t low, per, rows; /* lowest exponent; exponents per row; rows */
    int width;               /* screen cells per column */
    bool placed, marking;    /* placed: the user moved the cursor; else it is at the newest column */
    bool zoomed;             /* in to the selected range of time */
    struct latency_cell cursor, mark;
};
/* Single operations of the row: the longest first, or the newest first. */
struct latency_slow {
    struct log_rows rows;
    struct log_ask ask;
    bool newest;
    struct list list;
};
struct latency_view {
    enum latency_chart chart;
    struct operation_rows rows;
    struct error error;
    enum operation_rows_by by;
    int order;
    struct list list; /* row 0: all operations */
    uint32_t query_serial;
    uint32_t elsewhere; /* another chosen event that has latencies; UINT32_MAX: none */
    struct latency_heat heat;
    struct latency_slow slow;
};

struct latency_chart_ops {
    void (*update)(struct latency_view *w, struct app *a);
    void (*draw)(struct latency_view *w, struct app *a, struct area area);
    unsigned (*act)(struct latency_view *w, struct app *a, enum action action);
    unsigned (*click)(struct latency_view *w, struct app *a, int row, int col, bool twice);
    unsigned (*drag)(struct latency_view *w, struct app *a, int row, int col, int to_row, int to_col);
    enum search_found (*search)(struct latency_view *w, struct app *a, int step);
    void (*describe)(struct latency_view *w, struct app *a, char *dst, size_t cap);
    void (*hide)(struct latency_view *w); /* may be NULL */
    void (*save)(const struct latency_view *w, struct view_position *out);
    void (*restore)(struct latency_view *w, const struct view_position *position);
};
extern const struct latency_chart_ops latency_table_ops, latency_heat_ops, latency_slow_ops;

/* view_latency_rows.c */
uint64_t latency_row_key(const void *view, uint32_t row);
/* The row under the cursor of the table: the first one is that of all operations. NULL: there are none. */
const struct operation_row *latency_row(const struct latency_view *w);
/* The query of its operations. */
struct view_query latency_query(const struct latency_view *w, const struct app *a);
/* Zooms into that row, unless it is that of all operations. *ok: false if it could not. Returns app_flags. */
unsigned latency_zoom(struct latency_view *w, struct app *a, bool *ok);
/* Draws the row's name, number of operations and percentiles. */
void latency_draw_title(const struct operation_row *r, struct area area, int y);
void latency_table_save(const struct latency_view *w, struct view_position *out);
void latency_table_restore(struct latency_view *w, const struct view_position *position);
/* Moves the cursor of the table by rows. */
unsigned latency_table_step(struct latency_view *w, int rows);

#endif
