// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes records in the layout of <linux/perf_event.h>. */
#include <string.h>
#include <sys/mman.h>

#include "perfdata/write.h"

/* ---- building a record ---- */

static void start_record(struct perfdata_writer *w, uint32_t type, uint16_t misc)
{
    struct perf_event_header h = { .type = type, .misc = misc };
    buf_clear(&w->record);
    buf_add(&w->record, &h, sizeof h);
}

static void put_u32(struct perfdata_writer *w, uint32_t v)
{
    buf_add(&w->record, &v, sizeof v);
}

static void put_u64(struct perfdata_writer *w, uint64_t v)
{
    buf_add(&w->record, &v, sizeof v);
}

static void pad(struct perfdata_writer *w)
{
    static const char zeros[8];
    buf_add(&w->record, zeros, -w->record.len & 7);
}

static void put_text(struct perfdata_writer *w, const char *s)
{
    buf_add(&w->record, s, strnlen(s, WRITE_TEXT_MAX));
    buf_putc(&w->record, '\0');
    pad(w);
}

static void put_pid_tid(struct perfdata_writer *w, uint32_t pid, uint32_t tid)
{
    put_u32(w, pid);
    put_u32(w, tid);
}

/* Appends the sample_id of all records but samples: TID, TIME, CPU, IDENTIFIER. */
static void end_with_id(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
    if (pid == WRITE_KERNEL_PID)
        pid = tid = 0;
    put_pid_tid(w, pid, tid);
    put_u64(w, time_ns);
    put_u64(w, 0); /* cpu: unknown */
    put_u64(w, w->events[0].id);
    write_record(w);
}

/* ---- the records ---- */

