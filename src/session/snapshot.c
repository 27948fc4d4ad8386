// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing what is shown as perf.data. Under the lock the samples of the query and what they refer to are copied;
 * names, addresses and bytes are dealt with after it, so that a slow disk never holds up the collector. */
#include "session/snapshot.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

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

static bool sample_wanted(const struct snapshot *sn, const struct sample *sample)
{
    static const uint8_t need[] = {
        [VIEW_MODE_ALL] = 0xff,
        [VIEW_MODE_KERNEL] = SAMPLE_KERNEL,
        [VIEW_MODE_USER] = SAMPLE_USER,
    };
    const struct scope *scope = &sn->s->running_scope;
    if (sample->time_ns < sn->from_ns || (sn->to_ns && sample->time_ns > sn->to_ns))
        return false;
    if (sample->event != sn->s->current_event || !(sample->flags & need[sn->q->mode]))
        return false;
    if (sn->has_cpu_zoom ? sample->cpu != sn->cpu_zoom.number
                         : scope->cpus && !(sample->cpu < scope->n_cpus && scope->cpus[sample->cpu]))
        return false;
    return sample->thread < sn->n_threads && sn->thread_pass[sample->thread];
}

static void take_run(void *ctx, struct sample *samples, size_t n)
{
    struct snapshot *sn = ctx;
    for (size_t i = 0; i < n; i++)
        if (sample_wanted(sn, &samples[i]))
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
    sn->n_threads = world_thread_count(s->world);
    uint8_t *pass = mem_array(sn->n_threads + 1, 1);
    view_filter_threads(s, sn->q, pass, sn->n_threads);
    sn->thread_pass = pass;
    view_range(s, sn->q, &sn->from_ns, &sn->to_ns);
    history_scan(s->history, sn->from_ns, sn->to_ns, take_run, sn);
    copy_stacks(sn);
    copy_threads(sn);
    for (uint32_t i = 1; i < sn->n_frames; i++)
        hold_module(sn, sn->frame_module[i]);
    sn->lost = s->lost_before + s->stats.lost;
    sn->event = s->events[s->current_event];
    pthread_mutex_unlock(&s->lock);
    mem_free(pass);
    sn->thread_pass = NULL;
}

struct module *snapshot_module(const struct snapshot *sn, uint32_t id)
{
    uint64_t v;
    return map_get(&sn->modules, id, &v) ? (struct module *)(uintptr_t)v : NULL;
}

/* ---- what names decide: idle, zooms into a module or function, the filter ---- */

static bool path_needed(const struct view_query *q)
{
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == ZOOM_FUNCTION)
            return true;
    return *q->filter;
}

/* Bit 0..7 per function zoom; the filter takes the place behind the last zoom. */
static uint16_t frame_hits(const struct view_query *q, const struct symbol *sym)
{
    uint16_t hits = 0;
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == ZOOM_FUNCTION && q->zooms[i].number == sym->key)
            hits |= 1u << i;
    if (*q->filter && text_find_nocase(sym->name, q->filter))
        hits |= 1u << VIEW_ZOOMS_MAX;
    return hits;
}

static uint16_t hits_wanted(const struct view_query *q)
{
    uint16_t wanted = *q->filter ? 1u << VIEW_ZOOMS_MAX : 0;
    for (uint32_t i = 0; i < q->n_zooms; i++)
        wanted |= (q->zooms[i].kind == ZOOM_FUNCTION) << i;
    return wanted;
}

static bool leaf_passes(const struct view_query *q, const struct module *m)
{
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == ZOOM_MODULE && strcmp(q->zooms[i].text, m ? m->name : ""))
            return false;
    return true;
}

static void decide_by_names(struct snapshot *sn)
{
    uint16_t wanted = hits_wanted(sn->q);
    uint16_t *frame_hit = mem_array(sn->n_frames, sizeof *frame_hit);
    uint16_t *node_hit = mem_array(sn->n_nodes, sizeof *node_hit);
    uint8_t *frame_leaf = mem_array(sn->n_frames, 1);
    sn->frame_idle = mem_array(sn->n_frames, 1);
    sn->node_pass = mem_array(sn->n_nodes, 1);
    for (uint32_t i = 1; i < sn->n_frames; i++) {
        struct module *m = snapshot_module(sn, sn->frame_module[i]);
        struct symbol sym;
        frame_leaf[i] = leaf_passes(sn->q, m);
        if (!m || (m->kind == MODULE_FILE && !path_needed(sn->q)))
            continue; /* only the kernel idles */
        symbolizer_lookup(sn->s->symbolizer, m, sn->frame_offset[i], &sym);
        sn->frame_idle[i] = sym.idle || sym.state != SYMBOL_FOUND;
        frame_hit[i] = frame_hits(sn->q, &sym);
    }
    sn->node_pass[0] = !wanted;
    for (uint32_t i = 1; i < sn->n_nodes; i++) {
        node_hit[i] = node_hit[sn->parent[i]] | frame_hit[sn->frame[i]];
        sn->node_pass[i] = (node_hit[i] & wanted) == wanted && frame_leaf[sn->frame[i]];
    }
    mem_free(frame_hit);
    mem_free(node_hit);
    mem_free(frame_leaf);
}

static void keep_named(struct snapshot *sn)
{
    size_t n = 0;
    decide_by_names(sn);
    for (size_t i = 0; i < sn->n_samples; i++) {
        const struct sample *sample = &sn->samples[i];
        bool idle = sample->flags & SAMPLE_IDLE && (!sample->stack || sn->frame_idle[sn->frame[sample->stack]]);
        if (sn->node_pass[sample->stack] && (!idle || sn->q->show_idle))
            sn->samples[n++] = *sample;
    }
    sn->n_samples = n;
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
    void *owned[] = { sn->samples,      sn->parent,    sn->frame,     sn->frame_module, sn->frame_offset, sn->threads,
                      sn->images,       sn->node_pass, sn->frame_idle, sn->thread_told };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
}

bool session_write(struct session *s, const struct view_query *q, const char *path, uint64_t *samples, struct error *e)
{
    struct snapshot sn = { .s = s, .q = q };
    for (uint32_t i = 0; i < q->n_zooms; i++)
        if (q->zooms[i].kind == ZOOM_CPU)
            sn.cpu_zoom = q->zooms[i], sn.has_cpu_zoom = true;
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
