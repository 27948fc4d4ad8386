// SPDX-License-Identifier: GPL-2.0-or-later
/* The internals of struct perfdata_writer, shared only by the files of the writer. */
#ifndef FLAMETOP_PERFDATA_WRITE_H
#define FLAMETOP_PERFDATA_WRITE_H

#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

/* Every perf since 3.7 reads this size; flametop writes no later field. */
#define WRITE_ATTR_BYTES PERF_ATTR_SIZE_VER3

struct written_event {
    char name[128], tracepoint[128];
    struct perf_event_attr attr; /* as written */
    uint64_t id;
    uint32_t leader, members; /* of its group; members: of a leader, including itself */
    uint64_t total;           /* of a group that is read: this member's count so far */
};

struct perfdata_writer {
    struct outfile out;
    struct written_event *events;
    uint32_t n_events;
    bool chains, cgroups;
    uint64_t data_start, round_bytes; /* round_bytes: size of the records since the last round ended */
    uint64_t first_ns, last_ns;       /* of the samples */
    bool sampled;
    struct buf build_ids, jit_names; /* sections */
    struct perfdata_info *host;      /* NULL: this machine */
    const struct perfdata *from;     /* the file that is copied; borrowed. NULL: none */
    bool copying;                    /* copies its records too, in its byte order */
    bool swap;                       /* the byte order is the other one */
    bool part; /* copies only some records: keeps only build-ids of `paths`, hashes of mapped files */
    struct map paths;
    struct buf record; /* the current one */
    char stacks[24];   /* stack mode; "": unknown */
    bool packs;        /* records are compressed with zstd */
    struct buf plain;  /* records not compressed yet */
    uint64_t plain_bytes, packed_bytes;
    struct error trouble; /* first failure of the compression */
};
#define WRITE_PLAIN_BYTES (128u << 10) /* compressed at once */
#define WRITE_RECORD_MAX  65528        /* sizes have 16 bits and are multiples of 8 */
#define WRITE_TEXT_MAX    4095
#define WRITE_KERNEL_PID  UINT32_MAX

/* write_output.c: numbers in the file's byte order, strings, and records. */
uint16_t write_u16(const struct perfdata_writer *w, uint16_t v);
uint32_t write_u32(const struct perfdata_writer *w, uint32_t v);
uint64_t write_u64(const struct perfdata_writer *w, uint64_t v);
void write_add_u32(struct buf *b, uint32_t v);
void write_add_u64(struct buf *b, uint64_t v);
void write_string(struct buf *b, const char *s);
struct perfdata_writer *write_open(const char *path, struct error *e);
void write_begin(struct perfdata_writer *w, uint64_t header_bytes); /* reserves room for the header */
/* Compresses and writes waiting records. */
void write_flush(struct perfdata_writer *w);
/* Sets the size of the complete record in w->record and writes it. A round can end after it. */
void write_record(struct perfdata_writer *w);

/* write_records.c */
void write_note_time(struct perfdata_writer *w, uint64_t time_ns); /* of a sample */

/* write_copy.c: data from the file that is copied. */
uint64_t write_copy_entry_bytes(const struct perfdata_writer *w);
void write_copy_attrs(const struct perfdata_writer *w, struct buf *out); /* ids, then attrs */
bool write_copy_section(const struct perfdata_writer *w, unsigned feature, struct buf *out); /* false: none */

/* write_header.c: all data after the records, then the header in its place before them. */
uint64_t write_header_bytes(uint32_t n_events);
bool write_header(struct perfdata_writer *w);

/* write_facts.c: sections that describe a machine; empty: nothing known. */
void write_host_fact(const struct perfdata_writer *w, enum format_feature feature, struct buf *out);

/* write_machine.c: same for the hardware topology of this machine. */
void write_machine(enum format_feature feature, struct buf *out);

/* write_tracing.c: the formats of tracepoint events. */
void write_tracing(const struct perfdata_writer *w, struct buf *out);

#endif
