// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports all counts as JSON, for programs:
 *
 *   {"header":{…}, "samples":N, "lost":N,
 *    "events":[{"name","samples","period","lost"}], "comms":[{"name","samples","period"}],
 *    "coverage":{"sampled_ns":N,"cpu_ns":N} or {"unknown":"why"},
 *    "pids":[{"pid","samples","period"}], "threads":[{"tid","pid","comm","samples","period"}],
 *    "cpus":[{"cpu","samples","period"}], "modules":[{"path","samples","period"}],
 *    "symbols":[{"name","module","self","total","latency","parallelism"}], "time":{"first_ns","last_ns"},
 *    "records":{"MMAP2":N, …},
 *    "damage":["…"], "waits":[{"by","name","module","state","reason","share","threads","count","per_second",
 *    "time_ns","average_ns","p50_ns","p99_ns","max_ns","sum_ns"}],
 *    "latency":[{"row","name","count","sum_ns","p50_ns","p90_ns","p99_ns","max_ns","bytes",
 *    "buckets":[{"le_ns","count"}]}],
 *    "latency_groups":[{"row","by","name", … as "latency"}],
 *    "latency_rows":[{"row","count","sampled","open","gone","unbegun","replaced","lost","refused","dropped"}],
 *    "log":[{"time_ns","cpu","pid","tid","comm","event","text","fields":{"NAME":number or text}}],
 *    "log_older":false,
 *    "log_groups":{"by":["NAME"],"of":"NAME","span_ns","dropped","groups":[{"values":["text" or null],"count",
 *    "numbers","sum","p50","max","negative","buckets":[{"le","count"}]}]}}
 *
 * "time" is empty if no sample has a time. Counts are samples unless they are named period. Rows are sorted
 * by samples, the most first. With --latency, a symbol's latency is its share in percent, of itself; a
 * function with few samples has no parallelism. A module is that of the leaf function. CPUs are those
 * recorded in samples. The pid or tid of a thread that had ended at its sample is null.
 *
 * "waits" is there if the shown event has waits (off-cpu, wakers, wall). It has the rows of all tables of the
 * waits view, most time first: "by" is reason, process, thread, function, CPU, cgroup or waker. "share" is in
 * percent of the rows of this table, "threads" is how many threads waited on average, "time_ns" how long they
 * did; "count" and what follows are those of the waits that ended, "sum_ns" their whole lengths. Without any,
 * there is no average and no percentile. "max_ns" is also that of a wait that goes on.
 *
 * "latency" is there with events latency:ROW: durations of operations by row and name, longest sum first. A
 * bucket has the operations of up to "le_ns", the first power of two that is above all of them minus one.
 * "latency_groups" has runs of programs by "program", its file, and runs of processes by "parent", "sh/1234".
 * "log" is there if an event has fields, as tracepoints do: the newest 20,000 samples, oldest first;
 * "log_older" is true if there are older ones. "text" is that of the log, "fields" are the payload's: numbers
 * as the kernel has them. With --log-by there are "log_groups" instead, of all samples, largest count first.
 * A sample without the field has the value null. The group of the values beyond the first 10,000 has "other".
 * "of" and "numbers" to "buckets" are there with :VALUE. A bucket has the numbers up to "le".
 * "latency_rows" says what is missing (session/operation_rows.h); "open" to "refused" in live sessions
 * only. */
#include "export/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "export/export.h"
#include "export/function_order.h"
#include "process/module.h"
#include "process/world.h"
#include "profile/functions.h"
#include "session/coverage.h"
#include "session/facts.h"

struct row {
    uint64_t number, pid;
    const char *label;
    uint64_t samples, period;
};

struct tally {
    struct map index; /* key → row */
    VEC(struct row);
};

