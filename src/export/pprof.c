// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports a profile for go tool pprof: profile.proto of github.com/google/pprof, compressed by gzip. It has
 * one sample per stack and thread, with the number of samples and the event's sum as values, and the thread
 * as labels. Addresses are offsets in the module. The encoder is built in, because the message has only five
 * kinds of fields. */
#include <stdio.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/unpack.h"
#include "export/export.h"
#include "export/protobuf.h"
#include "process/module.h"
#include "process/world.h"

#define INLINED_MARK " (inlined)"

enum { /* field numbers */
       PROFILE_SAMPLE_TYPE = 1,
       PROFILE_SAMPLE = 2,
       PROFILE_MAPPING = 3,
       PROFILE_LOCATION = 4,
       PROFILE_FUNCTION = 5,
       PROFILE_STRING = 6,
       PROFILE_DURATION_NS = 10,
       PROFILE_PERIOD_TYPE = 11,
       PROFILE_PERIOD = 12,
       PROFILE_DEFAULT_TYPE = 14,
       TYPE_NAME = 1,
       TYPE_UNIT = 2,
       SAMPLE_LOCATIONS = 1,
       SAMPLE_VALUES = 2,
       SAMPLE_LABEL = 3,
       LABEL_KEY = 1,
       LABEL_TEXT = 2,
       LABEL_NUMBER = 3,
       MAPPING_ID = 1,
       MAPPING_LIMIT = 3,
       MAPPING_FILE = 5,
       MAPPING_BUILD_ID = 6,
       MAPPING_HAS_FUNCTIONS = 7,
       MAPPING_HAS_INLINES = 10,
       LOCATION_ID = 1,
       LOCATION_MAPPING = 2,
       LOCATION_ADDRESS = 3,
       LOCATION_LINE = 4,
       LINE_FUNCTION = 1,
       FUNCTION_ID = 1,
       FUNCTION_NAME = 2,
       FUNCTION_SYSTEM_NAME = 3,
};

struct profile {
    const struct view *v;
    struct buf out, message, part;
    struct intern *strings;
    uint8_t *function_told; /* by function: not 0 if it was written */
    uint8_t *location_told; /* by frame that is not inlined; its location includes the code inlined into it */
    struct map mappings;    /* module id → id + 1 */
};

static uint64_t text(struct profile *p, const char *s)
{
    return intern_add(p->strings, s, strlen(s));
}

static void put_type(struct profile *p, unsigned field, const char *name, const char *unit)
{
    protobuf_number(&p->message, TYPE_NAME, text(p, name));
    protobuf_number(&p->message, TYPE_UNIT, text(p, unit));
    protobuf_message(&p->out, field, &p->message);
}

/* ---- mappings, functions and locations ---- */

static uint64_t mapping_of(struct profile *p, uint32_t frame)
{
    const struct module *m = view_module(p->v, frame);
    bool created;
    uint64_t id = *map_at(&p->mappings, m->id, p->mappings.n + 1, &created);
    char made[EXPORT_PATH_MAX], build_id[2 * sizeof m->build_id + 1] = "";
    if (!created)
        return id;
    struct buf path = { 0 };
    export_put_path(&path, export_module_path(m, made, sizeof made));
    for (unsigned i = 0; i < m->build_id_size; i++)
        snprintf(build_id + 2 * i, 3, "%02x", m->build_id[i]);
    protobuf_number(&p->message, MAPPING_ID, id);
    protobuf_number(&p->message, MAPPING_LIMIT, UINT64_MAX);
    protobuf_number(&p->message, MAPPING_FILE, text(p, buf_str(&path)));
    protobuf_number(&p->message, MAPPING_BUILD_ID, text(p, build_id));
    protobuf_number(&p->message, MAPPING_HAS_FUNCTIONS, 1);
    protobuf_number(&p->message, MAPPING_HAS_INLINES, 1);
    protobuf_message(&p->out, PROFILE_MAPPING, &p->message);
    buf_done(&path);
    return id;
}

static uint32_t function_of(struct profile *p, uint32_t frame)
{
    uint32_t func = p->v->frame_func[frame];
    const struct view_function *f = &p->v->funcs[func];
    if (p->function_told[func])
        return func;
    p->function_told[func] = 1;
    size_t n = strlen(f->name), mark = strlen(INLINED_MARK);
    if (f->class == SYMBOL_CLASS_INLINED && n > mark) /* the location's lines show inlining */
        n -= mark;
    uint64_t name = intern_add(p->strings, f->name, n);
    protobuf_number(&p->message, FUNCTION_ID, func);
    protobuf_number(&p->message, FUNCTION_NAME, name);
    protobuf_number(&p->message, FUNCTION_SYSTEM_NAME, name);
    protobuf_message(&p->out, PROFILE_FUNCTION, &p->message);
    return func;
}

static bool is_inlined(const struct view *v, uint32_t frame)
{
    return v->funcs[v->frame_func[frame]].class == SYMBOL_CLASS_INLINED;
}

