// SPDX-License-Identifier: GPL-2.0-or-later
/* Puts samples into the history, and counts them. */
#include "base/clock.h"
#include "base/mem.h"
#include "session/session_state.h"

bool append_reach_second(struct session *s, uint64_t time_ns)
{
    uint64_t sec = time_ns / NS_PER_SEC;
    if (sec > s->collect.spark_sec) {
        uint64_t gap = sec - s->collect.spark_sec;
        for (uint64_t i = 0; i < gap && i < SESSION_SPARK; i++)
            s->collect.spark[(sec - i) % SESSION_SPARK] = 0;
        s->collect.spark_sec = sec;
    }
    return s->collect.spark_sec - sec < SESSION_SPARK;
}

uint64_t append_sample(struct session *s, const struct sample *sample, const void *raw, uint32_t raw_size)
{
    uint64_t number = history_append(s->store.history, sample, raw, raw_size);
    s->store.samples++;
    coverage_count(s, sample);
    s->store.events[sample->event].samples++;
    s->store.forgotten +=
        !s->load.file && sample->time_ns < s->store.clear_ns; /* arrived after the clear, but is older */
    if (append_reach_second(s, sample->time_ns))
        s->collect.spark[sample->time_ns / NS_PER_SEC % SESSION_SPARK]++;
    VEC_RESERVE_ZEROED(&s->store.thread_scope, sample->thread + 1)[sample->thread] = s->store.scope_number;
    return number;
}
