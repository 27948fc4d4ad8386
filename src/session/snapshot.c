// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing what is shown as perf.data. Under the lock the samples of the query and what they refer to are copied;
 * names, addresses and bytes are dealt with after it, so that a slow disk never holds up the collector. */
#include "session/snapshot.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "session/select.h"

#define SETTLE_NS (3 * NS_PER_SEC)

/* ---- under the lock: copies ---- */

static void take_sample(struct snapshot *sn, const struct sample *sample)
{
    if (sn->n_samples == sn->samples_cap) {
        size_t cap = mem_next_cap(sn->samples_cap, sn->n_samples + 1);
        struct sample *more = mem_try_resize(sn->samples, cap, sizeof *more);
        if (!more) {
            sn->no_memory = true;
            return;
        }
        sn->samples = more;
        sn->samples_cap = cap;
    }
    struct sample *to = &sn->samples[sn->n_samples++];
    *to = *sample;
    uint32_t size;
    const void *raw = sample->raw ? history_raw(sn->s->history, sample, &size) : NULL;
    to->raw = 0;
    if (raw && sn->raw.len + size + 4 < UINT32_MAX) {
        to->raw = (uint32_t)sn->raw.len + 1;
        buf_add(&sn->raw, &size, sizeof size);
        buf_add(&sn->raw, raw, size);
    }
}

static bool sample_wanted(const struct query *q, const struct sample *sample)
{
    return sample->time_ns >= q->from_ns && (!q->to_ns || sample->time_ns <= q->to_ns) &&
           sample->thread < q->n_threads && query_passes(q, sample);
}

static void take_run(void *ctx, struct sample *samples, size_t n)
{
    struct snapshot *sn = ctx;
    for (size_t i = 0; i < n; i++)
        if (sample_wanted(&sn->scan, &samples[i]))
            take_sample(sn, &samples[i]);
}

static void copy_stacks(struct snapshot *sn)
{
    const struct stacks *st = sn->s->stacks;
    sn->n_nodes = stacks_node_count(st);
    sn->n_frames = stacks_frame_count(st);
    sn->parent = mem_array(sn->n_nodes, sizeof *sn->parent);
    sn->frame = mem_array(sn->n_nodes, sizeof *sn->frame);
    sn->frame_module = mem_array(sn->n_frames, sizeof *sn->frame_module);
    sn->frame_offset = mem_array(sn->n_frames, sizeof *sn->frame_offset);
    memcpy(sn->parent, stacks_parents(st), sn->n_nodes * sizeof *sn->parent);
    memcpy(sn->frame, stacks_frames(st), sn->n_nodes * sizeof *sn->frame);
    memcpy(sn->frame_module, stacks_frame_modules(st), sn->n_frames * sizeof *sn->frame_module);
    memcpy(sn->frame_offset, stacks_frame_offsets(st), sn->n_frames * sizeof *sn->frame_offset);
}

static void hold_module(struct snapshot *sn, uint32_t id)
{
    bool created;
    uint64_t *at = map_at(&sn->modules, id, 0, &created);
    struct module *m = created ? world_module(sn->s->world, id) : NULL;
    if (m)
        *at = (uint64_t)(uintptr_t)module_get(m);
}

static void copy_image(struct snapshot *sn, uint32_t image)
{
    bool created;
    map_at(&sn->image_index, image, sn->n_images, &created);
    if (!created)
        return;
    const struct world_map *maps;
    uint32_t n = world_image_maps(sn->s->world, image, &maps);
    MEM_GROW(sn->images, sn->images_cap, sn->n_images + 1);
    struct copied_image *im = &sn->images[sn->n_images++];
    *im = (struct copied_image){ .image = image, .n_maps = n, .maps = mem_array(n + 1, sizeof *maps) };
    if (n)
        memcpy(im->maps, maps, n * sizeof *maps);
    for (uint32_t i = 0; i < n; i++)
        hold_module(sn, maps[i].module);
}

static void copy_threads(struct snapshot *sn)
{
    sn->threads = mem_array(sn->n_threads + 1, sizeof *sn->threads);
    for (size_t i = 0; i < sn->n_samples; i++) {
        struct world_thread *to = &sn->threads[sn->samples[i].thread];
        if (to->image)
            continue;
        *to = *world_thread(sn->s->world, sn->samples[i].thread);
        copy_image(sn, to->image);
        bool created = false;
        uint64_t *at = to->cgroup ? map_at(&sn->cgroups, to->cgroup, 0, &created) : NULL;
        if (created)
            *at = (uint64_t)(uintptr_t)mem_strdup(world_cgroup_path(sn->s->world, to->cgroup));
    }
}

