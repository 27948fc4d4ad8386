// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/wall.h"

#include <string.h>

#include "process/wait_reason.h"
#include "session/session_state.h"

/* What a sample of wall has of the sample that it is made from. */
#define FROM_SAMPLE                                                                                          \
    (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN |         \
     PERF_SAMPLE_STACK_USER)

static bool is_sampled(const struct session_event *ev)
{
    return !ev->left_out && !ev->removed;
}

static bool samples_cpu(const struct session_event *ev)
{
    return !ev->event.wall && event_is_cpu_time(&ev->attr);
}

void wall_open(struct session *s, uint32_t first)
{
    uint32_t n = chosen_together(s, first);
    const struct session_event *cpu = NULL, *waits = NULL;
    for (uint32_t i = first; i < first + n; i++) {
        const struct session_event *ev = &s->store.events[i];
        if (is_sampled(ev) && samples_cpu(ev))
            cpu = ev;
        if (is_sampled(ev) && ev->event.off_cpu)
            waits = ev;
    }
    for (uint32_t i = first; i < first + n; i++) {
        struct session_event *ev = &s->store.events[i];
        if (!ev->event.wall)
            continue;
        ev->left_out = !cpu || !waits;
        ev->attr = ev->event.attr;
        ev->attr.sample_type = cpu ? cpu->attr.sample_type & FROM_SAMPLE : 0;
    }
}

void wall_adopt(struct session *s, uint32_t first)
{
    struct session_wall *w = &s->collect.wall;
    uint32_t n = chosen_together(s, first);
    w->runs = false;
    for (uint32_t i = first; i < first + n && !w->runs; i++) {
        w->event = i;
        w->runs = s->store.events[i].event.wall && is_sampled(&s->store.events[i]);
    }
}

bool wall_is_from(const struct session *s, uint32_t event)
{
    return s->collect.wall.runs && event < s->store.n_events && samples_cpu(&s->store.events[event]);
}

uint64_t wall_sampled(struct session *s, const struct record *r, const struct sample *sample)
{
    struct sample own = *sample;
    struct waits_at at = { r->id.pid, r->id.tid, r->id.cpu, sample->time_ns };
    uint64_t *number;
    if (!wall_is_from(s, sample->event) || !r->id.tid) /* 0: the idle task */
        return WALL_NO_SAMPLE;
    own.event = s->collect.wall.event % SAMPLE_EVENTS;
    own.running = 0; /* parallelism is that of CPU time */
    own.weight = sample_weight(waits_sampled(&s->collect.offcpu.waits, at, &number));
    if (!own.weight)
        return WALL_NO_SAMPLE;
    return *number = append_sample(s, &own, NULL, 0);
}

void wall_rest(void *session, const struct waits_part *part)
{
    struct session *s = session;
    bool sampled = part->stack != WAITS_NO_STACK;
    const struct sample *last = sampled ? history_sample(s->store.history, part->stack) : NULL;
    struct sample sample = {
        .time_ns = part->to_ns,
        .weight = sample_weight(part->to_ns - part->from_ns),
        .thread = world_thread_of(s->store.world, part->pid, part->tid, part->to_ns, 0),
        .cpu = part->cpu % SAMPLE_CPUS,
        .event = s->collect.wall.event % SAMPLE_EVENTS,
        .flags = last ? last->flags : SAMPLE_KERNEL,
        .stack = last ? last->stack : 0,
    };
    if (!last)
        sample.stack =
            stacks_child(s->store.stacks, 0, stacks_frame(s->store.stacks, MODULE_ID_WAIT, WAIT_RUNNING));
    uint64_t number = append_sample(s, &sample, NULL, 0);
    if (last)
        aside_also(s, part->stack, number, false);
    s->store.generation++;
}

bool wall_is_saved(const char *name, const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT &&
           !strcmp(name, "wall");
}
