// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads samples for the log: their text, single fields, and whether they pass a filter. */
#ifndef FLAMETOP_SESSION_QUERY_LOG_READER_H
#define FLAMETOP_SESSION_QUERY_LOG_READER_H

#include "profile/value_groups.h"
#include "session/log_rows.h"
#include "session/trace.h"

/* LOG_ENTER, LOG_EXIT: the fields have the number of a system call of this machine. LOG_PROCESS: the length
 * is how long a process ran. */
enum log_kind { LOG_FIELDS, LOG_ENTER, LOG_EXIT, LOG_PLACE, LOG_LENGTH, LOG_PROCESS };

struct log_reader { /* zero-initialise; set what to collect in `samples` */
    struct view view;
    struct session_samples samples;
    struct session_trace *trace; /* of n_events events of the session */
    uint32_t n_events;
    BUFFER(enum log_kind) kinds; /* by event */
    char (*event_names)[128];    /* the same; cleaned */
    BUFFER(bool) of_32_bits;     /* by thread */
    struct buf text;             /* of one sample or value */
};
/* Opens the session's events, without samples. */
void log_reader_open(struct log_reader *r, struct session *s);
/* Collects the samples of a query. False: not enough memory for them. */
bool log_reader_collect(struct log_reader *r, struct session *s, const struct view_query *q, struct error *e);
void log_reader_done(struct log_reader *r);

/* The innermost function of its stack; NULL: it has none. */
const struct view_function *log_reader_function(const struct log_reader *r, const struct sample *sample);
/* Appends the text of a sample, cleaned. */
void log_reader_put(struct log_reader *r, const struct sample *sample, struct buf *out);

/* See log_rows.h. */
bool log_reader_has_fields(const struct log_reader *r);
bool log_reader_field(struct log_reader *r, const struct sample *sample, int32_t i,
                      struct log_row_field *out);

/* Fields that samples have without a payload, if an event has no field of that name. */
enum log_own {
    LOG_OWN_COMM,
    LOG_OWN_PARENT, /* comm of the process that forked its process; empty: unknown */
    LOG_OWN_PPID,
    LOG_OWN_PID,
    LOG_OWN_TID,
    LOG_OWN_CPU,
    LOG_OWN_EVENT,
    LOG_OWN_WEIGHT,
    LOG_OWN_PROCESS, /* comm/pid */
    LOG_OWN_THREAD,  /* comm/tid */
    LOG_OWN_SYSCALL, /* its name; only of events of system calls */
    LOG_OWN_COUNT
};
extern const char *const log_own_names[LOG_OWN_COUNT];
bool log_own_is_number(enum log_own own);

struct log_field { /* zero-initialise; log_field_done */
    enum log_own own;
    BUFFER(int32_t) of; /* by event: the field of its payload; -1: none */
    bool found;         /* an event has it */
    bool is_number;     /* as a number */
};
/* Looks a field up by its name. */
void log_field_find(const struct log_reader *r, const char *name, struct log_field *out);
void log_field_done(struct log_field *f);

struct log_value { /* of a field of a sample */
    enum payload_value kind;
    struct value_number number;
    const char *text; /* cleaned; valid until the next call on the reader */
};
struct log_value log_reader_value(struct log_reader *r, const struct log_field *f,
                                  const struct sample *sample);
/* Appends a value as it is shown: "openat" for 257, "S" for 1. False: the sample has no such field. */
bool log_reader_put_value(struct log_reader *r, const struct log_field *f, const struct sample *sample,
                          struct buf *out);

/* log_filter.c: test values of a field against the filter. */
bool log_filter_number(const struct log_condition *c, uint64_t number, bool is_negative);
bool log_filter_text(const struct log_condition *c, const char *text);
/* A filter whose fields have been looked up. */
struct log_judge { /* zero-initialise; log_judge_done */
    const struct log_filter *filter;
    struct log_field fields[LOG_CONDITIONS_MAX];
};
/* Returns the first field of the filter that no event has; NULL: there is none. */
const char *log_judge_start(struct log_judge *j, const struct log_reader *r, const struct log_filter *filter);
bool log_judge_passes(struct log_judge *j, struct log_reader *r, const struct sample *sample);
void log_judge_done(struct log_judge *j);

#endif
