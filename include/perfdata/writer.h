// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing perf.data that perf 3.x to today reads: file mode, PERFILE2, one attr per event, sample_id_all. */
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
    /* type, config, freq/period, clock, precise and exclude bits are kept; sample_type and record bits are
     * set by the writer to what it writes */
    const struct perf_event_attr *attr;
};
/* Nothing is at `path` until perfdata_writer_commit. chains: samples carry callchains; those of tracepoints
 * carry their payload. Of a callchain or path what a record of 64 KiB holds is written. */
struct perfdata_writer *perfdata_writer_open(const char *path, const struct perfdata_write_event *events,
                                             uint32_t n_events, bool chains, bool cgroups, struct error *e);
/* All of these buffer; the first failure sticks and is told by commit. pid ~0: the kernel. Times must not
 * fall. */
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
void perfdata_write_fork(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t ppid,
                         uint32_t tid, uint32_t ptid);
void perfdata_write_exit(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t ppid,
                         uint32_t tid, uint32_t ptid);
void perfdata_write_lost(struct perfdata_writer *w, uint64_t time_ns, uint32_t event, uint64_t lost);
void perfdata_write_cgroup(struct perfdata_writer *w, uint64_t time_ns, uint64_t id, const char *path);
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
};
void perfdata_write_sample(struct perfdata_writer *w, const struct perfdata_write_sample *s);
void perfdata_write_build_id(struct perfdata_writer *w, const char *path, bool kernel, const uint8_t *id,
                             unsigned size);
/* Without it: our own command line, or that of perfdata_write_host. */
void perfdata_write_cmdline(struct perfdata_writer *w, int argc, const char *const *argv);
/* What a file said, when it is written anew: the facts of the machine that recorded, in place of this
 * one's; and the formats of its tracepoints (perfdata_tracing), in place of this kernel's. Copied. */
struct perfdata_info;
void perfdata_write_host(struct perfdata_writer *w, const struct perfdata_info *info);
void perfdata_write_tracing(struct perfdata_writer *w, const void *bytes, size_t size);
void perfdata_write_jit_names(struct perfdata_writer *w, const char *text, size_t size); /* symbols/jittext.h; copied */
/* Writes the header and feature sections, syncs and renames into place. Frees w in any case. */
bool perfdata_writer_commit(struct perfdata_writer *w, uint64_t *size_bytes, struct error *e);
void perfdata_writer_abort(struct perfdata_writer *w);

#endif
