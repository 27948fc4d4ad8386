// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/recorded.h"

#include "base/mem.h"
#include "session/session_state.h"

struct session_recorded {
    struct session *s;
    const struct session_samples *samples;
    session_recorded_fn *fn;
    void *ctx;
    uint32_t *sample_of; /* by number in the file: index of the sample + 1; 0: not wanted */
    uint64_t n, next;
    struct world *world; /* includes data mappings; the session's world has code only */
};

static bool see_record(void *ctx, const struct record *r)
{
    struct session_recorded *at = ctx;
    if (r->type != PERF_RECORD_SAMPLE) {
        world_apply(at->world, r);
        return true;
    }
    uint64_t number = session_reads_event(at->s, r->source)
                          ? at->next++
                          : UINT64_MAX; /* other samples are not in the history */
    uint32_t index = number < at->n ? at->sample_of[number] : 0;
    return !index || at->fn(at->ctx, &at->samples->list[index - 1], r, at);
}

bool session_each_recorded(struct session *s, const struct session_samples *samples, session_recorded_fn *fn,
                           void *ctx, struct error *e)
{
    struct session_recorded at = { .s = s, .samples = samples, .fn = fn, .ctx = ctx };
    if (!s->load.file || !s->load.loaded)
        return error_set(e, ERROR_MISSING,
                         s->load.file ? "the file is still being read" : "nothing is recorded in a file");
    /* No lock: `loaded` is set after the last sample of the file, and then none is added or dropped. */
    at.n = history_dropped(s->store.history) + history_count(s->store.history);
    at.sample_of = mem_array((size_t)at.n + 1, sizeof *at.sample_of);
    for (size_t i = 0; i < samples->n; i++)
        if (samples->list[i].raw < at.n)
            at.sample_of[samples->list[i].raw] = (uint32_t)i + 1;
    at.world = world_new(false);
    world_set_with_data(at.world);
    world_set_limit(at.world, WORLD_BYTES + WORLD_TIMES * perfdata_bytes(s->load.file));
    bool ok = perfdata_each(s->load.file, see_record, &at, NULL, e);
    world_free(at.world);
    mem_free(at.sample_of);
    return ok;
}

const char *session_recorded_path(struct session_recorded *at, const struct record *r, uint64_t address)
{
    struct location location;
    uint32_t thread = world_thread_of(at->world, r->id.pid, r->id.tid, r->id.time_ns, 0);
    struct module *m = world_resolve(at->world, thread, address, false, &location)
                           ? world_module(at->world, location.module)
                           : NULL;
    return m ? m->path : NULL;
}
