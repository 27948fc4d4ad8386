// SPDX-License-Identifier: GPL-2.0-or-later
/* Splits a sample that read a group's counters into one sample per member, each of the event that its id
 * names. */
#include "perfdata/perfdata_file.h"

struct split {
    struct perfdata *p;
    perfdata_record_fn *fn;
    void *ctx;
    bool handed;
};

static bool hand_member(void *ctx, struct record *one, uint32_t member)
{
    struct split *s = ctx;
    uint64_t event;
    (void)member;
    if (!map_get(&s->p->event_of, one->id.id, &event)) {
        damage_note(s->p, DAMAGE_NO_EVENT, 1);
        return true;
    }
    one->source = (uint32_t)event;
    one->again = s->handed;
    s->handed = true;
    return s->fn(s->ctx, one);
}

bool split_applies(const struct perfdata *p, const struct record *r, uint32_t event)
{
    return readings_in(r, &p->layouts[event]);
}

bool split_sample(struct perfdata *p, const struct record *r, uint32_t event, perfdata_record_fn *fn,
                  void *ctx)
{
    struct split s = { .p = p, .fn = fn, .ctx = ctx };
    return readings_each(&p->readings, r, &p->layouts[event], hand_member, &s);
}
