// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports for speedscope (www.speedscope.app/file-format-schema.json): a "sampled" profile of all stacks,
 * then an "evented" profile of each thread, whose time order is a flame chart. In it a sample covers the time
 * since the previous sample of its thread, limited to `hold` (see struct chart); the rest is empty. Times are
 * in nanoseconds since the first sample. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "export/export.h"
#include "export/json.h"
#include "process/module.h"
#include "process/world.h"

#define DEPTH_MAX 4096

struct track {       /* a thread */
    uint64_t key;    /* first: they are sorted by it */
    uint32_t thread; /* its newest version */
    VEC(uint32_t) samples;
};

struct chart {
    struct view view;
    struct session_samples samples;
    VEC(struct track) tracks;
    /* for events that do not count time: twice the median time between samples of a thread */
    uint64_t hold_ns;
    struct export_sink *to;
};

/* ---- threads ---- */

static void find_hold(struct chart *c)
{
    uint64_t *gaps = mem_array(c->samples.n + 1, sizeof *gaps);
    size_t n = 0;
    for (size_t t = 0; t < c->tracks.n; t++)
        for (size_t i = 1; i < c->tracks.items[t].samples.n; i++)
            gaps[n++] = c->samples.list[c->tracks.items[t].samples.items[i]].time_ns -
                        c->samples.list[c->tracks.items[t].samples.items[i - 1]].time_ns;
    qsort(gaps, n, sizeof *gaps, search_compare_u64);
    c->hold_ns = n ? 2 * gaps[n / 2] : 1;
    mem_free(gaps);
}

static void find_tracks(struct chart *c)
{
    struct map index = { 0 };
    for (size_t i = 0; i < c->samples.n && i < UINT32_MAX; i++) {
        uint32_t thread = c->samples.list[i].thread;
        const struct world_thread *w = &c->samples.threads[thread];
        uint64_t key = (uint64_t)w->pid << 32 | w->tid;
        bool created;
        uint64_t at = *map_at(&index, key, c->tracks.n, &created);
        if (created)
            *VEC_PUSH(&c->tracks) = (struct track){ .key = key };
        struct track *t = &c->tracks.items[at];
        *VEC_PUSH(&t->samples) = (uint32_t)i;
        t->thread = thread;
    }
    map_done(&index);
    if (c->tracks.n)
        qsort(c->tracks.items, c->tracks.n, sizeof *c->tracks.items, search_compare_u64);
    find_hold(c);
}

/* ---- writing ---- */

/* Returns the functions of a stack, root first, as indexes of frames in the file. */
static uint32_t path_of(const struct view *v, uint32_t node, uint32_t *path)
{
    uint32_t n = 0;
    for (; node && n < DEPTH_MAX; node = v->result.parent[node])
        path[n++] = v->frame_func[v->result.frame[node]] - 1;
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t other = path[i];
        path[i] = path[n - 1 - i];
        path[n - 1 - i] = other;
    }
    return n;
}

static void put_frames(const struct view *v, struct buf *out)
{
    json_open_key(out, "shared", '{');
    json_open_key(out, "frames", '[');
    for (uint32_t i = 1; i < v->n_funcs; i++) {
        json_open(out, '{');
        json_text(out, "name", v->funcs[i].name);
        json_text(out, "file", v->funcs[i].module);
        buf_putc(out, '}');
    }
    buf_puts(out, "]}");
}

static void put_profile_head(struct buf *out, const char *type, const char *name, const char *unit,
                             uint64_t end)
{
    json_open(out, '{');
    json_text(out, "type", type);
    json_text(out, "name", name);
    json_text(out, "unit", unit);
    json_number(out, "startValue", 0);
    json_number(out, "endValue", end);
}

static void put_sampled(struct chart *c, const char *name)
{
    const struct result *r = &c->view.result;
    struct buf *out = &c->to->text;
    uint32_t path[DEPTH_MAX];
    put_profile_head(out, "sampled", name, c->view.weight_is_time ? "nanoseconds" : "none", r->weight);
    json_open_key(out, "samples", '[');
    for (uint32_t i = 0; i < r->n_entries && export_flush(c->to); i++) {
        uint32_t n = path_of(&c->view, r->entries[i].node, path);
        buf_puts(out, i ? ",\n[" : "\n[");
        for (uint32_t k = 0; k < n; k++)
            buf_printf(out, k ? ",%u" : "%u", path[k]);
        buf_putc(out, ']');
    }
    buf_puts(out, "],\"weights\":[");
    for (uint32_t i = 0; i < r->n_entries && export_flush(c->to); i++)
        buf_printf(out, i ? ",%llu" : "%llu", (unsigned long long)r->entries[i].weight);
    buf_puts(out, "]}");
}

