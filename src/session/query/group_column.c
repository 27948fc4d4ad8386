// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/group_column.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/session_state.h"

/* ---- which numbers are available ---- */

/* The events of a group, with the indices of their sums. */
struct among {
    const struct session_event *event[QUERY_GROUP_SUMS + 1]; /* the last one is the shown event */
    int8_t number[QUERY_GROUP_SUMS + 1];
    bool used[QUERY_GROUP_SUMS + 1];
    unsigned n;
};

/* "cycles", for "cpu_core/cycles/u" and for "cycles:u". */
static void plain_name(const char *name, char *dst, size_t cap)
{
    const char *slash = strchr(name, '/');
    name = slash && slash[1] ? slash + 1 : name;
    size_t n = strcspn(name, slash ? "/" : ":");
    snprintf(dst, cap, "%.*s", (int)n, name);
}

static bool is_hardware(const struct session_event *ev, uint64_t config, const char *name, const char *alias)
{
    char plain[64];
    /* upper bits: the PMU, where there are several */
    if (ev->attr.type == PERF_TYPE_HARDWARE)
        return (ev->attr.config & UINT32_MAX) == config;
    if (ev->attr.type == PERF_TYPE_SOFTWARE || ev->attr.type == PERF_TYPE_TRACEPOINT ||
        ev->attr.type == PERF_TYPE_HW_CACHE)
        return false;
    plain_name(ev->event.name, plain, sizeof plain);
    return !strcmp(plain, name) || !strcmp(plain, alias);
}

static bool counts_the_same(const struct session_event *a, const struct session_event *b)
{
    return a->attr.exclude_user == b->attr.exclude_user && a->attr.exclude_kernel == b->attr.exclude_kernel;
}

static int find_hardware(const struct among *in, uint64_t config, const char *name, const char *alias)
{
    for (unsigned i = 0; i < in->n; i++)
        if (is_hardware(in->event[i], config, name, alias))
            return (int)i;
    return -1;
}

static bool take_pair(struct among *in, struct view_group_column *out, int over, int under, const char *title,
                      int unit)
{
    if (over < 0 || under < 0 || !counts_the_same(in->event[over], in->event[under]))
        return false;
    *out = (struct view_group_column){ .unit = unit, .over = in->number[over], .under = in->number[under] };
    snprintf(out->title, sizeof out->title, "%s", title);
    in->used[over] = in->used[under] = true;
    return true;
}