/* Returns the location of the code at *node, which is its innermost function. Moves *node to the caller. */
static uint64_t location_of(struct profile *p, uint32_t *node)
{
    const struct result *r = &p->v->result;
    struct buf lines = { 0 };
    uint32_t frame, first = *node;
    for (frame = r->frame[*node]; is_inlined(p->v, frame) && r->parent[*node]; frame = r->frame[*node])
        *node = r->parent[*node];
    bool told = p->location_told[frame];
    p->location_told[frame] = 1;
    for (uint32_t n = first; !told; n = r->parent[n]) {
        protobuf_number(&p->part, LINE_FUNCTION, function_of(p, r->frame[n]));
        protobuf_message(&lines, LOCATION_LINE, &p->part);
        if (n == *node)
            break;
    }
    if (!told) {
        uint64_t mapping = mapping_of(p, frame);
        protobuf_number(&p->message, LOCATION_ID, frame);
        protobuf_number(&p->message, LOCATION_MAPPING, mapping);
        protobuf_number(&p->message, LOCATION_ADDRESS, r->frame_offset[frame]);
        buf_add(&p->message, buf_str(&lines), lines.len);
        protobuf_message(&p->out, PROFILE_LOCATION, &p->message);
    }
    *node = r->parent[*node];
    buf_done(&lines);
    return frame;
}

/* ---- samples ---- */

static void put_label(struct profile *p, struct buf *sample, const char *key, const char *value,
                      uint64_t number)
{
    protobuf_number(&p->part, LABEL_KEY, text(p, key));
    protobuf_number(&p->part, LABEL_TEXT, value ? text(p, value) : 0);
    protobuf_number(&p->part, LABEL_NUMBER, number);
    protobuf_message(sample, SAMPLE_LABEL, &p->part);
}

static void put_id(struct profile *p, struct buf *sample, const char *key, uint32_t id)
{
    char ended[16];
    put_label(p, sample, key, id == WORLD_ENDED ? world_id_text(id, ended, sizeof ended) : NULL,
              id == WORLD_ENDED ? 0 : id);
}

static void put_sample(struct profile *p, const struct result_entry *en)
{
    const struct view_group_info *thread = &p->v->groups[en->group];
    struct buf sample = { 0 }, packed = { 0 };
    for (uint32_t node = en->node; node;)
        protobuf_varint(&packed, location_of(p, &node));
    protobuf_message(&sample, SAMPLE_LOCATIONS, &packed);
    protobuf_varint(&packed, en->count);
    protobuf_varint(&packed, en->weight);
    protobuf_message(&sample, SAMPLE_VALUES, &packed);
    put_label(p, &sample, "thread", thread->label, 0);
    put_id(p, &sample, "pid", thread->pid);
    put_id(p, &sample, "tid", (uint32_t)thread->number);
    protobuf_message(&p->out, PROFILE_SAMPLE, &sample);
    buf_done(&sample);
    buf_done(&packed);
}

/* Returns the period: the events per sample or, when sampling at a frequency, their average. */
static uint64_t period_of(const struct view *v, const struct session_status *st)
{
    uint64_t weight = 0, count = 0;
    for (uint32_t i = 0; i < v->result.n_entries; i++) {
        weight += v->result.entries[i].weight;
        count += v->result.entries[i].count;
    }
    return st->period || !count ? st->period : weight / count;
}

static void put_profile(struct profile *p, const struct session_status *st)
{
    const char *event = p->v->weight_is_time && !view_has_durations(p->v) ? "cpu" : st->event,
               *unit = p->v->weight_is_time ? "nanoseconds" : "count";
    put_type(p, PROFILE_SAMPLE_TYPE, "samples", "count");
    put_type(p, PROFILE_SAMPLE_TYPE, event, unit);
    for (uint32_t i = 0; i < p->v->result.n_entries; i++)
        put_sample(p, &p->v->result.entries[i]);
    protobuf_number(&p->out, PROFILE_DURATION_NS, p->v->result.last_ns - p->v->result.first_ns);
    put_type(p, PROFILE_PERIOD_TYPE, event, unit);
    protobuf_number(&p->out, PROFILE_PERIOD, period_of(p->v, st));
    protobuf_number(&p->out, PROFILE_DEFAULT_TYPE, text(p, event));
    for (uint32_t i = 0; i < intern_count(p->strings); i++) {
        const char *s = intern_str(p->strings, i);
        protobuf_bytes(&p->out, PROFILE_STRING, s, strlen(s));
    }
}

static bool pprof_write(struct session *s, const struct view_query *q, const struct export_options *o,
                        struct export_sink *to, struct error *e)
{
    struct view v = { 0 };
    struct view_query asked = *q;
    struct session_status st;
    (void)o;
    asked.group = VIEW_GROUP_THREAD;
    export_query(s, &asked, &v);
    session_get_status(s, &st);
    struct profile p = {
        .v = &v,
        .strings = intern_new(),
        .function_told = mem_array(v.n_funcs + 1, 1),
        .location_told = mem_array(v.result.n_frames + 1, 1),
    };
    put_profile(&p, &st);
    bool ok = gzip_pack(buf_str(&p.out), p.out.len, &to->text, e);
    struct buf *bufs[] = { &p.out, &p.message, &p.part };
    for (size_t i = 0; i < sizeof bufs / sizeof *bufs; i++)
        buf_done(bufs[i]);
    map_done(&p.mappings);
    intern_free(p.strings);
    mem_free(p.function_told);
    mem_free(p.location_told);
    view_done(&v);
    return ok;
}

const struct exporter export_pprof = {
    .name = "pprof",
    .suffix = ".pb.gz",
    .whole = true,
    .binary = true,
    .help = "a profile for go tool pprof and other readers of profile.proto",
    .stream = pprof_write,
};
