// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the shown samples as perf.data. Under the lock, only the samples and what they refer to are
 * copied; names, addresses and bytes follow after it, so that a slow disk never blocks the collector. */
#include "session/save/snapshot.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "perfdata/format.h"
#include "process/namespaces.h"
#include "session/bundle_profile.h"
#include "session/query/select.h"

/* ---- under the lock: copies ---- */

static void copy_stacks(struct snapshot *sn)
{
    const struct stacks *st = sn->s->store.stacks;
    sn->n_nodes = stacks_node_count(st);
    sn->n_frames = stacks_frame_count(st);
    sn->parent = mem_array(sn->n_nodes, sizeof *sn->parent);
    sn->frame = mem_array(sn->n_nodes, sizeof *sn->frame);
    sn->frame_module = mem_array(sn->n_frames, sizeof *sn->frame_module);
    sn->frame_offset = mem_array(sn->n_frames, sizeof *sn->frame_offset);
    sn->frame_interrupted = mem_array(sn->n_frames, sizeof *sn->frame_interrupted);
    memcpy(sn->parent, stacks_parents(st), sn->n_nodes * sizeof *sn->parent);
    memcpy(sn->frame, stacks_frames(st), sn->n_nodes * sizeof *sn->frame);
    memcpy(sn->frame_module, stacks_frame_modules(st), sn->n_frames * sizeof *sn->frame_module);
    memcpy(sn->frame_offset, stacks_frame_offsets(st), sn->n_frames * sizeof *sn->frame_offset);
    memcpy(sn->frame_interrupted, stacks_frame_interrupts(st), sn->n_frames * sizeof *sn->frame_interrupted);
}

static void hold_module(struct snapshot *sn, uint32_t id)
{
    bool created;
    uint64_t *at = map_at(&sn->modules, id, 0, &created);
    struct module *m = created ? world_module(sn->s->store.world, id) : NULL;
    if (m)
        *at = (uint64_t)(uintptr_t)module_get(m);
}

static void copy_image(struct snapshot *sn, uint32_t image)
{
    bool created;
    map_at(&sn->image_index, image, sn->images.n, &created);
    if (!created)
        return;
    const struct world_map *maps;
    uint32_t n = world_image_maps(sn->s->store.world, image, &maps);
    struct copied_image *im = VEC_PUSH(&sn->images);
    *im = (struct copied_image){ .image = image, .n_maps = n, .maps = mem_array(n + 1, sizeof *maps) };
    if (n)
        memcpy(im->maps, maps, n * sizeof *maps);
    for (uint32_t i = 0; i < n; i++)
        hold_module(sn, maps[i].module);
}

static void copy_images(struct snapshot *sn)
{
    sn->namespaces = mem_array(sn->samples.n_threads + 1, sizeof *sn->namespaces);
    for (uint32_t i = 0; i < sn->samples.n_threads; i++) {
        const struct world_thread *thread = &sn->samples.threads[i];
        bool created = false;
        if (!thread->image)
            continue;
        copy_image(sn, thread->image);
        const struct namespaces *ns = world_namespaces(sn->s->store.world, thread->namespaces);
        if (ns)
            sn->namespaces[i] = *ns;
        uint64_t *at = thread->cgroup ? map_at(&sn->cgroups, thread->cgroup, 0, &created) : NULL;
        if (created)
            *at = (uint64_t)(uintptr_t)mem_strdup(world_cgroup_path(sn->s->store.world, thread->cgroup));
    }
}

