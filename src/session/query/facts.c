// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/facts.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "perfdata/format.h"
#include "session/session_state.h"

static void copy_events(struct session *s, struct session_facts *out)
{
    out->n_events = s->store.n_events;
    out->events = mem_array(s->store.n_events + 1, sizeof *out->events);
    for (uint32_t i = 0; i < s->store.n_events; i++) {
        const struct session_event *from = &s->store.events[i];
        struct session_event_facts *to = &out->events[i];
        text_clean(to->name, sizeof to->name, from->event.name, strlen(from->event.name));
        to->lost = from->lost;
        to->left_out =
            from->event.of_pair || (s->load.file && (from->left_out || offcpu_file_is_apart(s, i)));
        to->attr = from->attr;
        to->has_cpu = from->attr.sample_type & PERF_SAMPLE_CPU;
        to->has_time = from->attr.sample_type & PERF_SAMPLE_TIME;
        to->has_chain = from->attr.sample_type & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER);
        to->is_tracepoint = from->attr.type == PERF_TYPE_TRACEPOINT;
    }
}

static void copy_live_records(struct session *s, struct session_facts *out)
{
    out->records = mem_array(SESSION_RECORD_TYPES, sizeof *out->records);
    for (uint32_t type = 0; type < SESSION_RECORD_TYPES; type++)
        if (s->source.records[type])
            out->records[out->n_records++] =
                (struct perfdata_count){ type, perfdata_type_name(type), s->source.records[type] };
}

static void copy_file_records(struct session *s, struct session_facts *out)
{
    const struct perfdata_count *counts;
    out->n_records = perfdata_counts(s->load.file, &counts);
    out->records = mem_array(out->n_records + 1, sizeof *counts);
    memcpy(out->records, counts, out->n_records * sizeof *counts);
}

static void copy_features(struct session *s, struct session_facts *out)
{
    size_t size;
    out->features = mem_array(FORMAT_FEATURES, sizeof *out->features);
    for (unsigned i = 0; i < FORMAT_FEATURES; i++)
        if (perfdata_feature(s->load.file, i, &size))
            out->features[out->n_features++] = i;
}

void session_get_facts(struct session *s, struct session_facts *out)
{
    *out = (struct session_facts){ 0 };
    pthread_mutex_lock(&s->store.lock);
    copy_events(s, out);
    out->lost = s->source.lost_before + s->source.stats.lost;
    if (s->load.file && s->load.loaded) {
        out->info = perfdata_info(s->load.file);
        out->n_damage = perfdata_damage(s->load.file, &out->damage);
        copy_file_records(s, out);
        copy_features(s, out);
    } else {
        copy_live_records(s, out);
    }
    pthread_mutex_unlock(&s->store.lock);
}

void session_facts_done(struct session_facts *f)
{
    mem_free(f->events);
    mem_free(f->records);
    mem_free(f->features);
    *f = (struct session_facts){ 0 };
}