struct counting {
    const struct view *v;
    struct session_samples samples;
    struct session_facts facts;
    struct session_coverage coverage;
    struct tally comms, pids, threads, cpus, modules;
    struct map path_of; /* module id → path, in `strings` */
    struct arena strings;
    struct event_sum {
        uint64_t samples, period;
    } * events; /* by number */
    uint64_t first_ns, last_ns;
};

/* ---- counting ---- */

static struct row *count(struct tally *t, uint64_t key, const struct sample *sample)
{
    bool created;
    uint64_t *at = map_at(&t->index, key, t->n, &created);
    if (created)
        *VEC_PUSH(t) = (struct row){ .number = key };
    struct row *r = &t->items[*at];
    r->samples++;
    r->period += sample->weight;
    return r;
}

/* Returns the path of the module of a stack's leaf. */
static const char *path_of(struct counting *c, uint32_t node)
{
    if (!node)
        return "[unknown]";
    uint32_t frame = c->v->result.frame[node];
    bool created;
    uint64_t *at = map_at(&c->path_of, c->v->result.frame_module[frame], 0, &created);
    if (created) {
        char made[EXPORT_PATH_MAX];
        const char *path = export_module_path(view_module(c->v, frame), made, sizeof made);
        *at = (uint64_t)(uintptr_t)arena_strndup(&c->strings, path, strlen(path));
    }
    return (const char *)(uintptr_t)*at;
}

/* Counts a sample in a tally whose rows are identified by a text. */
static void count_text(struct tally *t, const char *text, const struct sample *sample)
{
    count(t, map_hash_bytes(text, strlen(text), 1), sample)->label = text;
}

static void count_sample(struct counting *c, const struct sample *sample)
{
    const struct world_thread *t = &c->samples.threads[sample->thread];
    count_text(&c->comms, t->comm, sample);
    count_text(&c->modules, path_of(c, sample->stack), sample);
    count(&c->pids, t->pid, sample);
    struct row *thread = count(&c->threads, t->tid, sample);
    thread->pid = t->pid;
    thread->label = t->comm;
    if (sample->event < c->facts.n_events) {
        c->events[sample->event].samples++;
        c->events[sample->event].period += sample->weight;
        if (c->facts.events[sample->event].has_cpu)
            count(&c->cpus, sample->cpu, sample);
        if (c->facts.events[sample->event].has_time) {
            c->first_ns = c->first_ns ? c->first_ns : sample->time_ns;
            c->last_ns = sample->time_ns;
        }
    }
}

static int by_samples(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    int order = x->label && y->label ? strcmp(x->label, y->label) : 0;
    return order ? order : x->number < y->number ? -1 : x->number > y->number;
}

static void count_all(struct counting *c)
{
    for (size_t i = 0; i < c->samples.n; i++)
        count_sample(c, &c->samples.list[i]);
    struct tally *tallies[] = { &c->comms, &c->pids, &c->threads, &c->cpus, &c->modules };
    for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++)
        if (tallies[i]->n)
            qsort(tallies[i]->items, tallies[i]->n, sizeof *tallies[i]->items, by_samples);
}

static void counting_done(struct counting *c)
{
    struct tally *tallies[] = { &c->comms, &c->pids, &c->threads, &c->cpus, &c->modules };
    for (size_t i = 0; i < sizeof tallies / sizeof *tallies; i++) {
        map_done(&tallies[i]->index);
        mem_free(tallies[i]->items);
    }
    map_done(&c->path_of);
    arena_done(&c->strings);
    session_samples_done(&c->samples);
    session_facts_done(&c->facts);
    mem_free(c->events);
}

/* ---- writing ---- */

static void put_known(struct buf *out, const char *key, const char *text)
{
    if (*text)
        json_text(out, key, text);
}

/* Puts the header features by perf's names; features without a name as "bit" and their number. */
static void put_features(const struct session_facts *f, struct buf *out)
{
    json_open_key(out, "features", '[');
    for (uint32_t i = 0; i < f->n_features; i++) {
        char made[32];
        const char *name = perfdata_feature_name(f->features[i]);
        snprintf(made, sizeof made, "bit%u", f->features[i]);
        json_item(out, name ? name : made);
    }
    buf_putc(out, ']');
}

