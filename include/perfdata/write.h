// SPDX-License-Identifier: GPL-2.0-or-later
/* The inside of a struct perfdata_writer, shared by the files of the writer only. */
#ifndef FLAMETOP_PERFDATA_WRITE_H
#define FLAMETOP_PERFDATA_WRITE_H

#include "base/buf.h"
#include "base/file.h"
#include "perfdata/format.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

/* What every perf since 3.7 reads; nothing that we write stands behind it. */
#define WRITE_ATTR_BYTES PERF_ATTR_SIZE_VER3

struct written_event {
    char name[128];
    struct perf_event_attr attr; /* as it is written */
    uint64_t id;
};

struct perfdata_writer {
    struct outfile out;
    struct written_event *events;
    uint32_t n_events;
    bool chains, cgroups, ksymbols;
    uint64_t data_start;
    uint64_t first_ns, last_ns; /* of the samples */
    bool sampled;
    struct buf build_ids, cmdline, tracing, jit_names; /* sections; cmdline behind its count */
    uint32_t cmdline_n;
    struct perfdata_info *host; /* NULL: this machine */
    struct buf record;          /* the one being made */
};

/* write_header.c: everything behind the records, then the header in its place before them */
uint64_t write_header_bytes(uint32_t n_events);
bool write_header(struct perfdata_writer *w);

/* write_facts.c: the sections that tell of a machine; empty: nothing is known */
void write_string(struct buf *b, const char *s);
void write_host_fact(const struct perfdata_writer *w, enum format_feature feature, struct buf *out);

/* write_tracing.c: the formats of the events that are tracepoints */
void write_tracing(const struct perfdata_writer *w, struct buf *out);

#endif
