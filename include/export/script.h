// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of the script format, called as perf script -F calls them. */
#ifndef FLAMETOP_EXPORT_SCRIPT_H
#define FLAMETOP_EXPORT_SCRIPT_H

#include <stdbool.h>

#include "base/error.h"

#define SCRIPT_FIELD_TABLE                                                                                            \
    SCRIPT_FIELD(COMM, "comm")                                                                                        \
    SCRIPT_FIELD(TID, "tid")                                                                                          \
    SCRIPT_FIELD(PID, "pid")                                                                                          \
    SCRIPT_FIELD(TIME, "time")                                                                                        \
    SCRIPT_FIELD(CPU, "cpu")                                                                                          \
    SCRIPT_FIELD(EVENT, "event")                                                                                      \
    SCRIPT_FIELD(TRACE, "trace")                                                                                      \
    SCRIPT_FIELD(IP, "ip")                                                                                            \
    SCRIPT_FIELD(SYM, "sym")                                                                                          \
    SCRIPT_FIELD(SYMOFF, "symoff")                                                                                    \
    SCRIPT_FIELD(DSO, "dso")                                                                                          \
    SCRIPT_FIELD(PERIOD, "period")

enum script_field {
#define SCRIPT_FIELD(id, name) SCRIPT_##id,
    SCRIPT_FIELD_TABLE
#undef SCRIPT_FIELD
    SCRIPT_FIELDS
};

/* "comm,tid,time,ip,sym" (those), "+pid,-period" (the default ones, changed) or NULL → a bit per field. */
bool script_fields(const char *text, unsigned *fields, struct error *e);

#endif
