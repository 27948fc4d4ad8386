// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples that read counters (perf record -e '{a,b}:S'): one sample stands for all members of its group,
 * each with what it counted since the sample before, as deliver_sample_group() in tools/perf/util/session.c
 * has it. */
#include "perfdata/file.h"

struct member {
    uint64_t value, id;
};

static struct member read_member(struct cursor *c, uint64_t format)
{
    struct member m = { .value = cursor_u64(c) };
    m.id = format & PERF_FORMAT_ID ? cursor_u64(c) : 0;
    if (format & PERF_FORMAT_LOST)
        cursor_skip(c, sizeof(uint64_t));
    return m;
}

static void skip_times(struct cursor *c, uint64_t format)
{
    cursor_skip(c, format & PERF_FORMAT_TOTAL_TIME_ENABLED ? sizeof(uint64_t) : 0);
    cursor_skip(c, format & PERF_FORMAT_TOTAL_TIME_RUNNING ? sizeof(uint64_t) : 0);
}

static bool hand_member(struct perfdata *p, const struct record *r, struct member m, perfdata_record_fn *fn,
                        void *ctx)
{
    uint64_t event;
    if (!map_get(&p->event_of, m.id, &event)) {
        damage_note(p, DAMAGE_NO_EVENT, 1);
        return true;
    }
    uint64_t *last = map_at(&p->last_value, m.id, 0, NULL);
    struct record one = *r;
    one.source = (uint32_t)event;
    one.id.id = m.id;
    one.sample.period = m.value >= *last ? m.value - *last : m.value;
    *last = m.value;
    return !one.sample.period || fn(ctx, &one);
}

bool split_applies(const struct perfdata *p, const struct record *r, uint32_t event)
{
    const struct record_layout *l = &p->layouts[event];
    return r->type == PERF_RECORD_SAMPLE && r->sample.read && l->sample_type & PERF_SAMPLE_READ &&
           l->read_format & PERF_FORMAT_ID;
}

bool split_sample(struct perfdata *p, const struct record *r, uint32_t event, perfdata_record_fn *fn,
                  void *ctx)
{
    uint64_t format = p->layouts[event].read_format;
    struct cursor c = cursor_of(r->sample.read, r->sample.read_size, r->swap);
    if (!(format & PERF_FORMAT_GROUP)) {
        struct member m = { .value = cursor_u64(&c) };
        skip_times(&c, format);
        m.id = cursor_u64(&c);
        return c.bad || hand_member(p, r, m, fn, ctx);
    }
    uint64_t n = cursor_u64(&c);
    skip_times(&c, format);
    for (uint64_t i = 0; i < n; i++) {
        struct member m = read_member(&c, format);
        if (c.bad)
            break;
        if (!hand_member(p, r, m, fn, ctx))
            return false;
    }
    return true;
}
