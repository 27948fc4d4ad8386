// SPDX-License-Identifier: GPL-2.0-or-later
/* The rows of the functions table: made from an answer, put in order. Draws nothing. Rows that read the same keep
 * their places from one answer to the next, and trends their pictures: what moves on the screen has changed. */
#ifndef FLAMETOP_UI_TABLE_ROWS_H
#define FLAMETOP_UI_TABLE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "profile/functions.h"
#include "session/view.h"
#include "ui/columns.h"
#include "ui/trend.h"

#define TABLE_PARTS 8 /* cgroups that stand side by side */

struct table_row {
    uint32_t func, group; /* func 0: a row of a whole group */
    uint64_t self, total, key;
    uint32_t self_tenths, total_tenths; /* of a percent: what is shown, and sorted by */
    uint32_t count;
    uint32_t counts;    /* of table_rows.c: where the rest is counted that only some rows are asked for */
    uint32_t slot, old; /* of table_order.c: of its key; its place in the answer before */
    uint32_t gone; /* it is in what is compared with only: its number there, plus 1; func and group are 0 */
    int32_t self_change, total_change; /* hundredths of a percent more than it was before, if it is … */
    bool compared;
};

struct table_rows {
    struct table_row **rows; /* in order, until the next build */
    size_t n, cap;
    enum column sort[COLUMN_COUNT]; /* the first sorts */
    uint32_t n_sort;                /* at least 1 */
    bool upwards;
    const struct view *answer; /* that they were made from; borrowed */
    enum view_group by;        /* that they were made for */
    struct table_part {        /* of cgroups side by side: */
        uint64_t key;
        uint32_t group; /* in the answer */
    } parts[TABLE_PARTS];
    uint32_t n_parts, n_cgroups; /* shown; all that there are */
    const struct difference
        *difference; /* what the answer is compared with, and its rows; NULL: nothing; borrowed */
    const struct table_rows *before;
    struct trend_time time; /* of the answer */
    uint64_t beat;
    struct map pictures; /* by key: where its trend is, of rows that were drawn in this beat */
    struct table_picture {
        uint32_t trend[QUERY_TREND];
    } * trends;
    size_t n_trends, trends_cap;
    struct map slots; /* key → number in … */
    struct table_slot {
        uint64_t key;
        uint32_t place, build; /* … where it stood last, and in which build */
    } * places;
    uint32_t n_slots, build;
    size_t n_old; /* rows in the build before that may keep their places */
    uint32_t
        *made_slots; /* by number of the row as it was made: mostly those of before come in the same order */
    struct functions functions;         /* that the rows were made of; or, of groups, … */
    struct table_picture *groups;       /* … what they count, by group */
    uint64_t *sums;                     /* of other events, by the same numbers */
    uint64_t *part_sums;                /* likewise, TABLE_PARTS of each */
    struct table_row *made;             /* as they were made, before they are put in order by way of … */
    struct table_row **order, **others; /* … these, and rows that have no place yet */
    size_t places_cap, groups_cap, sums_cap, part_sums_cap, made_cap, made_slots_cap, order_cap, others_cap;
};

/* Makes and sorts the rows of an answer, which must stay until the next build. afresh: it answers another question
 * than the one before; nothing keeps its place. */
void table_rows_build(struct table_rows *t, const struct view *answer, enum view_group by, uint64_t now_ns,
                      bool afresh);
/* Sorts by a column from here on; nothing keeps its place. */
void table_rows_sort(struct table_rows *t, enum column c, bool upwards);
void table_rows_done(struct table_rows *t);

/* What is asked for the rows that are drawn, or sorted by it. */
void table_row_trend(struct table_rows *t, const struct table_row *r,
                     uint32_t dst[QUERY_TREND]); /* as it is drawn */
uint32_t table_row_newest(const struct table_rows *t,
                          const struct table_row *r); /* samples in the eighth that is running */
uint32_t table_row_part(const struct table_rows *t, const struct table_row *r,
                        uint32_t part); /* of self_tenths */
/* Weight in the function itself per second: where weights are time, CPUs. NAN: too short a time, or the
 * row is gone. */
double table_row_rate(const struct table_rows *t, const struct table_row *r);
uint32_t table_row_pid(const struct table_rows *t,
                       const struct table_row *r); /* of processes and threads; 0: none */
/* Of another event of the group; NAN: none. */
double table_row_beside(const struct table_rows *t, const struct table_row *r, uint32_t kind);
bool table_row_is_partly(const struct table_rows *t, const struct table_row *r); /* those are estimates */

const char *table_row_group(const struct table_rows *t, const struct table_row *r);
const char *table_row_name(const struct table_rows *t, const struct table_row *r);
const char *table_row_module(const struct table_rows *t, const struct table_row *r);

#endif
