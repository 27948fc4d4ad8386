// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of the functions table: built from a result, and sorted. Draws nothing.
 * Rows that look the same keep their positions, and trends their sparklines, from one result to the next:
 * what moves on the screen has changed. */
#ifndef FLAMETOP_UI_TABLE_ROWS_H
#define FLAMETOP_UI_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/mem.h"
#include "profile/functions.h"
#include "session/view.h"
#include "ui/columns.h"
#include "ui/trend.h"

#define TABLE_PARTS 8 /* cgroups side by side */

struct table_row {
    uint32_t func, group; /* func 0: a row for a whole group */
    uint64_t self, total, key;
    uint32_t self_tenths, total_tenths; /* in 0.1 %: shown, and sorted by */
    uint32_t count;
    uint32_t counts;    /* table_rows.c: index of values computed only for some rows */
    uint32_t slot, old; /* table_order.c: slot of its key; its position in the previous result */
    uint32_t gone;      /* in the baseline only: its number there, plus 1; func and group are 0 */
    int32_t self_change, total_change; /* change from the baseline in 0.01 %, if `compared` */
    bool compared;
};

struct table_trend {
    uint64_t weights[QUERY_TREND];
};
struct table_slot {
    uint64_t key;
    uint32_t place, build; /* its last position, and the build of that */
};

struct table_rows {
    struct table_row **rows; /* in order, valid until the next build */
    size_t n, cap;
    enum column sort[COLUMN_COUNT]; /* the first one sorts */
    uint32_t n_sort;                /* at least 1 */
    bool upwards;
    const struct view *data; /* result they were built from; borrowed */
    enum view_group by;      /* grouping they were built for */
    struct table_part {      /* cgroups side by side */
        uint64_t key;
        uint32_t group; /* in the result */
    } parts[TABLE_PARTS];
    uint32_t n_parts, n_cgroups;         /* shown; all */
    const struct difference *difference; /* the baseline and its rows; NULL: none; borrowed */
    const struct table_rows *baseline;
    struct trend_time time; /* of the result */
    uint64_t beat;
    struct map pictures;            /* key → index in `trends`, for rows drawn in this beat */
    VEC(struct table_trend) trends; /* as drawn */
    struct map slots;               /* key → index in `places` */
    VEC(struct table_slot) places;
    uint32_t build;
    size_t n_old; /* rows of the previous build that may keep their positions */
    /* by number of the built row; rows are mostly built in the same order as the previous ones */
    BUFFER(uint32_t) made_slots;
    struct functions functions;               /* what rows of functions were built from */
    BUFFER(struct table_trend) groups;        /* by group, for rows of groups */
    BUFFER(uint64_t) sums;                    /* of other events, by the same numbers */
    BUFFER(uint64_t) part_sums;               /* likewise, TABLE_PARTS of each */
    BUFFER(struct table_row) made;            /* rows as built, before sorting */
    BUFFER(struct table_row *) order, others; /* sorted rows; rows without a position yet */
};

/* Builds and sorts the rows of a result, which must stay valid until the next build. afresh: result of
 * another query; no row keeps its position. */
void table_rows_build(struct table_rows *t, const struct view *data, enum view_group by, uint64_t now_ns,
                      bool afresh);
/* Sets the sort column; no row keeps its position. */
void table_rows_sort(struct table_rows *t, enum column c, bool upwards);
void table_rows_done(struct table_rows *t);

/* table_row.c: values computed on demand, for rows that are drawn or when sorted by them. */
/* as drawn */
void table_row_trend(struct table_rows *t, const struct table_row *r, uint64_t dst[QUERY_TREND]);
/* weight in the current eighth */
uint64_t table_row_newest(const struct table_rows *t, const struct table_row *r);
/* like self_tenths */
uint32_t table_row_part(const struct table_rows *t, const struct table_row *r, uint32_t part);
/* Returns the weight per second in the function itself; for weights in time: CPUs. NAN: too short a time,
 * or a row of the baseline only. */
double table_row_rate(const struct table_rows *t, const struct table_row *r);
/* for processes and threads; 0: none */
uint32_t table_row_pid(const struct table_rows *t, const struct table_row *r);
/* Returns the value of another event of the group; NAN: none. */
double table_row_group_sums(const struct table_rows *t, const struct table_row *r, uint32_t kind);
/* those values are estimates */
bool table_row_is_partly(const struct table_rows *t, const struct table_row *r);

const char *table_row_group(const struct table_rows *t, const struct table_row *r);
const char *table_row_name(const struct table_rows *t, const struct table_row *r);
const char *table_row_module(const struct table_rows *t, const struct table_row *r);
uint32_t table_tenths(uint64_t weight, uint64_t all); /* share in 0.1 % */

#endif
