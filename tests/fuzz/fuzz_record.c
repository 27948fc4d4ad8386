// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes records with any layout: the first bytes are the layout, the rest is consecutive records. They are
 * parsed and applied to a world of processes and mappings. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "perf/record.h"
#include "process/world.h"

/* Reads whatever the record points to, so that sanitizers detect invalid pointers. */
static uint64_t touch(const void *p, uint64_t n)
{
    const volatile uint8_t *bytes = p;
    uint64_t sum = 0;
    for (uint64_t i = 0; p && i < n; i++)
        sum += bytes[i];
    return sum;
}

static void touch_sample(const struct record *r, const struct record_layout *l)
{
    const struct record_sample *s = &r->sample;
    unsigned regs = 0;
    for (uint64_t mask = l->regs_user; mask; mask &= mask - 1)
        regs++;
    touch(s->chain, 8 * (uint64_t)s->chain_n);
    touch(s->raw, s->raw_size);
    touch(s->read, s->read_size);
    touch(s->branch, s->branch_n * sizeof(struct perf_branch_entry));
    touch(s->user_regs, 8 * (uint64_t)regs);
    touch(s->stack, s->stack_size);
    if (s->chain_n)
        record_u64(s->chain, s->chain_n - 1, r->swap);
}

static void touch_record(const struct record *r, const struct record_layout *l)
{
    const char *text = NULL;
    touch(r->body, r->size - sizeof(struct perf_event_header));
    switch (r->type) {
    case PERF_RECORD_SAMPLE:
        touch_sample(r, l);
        return;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        text = r->mmap.path;
        touch(r->mmap.build_id, r->mmap.build_id_size);
        break;
    case PERF_RECORD_COMM:
        text = r->comm.comm;
        break;
    case PERF_RECORD_KSYMBOL:
        text = r->ksymbol.name;
        break;
    case PERF_RECORD_CGROUP:
        text = r->cgroup.path;
        break;
    case PERF_RECORD_NAMESPACES:
        touch(r->namespaces.links, 16 * r->namespaces.n);
        break;
    }
    if (text)
        touch(text, strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cursor c = cursor_of(data, size, false);
    struct record_layout l = {
        .sample_type = cursor_u64(&c),
        .read_format = cursor_u8(&c),
        .branch_type = cursor_u32(&c),
        .regs_user = cursor_u64(&c),
        .regs_intr = cursor_u64(&c),
    };
    uint8_t flags = cursor_u8(&c);
    l.id_all = flags & 1;
    l.swap = flags & 2;
    struct world *w = world_new(false);
    while (!c.bad && cursor_left(&c) > 0) {
        struct record r;
        uint64_t v;
        record_time(c.p, cursor_left(&c), &l, &v);
        if (!record_parse(c.p, cursor_left(&c), &l, &r, NULL)) {
            cursor_skip(&c, 8);
            continue;
        }
        touch_record(&r, &l);
        world_apply(w, &r);
        if (r.type == PERF_RECORD_SAMPLE) {
            struct location place;
            uint32_t thread = world_thread_of(w, r.id.pid, r.id.tid, r.id.time_ns, r.sample.cgroup);
            (void)world_resolve(w, thread, r.sample.ip, false, &place);
        }
        cursor_skip(&c, r.size);
    }
    world_free(w);
    return 0;
}
