// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of the script format, called as perf script -F calls them, and how perf (6.1) prints those that only the
 * records of a file have. */
#ifndef FLAMETOP_EXPORT_SCRIPT_H
#define FLAMETOP_EXPORT_SCRIPT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "perf/record.h"
#include "session/naming.h"
#include "session/recorded.h"

/* The last column: what of a sample has to be recorded for it (PERF_SAMPLE_*; SCRIPT_RECORD: its record alone); 0: the
 * history has it. */
#define SCRIPT_RECORD (UINT64_C(1) << 63)
#define SCRIPT_FIELD_TABLE                                                                                   \
    SCRIPT_FIELD(COMM, "comm", 0)                                                                            \
    SCRIPT_FIELD(TID, "tid", 0)                                                                              \
    SCRIPT_FIELD(PID, "pid", 0)                                                                              \
    SCRIPT_FIELD(TIME, "time", 0)                                                                            \
    SCRIPT_FIELD(CPU, "cpu", 0)                                                                              \
    SCRIPT_FIELD(EVENT, "event", 0)                                                                          \
    SCRIPT_FIELD(TRACE, "trace", 0)                                                                          \
    SCRIPT_FIELD(IP, "ip", 0)                                                                                \
    SCRIPT_FIELD(SYM, "sym", 0)                                                                              \
    SCRIPT_FIELD(SYMOFF, "symoff", 0)                                                                        \
    SCRIPT_FIELD(DSO, "dso", 0)                                                                              \
    SCRIPT_FIELD(SRCLINE, "srcline", 0)                                                                      \
    SCRIPT_FIELD(PERIOD, "period", 0)                                                                        \
    SCRIPT_FIELD(MISC, "misc", SCRIPT_RECORD)                                                                \
    SCRIPT_FIELD(ADDR, "addr", PERF_SAMPLE_ADDR)                                                             \
    SCRIPT_FIELD(DATA_SRC, "data_src", PERF_SAMPLE_DATA_SRC)                                                 \
    SCRIPT_FIELD(WEIGHT, "weight", PERF_SAMPLE_WEIGHT_TYPE)                                                  \
    SCRIPT_FIELD(INS_LAT, "ins_lat", PERF_SAMPLE_WEIGHT_STRUCT)                                              \
    SCRIPT_FIELD(IREGS, "iregs", PERF_SAMPLE_REGS_INTR)                                                      \
    SCRIPT_FIELD(UREGS, "uregs", PERF_SAMPLE_REGS_USER)                                                      \
    SCRIPT_FIELD(BRSTACK, "brstack", PERF_SAMPLE_BRANCH_STACK)                                               \
    SCRIPT_FIELD(BRSTACKSYM, "brstacksym", PERF_SAMPLE_BRANCH_STACK)                                         \
    SCRIPT_FIELD(PHYS_ADDR, "phys_addr", PERF_SAMPLE_PHYS_ADDR)                                              \
    SCRIPT_FIELD(DATA_PAGE_SIZE, "data_page_size", PERF_SAMPLE_DATA_PAGE_SIZE)                               \
    SCRIPT_FIELD(CODE_PAGE_SIZE, "code_page_size", PERF_SAMPLE_CODE_PAGE_SIZE)                               \
    SCRIPT_FIELD(CGROUP, "cgroup", 0)

enum script_field {
#define SCRIPT_FIELD(id, name, recorded) SCRIPT_##id,
    SCRIPT_FIELD_TABLE
#undef SCRIPT_FIELD
        SCRIPT_FIELDS
};
#define SCRIPT_BIT(field) (1u << (field))

/* "comm,tid,time,ip,sym" (those), "+pid,-period" (the default ones, changed) or NULL → a bit per field. */
bool script_fields(const char *text, unsigned *fields, struct error *e);
const char *script_field_name(enum script_field field);
uint64_t script_field_recorded(enum script_field field); /* the last column */
/* The fields that perf prints of such an event though nobody asked for them, as far as they were recorded. */
unsigned script_fields_by_default(const struct perf_event_attr *attr);

/* A sample's record, and what its fields need; all borrowed. */
struct script_data {
    unsigned fields;
    const struct record *r;
    const struct perf_event_attr *attr;
    const char *arch; /* of the machine, as uname has it; "": ours */
    struct session_recorded *at;
    struct session_naming *naming;
    uint32_t thread;
    int *data_src_width; /* of the widest until now */
};
void script_put_data(const struct script_data *d, struct buf *out);  /* what stands before the stack … */
void script_put_state(const struct script_data *d, struct buf *out); /* … and behind it */

/* Where a name of an address is to be put, "name+0x12 (module)" or parts of it. */
typedef void script_name_fn(const void *ctx, uint64_t address, struct buf *out);
void script_put_misc(uint16_t misc, struct buf *out);
void script_put_data_src(uint64_t data_src, int *width,
                         struct buf *out); /* width, of the widest until now, is kept */
/* arch as uname has it; "": ours. NULL registers: nothing. */
void script_put_registers(const void *registers, uint64_t abi, uint64_t mask, bool swap, const char *arch,
                          struct buf *out);
void script_put_page_size(uint64_t bytes, struct buf *out);
/* The branches, last one first; names: of both ends in place of addresses; after: behind each end. NULL: none. */
void script_put_branches(const struct record *r, script_name_fn *names, script_name_fn *after,
                         const void *ctx, struct buf *out);

#endif