static void snapshot_copy(struct snapshot *sn)
{
    struct session *s = sn->s;
    if (!s->load.file)
        scan_proc_namespaces(s);
    pthread_mutex_lock(&s->store.lock);
    jit_follow(s, true);
    uint8_t *pass = mem_array(world_thread_count(s->store.world) + 1, 1);
    struct query scan = select_samples(s, sn->q, pass);
    if (!scan.weight_to) /* else only operations that took so long */
        scan.event = QUERY_ANY_EVENT;
    scan.apart = scan.hidden = 0;
    sn->n_held = history_count(s->store.history);
    samples_take(&sn->samples, s, &scan);
    snapshot_wakers_copy(sn);
    copy_stacks(sn);
    copy_images(sn);
    for (uint32_t i = 1; i < sn->n_frames; i++)
        hold_module(sn, sn->frame_module[i]);
    sn->lost = s->source.lost_before + s->source.stats.lost;
    sn->n_events = s->store.n_events;
    sn->events = mem_array(s->store.n_events + 1, sizeof *sn->events);
    memcpy(sn->events, s->store.events, s->store.n_events * sizeof *sn->events);
    for (uint32_t i = 0; i < sn->n_events; i++)
        if (event_is_made(&sn->events[i].event))
            offcpu_saved_attr(&sn->events[i].attr);
        else
            latency_saved_attr(s, &sn->events[i].attr);
    pthread_mutex_unlock(&s->store.lock);
    mem_free(pass);
}

/* ---- verdicts by name: idle, zooms into a module or function, the filter ---- */

static uint16_t frame_hits(struct snapshot *sn, uint32_t frame)
{
    struct module *m = snapshot_module(sn, sn->frame_module[frame]);
    struct select_named named = { .name = "", .module = m ? m->name : "", .idles = !m };
    struct symbol sym;
    /* Only the kernel idles: most names need no lookup. Until the kernel's names are known, all samples of
     * pid 0 count as idle. */
    if (m && !(m->kind == MODULE_FILE && select_ignores_names(sn->q))) {
        symbolizer_lookup(sn->s->store.symbolizer, m, sn->frame_offset[frame], &sym);
        named.name = sym.name;
        named.key = sym.key;
        named.idles = sym.idle || sym.state != SYMBOL_FOUND;
    }
    return select_hits(sn->q, &named);
}

struct naming {
    struct select_trie trie;
    bool show_idle;
};

static bool is_shown(void *ctx, struct sample *sample)
{
    const struct naming *n = ctx;
    return select_shows(&n->trie, sample, n->show_idle);
}

static void keep_named(struct snapshot *sn)
{
    uint16_t *hits = mem_array(sn->n_frames, sizeof *hits);
    for (uint32_t i = 1; i < sn->n_frames; i++)
        hits[i] = frame_hits(sn, i);
    struct naming named = {
        .trie = { .parent = sn->parent, .frame = sn->frame, .hits = hits, .frame_module = sn->frame_module },
        .show_idle = sn->q->show_idle,
    };
    if (select_by_path(&named.trie, sn->q)) {
        named.trie.path_hits = mem_array(sn->n_nodes, sizeof *named.trie.path_hits);
        select_mark(&named.trie, sn->n_nodes);
    }
    samples_keep(&sn->samples, is_shown, &named);
    mem_free(hits);
    mem_free(named.trie.path_hits);
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
    for (uint32_t i = 0; i < sn->images.n; i++) {
        mem_free(sn->images.items[i].maps);
        mem_free(sn->images.items[i].written.items);
    }
    map_done(&sn->image_index);
    map_done(&sn->modules);
    map_done(&sn->cgroups);
    map_done(&sn->pid_image);
    map_done(&sn->address_of);
    session_samples_done(&sn->samples);
    snapshot_jit_done(sn);
    buf_done(&sn->aux);
    void *owned[] = {
        sn->parent,       sn->frame,       sn->frame_module, sn->frame_offset,    sn->frame_interrupted,
        sn->images.items, sn->thread_told, sn->namespaces,   sn->addresses.items, sn->events
    };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
}

static void settle_names(struct snapshot *sn)
{
    size_t pos = 0;
    uint64_t id, v;
    while (map_next(&sn->modules, &pos, &id, &v))
        if (v)
            symbolizer_request(sn->s->store.symbolizer, (struct module *)(uintptr_t)v);
    session_settle(sn->s, session_patience_ns(sn->s));
}

