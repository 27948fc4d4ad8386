// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps memory within the budget: drops the oldest samples, then the stacks, threads and modules that
 * nothing refers to. */
#include <string.h>

#include "base/mem.h"
#include "session/session_state.h"

struct marks {
    struct session *s;
    uint8_t *stacks, *threads;
    const uint32_t *new_stack, *new_thread;
};

static void mark_waker(struct marks *m, const struct sample *sample)
{
    uint32_t size;
    const void *raw = history_raw(m->s->store.history, sample, &size);
    uint32_t waker = raw ? wakers_thread(m->s, sample, raw, size) : 0;
    if (waker)
        m->threads[waker] = 1;
}

static void mark_run(void *ctx, struct sample *samples, size_t n)
{
    struct marks *m = ctx;
    for (size_t i = 0; i < n; i++) {
        m->stacks[samples[i].stack] = 1;
        m->threads[samples[i].thread] = 1;
        mark_waker(m, &samples[i]);
    }
}

static void renumber_run(void *ctx, struct sample *samples, size_t n)
{
    struct marks *m = ctx;
    for (size_t i = 0; i < n; i++) {
        samples[i].stack = m->new_stack[samples[i].stack];
        samples[i].thread = m->new_thread[samples[i].thread];
        wakers_renumber(m->s, &samples[i], m->new_thread);
    }
}

uint8_t *bounds_modules_in_use(struct session *s, uint32_t *n)
{
    const uint32_t *modules = stacks_frame_modules(s->store.stacks);
    uint32_t n_frames = stacks_frame_count(s->store.stacks), max = 0;
    for (uint32_t i = 1; i < n_frames; i++)
        max = modules[i] > max ? modules[i] : max;
    *n = max + 1;
    uint8_t *keep = mem_array(*n, 1);
    for (uint32_t i = 1; i < n_frames; i++)
        keep[modules[i]] = 1;
    return keep;
}

static void renumber_thread_scopes(struct session *s, const uint32_t *new_thread, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < s->store.thread_scope.cap; i++) {
        uint32_t number = s->store.thread_scope.items[i];
        s->store.thread_scope.items[i] = 0;
        if (new_thread[i]) /* ids only become smaller: no unread number is overwritten */
            s->store.thread_scope.items[new_thread[i]] = number;
    }
}

/* Frees all stacks, frames, threads and modules that no sample of the history refers to. */
static void collect_garbage(struct session *s)
{
    offcpu_append(s);
    uint32_t n_threads = world_thread_count(s->store.world);
    struct marks m = {
        .s = s,
        .stacks = mem_array(stacks_node_count(s->store.stacks), 1),
        .threads = mem_array(n_threads ? n_threads : 1, 1),
    };
    offcpu_mark_stacks(s, m.stacks);
    operations_mark(s, m.stacks, m.threads);
    history_scan(s->store.history, 0, 0, mark_run, &m);
    uint32_t *new_stack = stacks_compact(s->store.stacks, m.stacks), *new_thread, n_keep;
    uint8_t *keep = bounds_modules_in_use(s, &n_keep);
    world_collect(s->store.world, m.threads, keep, n_keep, &new_thread);
    m.new_stack = new_stack;
    m.new_thread = new_thread;
    history_scan(s->store.history, 0, 0, renumber_run, &m);
    offcpu_renumber_stacks(s, new_stack);
    operations_renumber(s, new_stack, new_thread);
    renumber_thread_scopes(s, new_thread, n_threads);
    locate_forget(s);
    jit_forget_frames(s);
    s->collect.trim_wanted = true;
    mem_free(keep);
    mem_free(new_stack);
    mem_free(new_thread);
    mem_free(m.stacks);
    mem_free(m.threads);
    s->collect.world_floor_bytes = world_bytes(s->store.world);
    s->collect.world_live_bytes = world_live_bytes(s->store.world);
    s->store.generation++;
}

/* Memory that samples hold: themselves, their stacks, and ended processes kept for them. */
static uint64_t used_bytes(const struct session *s)
{
    uint64_t world = world_bytes(s->store.world);
    return history_bytes(s->store.history) + stacks_bytes(s->store.stacks) +
           (world > s->collect.world_live_bytes ? world - s->collect.world_live_bytes : 0);
}

/* False: dropping samples no longer helps. */
static bool shrink_once(struct session *s, uint64_t target)
{
    uint64_t samples_bytes = history_bytes(s->store.history), world = world_bytes(s->store.world);
    offcpu_before_drop(s, false);
    operations_before_drop(s, false);
    if (!history_shrink(s->store.history, samples_bytes - samples_bytes / 8))
        return false;
    collect_garbage(s);
    bool world_stays = world_bytes(s->store.world) + world / 64 > world;
    if (!world_stays || history_bytes(s->store.history) + stacks_bytes(s->store.stacks) > target)
        return true;
    s->collect.world_live_bytes = world_bytes(s->store.world);
    return false;
}

void bounds_enforce(struct session *s)
{
    /* A frozen history is kept: an eighth more is allowed for samples that arrive meanwhile. */
    uint64_t eighth = s->collect.budget_bytes / 8,
             limit = s->collect.budget_bytes + (s->store.frozen_ns ? eighth : 0);
    if (used_bytes(s) <= limit) {
        if (world_bytes(s->store.world) > 2 * s->collect.world_floor_bytes + (4 << 20))
            collect_garbage(s);
        return;
    }
    /* Drop an eighth at a time, so that the cost of a collection is spread over many samples. A trie that
     * is large compared with its samples needs several rounds. */
    for (int round = 0; round < 8 && used_bytes(s) > limit - eighth && shrink_once(s, limit - eighth);
         round++)
        ;
}

void bounds_forget_all(struct session *s)
{
    offcpu_before_drop(s, true);
    operations_before_drop(s, true);
    history_clear(s->store.history);
    collect_garbage(s);
}
