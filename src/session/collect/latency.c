// SPDX-License-Identifier: GPL-2.0-or-later
/* Feeds profile/running.c with the records of a live source or of a file. */
#include "session/collect/latency.h"

#include "session/session_state.h"

/* ---- sources ---- */

void latency_adopt(struct session *s, const struct live *live, bool wanted)
{
    struct session_latency *l = &s->collect.latency;
    running_forget(&l->running);
    l->runs = false;
    l->by_cpu = true;
    l->cpus = live_cpu_count(live);
    for (uint32_t i = 0; i <= live_config_of(live)->n_others && wanted; i++) {
        const struct perf_event_attr *attr = live_attr_of(live, i);
        l->runs |= attr && attr->context_switch;
    }
}

/* True if flametop wrote the file with numbers of running threads. The weight field of waits is their reason,
 * and latencies have none. */
static bool is_saved(const struct session *s, const struct session_event *ev)
{
    return s->load.cuts && ev->attr.sample_type & PERF_SAMPLE_WEIGHT && !event_is_made(&ev->event);
}

bool latency_is_in_file(const struct session *s, struct error *e)
{
    return s->collect.latency.runs ||
           error_set(e, ERROR_MISSING,
                     "%s has no context switches, so it does not say how many threads ran at the same time: "
                     "record it with flametop --latency, or perf record --switch-events",
                     s->cfg.input);
}

bool latency_open_file(struct session *s, struct error *e)
{
    struct session_latency *l = &s->collect.latency;
    l->by_cpu = true;
    for (uint32_t i = 0; i < s->store.n_events; i++) {
        const struct session_event *ev = &s->store.events[i];
        l->saved |= is_saved(s, ev);
        l->runs |= ev->attr.context_switch || l->saved;
        l->by_cpu &= (ev->attr.sample_type & PERF_SAMPLE_CPU) != 0;
    }
    return !s->cfg.latency || latency_is_in_file(s, e);
}

void latency_saved_attr(const struct session *s, struct perf_event_attr *attr)
{
    attr->sample_type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
    if (s->collect.latency.runs)
        attr->sample_type |= PERF_SAMPLE_WEIGHT;
}

/* ---- records ---- */

static struct running_at at(const struct session *s, const struct record *r)
{
    return (struct running_at){ r->id.tid, r->id.cpu, s->collect.latency.by_cpu };
}

void latency_record(struct session *s, const struct record *r)
{
    struct session_latency *l = &s->collect.latency;
    if (!l->runs || !r->known)
        return;
    switch (r->type) {
    case PERF_RECORD_SWITCH:
    case PERF_RECORD_SWITCH_CPU_WIDE:
        if (r->misc & PERF_RECORD_MISC_SWITCH_OUT)
            running_switch_out(&l->running, at(s, r));
        else
            running_switch_in(&l->running, at(s, r));
        break;
    case PERF_RECORD_EXIT:
        running_exit(&l->running, (struct running_at){ r->task.tid, r->id.cpu, l->by_cpu });
        break;
    case PERF_RECORD_LOST:
    case PERF_RECORD_LOST_SAMPLES:
        running_lost(&l->running, at(s, r));
        break;
    }
}

uint32_t latency_of_sample(struct session *s, const struct record *r)
{
    struct session_latency *l = &s->collect.latency;
    uint64_t n = 0;
    if (l->saved)
        n = event_is_made(&s->store.events[session_event_of(s, r)].event) ? 0 : r->sample.weight;
    else if (l->runs)
        n = running_sample(&l->running, at(s, r));
    return n < SAMPLE_RUNNING ? (uint32_t)n : SAMPLE_RUNNING - 1;
}

void latency_drained(struct session *s)
{
    struct session_latency *l = &s->collect.latency;
    uint32_t cpus = live_cpu_count(s->source.live);
    if (cpus < l->cpus)
        running_forget(&l->running);
    l->cpus = cpus;
}
