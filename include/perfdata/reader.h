// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads perf.data files: all records in time order. Format: perf.data-file-format.txt in the kernel's
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
    const void *bytes; /* the attr as in the file, in its byte order */
    uint32_t n_bytes;
    const uint64_t *ids;
    uint32_t n_ids;
    uint32_t leader; /* leader of its group: its own number if it has no group */
};
struct perfdata_build_id {
    const char *path;
    uint32_t pid;
    uint16_t misc; /* PERF_RECORD_MISC_KERNEL, _USER, … */
    uint8_t id[20];
    uint8_t size;
};
struct perfdata_info { /* from the feature sections; missing strings are "" */
    char hostname[65], release[65], arch[33], version[65], cpudesc[128];
    char cmdline[1024];
    uint32_t cpus_online, cpus_available;
    uint64_t sample_first_ns, sample_last_ns; /* HEADER_SAMPLE_TIME */
    uint64_t total_mem_kb;
    /* HEADER_COMPRESSED. compressed_by: 1 is zstd, 0 is uncompressed. */
    uint32_t compressed_by, compressed_level, compressed_ratio;
};

struct perfdata;
/* Opens a file, a folder made by perf record --threads, or "-" (standard input). Input from a pipe or
 * compressed input is first copied to an unnamed file (perfdata/spool.h). A damaged file opens as far as it
 * can be read; see perfdata_damage. */
struct perfdata *perfdata_open(const char *path, struct error *e);
struct spool;
/* Takes ownership of its file, also on failure. */
struct perfdata *perfdata_open_spooled(const struct spool *s, struct error *e);
void perfdata_close(struct perfdata *p);
uint64_t perfdata_bytes(const struct perfdata *p); /* size of its file or files */
uint32_t perfdata_events(const struct perfdata *p, const struct perfdata_event **events);
uint32_t perfdata_build_ids(const struct perfdata *p, const struct perfdata_build_id **ids);
const struct perfdata_info *perfdata_info(const struct perfdata *p);
/* Returns a feature section (enum format_feature) in the file's byte order; of a pipe-mode file the records
 * with the feature. NULL: missing; an empty section is not NULL. */
const void *perfdata_feature(const struct perfdata *p, unsigned feature, size_t *size);
const char *perfdata_feature_name(unsigned feature); /* perf's name ("NRCPUS"); NULL: unknown */
bool perfdata_swapped(const struct perfdata *p);     /* it has the other byte order */
/* Runs the first pass over the records now; otherwise perfdata_each does it. Calls go_on regularly with the
 * share that has been read, 0..1. After go_on returns false the rest of the file is ignored. */
typedef bool perfdata_go_on_fn(void *ctx, double share);
void perfdata_index(struct perfdata *p, perfdata_go_on_fn *go_on, void *ctx);
/* Returns a tracepoint's format by its number (attr.config) from the file, not NUL-terminated; NULL: missing.
 * The text is untrusted. */
const char *perfdata_tracepoint(const struct perfdata *p, uint64_t id, size_t *n);
/* Passes all records to fn in time order, including perf's own. A record without a time follows its
 * predecessor in the file; records that perf synthesized for earlier state (time 0) come first. Sets
 * r->source to the event's index. Decompresses PERF_RECORD_COMPRESSED if zstd is built in. A sample with a
 * group's counters is passed once per member, with the member's count as its period. A record's header
 * precedes its body in memory, in the file's byte order. Stops when fn returns false. May be called again.
 * progress: 0..1; this second pass covers 0.25..1. */
typedef bool perfdata_record_fn(void *ctx, const struct record *r);
bool perfdata_each(struct perfdata *p, perfdata_record_fn *fn, void *ctx, double *progress, struct error *e);
/* Counts the records of each type in the file, including those in compressed records, ordered by type.
 * Complete after perfdata_each; borrowed until the next call. */
struct perfdata_count {
    uint32_t type;
    const char *name; /* perf's name ("MMAP2", "FINISHED_ROUND"); NULL: unknown */
    uint64_t n;
};
uint32_t perfdata_counts(struct perfdata *p, const struct perfdata_count **counts);
const char *perfdata_type_name(uint32_t type); /* NULL: unknown */
/* Lists what could not be read, one line per kind; 0: the file is undamaged. Complete after perfdata_each. */
uint32_t perfdata_damage(const struct perfdata *p, const char *const **lines);

#endif
