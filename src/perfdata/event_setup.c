// SPDX-License-Identifier: GPL-2.0-or-later
/* Applies the records of a pipe-mode file that replace the header: events, features and names. */
#include <string.h>

#include "perfdata/perfdata_file.h"

#define TRACING_MAX (256u << 20)

static void add_attr(struct perfdata *p, const struct raw_record *r)
{
    const uint8_t *attr = r->bytes + 8;
    size_t n = r->size - 8;
    struct cursor c = cursor_of(attr, n, p->swap);
    cursor_skip(&c, 4);
    uint32_t attr_n = cursor_u32(&c);
    if (!attr_n)
        attr_n = PERF_ATTR_SIZE_VER0;
    if (c.bad || attr_n < PERF_ATTR_SIZE_VER0 || attr_n > n) {
        damage_note(p, DAMAGE_BAD_RECORD, 1);
        return;
    }
    header_add_event(p, attr, attr_n);
    header_add_ids(p, (uint32_t)p->events.n - 1, cursor_of(attr + attr_n, n - attr_n, p->swap));
}

static void update_event(struct perfdata *p, struct cursor *c)
{
    uint64_t what = cursor_u64(c), id = cursor_u64(c), event;
    size_t n = cursor_left(c);
    const char *name = cursor_bytes(c, n);
    if (what == FORMAT_EVENT_UPDATE_NAME && !c->bad && n && map_get(&p->event_of, id, &event))
        feature_name_event(p, (uint32_t)event, name, strnlen(name, n));
}

/* perf writes tracing data after its record; simpleperf writes it inside the record, after its size. */
static void take_tracing(struct perfdata *p, const struct raw_record *r)
{
    uint64_t payload = r->payload;
    struct cursor c = cursor_of(r->bytes + 8, r->size - 8, p->swap);
    if (!payload) {
        size_t n = cursor_u32(&c);
        const void *inside = n && n <= cursor_left(&c) ? cursor_bytes(&c, n) : NULL;
        if (inside)
            feature_apply(p, FORMAT_TRACING_DATA, inside, n);
        return;
    }
    if (payload > TRACING_MAX || r->place & PLACE_PLAIN)
        return;
    uint8_t *bytes = mem_try_array((size_t)payload, 1);
    if (bytes && input_copy(&p->in, r->place + r->size, bytes, (size_t)payload))
        feature_apply(p, FORMAT_TRACING_DATA, bytes, (size_t)payload);
    mem_free(bytes);
}

void setup_apply(struct perfdata *p, const struct raw_record *r)
{
    struct cursor c = cursor_of(r->bytes + 8, r->size - 8, p->swap);
    switch (r->type) {
    case FORMAT_RECORD_BUILD_ID:
        feature_keep(p, FORMAT_BUILD_ID, r->bytes, r->size);
        feature_add_build_id(p, r->bytes, r->size);
        break;
    case FORMAT_RECORD_EVENT_UPDATE:
        update_event(p, &c);
        break;
    case FORMAT_RECORD_FEATURE: {
        uint64_t feature = cursor_u64(&c);
        size_t n = cursor_left(&c);
        if (!c.bad && feature < FORMAT_FEATURES && feature != FORMAT_BUILD_ID)
            feature_apply(p, (unsigned)feature, r->bytes + 16, n);
        break;
    }
    case FORMAT_RECORD_TRACING_DATA:
        take_tracing(p, r);
        break;
    }
}

void setup_read(struct perfdata *p)
{
    struct record_reader w = { .p = p, .pos = p->data_start, .end = p->data_end, .quiet = true };
    struct raw_record r;
    while (next_record(&w, &r)) {
        if (r.type < FORMAT_RECORD_USER || r.type == FORMAT_RECORD_COMPRESSED ||
            r.type == FORMAT_RECORD_COMPRESSED2)
            break;
        if (!p->pipe && r.type != FORMAT_RECORD_TRACING_DATA)
            continue; /* the header has it */
        if (r.type == FORMAT_RECORD_ATTR)
            add_attr(p, &r);
        else
            setup_apply(p, &r);
        p->setup_end = w.pos;
    }
}
