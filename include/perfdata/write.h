// SPDX-License-Identifier: GPL-2.0-or-later
/* The inside of a struct perfdata_writer, shared by the files of the writer only. */
#ifndef FLAMETOP_PERFDATA_WRITE_H
#define FLAMETOP_PERFDATA_WRITE_H

#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

/* What every perf since 3.7 reads; nothing that we write stands behind it. */
#define WRITE_ATTR_BYTES PERF_ATTR_SIZE_VER3

struct written_event {
    char name[128];
    struct perf_event_attr attr; /* as it is written */
    uint64_t id;
    uint32_t leader, members; /* of its group; members: of a leader, with itself */
    uint64_t total;           /* what a member of a group that is read has counted so far */
};

struct perfdata_writer {
    struct outfile out;
    struct written_event *events;
    uint32_t n_events;
    bool chains, cgroups;
    uint64_t data_start, round_bytes; /* round_bytes: of records since the last round ended */
    uint64_t first_ns, last_ns;       /* of the samples */
    bool sampled;
    struct buf build_ids, cmdline, jit_names; /* sections; cmdline behind its count */
    uint32_t cmdline_n;
    struct perfdata_info *host;  /* NULL: this machine */
    const struct perfdata *from; /* the file that is written anew; borrowed. NULL: none */
    bool copying;                /* its records too, in its byte order */
    bool swap;                   /* which is the other one */
    bool part; /* not all of them: of its build-ids those of `paths`, hashes of what was mapped */
    struct map paths;
    struct buf record; /* the one being made */
    char stacks[24];   /* how they were taken; "": nobody says */
    bool packs;        /* records are packed by zstd */
    struct buf plain;  /* those that are not packed yet */
    uint64_t plain_bytes, packed_bytes;
    struct error trouble; /* packing failed: the first time */
};
#define WRITE_PLAIN_BYTES (128u << 10) /* that are packed at once */
#define WRITE_RECORD_MAX  65528        /* sizes have 16 bits and are multiples of 8 */
#define WRITE_TEXT_MAX    4095
#define WRITE_KERNEL_PID  UINT32_MAX

/* writer.c */
struct perfdata_writer *write_open(const char *path, struct error *e);
void write_begin(struct perfdata_writer *w, uint64_t header_bytes); /* room for the header */
void write_flush(struct perfdata_writer *w);                        /* what waits to be packed */
void write_bytes(struct perfdata_writer *w, const void *record, size_t n);

/* write_records.c */
void write_note_time(struct perfdata_writer *w, uint64_t time_ns); /* of a sample */

/* write_copy.c: numbers as the file has them, and what is taken from the file that is written anew */
uint16_t write_u16(const struct perfdata_writer *w, uint16_t v);
uint32_t write_u32(const struct perfdata_writer *w, uint32_t v);
uint64_t write_u64(const struct perfdata_writer *w, uint64_t v);
uint64_t write_copy_entry_bytes(const struct perfdata_writer *w);
void write_copy_attrs(const struct perfdata_writer *w, struct buf *out); /* ids, then attrs */
bool write_copy_section(const struct perfdata_writer *w, unsigned feature, struct buf *out); /* false: none */

/* write_header.c: everything behind the records, then the header in its place before them */
uint64_t write_header_bytes(uint32_t n_events);
bool write_header(struct perfdata_writer *w);

/* write_facts.c: the sections that tell of a machine; empty: nothing is known */
void write_string(struct buf *b, const char *s);
void write_host_fact(const struct perfdata_writer *w, enum format_feature feature, struct buf *out);

/* write_machine.c: the same of how this machine is built */
void write_machine(enum format_feature feature, struct buf *out);

/* write_tracing.c: the formats of the events that are tracepoints */
void write_tracing(const struct perfdata_writer *w, struct buf *out);

#endif
