// SPDX-License-Identifier: GPL-2.0-or-later
/* The first pass: indexes where the records are and how their times progress. perf writes the rings of the
 * CPUs one after the other, so a file is a sequence of runs with increasing times: a few runs per round and
 * CPU cover millions of records. At worst every record is a run of its own, and the index is as large as the
 * file. */
#include <byteswap.h>
#include <string.h>

#include "perfdata/perfdata_file.h"

#define LOOK_BYTES (1u << 20)

static bool read_id(const struct perfdata *p, const struct id_target *place, const uint8_t *bytes,
                    uint32_t size, bool sample, uint64_t *id)
{
    uint32_t n = 8 * (sample ? place->sample : place->other);
    if (!n || 8 + n > size)
        return false;
    *id = record_u64(sample ? bytes + n : bytes + size - n, 0, p->swap);
    return true;
}

/* The same few ids recur, hence the cache. */
static bool event_of_id(struct perfdata *p, uint64_t id, uint32_t *event)
{
    uint64_t found;
    if (id && p->recent_ids[id % 16].id == id) {
        *event = p->recent_ids[id % 16].event;
        return true;
    }
    if (!map_get(&p->event_of, id, &found))
        return false;
    *event = (uint32_t)found;
    p->recent_ids[id % 16].id = id;
    p->recent_ids[id % 16].event = *event;
    return true;
}

bool index_event(struct perfdata *p, const uint8_t *bytes, uint32_t size, uint32_t type, uint32_t *event)
{
    bool sample = type == PERF_RECORD_SAMPLE, had_id = false;
    uint32_t found;
    uint64_t id;
    *event = 0;
    if (p->events.n == 1 || type >= FORMAT_RECORD_USER)
        return true;
    for (uint32_t i = 0; i < p->n_id_targets; i++) {
        if (!read_id(p, &p->id_targets[i], bytes, size, sample, &id))
            continue;
        had_id |= id != 0;
        if (event_of_id(p, id, &found) && p->event_class[found] == i) {
            *event = found;
            return true;
        }
    }
    /* Records that perf synthesized have the id 0; old files have no ids. */
    return !sample || !had_id || !p->event_of.n;
}

bool index_time(struct perfdata *p, const uint8_t *bytes, uint32_t size, uint32_t type, uint64_t *time_ns)
{
    uint32_t event;
    if (type >= FORMAT_RECORD_USER || !index_event(p, bytes, size, type, &event))
        return false;
    return record_time(bytes, size, &p->layouts[event], time_ns) && *time_ns < FORMAT_TIME_NONE;
}

struct indexer {
    struct perfdata *p;
    struct run *run;     /* the current one */
    uint64_t last_ns;    /* time of the last record */
    uint64_t seen_bytes; /* of completed files */
    uint64_t file_start; /* start location of the current file */
    perfdata_go_on_fn *go_on;
    void *ctx;
    bool stopped;
};

static void new_run(struct indexer *ix, uint64_t first_ns, uint64_t place)
{
    struct perfdata *p = ix->p;
    if (p->n_runs == p->runs_cap) {
        size_t cap = mem_next_cap(p->runs_cap, p->n_runs + 1);
        struct run *more = mem_try_resize(p->runs, cap, sizeof *more);
        ix->run = NULL;
        if (!more)
            return;
        p->runs = more;
        p->runs_cap = cap;
    }
    ix->run = &p->runs[p->n_runs];
    *ix->run = (struct run){ .first_ns = first_ns, .start = place, .end = place, .seq = p->n_runs++ };
}

static void index_record(struct indexer *ix, const struct raw_record *r)
{
    struct perfdata *p = ix->p;
    uint64_t time_ns;
    bool timed = index_time(p, r->bytes, r->size, r->type, &time_ns);
    if (!timed)
        time_ns = ix->last_ns;
    if (!ix->run || ix->run->end != r->place || time_ns < ix->last_ns)
        new_run(ix, time_ns, r->place);
    ix->last_ns = time_ns;
    if (!ix->run) {
        damage_note(p, DAMAGE_NO_MEMORY, 1);
        return;
    }
    ix->run->end = r->place + r->size;
    p->n_records++;
    counts_add(p, r->type);
    if (!perfdata_type_name(r->type))
        damage_note(p, DAMAGE_UNKNOWN_TYPE, 1);
}

static void index_plain(struct indexer *ix, struct record_reader *plain)
{
    struct raw_record r;
    plain->end = PLACE_PLAIN | ix->p->plain_n;
    while (next_record(plain, &r))
        index_record(ix, &r);
}

static bool is_compressed(uint32_t type)
{
    return type == FORMAT_RECORD_COMPRESSED || type == FORMAT_RECORD_COMPRESSED2;
}

/* The last record of a killed recording may be truncated: its start may still contain some records. */
static void expand_cut(struct perfdata *p, const struct record_reader *w)
{
    uint64_t left = w->cut ? w->end - w->cut : 0;
    const uint8_t *bytes = left > 16 && left <= UINT16_MAX ? read_bytes_at(p, w->cut, (size_t)left) : NULL;
    if (!bytes)
        return;
    uint32_t type;
    memcpy(&type, bytes, sizeof type);
    type = p->swap ? bswap_32(type) : type;
    struct raw_record r = { .place = w->cut, .bytes = bytes, .type = type, .size = (uint32_t)left };
    if (is_compressed(type))
        expand_record(p, &r);
}

/* Reports progress at an offset of the file; false: stop. */
static bool may_go_on(void *indexer, uint64_t pos)
{
    struct indexer *ix = indexer;
    double all = (double)ix->p->all_bytes;
    if (ix->go_on && !ix->stopped)
        ix->stopped = !ix->go_on(ix->ctx, (double)(ix->seen_bytes + pos - ix->file_start) / (all ? all : 1));
    return !ix->stopped;
}

/* Indexes the records of one file. Its compressed records are a separate stream. */
static void index_file(struct indexer *ix, uint64_t start, uint64_t end)
{
    struct perfdata *p = ix->p;
    struct record_reader w = { .p = p, .go_on = may_go_on, .ctx = ix, .pos = start, .end = end };
    struct record_reader plain = { .p = p, .pos = PLACE_PLAIN | p->plain_n, .more = true };
    struct raw_record r;
    uint64_t looked = start;
    ix->file_start = start;
    ix->run = NULL;
    ix->last_ns = 0;
    while (!ix->stopped && next_record(&w, &r)) {
        index_record(ix, &r);
        if (is_compressed(r.type)) {
            expand_record(p, &r);
            index_plain(ix, &plain);
        } else if (p->pipe && r.place >= p->setup_end && r.type >= FORMAT_RECORD_USER) {
            setup_apply(p, &r);
        }
        if (w.pos - looked >= LOOK_BYTES) {
            looked = w.pos;
            may_go_on(ix, looked);
        }
    }
    if (!ix->stopped)
        expand_cut(p, &w);
    plain.more = false;
    index_plain(ix, &plain);
    expand_end(p);
    ix->seen_bytes += end - start;
}

void index_build(struct perfdata *p, perfdata_go_on_fn *go_on, void *ctx)
{
    struct indexer ix = { .p = p, .go_on = go_on, .ctx = ctx };
    index_file(&ix, p->data_start, p->data_end);
    for (uint32_t i = 0; i < p->n_parts && !ix.stopped; i++) {
        uint64_t start = (uint64_t)(i + 1) << PLACE_PART_SHIFT;
        index_file(&ix, start, start + p->parts[i].size_bytes);
    }
    p->indexed = true;
}
