// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/mem.h"
#include "process/module.h"
#include "session/session_state.h"

struct counting {
    const struct stacks *stacks;
    uint64_t n;
};

/* True if the stack ends with the mark of a pending table. A truncated stack ends with its reason. */
static bool waits_for_table(const struct stacks *stacks, uint32_t node)
{
    const uint32_t *parents = stacks_parents(stacks);
    while (node && parents[node])
        node = parents[node];
    uint32_t frame = node ? stacks_frames(stacks)[node] : 0;
    return stacks_frame_modules(stacks)[frame] == MODULE_ID_BROKEN &&
           stacks_frame_offsets(stacks)[frame] == BROKEN_PENDING;
}

static void count_run(void *ctx, struct sample *samples, size_t n)
{
    struct counting *c = ctx;
    for (size_t i = 0; i < n; i++)
        c->n += samples[i].flags & SAMPLE_BROKEN && waits_for_table(c->stacks, samples[i].stack);
}

bool session_missing(struct session *s, struct session_missing *out)
{
    struct symbolizer_stats names;
    struct counting c = { .stacks = s->store.stacks };
    symbolizer_stats(s->store.symbolizer, &names);
    pthread_mutex_lock(&s->store.lock);
    history_scan(s->store.history, 0, 0, count_run, &c);
    pthread_mutex_unlock(&s->store.lock);
    *out = (struct session_missing){ .modules = names.pending, .mangled = names.mangled, .stacks = c.n };
    return out->modules || out->mangled || out->stacks;
}
