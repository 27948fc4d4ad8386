// SPDX-License-Identifier: GPL-2.0-or-later
/* The file source: perf.data → records in time order. Format: perf.data-file-format.txt in the kernel's
 * tools/perf/Documentation. Every offset, size and count is bounded by the file. */
#ifndef FLAMETOP_PERFDATA_READER_H
#define FLAMETOP_PERFDATA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/record.h"

struct perfdata_event {
    char name[128];
    struct perf_event_attr attr;
    const void *bytes; /* the attr as the file has it, in its byte order */
    uint32_t n_bytes;
    const uint64_t *ids;
    uint32_t n_ids;
    uint32_t leader; /* of the group that it was counted with: its own number if it was alone */
};
struct perfdata_build_id {
    const char *path;
    uint32_t pid;
    uint16_t misc; /* PERF_RECORD_MISC_KERNEL, _USER, … */
    uint8_t id[20];
    uint8_t size;
};
struct perfdata_info { /* from the feature sections; strings "" when absent */
    char hostname[65], release[65], arch[33], version[65], cpudesc[128];
    char cmdline[1024];
    uint32_t cpus_online, cpus_available;
    uint64_t sample_first_ns, sample_last_ns; /* HEADER_SAMPLE_TIME */
    uint64_t total_mem_kb;
    uint32_t compressed_by, compressed_level,
        compressed_ratio; /* HEADER_COMPRESSED: 1 is zstd; 0: it is not */
};

struct perfdata;
/* Opens a file, the folder that perf record --threads made, or "-", standard input. What comes through a pipe or is packed
 * is unpacked into a file without a name first (perfdata/spool.h). A file with damage opens as far as it can be read:
 * perfdata_damage says. */
struct perfdata *perfdata_open(const char *path, struct error *e);
struct spool;
struct perfdata *perfdata_open_spooled(const struct spool *s,
                                       struct error *e); /* takes its file, also when it fails */
void perfdata_close(struct perfdata *p);
uint64_t perfdata_bytes(const struct perfdata *p); /* of its file, or of all that it consists of */
uint32_t perfdata_events(const struct perfdata *p, const struct perfdata_event **events);
uint32_t perfdata_build_ids(const struct perfdata *p, const struct perfdata_build_id **ids);
const struct perfdata_info *perfdata_info(const struct perfdata *p);
/* A feature section (enum format_feature) as the file holds it, in its byte order; of a file that was written to a pipe
 * what came as records. NULL: there is none; never NULL for one that is there and empty. */
const void *perfdata_feature(const struct perfdata *p, unsigned feature, size_t *size);
const char *perfdata_feature_name(unsigned feature); /* as perf calls it ("NRCPUS"); NULL: not known here */
bool perfdata_swapped(const struct perfdata *p);     /* it is of the other byte order */
/* The first pass over the records, which perfdata_each makes otherwise. go_on is asked now and then, with the share that is
 * read, 0..1; once it says false the rest of the file counts as not there. */
typedef bool perfdata_go_on_fn(void *ctx, double share);
void perfdata_index(struct perfdata *p, perfdata_go_on_fn *go_on, void *ctx);
/* The format of a tracepoint by its number (attr.config) as the file has it, not ended by a NUL; NULL: it has not. Anything
 * may stand in it. */
const char *perfdata_tracepoint(const struct perfdata *p, uint64_t id, size_t *n);
/* All records in time order, perf's own ones too; a record without a time stays behind the one before it in
 * the file, and what perf made up about things that were there before (time 0) comes first. Sets r->source
 * to the event's index; decompresses PERF_RECORD_COMPRESSED when zstd is built in; a sample that read a
 * group's counters comes once per member, with what that member counted as its period. A
 * record's header stands before its body, in the file's byte order. fn false stops. May be called again.
 * progress in 0..1, of this second pass 0.25..1. */
typedef bool perfdata_record_fn(void *ctx, const struct record *r);
bool perfdata_each(struct perfdata *p, perfdata_record_fn *fn, void *ctx, double *progress, struct error *e);
/* How many records of each type the file holds, those out of compressed ones too, in the order of the types'
 * numbers. Complete after perfdata_each; borrowed until the next call. */
struct perfdata_count {
    uint32_t type;
    const char *name; /* as perf calls it ("MMAP2", "FINISHED_ROUND"); NULL: not known here */
    uint64_t n;
};
uint32_t perfdata_counts(struct perfdata *p, const struct perfdata_count **counts);
const char *perfdata_type_name(uint32_t type); /* NULL: not known */
/* What could not be read, one line per kind; 0: the file is whole. Complete after perfdata_each. */
uint32_t perfdata_damage(const struct perfdata *p, const char *const **lines);
const char *perfdata_cgroup(const struct perfdata *p, uint64_t id); /* from records seen; NULL */

#endif
