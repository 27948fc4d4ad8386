// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes rows and lines of text from the measured load. */
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/text.h"
#include "session/machine_load.h"

static const char *const waiting_for[PRESSURE_RESOURCES] = { "waited for a CPU",
                                                             "waited for a disk or the like",
                                                             "waited for memory (reclaim, swap, refaults)",
                                                             "were kept from running by interrupts" };

static struct load_row *add_row(struct machine_load *l, enum load_row_kind kind, const char *name)
{
    struct load_row *row = VEC_PUSH(&l->rows);
    *row = (struct load_row){ .kind = kind };
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    return row;
}

static void add_reason(struct machine_load *l, const char *name, const struct error *why)
{
    struct load_row *row = add_row(l, LOAD_REASON, name);
    (void)snprintf(row->detail, sizeof row->detail, "%s", why->text);
    (void)snprintf(row->help, sizeof row->help, "%s: %s", name, why->text);
}

static struct load_row *add_value(struct machine_load *l, const char *name, const struct measured *m,
                                  const char *help)
{
    struct load_row *row = add_row(l, LOAD_VALUE, name);
    row->measured = m;
    (void)snprintf(row->value, sizeof row->value, "%.0f", m->now);
    (void)snprintf(row->help, sizeof row->help, "%s: %s", name, help);
    return row;
}

static void set_percent(struct load_row *row)
{
    row->percent = true;
    (void)snprintf(row->value, sizeof row->value, row->measured->now < 0 ? "..." : "%.1f%%",
                   row->measured->now);
}

/* ---- the system ---- */

static void add_average(struct machine_load *l)
{
    if (l->average.now < 0) {
        add_reason(l, "load average", &l->no_average);
        return;
    }
    struct load_row *row = add_value(l, "load average", &l->average,
                                     "threads that run, wait for a CPU or wait uninterruptibly, averaged "
                                     "over 1, 5 and 15 minutes");
    (void)snprintf(row->value, sizeof row->value, "%.2f", l->average.now);
    (void)snprintf(row->detail, sizeof row->detail, "5 min %.2f, 15 min %.2f", l->average_5, l->average_15);
}

static void add_queue(struct machine_load *l)
{
    if (l->queue.now < 0) {
        add_reason(l, "run queue", &l->no_stat);
        return;
    }
    struct load_row *row = add_value(l, "run queue", &l->queue,
                                     "threads that run or wait for a CPU at the moment of the reading, "
                                     "flametop's own included");
    if (l->average.now >= 0)
        (void)snprintf(row->detail, sizeof row->detail, "of %u threads", l->threads);
    (void)add_value(l, "blocked", &l->blocked,
                    "threads that wait for a disk or the like at the moment of the reading");
    set_percent(add_value(l, "steal", &l->steal,
                          "share of all CPUs' time that the host gave to others, such as other VMs"));
}

/* ---- pressure ---- */

static void add_pressure(struct machine_load *l, const struct pressure_place *place, enum pressure_resource r,
                         enum pressure_kind kind)
{
    const struct pressure_line *line = &place->of[r].lines[kind];
    char name[64], cgroup[sizeof place->cgroup], help[sizeof((struct load_row *)NULL)->help];
    text_clean(cgroup, sizeof cgroup, place->cgroup, strlen(place->cgroup));
    (void)snprintf(name, sizeof name, "%s pressure %s", pressure_resource_names[r],
                   pressure_kind_names[kind]);
    (void)snprintf(help, sizeof help, "share of the time in which %s%s%s %s; averages of 10, 60 and 300 s",
                   kind == PRESSURE_SOME ? "at least one thread" : "all non-idle threads",
                   *cgroup ? " of " : "", cgroup, waiting_for[r]);
    struct load_row *row = add_value(l, name, &place->of[r].share[kind], help);
    set_percent(row);
    (void)snprintf(row->detail, sizeof row->detail, "%6.2f %6.2f %6.2f", line->average[0], line->average[1],
                   line->average[2]);
}

static void add_resource(struct machine_load *l, const struct pressure_place *place, enum pressure_resource r)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%s pressure", pressure_resource_names[r]);
    if (*place->of[r].why_not.text)
        add_reason(l, name, &place->of[r].why_not);
    for (int kind = 0; kind < PRESSURE_KINDS; kind++)
        if (pressure_has(place, r, (enum pressure_kind)kind))
            add_pressure(l, place, r, (enum pressure_kind)kind);
}

