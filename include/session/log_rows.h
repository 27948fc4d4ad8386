// SPDX-License-Identifier: GPL-2.0-or-later
/* The log: single samples in order of time, each with a line of text: the fields of a tracepoint, or the
 * function that ran. */
#ifndef FLAMETOP_SESSION_LOG_ROWS_H
#define FLAMETOP_SESSION_LOG_ROWS_H

#include "base/buf.h"
#include "profile/value_groups.h"
#include "session/samples.h"

/* Which rows to show: by a text in the thread, event or text of the row (ASCII case folded), by a comparison
 * with a field: "ret<0", "prev_state=S", "comm=bash", "filename~/etc", or by a field that the row lacks:
 * "!dev". Several conditions are joined by "&&". A value may be in quotes, with a backslash before a quote
 * or backslash. */
enum log_test {
    LOG_CONTAINS,
    LOG_EQUAL,
    LOG_NOT_EQUAL,
    LOG_LESS,
    LOG_AT_MOST,
    LOG_MORE,
    LOG_AT_LEAST,
    LOG_ABSENT
};
struct log_condition {
    char field[64];     /* "": the text must be somewhere in the row */
    enum log_test test; /* of the field: LOG_CONTAINS is '~' */
    char value[128];    /* the text */
    bool is_number;     /* value is one: */
    bool is_negative;
    uint64_t number; /* two's complement */
};
#define LOG_CONDITIONS_MAX 4
struct log_filter { /* zero-initialised: all rows */
    struct log_condition of[LOG_CONDITIONS_MAX];
    uint32_t n;
};
/* False: a comparison by size with something that is not a number, or too many conditions. */
bool log_filter_parse(const char *text, struct log_filter *out, struct error *e);

struct log_row {
    uint64_t key; /* stable identity */
    uint64_t time_ns, weight;
    const char *event;  /* cleaned; valid until the next session_log_rows */
    const char *comm;   /* cleaned; the same */
    const char *parent; /* name and number of the process that forked its process; "", 0: unknown; */
    uint32_t ppid;      /* for world_parent_label */
    uint32_t pid, tid, cpu;
    uint32_t number; /* of its event, as in session_chosen */
    uint32_t sample; /* private */
};
struct log_rows {         /* zero-initialise */
    struct log_row *rows; /* oldest first; with log_ask.longest: longest first */
    size_t n;
    uint64_t samples; /* that pass the query and were read, filtered or not */
    uint64_t left;    /* older ones that session_log_go_on is still to read */
    bool older;       /* there are older samples, which were not read */
    /* The first field of the filter that no event has; NULL: there is none. */
    const char *missing_field;
    uint64_t next; /* for log_ask.from: continues after these rows */
    struct log_rows_memory *memory;
};
struct log_ask {
    struct log_filter filter;
    size_t most;   /* the newest this many rows */
    bool longest;  /* instead of the newest those with the largest weights, largest first */
    uint64_t from; /* only samples that were added after those rows: log_rows.next; 0: all */
    /* With a filter by text, whose search takes long: the time of one step (0: no limit), and a number that
     * changes with filter and query: samples that were searched under this number are not searched again (0:
     * they are). */
    uint64_t step_ns, serial;
};
/* The samples that pass q: with q->all_events of all chosen events, else of the shown one. False: not enough
 * memory for them. */
bool session_log_rows(struct session *s, const struct view_query *q, const struct log_ask *ask,
                      struct log_rows *out, struct error *e);
/* Reads further of the `left` samples of that moment, which may add rows. */
void session_log_go_on(const struct log_ask *ask, struct log_rows *out);
/* The innermost function of its stack; NULL: it has none. Valid as long as the rows. */
const struct view_function *log_row_function(const struct log_rows *r, size_t row);
/* Number of bytes of an operation; 0: it has none. */
uint64_t log_row_bytes(const struct log_rows *r, size_t row);
/* True if samples of an event have fields. */
bool log_rows_have_fields(const struct log_rows *r);
struct log_row_field { /* of a payload, as the kernel has it */
    const char *name;
    bool is_number;
    struct value_number number;
    const char *text; /* else; cleaned; valid until the next call on the rows. NULL: the payload lacks it */
};
/* Field i of a row. False: there is none. */
bool log_row_field(struct log_rows *r, size_t row, int32_t i, struct log_row_field *out);
/* Appends the text of a row, cleaned. */
void log_row_text(struct log_rows *r, size_t row, struct buf *out);
void log_rows_done(struct log_rows *r);

#endif