struct evented { /* the frames that are open */
    uint32_t path[DEPTH_MAX], n;
    uint64_t at;
    bool any;
};

static void put_event(struct chart *c, struct evented *ev, char type, uint32_t frame, uint64_t at)
{
    buf_printf(&c->to->text, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%llu}", ev->any ? ",\n" : "\n", type,
               frame, (unsigned long long)at);
    ev->any = true;
}

/* Closes and opens frames so that this path runs from `at` on. */
static void change_to(struct chart *c, struct evented *ev, const uint32_t *path, uint32_t n, uint64_t at)
{
    uint32_t same = 0;
    while (same < n && same < ev->n && path[same] == ev->path[same])
        same++;
    while (ev->n > same)
        put_event(c, ev, 'C', ev->path[--ev->n], at);
    for (; ev->n < n; ev->n++) {
        ev->path[ev->n] = path[ev->n];
        put_event(c, ev, 'O', path[ev->n], at);
    }
}

static void put_track(struct chart *c, const struct track *t)
{
    uint64_t first_ns = c->samples.list[0].time_ns;
    struct evented ev = { .n = 0 };
    uint32_t path[DEPTH_MAX];
    const struct world_thread *w = &c->samples.threads[t->thread];
    char name[64];
    world_task_label(w->comm, w->tid, name, sizeof name);
    put_profile_head(&c->to->text, "evented", name, "nanoseconds",
                     c->samples.list[t->samples.items[t->samples.n - 1]].time_ns - first_ns);
    json_open_key(&c->to->text, "events", '[');
    for (size_t i = 0; i < t->samples.n && export_flush(c->to); i++) {
        const struct sample *sample = &c->samples.list[t->samples.items[i]];
        uint64_t end = sample->time_ns - first_ns,
                 hold = c->view.weight_is_time ? 2 * sample->weight : c->hold_ns;
        uint64_t start = end > hold ? end - hold : 0;
        if (start > ev.at)
            change_to(c, &ev, NULL, 0, ev.at);
        else
            start = ev.at;
        change_to(c, &ev, path, path_of(&c->view, sample->stack, path), start);
        ev.at = end;
    }
    change_to(c, &ev, NULL, 0, ev.at);
    buf_puts(&c->to->text, "]}");
}

static void put_all(struct chart *c, const char *event)
{
    struct buf *out = &c->to->text;
    json_open(out, '{');
    json_text(out, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_text(out, "exporter", "flametop");
    json_text(out, "name", event);
    json_number(out, "activeProfileIndex", 0);
    put_frames(&c->view, out);
    json_open_key(out, "profiles", '[');
    put_sampled(c, event);
    for (size_t i = 0; i < c->tracks.n && export_flush(c->to); i++) {
        buf_putc(out, ','); /* json_open() cannot: the previous text may have been flushed */
        put_track(c, &c->tracks.items[i]);
    }
    buf_puts(out, "]}\n");
}

static bool speedscope_write(struct session *s, const struct view_query *q, const struct export_options *o,
                             struct export_sink *to, struct error *e)
{
    struct chart c = { .to = to };
    struct view_query asked = *q;
    (void)o;
    asked.group = VIEW_GROUP_SYMBOL;
    asked.all_events = false; /* weights of different events do not add up */
    bool ok = export_samples(s, &asked, &c.view, &c.samples, e);
    if (ok) {
        struct session_status st;
        session_get_status(s, &st);
        find_tracks(&c);
        put_all(&c, st.event);
    }
    for (size_t i = 0; i < c.tracks.n; i++)
        mem_free(c.tracks.items[i].samples.items);
    mem_free(c.tracks.items);
    session_samples_done(&c.samples);
    view_done(&c.view);
    return ok;
}

const struct exporter export_speedscope = {
    .name = "speedscope",
    .suffix = ".speedscope.json",
    .whole = true,
    .help = "for speedscope: all stacks, and threads as flame charts",
    .stream = speedscope_write,
};
