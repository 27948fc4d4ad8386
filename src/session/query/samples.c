// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "session/session_state.h"

struct taking {
    struct session_samples *to;
    struct session *s;
    const struct query *scan;
};

static bool is_wanted(const struct taking *t, const struct sample *sample)
{
    const struct session *s = t->s;
    const struct query *q = t->scan;
    bool saved = t->to->with_running && offcpu_is_time(s, sample->event);
    return sample->time_ns >= q->from_ns && (!q->to_ns || sample->time_ns <= q->to_ns) &&
           sample->thread < q->n_threads && query_passes(q, sample) &&
           (saved || !s->store.events[sample->event].removed);
}

static void take_raw(const struct taking *t, const struct sample *from, struct sample *to)
{
    struct buf *raw = &t->to->raw;
    uint32_t size;
    const void *bytes = t->to->with_raw && from->raw ? history_raw(t->s->store.history, from, &size) : NULL;
    static const char zeros[4];
    to->raw = 0;
    if (!bytes || raw->len + sizeof size + size + sizeof zeros > UINT32_MAX)
        return;
    to->raw = (uint32_t)raw->len + 1;
    buf_add(raw, &size, sizeof size);
    buf_add(raw, bytes, size);
    buf_add(raw, zeros, -size % sizeof zeros);
}

static void take_sample(const struct taking *t, const struct sample *sample)
{
    struct session_samples *to = t->to;
    if (to->n == to->cap) {
        size_t cap = mem_next_cap(to->cap, to->n + 1);
        struct sample *more = mem_try_resize(to->list, cap, sizeof *more);
        if (!more) {
            to->no_memory = true;
            return;
        }
        to->list = more;
        to->cap = cap;
    }
    to->list[to->n] = *sample;
    if (!to->numbered)
        take_raw(t, sample, &to->list[to->n]);
    to->n++;
}

/* True if the samples of the event were made from others of the file. */
static bool is_made(const struct session *s, uint32_t event)
{
    return offcpu_file_makes(s, event) || operations_file_makes(s, event);
}

/* Number of samples that were dropped from the history and were made from others. */
static uint64_t made_and_dropped(struct session *s)
{
    uint64_t dropped = 0;
    if (!s->load.offcpu.runs && !s->load.operations.n)
        return 0;
    uint64_t *counts = chosen_counts(s);
    for (uint32_t i = 0; i < s->store.n_events; i++)
        if (is_made(s, i))
            dropped += s->store.events[i].samples - counts[i];
    mem_free(counts);
    return dropped;
}

static void take_numbered(const struct taking *t)
{
    const struct history *h = t->s->store.history;
    uint64_t first = history_dropped(h), end = first + history_count(h);
    uint64_t in_file = first - made_and_dropped(t->s);
    for (uint64_t number = first; number < end && !t->to->no_memory; number++) {
        const struct sample *sample = history_sample(h, number);
        bool made = sample && is_made(t->s, sample->event);
        if (sample && is_wanted(t, sample)) {
            take_sample(t, sample);
            if (t->to->n)
                t->to->list[t->to->n - 1].raw = made ? SESSION_NOT_RECORDED : (uint32_t)in_file;
        }
        in_file += !made;
    }
}

static void take_run(void *ctx, struct sample *samples, size_t n)
{
    const struct taking *t = ctx;
    for (size_t i = 0; i < n && !t->to->no_memory; i++)
        if (is_wanted(t, &samples[i]))
            take_sample(t, &samples[i]);
}

static void take_newest(const struct taking *t)
{
    const struct history *h = t->s->store.history;
    uint64_t dropped = history_dropped(h), number = history_next(h);
    uint64_t first = t->to->from > dropped ? t->to->from : dropped;
    t->to->next = number;
    while (number-- > first && !t->to->no_memory) {
        const struct sample *sample = history_sample(h, number);
        if (!sample || !is_wanted(t, sample))
            continue;
        t->to->older = t->to->n == t->to->newest;
        if (t->to->older)
            break;
        take_sample(t, sample);
    }
    for (size_t i = 0, n = t->to->n; i < n / 2; i++) {
        struct sample swap = t->to->list[i];
        t->to->list[i] = t->to->list[n - 1 - i];
        t->to->list[n - 1 - i] = swap;
    }
}

static void take_threads(struct session_samples *to, struct session *s)
{
    to->n_threads = world_thread_count(s->store.world);
    to->threads = mem_array(to->n_threads + 1, sizeof *to->threads);
    for (size_t i = 0; i < to->n; i++) {
        struct world_thread *thread = &to->threads[to->list[i].thread];
        if (!thread->image)
            *thread = *world_thread(s->store.world, to->list[i].thread);
    }
}

static void take_events(struct session_samples *to, struct session *s)
{
    to->n_events = s->store.n_events;
    to->events = mem_array(s->store.n_events + 1, sizeof *to->events);
    for (uint32_t i = 0; i < s->store.n_events; i++) {
        const char *name = s->store.events[i].event.name;
        text_clean(to->events[i], sizeof to->events[i], name, strlen(name));
    }
}

void samples_take(struct session_samples *to, struct session *s, const struct query *scan)
{
    struct taking t = { to, s, scan };
    if (to->numbered)
        take_numbered(&t);
    else if (to->newest)
        take_newest(&t);
    else
        history_scan(s->store.history, scan->from_ns, scan->to_ns, take_run, &t);
    take_threads(to, s);
    take_events(to, s);
}

void samples_keep(struct session_samples *samples, bool (*keep)(void *ctx, struct sample *sample), void *ctx)
{
    size_t n = 0;
    for (size_t i = 0; i < samples->n; i++) {
        struct sample sample = samples->list[i];
        if (keep(ctx, &sample))
            samples->list[n++] = sample;
    }
    samples->n = n;
}

/* Orders samples of the same time as well, so that equal samples always give equal files. */
static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void samples_sort(struct session_samples *samples)
{
    for (size_t i = 1; i < samples->n; i++)
        if (by_time(&samples->list[i - 1], &samples->list[i]) > 0) { /* they usually are in order */
            qsort(samples->list, samples->n, sizeof *samples->list, by_time);
            return;
        }
}

const void *session_sample_raw(const struct session_samples *samples, const struct sample *sample,
                               uint32_t *size)
{
    *size = 0;
    if (!sample->raw)
        return NULL;
    const char *at = samples->raw.data + sample->raw - 1;
    memcpy(size, at, sizeof *size);
    return at + sizeof *size;
}

void session_address(struct session *s, uint32_t image, uint32_t module, uint64_t offset, uint64_t time_ns,
                     struct world_address *out)
{
    pthread_mutex_lock(&s->store.lock);
    if (!world_address(s->store.world, image, module, offset, time_ns, out))
        *out = (struct world_address){ 0, UINT64_MAX };
    pthread_mutex_unlock(&s->store.lock);
}

void session_cgroup_path(struct session *s, uint64_t cgroup, char *dst, size_t cap)
{
    pthread_mutex_lock(&s->store.lock);
    const char *path = cgroup ? world_cgroup_path(s->store.world, cgroup) : "";
    text_clean(dst, cap, *path ? path : "unknown", strlen(*path ? path : "unknown"));
    pthread_mutex_unlock(&s->store.lock);
}

void session_samples_done(struct session_samples *samples)
{
    mem_free(samples->list);
    mem_free(samples->threads);
    mem_free(samples->events);
    buf_done(&samples->raw);
    *samples = (struct session_samples){ .with_raw = samples->with_raw,
                                         .numbered = samples->numbered,
                                         .newest = samples->newest,
                                         .from = samples->from };
}