void perfdata_write_comm(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
                         const char *comm, bool exec)
{
    start_record(w, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
    put_pid_tid(w, pid, tid);
    put_text(w, comm);
    end_with_id(w, time_ns, pid, tid);
}

void perfdata_write_mmap(struct perfdata_writer *w, uint64_t time_ns, const struct perfdata_write_map *m)
{
    if (m->kernel)
        start_record(w, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
    else
        start_record(w, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
    put_pid_tid(w, m->pid, m->pid == WRITE_KERNEL_PID ? 0 : m->tid);
    put_u64(w, m->addr);
    put_u64(w, m->len);
    put_u64(w, m->pgoff);
    if (!m->kernel) {
        put_u32(w, m->maj);
        put_u32(w, m->min);
        put_u64(w, m->ino);
        put_u64(w, m->ino_generation);
        put_u32(w, PROT_READ | PROT_EXEC);
        put_u32(w, MAP_PRIVATE);
    }
    put_text(w, m->path);
    end_with_id(w, time_ns, m->pid, m->tid);
}

void perfdata_write_parent(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t ppid)
{
    start_record(w, PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC);
    put_u32(w, pid);
    put_u32(w, ppid);
    put_u32(w, pid);
    put_u32(w, ppid);
    put_u64(w, time_ns);
    end_with_id(w, time_ns, pid, pid);
}

void perfdata_write_lost(struct perfdata_writer *w, uint64_t time_ns, uint64_t lost)
{
    start_record(w, PERF_RECORD_LOST, 0);
    put_u64(w, w->events[0].id);
    put_u64(w, lost);
    end_with_id(w, time_ns, 0, 0);
}

void perfdata_write_cgroup(struct perfdata_writer *w, uint64_t time_ns, uint64_t id, const char *path)
{
    start_record(w, PERF_RECORD_CGROUP, 0);
    put_u64(w, id);
    put_text(w, path);
    end_with_id(w, time_ns, 0, 0);
}

void perfdata_write_namespaces(struct perfdata_writer *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
                               const struct perf_ns_link_info *links, uint32_t n)
{
    w->events[0].attr.namespaces = 1;
    start_record(w, PERF_RECORD_NAMESPACES, 0);
    put_u32(w, pid);
    put_u32(w, tid);
    put_u64(w, n);
    for (uint32_t i = 0; i < n; i++) {
        put_u64(w, links[i].dev);
        put_u64(w, links[i].ino);
    }
    end_with_id(w, time_ns, pid, tid);
}

void perfdata_write_ksymbol(struct perfdata_writer *w, uint64_t time_ns, uint64_t addr, uint32_t len,
                            const char *name)
{
    w->events[0].attr.ksymbol = 1;
    start_record(w, PERF_RECORD_KSYMBOL, 0);
    put_u64(w, addr);
    put_u32(w, len);
    put_u32(w, strncmp(name, "bpf_prog_", 9) ? PERF_RECORD_KSYMBOL_TYPE_OOL : PERF_RECORD_KSYMBOL_TYPE_BPF);
    put_text(w, name);
    end_with_id(w, time_ns, 0, 0);
}

/* Writes the present counter values of a group. */
static void put_read(struct perfdata_writer *w, const struct perfdata_write_sample *s)
{
    struct written_event *leader = &w->events[s->event];
    put_u64(w, leader->members);
    for (uint32_t i = 0; i < leader->members; i++) {
        leader[i].total += s->member_periods ? s->member_periods[i] : i == 0 ? s->period : 0;
        put_u64(w, leader[i].total);
        put_u64(w, leader[i].id);
    }
}

static void put_chain(struct perfdata_writer *w, const struct perfdata_write_sample *s, size_t room)
{
    uint64_t n = s->chain_n < room / sizeof *s->chain ? s->chain_n : room / sizeof *s->chain;
    put_u64(w, n);
    buf_add(&w->record, s->chain, (size_t)n * sizeof *s->chain);
}

/* The size includes the padding, as in the kernel; perf relies on it. A payload always has the fields common
 * to all tracepoints, because perf reads them unconditionally. */
static void put_raw(struct perfdata_writer *w, const struct perfdata_write_sample *s)
{
    struct {
        uint16_t type;
        uint8_t flags, preempt_count;
        uint32_t pid;
    } common = { .type = (uint16_t)w->events[s->event].attr.config, .pid = s->tid };
    bool supplied = s->raw_size >= sizeof common;
    uint32_t size = supplied ? s->raw_size : sizeof common;
    put_u32(w, size + (-(size + 4) & 7));
    buf_add(&w->record, supplied ? s->raw : &common, size);
    pad(w);
}

static void put_aux(struct perfdata_writer *w, const struct perfdata_write_sample *s)
{
    put_u64(w, s->raw_size + (-s->raw_size & 7));
    buf_add(&w->record, s->raw, s->raw_size);
    pad(w);
}

void write_note_time(struct perfdata_writer *w, uint64_t time_ns)
{
    if (!w->sampled)
        w->first_ns = time_ns;
    w->last_ns = time_ns;
    w->sampled = true;
}

void perfdata_write_sample(struct perfdata_writer *w, const struct perfdata_write_sample *sample)
{
    struct perfdata_write_sample s = *sample;
    if (s.event >= w->n_events ||
        (w->events[s.event].attr.sample_type & PERF_SAMPLE_READ && !w->events[s.event].members))
        return;
    const struct written_event *ev = &w->events[s.event];
    bool raw = ev->attr.sample_type & PERF_SAMPLE_RAW;
    if (!(ev->attr.sample_type & (PERF_SAMPLE_RAW | PERF_SAMPLE_AUX)) || s.raw_size > WRITE_RECORD_MAX / 2)
        s.raw_size = 0;
    start_record(w, PERF_RECORD_SAMPLE, s.misc);
    put_u64(w, ev->id);
    put_u64(w, s.ip);
    put_pid_tid(w, s.pid, s.tid);
    put_u64(w, s.time_ns);
    put_u64(w, s.cpu);
    put_u64(w, s.period);
    if (ev->attr.sample_type & PERF_SAMPLE_READ)
        put_read(w, &s);
    if (w->chains)
        put_chain(w, &s, WRITE_RECORD_MAX - w->record.len - s.raw_size - 64);
    if (raw)
        put_raw(w, &s);
    if (ev->attr.sample_type & PERF_SAMPLE_WEIGHT)
        put_u64(w, s.weight);
    if (w->cgroups)
        put_u64(w, s.cgroup);
    if (ev->attr.sample_type & PERF_SAMPLE_AUX)
        put_aux(w, &s);
    write_record(w);
    write_note_time(w, s.time_ns);
}
