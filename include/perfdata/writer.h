// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes perf.data files that perf 3.x and later read: file mode, PERFILE2, one attr per event,
 * sample_id_all. */
#ifndef FLAMETOP_PERFDATA_WRITER_H
#define FLAMETOP_PERFDATA_WRITER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct perfdata_writer;
struct perfdata_write_event {
    const char *name;
    const char *tracepoint; /* "system:name", whose format is written; NULL or "": the name says it */
    /* type, config, freq/period, clock, precise and exclude bits are kept. The writer sets sample_type and
     * the record bits to match its output. */
    const struct perf_event_attr *attr;
    /* Number of the group's leader in this array plus one; 0: no group. The events of a group are adjacent.
     * If the leader's attr reads groups (PERF_SAMPLE_READ), all samples are the leader's. */
    uint32_t group;
};
/* Creates nothing at `path` until perfdata_writer_commit. chains: samples have callchains. Samples of
 * tracepoints have their payload. Callchains and paths are truncated to fit a record of 64 KiB. */
struct perfdata_writer *perfdata_writer_open(const char *path, const struct perfdata_write_event *events,
                                             uint32_t n_events, bool chains, bool cgroups, struct error *e);
/* The write functions buffer; the first failure sticks, and commit reports it. pid ~0: the kernel. Times must
 * not decrease. */
void perfdata_write_comm(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
                         const char *comm, bool exec);
struct perfdata_write_map {
    uint32_t pid, tid;
    uint64_t addr, len, pgoff, ino, ino_generation;
    uint32_t maj, min;
    const char *path;
    bool kernel; /* misc is KERNEL */
};
void perfdata_write_mmap(struct perfdata_writer *w, uint64_t time_ns, const struct perfdata_write_map *m);
/* The parent of a process that began earlier, of which the process has nothing. */
void perfdata_write_parent(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t ppid);
void perfdata_write_lost(struct perfdata_writer *w, uint64_t time_ns, uint64_t lost);
void perfdata_write_cgroup(struct perfdata_writer *w, uint64_t time_ns, uint64_t id, const char *path);
/* links: n pairs of device and inode. */
void perfdata_write_namespaces(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
                               const struct perf_ns_link_info *links, uint32_t n);
void perfdata_write_ksymbol(struct perfdata_writer *w, uint64_t time_ns, uint64_t addr, uint32_t len,
                            const char *name);
struct perfdata_write_sample {
    uint64_t time_ns, ip, period, cgroup;
    uint32_t event, pid, tid, cpu;
    uint16_t misc;         /* PERF_RECORD_MISC_CPUMODE: KERNEL, USER, … */
    const uint64_t *chain; /* with PERF_CONTEXT_* markers, leaf first */
    uint32_t chain_n;
    const void *raw;
    uint32_t raw_size;
    uint64_t weight; /* if the event's attr has PERF_SAMPLE_WEIGHT */
    /* Of a leader that reads groups: the count of each member since the previous sample, the leader first.
     * NULL: only the leader counted. */
    const uint64_t *member_periods;
};
void perfdata_write_sample(struct perfdata_writer *w, const struct perfdata_write_sample *s);
void perfdata_write_build_id(struct perfdata_writer *w, const char *path, bool kernel, const uint8_t *id,
                             unsigned size);
/* Sets the facts of the recorded machine and its command line, instead of this one's. Copied. */
struct perfdata_info;
void perfdata_write_host(struct perfdata_writer *w, const struct perfdata_info *info);
/* Uses all that a file contains about its machine and its tracepoints, instead of this machine's facts. The
 * events must be those of the file, in its order. Borrowed until commit. */
struct perfdata;
void perfdata_write_origin(struct perfdata_writer *w, const struct perfdata *from);
void perfdata_write_jit_names(struct perfdata_writer *w, const char *text,
                              size_t size); /* symbols/jittext.h; copied */
/* Copies a file: its events, its feature sections, and the records passed to perfdata_write_record (as from
 * perfdata_each). Keeps the byte order and all contents except compression and AUX data. whole: all records
 * will be passed; otherwise only build-ids of the files that they map are kept. `from` is borrowed until
 * commit. */
struct perfdata_writer *perfdata_writer_copy(const char *path, const struct perfdata *from, bool whole,
                                             struct error *e);
struct record;
void perfdata_write_record(struct perfdata_writer *w, const struct record *r);
/* Writes the header and feature sections, syncs and renames into place. Always frees w. */
bool perfdata_writer_commit(struct perfdata_writer *w, uint64_t *size_bytes, struct error *e);
/* Compresses all records with zstd, which perf reads since Linux 5.2. Call before any record. */
void perfdata_write_packed(struct perfdata_writer *w);
/* Stores the stack mode ("auto 8K") in the writer's version: "flametop 1.0 stacks: auto 8K". */
void perfdata_write_stacks(struct perfdata_writer *w, const char *stacks);
/* Instead of commit: returns an unnamed file in *fd, which the caller owns. */
bool perfdata_writer_take(struct perfdata_writer *w, int *fd, uint64_t *size_bytes, struct error *e);
void perfdata_writer_abort(struct perfdata_writer *w);

#endif