static void snapshot_copy(struct snapshot *sn)
{
    struct session *s = sn->s;
    pthread_mutex_lock(&s->lock);
    jit_follow(s, true);
    sn->n_threads = world_thread_count(s->world);
    uint8_t *pass = mem_array(sn->n_threads + 1, 1);
    sn->scan = select_samples(s, sn->q, pass);
    history_scan(s->history, sn->scan.from_ns, sn->scan.to_ns, take_run, sn);
    copy_stacks(sn);
    copy_threads(sn);
    for (uint32_t i = 1; i < sn->n_frames; i++)
        hold_module(sn, sn->frame_module[i]);
    sn->lost = s->lost_before + s->stats.lost;
    sn->event = s->events[s->current_event];
    pthread_mutex_unlock(&s->lock);
    sn->scan.thread_pass = NULL;
    mem_free(pass);
}

struct module *snapshot_module(const struct snapshot *sn, uint32_t id)
{
    uint64_t v;
    return map_get(&sn->modules, id, &v) ? (struct module *)(uintptr_t)v : NULL;
}

/* ---- what names decide: idle, zooms into a module or function, the filter ---- */

static uint16_t frame_hits(struct snapshot *sn, uint32_t frame)
{
    struct module *m = snapshot_module(sn, sn->frame_module[frame]);
    struct select_named named = { .name = "", .module = m ? m->name : "", .idles = !m };
    struct symbol sym;
    /* only the kernel idles: most names need not be looked up */
    if (m && !(m->kind == MODULE_FILE && select_ignores_names(sn->q))) {
        symbolizer_lookup(sn->s->symbolizer, m, sn->frame_offset[frame], &sym);
        named.name = sym.name;
        named.key = sym.key;
        named.idles = sym.idle || sym.state != SYMBOL_FOUND;
    }
    return select_hits(sn->q, &named);
}

static void keep_named(struct snapshot *sn)
{
    size_t n = 0;
    uint16_t *hits = mem_array(sn->n_frames, sizeof *hits);
    for (uint32_t i = 1; i < sn->n_frames; i++)
        hits[i] = frame_hits(sn, i);
    struct select_trie trie = { .parent = sn->parent, .frame = sn->frame, .hits = hits };
    if (select_by_path(&trie, sn->q)) {
        trie.path_hits = mem_array(sn->n_nodes, sizeof *trie.path_hits);
        select_mark(&trie, sn->n_nodes);
    }
    for (size_t i = 0; i < sn->n_samples; i++) {
        const struct sample *sample = &sn->samples[i];
        bool idle = sample->flags & SAMPLE_IDLE && select_idles(&trie, sample->stack);
        if (select_passes(&trie, sample->stack) && (!idle || sn->q->show_idle))
            sn->samples[n++] = *sample;
    }
    sn->n_samples = n;
    mem_free(hits);
    mem_free(trie.path_hits);
}

static void snapshot_done(struct snapshot *sn)
{
    size_t pos = 0;
    uint64_t id, v;
    while (map_next(&sn->modules, &pos, &id, &v))
        if (v)
            module_put((struct module *)(uintptr_t)v);
    for (pos = 0; map_next(&sn->cgroups, &pos, &id, &v);)
        mem_free((void *)(uintptr_t)v);
    for (uint32_t i = 0; i < sn->n_images; i++)
        mem_free(sn->images[i].maps);
    map_done(&sn->image_index);
    map_done(&sn->modules);
    map_done(&sn->cgroups);
    map_done(&sn->pid_image);
    map_done(&sn->pid_maps);
    map_done(&sn->address);
    buf_done(&sn->raw);
    snapshot_jit_done(sn);
    void *owned[] = { sn->samples, sn->parent, sn->frame,      sn->frame_module, sn->frame_offset,
                      sn->threads, sn->images, sn->thread_told };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
}

bool session_write(struct session *s, const struct view_query *q, const char *path, uint64_t *samples, struct error *e)
{
    struct snapshot sn = { .s = s, .q = q };
    snapshot_copy(&sn);
    size_t pos = 0;
    uint64_t id, v;
    while (map_next(&sn.modules, &pos, &id, &v))
        if (v)
            symbolizer_request(s->symbolizer, (struct module *)(uintptr_t)v);
    symbolizer_settle(s->symbolizer, SETTLE_NS);
    keep_named(&sn);
    bool ok = false;
    if (sn.no_memory)
        error_set(e, ERROR_LIMIT, "not enough memory to copy the samples: narrow the window or the scope");
    else if (!sn.n_samples)
        error_set(e, ERROR_MISSING, "no samples are shown: there is nothing to write to %s", path);
    else
        ok = snapshot_write(&sn, path, e);
    if (samples)
        *samples = sn.n_samples;
    snapshot_done(&sn);
    return ok;
}
