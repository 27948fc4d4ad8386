// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of perf record --off-cpu since Linux 6.16. A BPF program writes a wait when the thread comes back
 * to a CPU, as the payload of a sample whose other fields belong to the thread that left this CPU. At the end
 * perf writes the sums of the waits that were too short for that (--off-cpu-thresh), in the same way.
 *
 * The payload is an array of 64-bit numbers (tools/perf/util/bpf_skel/off_cpu.bpf.c and bpf_off_cpu.c,
 * off_cpu_dump and off_cpu_write): thread, nanoseconds, number of entries of the callchain, the entries,
 * cgroup. */
#include <string.h>

#include "perfdata/perfdata_file.h"

bool offcpu_payload_applies(const struct perfdata *p, uint32_t event)
{
    const struct perfdata_event *ev = &p->events.items[event];
    return ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config == PERF_COUNT_SW_BPF_OUTPUT &&
           ev->attr.sample_type & PERF_SAMPLE_RAW && !strcmp(ev->name, "offcpu-time");
}

bool offcpu_payload_apply(struct record *r)
{
    struct record_sample *s = &r->sample;
    struct cursor c = cursor_of(s->raw, s->raw_size, r->swap);
    uint64_t thread = cursor_u64(&c), period = cursor_u64(&c), n = cursor_u64(&c);
    const void *chain = n <= cursor_left(&c) / sizeof n ? cursor_bytes(&c, (size_t)n * sizeof n) : NULL;
    uint64_t cgroup = cursor_u64(&c);
    if (!chain || c.bad)
        return false;
    /* The BPF program has the process in the upper half, perf in the lower one. Sums have no time. */
    bool sum = r->id.has & PERF_SAMPLE_TIME && !r->id.time_ns;
    r->id.pid = (uint32_t)(sum ? thread : thread >> 32);
    r->id.tid = (uint32_t)(sum ? thread >> 32 : thread);
    r->id.has |= PERF_SAMPLE_TID;
    r->misc = (uint16_t)((r->misc & ~PERF_RECORD_MISC_CPUMODE_MASK) | PERF_RECORD_MISC_USER);
    s->period = period;
    s->chain = chain;
    s->chain_n = (uint32_t)n;
    s->ip = n > 1 ? record_u64(chain, 1, r->swap) : 0; /* the first entry is PERF_CONTEXT_USER */
    s->cgroup = cgroup;
    s->raw = NULL;
    s->raw_size = 0;
    return true;
}
