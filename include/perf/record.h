// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse perf_event records (from ring buffers and perf.data) into structs, by the layouts in
 * <linux/perf_event.h> and perf_event_open(2). All pointers are borrowed from the parsed bytes. */
#ifndef FLAMETOP_PERF_RECORD_H
#define FLAMETOP_PERF_RECORD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* How the records of an attr are laid out. */
struct record_layout {
    uint64_t sample_type, read_format, branch_type;
    uint64_t regs_user, regs_intr; /* masks */
    bool id_all;                   /* non-sample records carry a sample_id trailer */
    bool per_task;                 /* counters in samples are those of the sampled task: inherited events */
    bool scales;                   /* these are scaled by the times for which they ran (set by live.c) */
    bool elsewhere;                /* a task has them on each CPU: enabled also while it runs on others */
    bool swap;                     /* bytes are of the other endianness */
};
void record_layout_of(const struct perf_event_attr *attr, bool swap, struct record_layout *out);

/* Fields shared by samples and (with id_all) all other records. Fields not in sample_type are 0; `has`
 * holds the PERF_SAMPLE_* bits that were read. */
struct record_id {
    uint64_t has;
    uint64_t time_ns, id, stream_id;
    uint32_t pid, tid, cpu;
};

struct record_sample {
    uint64_t ip, addr, period, cgroup, weight, ins_lat, data_src, transaction, phys_addr, data_page_size,
        code_page_size;
    const void *chain; /* u64[chain_n]; unaligned and maybe byte-swapped: use record_u64() */
    uint32_t chain_n;
    const void *raw;
    uint32_t raw_size;
    const void *aux; /* PERF_SAMPLE_AUX */
    uint32_t aux_size;
    const void *read; /* the read_format values */
    uint32_t read_size;
    const void *branch; /* perf_branch_entry[branch_n] */
    uint32_t branch_n;
    uint64_t user_abi;     /* PERF_SAMPLE_REGS_ABI_* */
    const void *user_regs; /* u64 per bit of layout->regs_user */
    uint64_t intr_abi;     /* interrupted registers, in the kernel as well */
    const void *intr_regs;
    const void *stack;
    uint64_t stack_size, stack_dyn_size;
};

struct record {
    uint32_t type; /* PERF_RECORD_* (known ones are parsed; others keep type, misc, size and body) */
    uint16_t misc;
    uint16_t size; /* without bytes that the kernel did not write (record.c, used_size) */
    bool known;
    bool swap;
    const void *body; /* behind the header */
    struct record_id id;
    uint32_t source; /* index of its event; set by the source */
    uint64_t place;  /* in a file: its offset; samples split from one group record share it */
    bool
        counting; /* live: a begin of latency:ROW that counts as sample.period of them, and is no operation */
    bool foreign; /* live: of an event that is open for all threads, in a thread outside the scope */
    bool again;   /* same sample as the previous record, for another event of its group (perf/readings.h) */
    bool partly;  /* its counters shared the PMU with others since the previous sample */
    /* live: from then on records of other CPUs may be lost, which is not reported yet; 0: none */
    uint64_t gap_ns;
    union {
        struct record_sample sample;
        struct {
            uint32_t pid, tid;
            uint64_t addr, len, pgoff;
            uint32_t maj, min, prot, flags; /* MMAP2; prot is PROT_EXEC for MMAP without the data bit */
            uint64_t ino, ino_generation;
            uint8_t build_id_size; /* MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID; else 0 */
            uint8_t build_id[20];
            const char *path; /* raw, NUL-terminated */
        } mmap;               /* MMAP and MMAP2 */
        struct {
            uint32_t pid, tid;
            bool exec;
            const char *comm;
        } comm;
        struct {
            uint32_t pid, ppid, tid, ptid;
            uint64_t time_ns;
        } task; /* FORK, EXIT */
        struct {
            uint64_t id, lost;
            uint64_t from_ns; /* live: time of the last record before them on this CPU; 0: not known */
        } lost;               /* LOST, LOST_SAMPLES (id 0) */
        struct {
            uint64_t time_ns, id, stream_id;
        } throttle; /* THROTTLE, UNTHROTTLE */
        struct {
            uint64_t addr;
            uint32_t len;
            uint16_t ksym_type, flags; /* flags & 1: unregister */
            const char *name;
        } ksymbol;
        struct {
            uint64_t id;
            const char *path;
        } cgroup;
        struct {
            uint32_t pid, tid;
            uint64_t n;
            const void *links; /* {u64 dev, ino}[n] */
        } namespaces;
        struct {
            uint32_t next_prev_pid, next_prev_tid;
        } cpu_switch;
    };
};

/* Parse the record at `bytes`, of which `avail` are readable. False: truncated or impossible sizes (e says
 * how). */
bool record_parse(const void *bytes, size_t avail, const struct record_layout *l, struct record *out,
                  struct error *e);
/* Entry i of a callchain, or of any u64 array in a record. */
uint64_t record_u64(const void *array, uint32_t i, bool swap);
/* Read only the time of a record, fast, for merging. False if it has none. */
bool record_time(const void *bytes, size_t avail, const struct record_layout *l, uint64_t *time_ns);
/* Read the id of the record's event from its fixed offset (PERF_SAMPLE_IDENTIFIER). */

#endif