/* Collects the samples of the query. False: none, or too many. */
static bool snapshot_take(struct snapshot *sn, const char *path, struct error *e)
{
    session_settle(sn->s, session_patience_ns(sn->s)); /* stacks may wait for unwind tables */
    snapshot_copy(sn);
    settle_names(sn);
    keep_named(sn);
    if (sn->samples.no_memory)
        return error_set(e, ERROR_LIMIT,
                         "not enough memory to copy the samples: narrow the window or the scope");
    return sn->samples.n ||
           error_set(e, ERROR_MISSING, "no samples are shown: there is nothing to write to %s", path);
}

/* Those of events that are listed. */
static uint64_t listed_samples(const struct snapshot *sn)
{
    uint64_t n = 0;
    for (size_t i = 0; i < sn->samples.n; i++)
        n += !sn->events[sn->samples.list[i].event].removed;
    return n;
}

bool session_write(struct session *s, const struct view_query *q, const char *path, uint64_t *samples,
                   struct error *e)
{
    if (s->load.file && !s->load.loaded)
        return error_set(e, ERROR_MISSING,
                         "the file is still being read: wait, or press Esc to use what is read so far");
    /* Waits and operations follow from the records of all threads. A part of the file has them instead. */
    bool makes = s->load.offcpu.runs || s->load.operations.n, copying = s->load.file != NULL;
    struct snapshot sn = { .s = s,
                           .q = q,
                           .samples.with_raw = true,
                           .samples.with_running = true,
                           .samples.numbered = copying && !makes };
    bool ok = snapshot_take(&sn, path, e);
    copying = copying && (!makes || snapshot_is_whole(&sn));
    ok = ok && (copying ? snapshot_copy_file(&sn, path, e) : snapshot_write(&sn, path, NULL, NULL, e));
    if (samples)
        *samples = listed_samples(&sn);
    snapshot_done(&sn);
    return ok;
}

/* Wall-clock time of a sample, in seconds since 1970; 0: not in the file. */
static uint64_t wall_of(const struct session *s, uint64_t time_ns)
{
    uint64_t wall_ns = clock_read_ns(CLOCK_REALTIME), by_clock_ns = clock_read_ns(CLOCK_MONOTONIC);
    if (s->load.file) {
        size_t n;
        const void *data = perfdata_feature(s->load.file, FORMAT_CLOCK_DATA, &n);
        struct cursor c = cursor_of(data, data ? n : 0, perfdata_swapped(s->load.file));
        cursor_skip(&c, 8); /* version and clock */
        wall_ns = cursor_u64(&c);
        by_clock_ns = cursor_u64(&c);
        if (c.bad)
            return 0;
    }
    return (wall_ns - by_clock_ns + time_ns) / NS_PER_SEC;
}

bool session_pack(struct session *s, const struct view_query *q, const char *near_path,
                  struct session_bundle_profile *out, struct error *e)
{
    struct snapshot sn = { .s = s, .q = q, .samples.with_raw = true, .samples.with_running = true };
    *out = (struct session_bundle_profile){ .fd = -1 };
    bool ok = snapshot_take(&sn, near_path, e);
    if (ok) {
        out->samples = listed_samples(&sn);
        samples_sort(&sn.samples);
        out->last_ns = sn.samples.list[sn.samples.n - 1].time_ns;
        out->wall_s = wall_of(s, out->last_ns);
        snapshot_names(&sn, &out->names);
        ok = snapshot_write(&sn, near_path, &out->fd, &out->bytes, e);
    }
    snapshot_done(&sn);
    return ok;
}

const struct bundle *session_bundle(const struct session *s)
{
    return s->load.bundle;
}

void session_bundle_profile_done(struct session_bundle_profile *p)
{
    if (p->fd >= 0)
        close(p->fd);
    buf_done(&p->names);
    p->fd = -1;
}