static void add_place(struct machine_load *l, const struct pressure_place *place)
{
    if (*place->why_not.text) {
        add_reason(l, "pressure", &place->why_not);
        return;
    }
    for (int r = 0; r < PRESSURE_RESOURCES; r++)
        add_resource(l, place, (enum pressure_resource)r);
}

void machine_load_make_rows(struct machine_load *l)
{
    char name[sizeof l->rows.items->name], clean[sizeof l->places.items->cgroup];
    l->rows.n = 0;
    for (size_t i = 0; i < l->places.n; i++) {
        const struct pressure_place *place = &l->places.items[i];
        size_t from = l->rows.n;
        text_clean(clean, sizeof clean, place->cgroup, strlen(place->cgroup));
        (void)snprintf(name, sizeof name, i ? "cgroup %s" : "system%s", clean);
        struct load_row *heading = add_row(l, LOAD_HEADING, name);
        (void)snprintf(heading->value, sizeof heading->value, "NOW");
        (void)snprintf(heading->detail, sizeof heading->detail, "%6s %6s %6s", "10 s", "60 s", "300 s");
        if (i == 0) {
            add_average(l);
            add_queue(l);
        }
        add_place(l, place);
        for (size_t row = from; row < l->rows.n; row++)
            l->rows.items[row].key =
                map_hash_bytes(l->rows.items[row].name, strlen(l->rows.items[row].name), i);
    }
}

/* ---- text ---- */

void machine_load_print(const struct machine_load *l, struct buf *out)
{
    for (size_t i = 0; i < l->rows.n; i++) {
        const struct load_row *row = &l->rows.items[i];
        if (row->kind == LOAD_HEADING)
            buf_putc(out, '\n');
        if (row->kind == LOAD_REASON)
            buf_printf(out, "%s: %s\n", row->name, row->detail);
        else
            buf_printf(out, "%-26s %18s%s%s\n", row->name, row->value, *row->detail ? "  " : "", row->detail);
    }
}

static void load_text(const struct machine_load *l, char *dst, size_t cap)
{
    char steal[32] = "...";
    if (l->steal.now >= 0)
        (void)snprintf(steal, sizeof steal, "%.1f%%", l->steal.now);
    if (*l->no_average.text || *l->no_stat.text)
        (void)snprintf(dst, cap, "load: %s", *l->no_average.text ? l->no_average.text : l->no_stat.text);
    else
        (void)snprintf(dst, cap, "load %.2f %.2f %.2f  run queue %.0f of %u threads  blocked %.0f  steal %s",
                       l->average.now, l->average_5, l->average_15, l->queue.now, l->threads, l->blocked.now,
                       steal);
}

static size_t resource_text(const struct pressure_place *system, enum pressure_resource r, char *dst,
                            size_t cap)
{
    size_t n = 0;
    for (int kind = 0; kind < PRESSURE_KINDS && n < cap; kind++) {
        double share = system->of[r].share[kind].now;
        if (!pressure_has(system, r, (enum pressure_kind)kind))
            continue;
        if (!n)
            n += (size_t)snprintf(dst, cap, "  %s", pressure_resource_names[r]);
        if (n < cap && share >= 0)
            n += (size_t)snprintf(dst + n, cap - n, " %s %.1f%%", pressure_kind_names[kind], share);
        else if (n < cap)
            n += (size_t)snprintf(dst + n, cap - n, " %s ...", pressure_kind_names[kind]);
    }
    return n;
}

static void pressure_text(const struct pressure_place *system, char *dst, size_t cap)
{
    size_t n = (size_t)snprintf(dst, cap, "pressure:");
    if (*system->why_not.text)
        (void)snprintf(dst, cap, "%s", system->why_not.text);
    else
        for (int r = 0; r < PRESSURE_RESOURCES && n < cap; r++)
            n += resource_text(system, (enum pressure_resource)r, dst + n, cap - n);
}

void machine_load_text(const struct machine_load *l, unsigned line, char *dst, size_t cap)
{
    if (line == 0)
        load_text(l, dst, cap);
    else
        pressure_text(&l->places.items[0], dst, cap);
}
