// SPDX-License-Identifier: GPL-2.0-or-later
/* The charts of the time view, one file each. Private to view_time*.c. */
#ifndef FLAMETOP_UI_VIEW_TIME_H
#define FLAMETOP_UI_VIEW_TIME_H

#include "ui/app.h"
#include "ui/list.h"
#include "ui/time_axis.h"

/* Lists of threads and CPUs are each followed by the flame chart of the row under the cursor. */
enum time_picture { TIME_HEAT, TIME_THREADS, TIME_THREAD_CHART, TIME_CPUS, TIME_CPU_CHART, TIME_PICTURES };

/* Heat map: columns of a fixed length, divided into cells from the top down. */
struct time_heat {
    uint64_t column_ns, cell_ns, from_ns;
    uint32_t rows;         /* cells per column */
    uint64_t columns;      /* until now */
    uint64_t cursor, mark; /* in cells, from from_ns on */
    bool placed, marking;  /* placed: by the user; else the cursor is at the newest cell */
    uint64_t first;        /* first column drawn */
    int width, visible;    /* screen cells per column; columns on the screen */
    struct times_counts counts;
};
/* Time of a thread in the visible time. */
struct time_row_sums {
    uint64_t ran_ns, waited_ns, for_work_ns; /* waited_ns: for anything but work */
};
/* Threads or CPUs, the busiest first. */
struct time_rows {
    struct times_counts counts;
    struct time_axis axis;
    enum times_kind kind;
    uint32_t *order;
    size_t order_cap;
    struct list list;
    uint32_t query_serial;             /* app->query_serial of the rows */
    BUFFER(struct time_row_sums) sums; /* with counts.has_activity: by row */
    /* A column of the cursor's row. placed: by the user; marking: a range from mark_ns to it. */
    uint64_t cursor_ns, mark_ns;
    bool placed, marking;
};
/* Flame chart of one of them. The cursor is at a time and a depth. */
struct time_flame {
    struct times_chart chart;
    struct time_axis axis;
    uint64_t cursor_ns;
    uint32_t row;
    int first_row, box_rows;
};
struct time_view {
    enum time_picture picture;
    struct time_heat heat;
    struct time_rows rows;
    struct time_flame flame;
};

struct time_picture_ops {
    void (*update)(struct time_view *v, struct app *a);
    void (*draw)(struct time_view *v, struct app *a, struct area area);
    unsigned (*act)(struct time_view *v, struct app *a, enum action action);
    unsigned (*click)(struct time_view *v, struct app *a, int row, int col, bool twice);
    unsigned (*drag)(struct time_view *v, struct app *a, int row, int col, int to_row, int to_col);
    void (*describe)(struct time_view *v, struct app *a, char *dst, size_t cap);
};
extern const struct time_picture_ops time_heat_ops, time_rows_ops, time_chart_ops;

/* Fits the axis to the time shown by rows and chart: the range or window, or all time. */
void time_rows_fit(const struct app *a, struct time_axis *x, int columns);
/* Makes a zoom to the thread or CPU under the cursor. Returns false if there is none. */
bool time_rows_chosen(const struct time_view *v, struct zoom *out);
void time_rows_restore(struct time_view *v, const struct view_position *position);
void time_rows_step(struct time_view *v, int step);

/* view_time_states.c: what threads did, while time off the CPU is shown. */
#define TIME_STATES_LINES 2 /* below the rows: the legend, and what the thread under the cursor did */
/* Sums up the visible time of each row. */
void time_states_sum(struct time_rows *r);
void time_states_draw(const struct app *a, struct area area, int y, int left, const struct time_rows *r,
                      uint32_t row);
void time_states_legend(const struct app *a, struct area area, int y);
/* Draws what the thread under the cursor did between two columns. */
void time_states_detail(const struct app *a, struct area area, int y, const struct time_rows *r,
                        uint32_t first, uint32_t last);

#endif
