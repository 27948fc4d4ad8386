// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/counters_json.h"

#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "export/json.h"

/* Puts a number with its decimals; one below 0 is not known. */
static void put_number(struct buf *out, double value, int decimals)
{
    if (value < 0)
        buf_puts(out, "null");
    else
        buf_printf(out, "%.*f", decimals, value);
}

static void put_named(struct buf *out, const char *key, double value, int decimals)
{
    json_key(out, key);
    put_number(out, value, decimals);
}

static void put_unknown(struct buf *out, const char *key, const struct error *why)
{
    json_open_key(out, key, '{');
    json_text(out, "unknown", why->text);
    buf_putc(out, '}');
}

static void put_event(const struct counters *c, uint32_t row, struct buf *out)
{
    struct count_value v = count_total(c->set, row);
    char why[512];
    json_open(out, '{');
    json_text(out, "name", count_name(c->set, row));
    if (v.state == COUNT_OK) {
        put_named(out, "count", v.value, 2);
        put_named(out, "running", v.running, 4);
    } else {
        counters_explain(c, row, why, sizeof why);
        json_text(out, "unknown", why);
    }
    buf_putc(out, '}');
}

static void put_load(const struct machine_load *l, struct buf *out)
{
    if (*l->no_average.text) {
        put_unknown(out, "load", &l->no_average);
    } else {
        json_open_key(out, "load", '{');
        json_key(out, "average");
        buf_printf(out, "[%.2f,%.2f,%.2f]", l->average.now, l->average_5, l->average_15);
        json_number(out, "running", l->running);
        json_number(out, "threads", l->threads);
        buf_putc(out, '}');
    }
    if (*l->no_stat.text) {
        put_unknown(out, "run_queue", &l->no_stat);
        return;
    }
    put_named(out, "run_queue", l->queue.now, 0);
    put_named(out, "blocked", l->blocked.now, 0);
    put_named(out, "steal", l->steal.now, 2);
}

static void put_pressure_line(const struct pressure_line *line, const struct measured *share, const char *key,
                              struct buf *out)
{
    static const char *const averages[] = { "avg10", "avg60", "avg300" };
    json_open_key(out, key, '{');
    put_named(out, "percent", share->now, 2);
    for (int i = 0; i < 3; i++)
        put_named(out, averages[i], line->average[i], 2);
    json_number(out, "total_us", line->total_us);
    buf_putc(out, '}');
}

static void put_resource(const struct pressure_place *place, enum pressure_resource r, struct buf *out)
{
    const struct pressure *p = &place->of[r];
    if (*p->why_not.text) {
        put_unknown(out, pressure_resource_names[r], &p->why_not);
        return;
    }
    if (!p->lines[PRESSURE_SOME].there && !p->lines[PRESSURE_FULL].there)
        return;
    json_open_key(out, pressure_resource_names[r], '{');
    for (int kind = 0; kind < PRESSURE_KINDS; kind++)
        if (pressure_has(place, r, (enum pressure_kind)kind))
            put_pressure_line(&p->lines[kind], &p->share[kind], pressure_kind_names[kind], out);
    buf_putc(out, '}');
}

static void put_pressure(const struct pressure_place *place, struct buf *out)
{
    if (*place->why_not.text) {
        put_unknown(out, "pressure", &place->why_not);
        return;
    }
    json_open_key(out, "pressure", '{');
    for (int r = 0; r < PRESSURE_RESOURCES; r++)
        put_resource(place, (enum pressure_resource)r, out);
    buf_putc(out, '}');
}

static void put_cgroups(const struct machine_load *l, struct buf *out)
{
    json_open_key(out, "cgroups", '[');
    for (size_t i = 1; i < l->places.n; i++) {
        json_open(out, '{');
        json_text(out, "path", l->places.items[i].cgroup);
        put_pressure(&l->places.items[i], out);
        buf_putc(out, '}');
    }
    buf_putc(out, ']');
}

static void put_part(const struct counters *c, const struct counters_part *p, struct buf *out)
{
    json_open(out, '{');
    json_text(out, "name", p->part.name);
    if (c->by == COUNT_BY_PROCESS || c->by == COUNT_BY_THREAD)
        json_number(out, "id", p->part.number);
    put_named(out, "busy", p->busy.now, 2);
    json_open_key(out, "counts", '{');
    for (uint32_t row = 0; row < count_rows(c->set); row++) {
        const struct count_value *v = &p->part.values[count_event_of(c->set, row)];
        if (v->state == COUNT_OK)
            put_named(out, count_name(c->set, row), v->value, 2);
    }
    buf_puts(out, "}}");
}

static void put_interval(const struct counters *c, const struct machine_load *l, const struct scope *scope,
                         struct buf *out)
{
    char target[600];
    scope_describe(scope, target, sizeof target);
    json_open(out, '{');
    json_number(out, "time", (uint64_t)time(NULL));
    put_named(out, "seconds", (double)count_interval_ns(c->set) / NS_PER_SEC, 6);
    json_text(out, "scope", target);
    if (count_scope_note(c->set))
        json_text(out, "scope_note", count_scope_note(c->set));
    json_open_key(out, "events", '[');
    for (uint32_t row = 0; row < count_rows(c->set); row++)
        put_event(c, row, out);
    buf_putc(out, ']');
    put_load(l, out);
    put_pressure(&l->places.items[0], out);
    put_cgroups(l, out);
    json_text(out, "split", count_by_names[c->by]);
    json_open_key(out, "parts", '[');
    for (uint32_t i = 0; i < c->n_parts; i++)
        put_part(c, &c->parts[i], out);
    buf_puts(out, "]}");
}

void counters_json(const struct counters *c, const struct machine_load *l, const struct scope *scope,
                   struct buf *out)
{
    struct buf text = { 0 };
    put_interval(c, l, scope, &text);
    /* json_open breaks lines; strings have no line breaks, they are escaped */
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] != '\n')
            buf_putc(out, text.data[i]);
    buf_putc(out, '\n');
    buf_done(&text);
}
