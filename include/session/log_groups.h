// SPDX-License-Identifier: GPL-2.0-or-later
/* The log grouped by fields: how many samples have each value, and the sum and distribution of a number. */
#ifndef FLAMETOP_SESSION_LOG_GROUPS_H
#define FLAMETOP_SESSION_LOG_GROUPS_H

#include "profile/value_groups.h"
#include "session/log_rows.h"

#define LOG_BY_MAX     2
#define LOG_FIELD_NAME 64
#define LOG_BY_TEXT    (2 * LOG_BY_MAX * LOG_FIELD_NAME)
#define LOG_VALUE_MAX  96 /* bytes; longer values are truncated, and then may be one group */

struct log_by { /* zero-initialised: not grouped */
    char fields[LOG_BY_MAX][LOG_FIELD_NAME];
    uint32_t n;
    char value[LOG_FIELD_NAME]; /* the field whose numbers are summed; "": none */
};
/* Parses "FIELD[,FIELD][:VALUE]". */
bool log_by_parse(const char *text, struct log_by *out, struct error *e);
char *log_by_text(const struct log_by *by, char *dst, size_t cap); /* the same text; returns dst */

struct log_groups { /* zero-initialise */
    struct value_group *
        *rows; /* largest count first; the last one may be of further values (log_group_is_other) */
    size_t n;
    const struct value_group *all;
    const struct view *view; /* of the same moment */
    bool is_time;            /* the numbers are nanoseconds */
    uint64_t span_ns;        /* time in which the counted samples are: the base of rates */
    uint64_t dropped;        /* samples that were dropped to keep memory within --history, not counted */
    struct log_groups_memory *memory;
};
/* Groups the samples that pass q and the filter: all that are held. False: no event has a field, the values
 * to sum are no numbers, or there is not enough memory. */
bool session_log_groups(struct session *s, const struct view_query *q, const struct log_filter *filter,
                        const struct log_by *by, struct log_groups *out, struct error *e);
void log_groups_done(struct log_groups *g);

/* True if it counts the values beyond VALUE_GROUPS_MAX. */
bool log_group_is_other(const struct log_groups *g, const struct value_group *group);
/* False: it counts several values, or its samples have no field i. */
bool log_group_has_value(const struct log_groups *g, const struct value_group *group, uint32_t i);
/* Value i of a group, as text for people; returns dst. */
char *log_group_value(const struct log_groups *g, const struct value_group *group, uint32_t i, char *dst,
                      size_t cap);
/* Appends the filter that only the samples of a group pass. False: there is none for several groups. */
bool log_group_put_filter(const struct log_groups *g, const struct value_group *group,
                          const struct log_by *by, struct buf *out);

/* A field of the session's events. */
struct log_field_info {
    char name[LOG_FIELD_NAME];
    bool is_number;
    bool of_all;      /* all events have it */
    char events[128]; /* else those that do: "sched_switch, sched_waking" */
};
struct log_field_list {
    VEC(struct log_field_info);
};
/* Lists the fields; free with mem_free(out->items). */
void session_log_fields(struct session *s, struct log_field_list *out);
/* Checks that an event has the fields, and that the values to sum are numbers. */
bool session_log_by_check(struct session *s, const struct log_by *by, struct error *e);

#endif