static void choose_named(struct among *in, struct view_group_column out[GROUP_COLUMN_KINDS])
{
    int cycles = find_hardware(in, PERF_COUNT_HW_CPU_CYCLES, "cpu_cycles", "cpu-cycles");
    int instructions = find_hardware(in, PERF_COUNT_HW_INSTRUCTIONS, "inst_retired", "instructions");
    take_pair(in, &out[GROUP_COLUMN_IPC], instructions, cycles, "IPC", GROUP_COLUMN_RATE);
    take_pair(in, &out[GROUP_COLUMN_CACHE_MISS],
              find_hardware(in, PERF_COUNT_HW_CACHE_MISSES, "cache-misses", "cache_misses"),
              find_hardware(in, PERF_COUNT_HW_CACHE_REFERENCES, "cache-references", "cache_references"),
              "CMISS%", GROUP_COLUMN_PERCENT);
    take_pair(in, &out[GROUP_COLUMN_BRANCH_MISS],
              find_hardware(in, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses", "br_mis_pred"),
              find_hardware(in, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches", "br_pred"), "BMISS%",
              GROUP_COLUMN_PERCENT);
}

static int find_cache(const struct among *in, uint64_t config)
{
    for (unsigned i = 0; i < in->n; i++)
        if (in->event[i]->attr.type == PERF_TYPE_HW_CACHE &&
            (in->event[i]->attr.config & UINT32_MAX) == config)
            return (int)i;
    return -1;
}

/* PERF_TYPE_HW_CACHE config: the cache, << 8 the operation, << 16 the result. */
static void choose_caches(struct among *in, struct view_group_column *out, unsigned *n, unsigned max)
{
    static const char *const caches[] = { "L1D", "L1I", "LLC", "DTLB", "ITLB", "BPU", "NODE" };
    for (unsigned i = 0; i < in->n && *n < max; i++) {
        uint64_t config = in->event[i]->attr.config & UINT32_MAX;
        char title[16];
        if (in->event[i]->attr.type != PERF_TYPE_HW_CACHE ||
            config >> 16 != PERF_COUNT_HW_CACHE_RESULT_MISS ||
            (config & 0xff) >= sizeof caches / sizeof *caches)
            continue;
        snprintf(title, sizeof title, "%s-MISS%%", caches[config & 0xff]);
        *n += take_pair(in, &out[*n], (int)i, find_cache(in, config & 0xffff), title, GROUP_COLUMN_PERCENT);
    }
}

static void choose_stalls(struct among *in, struct view_group_column *out, unsigned *n, unsigned max)
{
    int cycles = find_hardware(in, PERF_COUNT_HW_CPU_CYCLES, "cpu_cycles", "cpu-cycles");
    int front =
        find_hardware(in, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "stall_frontend", "stalled-cycles-frontend");
    int back =
        find_hardware(in, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "stall_backend", "stalled-cycles-backend");
    if (*n < max)
        *n += take_pair(in, &out[*n], front, cycles, "FRONT%", GROUP_COLUMN_PERCENT);
    if (*n < max)
        *n += take_pair(in, &out[*n], back, cycles, "BACK%", GROUP_COLUMN_PERCENT);
}

static void title_of(const char *name, char title[16])
{
    static const char *const shorter[][2] = { { "context-switches", "SWITCHES" },
                                              { "cpu-migrations", "MIGRATIONS" } };
    char plain[64];
    plain_name(name, plain, sizeof plain);
    for (size_t i = 0; i < sizeof shorter / sizeof *shorter; i++)
        if (!strcmp(plain, shorter[i][0]))
            snprintf(plain, sizeof plain, "%s", shorter[i][1]);
    snprintf(title, 16, "%.12s", plain);
    for (char *c = title; *c; c++)
        *c = (char)toupper((unsigned char)*c);
}

static void choose_sums(const struct among *in, struct view_group_column *out, unsigned *n, unsigned max)
{
    for (unsigned i = 0; i < in->n && *n < max; i++) {
        if (in->used[i] || in->number[i] == GROUP_COLUMN_ITSELF)
            continue;
        out[*n] = (struct view_group_column){ .unit = GROUP_COLUMN_SUM, .over = in->number[i] };
        title_of(in->event[i]->event.name, out[(*n)++].title);
    }
}

/* Latencies follow the other events in the sums of a result. Waits and wall clock have none. */
static void choose_latency(const struct session *s, struct query *q, struct view_group_column *out)
{
    int8_t latency = (int8_t)q->n_group_sums;
    const struct event *shown = &s->store.events[s->store.current_event].event;
    q->latency = s->cfg.latency && !event_is_made(shown);
    if (!q->latency)
        return;
    out[GROUP_COLUMN_LATENCY] =
        (struct view_group_column){ .title = "LATENCY%", .unit = GROUP_COLUMN_SHARE, .over = latency };
    out[GROUP_COLUMN_PARALLELISM] = (struct view_group_column){
        .title = "PARALLELISM", .unit = GROUP_COLUMN_RATE, .over = (int8_t)(latency + 1), .under = latency
    };
}

static void choose_group(const struct session *s, struct query *q,
                         struct view_group_column out[GROUP_COLUMN_KINDS])
{
    const struct session_event *shown = &s->store.events[s->store.current_event];
    struct among in = { .n = 0 };
    unsigned others = 0, max = GROUP_COLUMN_KINDS - GROUP_COLUMN_OTHER_1;
    for (uint32_t i = 0; i < s->store.n_events && q->n_group_sums < QUERY_GROUP_SUMS; i++) {
        if (s->store.events[i].leader != shown->leader || i == s->store.current_event ||
            s->store.events[i].left_out)
            continue;
        in.event[in.n] = &s->store.events[i];
        in.number[in.n++] = (int8_t)q->n_group_sums;
        q->group_sums[q->n_group_sums++] = (uint16_t)i;
    }
    if (!in.n)
        return;
    in.event[in.n] = shown;
    in.number[in.n++] = GROUP_COLUMN_ITSELF;
    choose_named(&in, out);
    choose_caches(&in, out + GROUP_COLUMN_OTHER_1, &others, max);
    choose_stalls(&in, out + GROUP_COLUMN_OTHER_1, &others, max);
    choose_sums(&in, out + GROUP_COLUMN_OTHER_1, &others, max);
}

void group_column_choose(const struct session *s, struct query *q,
                         struct view_group_column out[GROUP_COLUMN_KINDS])
{
    memset(out, 0, GROUP_COLUMN_KINDS * sizeof *out);
    if (q->event != QUERY_ANY_EVENT)
        choose_group(s, q, out);
    choose_latency(s, q, out);
}

/* ---- values ---- */

void group_column_total(struct view_group_column columns[GROUP_COLUMN_KINDS], const struct result *r)
{
    struct view_group_column *share = &columns[GROUP_COLUMN_LATENCY];
    for (uint32_t i = 0; i < r->n_entries && share->title[0]; i++)
        share->all += r->group_sums[(size_t)i * r->group_events + (size_t)share->over];
}

static double sum_of(int8_t which, const uint64_t *sums, uint64_t weight)
{
    return (double)(which == GROUP_COLUMN_ITSELF ? weight : sums[which]);
}

bool group_column_value(const struct view_group_column *b, const uint64_t *sums, uint64_t weight,
                        uint32_t count, double *value)
{
    *value = sum_of(b->over, sums, weight);
    if (b->unit == GROUP_COLUMN_SUM)
        return count > 0;
    if (b->unit == GROUP_COLUMN_SHARE) {
        *value *= b->all ? 100 / (double)b->all : 0;
        return count > 0 && b->all;
    }
    double under = sum_of(b->under, sums, weight);
    if (count < GROUP_COLUMN_LEAST || under <= 0)
        return false;
    *value /= under;
    if (b->unit == GROUP_COLUMN_PERCENT)
        *value *= 100;
    return true;
}

bool group_column_is_partial(const uint64_t *sums, uint32_t group_events, uint64_t weight)
{
    return group_events && sums[group_events - 1] > weight / 2;
}

char *group_column_text(const struct view_group_column *b, double value, char *dst, unsigned cap)
{
    if (b->unit == GROUP_COLUMN_SUM)
        return text_si(dst, cap, value);
    snprintf(dst, cap, b->unit == GROUP_COLUMN_RATE ? "%.2f" : "%.1f", value);
    return dst;
}
