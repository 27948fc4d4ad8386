// SPDX-License-Identifier: GPL-2.0-or-later
/* The fields of the script format, named as in perf script -F, and the output of fields that only records of
 * a file have, as in perf 6.1. */
#ifndef FLAMETOP_EXPORT_SCRIPT_H
#define FLAMETOP_EXPORT_SCRIPT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "perf/record.h"
#include "session/address_names.h"
#include "session/recorded.h"

/* The last column: what must be recorded with a sample for this field (PERF_SAMPLE_*; SCRIPT_RECORD: only its
 * record). 0: the history has the field. */
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

/* Parses "comm,tid,time,ip,sym" (these fields), "+pid,-period" (the default, changed) or NULL (the default)
 * into a bit per field. */
bool script_fields(const char *text, unsigned *fields, struct error *e);
const char *script_field_name(enum script_field field);
uint64_t script_field_recorded(enum script_field field); /* the last column of the table */
/* Returns the additional fields that perf prints for such an event by default, if they were recorded. */
unsigned script_fields_by_default(const struct perf_event_attr *attr);

/* A sample's record and what its fields need; all pointers are borrowed. */
struct script_data {
    unsigned fields;
    const struct record *r;
    const struct perf_event_attr *attr;
    const char *arch; /* the recorded system's, as in uname; "": this system's */
    struct session_recorded *at;
    struct session_address_names *naming;
    uint32_t thread;
    int *data_src_width; /* largest width so far */
};
void script_put_data(const struct script_data *d, struct buf *out);  /* fields before the stack */
void script_put_state(const struct script_data *d, struct buf *out); /* fields after the stack */

/* Appends the name of an address: "name+0x12 (module)" or parts of it. */
typedef void script_name_fn(const void *ctx, uint64_t address, struct buf *out);
void script_put_misc(uint16_t misc, struct buf *out);
/* Pads to *width, the largest width so far, and updates it. */
void script_put_data_src(uint64_t data_src, int *width, struct buf *out);
/* arch: as in uname; "": this system's. Appends nothing if registers is NULL. */
void script_put_registers(const void *registers, uint64_t abi, uint64_t mask, bool swap, const char *arch,
                          struct buf *out);
void script_put_page_size(uint64_t bytes, struct buf *out);
/* Appends the branches, the most recent first. names: appends a name instead of each address; after: appends
 * text after each address. Both may be NULL. */
void script_put_branches(const struct record *r, script_name_fn *names, script_name_fn *after,
                         const void *ctx, struct buf *out);

#endif