static void put_file_header(const struct perfdata_info *info, struct buf *out)
{
    put_known(out, "hostname", info->hostname);
    put_known(out, "os_release", info->release);
    put_known(out, "perf_version", info->version);
    put_known(out, "arch", info->arch);
    if (info->cpus_available) {
        json_number(out, "nrcpus_online", info->cpus_online);
        json_number(out, "nrcpus_avail", info->cpus_available);
    }
    put_known(out, "cpudesc", info->cpudesc);
    if (info->total_mem_kb)
        json_number(out, "total_memory_kb", info->total_mem_kb);
    put_known(out, "cmdline", info->cmdline);
    if (info->sample_last_ns) {
        json_number(out, "first_sample_ns", info->sample_first_ns);
        json_number(out, "last_sample_ns", info->sample_last_ns);
    }
    if (info->compressed_by) {
        json_number(out, "compressed_level", info->compressed_level);
        json_number(out, "compressed_ratio", info->compressed_ratio);
    }
}

static void put_own_header(struct buf *out)
{
    struct utsname u;
    if (uname(&u))
        return;
    json_text(out, "hostname", u.nodename);
    json_text(out, "os_release", u.release);
    json_text(out, "arch", u.machine);
    json_number(out, "nrcpus_online", (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
    json_number(out, "nrcpus_avail", (uint64_t)sysconf(_SC_NPROCESSORS_CONF));
}

static void put_header(const struct counting *c, struct buf *out)
{
    json_open_key(out, "header", '{');
    if (c->facts.info) {
        put_file_header(c->facts.info, out);
        put_features(&c->facts, out);
    } else {
        put_own_header(out);
    }
    buf_putc(out, '}');
}

static void put_events(const struct counting *c, struct buf *out)
{
    json_open_key(out, "events", '[');
    for (uint32_t i = 0; i < c->facts.n_events; i++) {
        if (c->facts.events[i].left_out)
            continue;
        json_open(out, '{');
        json_text(out, "name", c->facts.events[i].name);
        json_number(out, "samples", c->events[i].samples);
        json_number(out, "period", c->events[i].period);
        json_number(out, "lost", c->facts.events[i].lost);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_coverage(const struct counting *c, struct buf *out)
{
    json_open_key(out, "coverage", '{');
    if (c->coverage.unknown) {
        json_text(out, "unknown", c->coverage.unknown);
    } else {
        json_number(out, "sampled_ns", c->coverage.sampled_ns);
        json_number(out, "cpu_ns", c->coverage.cpu_ns);
    }
    buf_putc(out, '}');
}

/* Puts the rows of a tally. number, label: the keys of these fields; NULL: omitted. */
static void put_tally(const struct tally *t, const char *name, const char *number, const char *label,
                      bool pid, struct buf *out)
{
    json_open_key(out, name, '[');
    for (size_t i = 0; i < t->n; i++) {
        json_open(out, '{');
        if (number)
            json_id(out, number, t->items[i].number);
        if (pid)
            json_id(out, "pid", t->items[i].pid);
        if (label)
            json_text(out, label, t->items[i].label);
        json_number(out, "samples", t->items[i].samples);
        json_number(out, "period", t->items[i].period);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_latency(const struct view *v, const struct function_row *r, const uint64_t *sums,
                        struct buf *out)
{
    static const char *const keys[] = {
        [GROUP_COLUMN_LATENCY] = "latency", [GROUP_COLUMN_PARALLELISM] = "parallelism"
    };
    for (int k = GROUP_COLUMN_LATENCY; k <= GROUP_COLUMN_PARALLELISM; k++) {
        const struct view_group_column *column = &v->group_sums[k];
        double value;
        if (!column->title[0] || !group_column_value(column, sums, r->self_weight, r->self_count, &value))
            continue;
        json_key(out, keys[k]);
        buf_printf(out, "%.2f", value);
    }
}

static void put_symbols(const struct view *v, struct buf *out)
{
    struct functions f = { 0 };
    uint64_t *sums = NULL;
    size_t sums_cap = 0;
    functions_build(&f, &v->result, v->frame_func, v->n_funcs, false);
    function_order(&f, v, true);
    if (v->result.group_events)
        functions_group_sums(&f, &v->result, v->frame_func, false, &sums, &sums_cap);
    json_open_key(out, "symbols", '[');
    for (uint32_t i = 0; i < f.n; i++) {
        const struct view_function *fn = &v->funcs[f.rows[i].func];
        json_open(out, '{');
        json_text(out, "name", fn->name);
        json_text(out, "module", fn->module);
        json_number(out, "self", f.rows[i].self_count);
        json_number(out, "total", f.rows[i].total_count);
        if (sums)
            put_latency(v, &f.rows[i], &sums[(size_t)i * v->result.group_events], out);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
    functions_done(&f);
    mem_free(sums);
}

static void put_records(const struct session_facts *f, struct buf *out)
{
    json_open_key(out, "records", '{');
    for (uint32_t i = 0; i < f->n_records; i++) {
        char name[32];
        snprintf(name, sizeof name, "TYPE_%u", f->records[i].type);
        json_number(out, f->records[i].name ? f->records[i].name : name, f->records[i].n);
    }
    buf_puts(out, "}");
    json_open_key(out, "damage", '[');
    for (uint32_t i = 0; i < f->n_damage; i++)
        json_item(out, f->damage[i]);
    buf_putc(out, ']');
}

static void put_all(const struct counting *c, struct buf *out)
{
    json_open(out, '{');
    put_header(c, out);
    json_number(out, "samples", c->samples.n);
    json_number(out, "lost", c->facts.lost);
    put_events(c, out);
    put_coverage(c, out);
    put_tally(&c->comms, "comms", NULL, "name", false, out);
    put_tally(&c->pids, "pids", "pid", NULL, false, out);
    put_tally(&c->threads, "threads", "tid", "comm", true, out);
    put_tally(&c->cpus, "cpus", "cpu", NULL, false, out);
    put_tally(&c->modules, "modules", NULL, "path", false, out);
    put_symbols(c->v, out);
    json_open_key(out, "time", '{');
    if (c->last_ns) {
        json_number(out, "first_ns", c->first_ns);
        json_number(out, "last_ns", c->last_ns);
    }
    buf_putc(out, '}');
    put_records(&c->facts, out);
}

static bool json_write(struct session *s, const struct view_query *q, const struct export_options *o,
                       struct export_sink *to, struct error *e)
{
    struct view v = { 0 };
    struct counting c = { .v = &v };
    struct view_query by_symbol = *q;
    by_symbol.group = VIEW_GROUP_SYMBOL;
    by_symbol.group_sums = true; /* for latencies */
    bool ok = export_samples(s, &by_symbol, &v, &c.samples, e);
    if (ok) {
        session_get_facts(s, &c.facts);
        session_get_coverage(s, &c.coverage);
        c.events = mem_array(c.facts.n_events + 1, sizeof *c.events);
        count_all(&c);
        put_all(&c, &to->text);
        ok = waits_json(s, &by_symbol, &to->text, e) && latency_json(s, &by_symbol, &to->text, e) &&
             log_json(s, &by_symbol, &o->log_by, &to->text, e);
        buf_puts(&to->text, "}\n");
    }
    counting_done(&c);
    view_done(&v);
    return ok;
}

const struct exporter export_json = {
    .name = "json",
    .suffix = ".json",
    .whole = true,
    .all_events = true,
    .help = "all counts and waits for programs, lost samples and damage",
    .stream = json_write,
};
