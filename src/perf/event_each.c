// SPDX-License-Identifier: GPL-2.0-or-later
/* List all events that this machine has. */
#include <stdio.h>

#include "perf/event_parse.h"
#include "perf/event_table.h"
#include "perf/namelist.h"
#include "perf/pair_rows.h"
#include "perf/pmu.h"
#include "perf/tracepoint.h"
#include "perf/vendor.h"

struct walk {
    bool (*row)(void *ctx, const struct event_row *r);
    void *ctx;
    const char *pmu;
};

static bool vendor_event(void *ctx, const char *pmu, const char *name, const char *help)
{
    struct walk *walk = ctx;
    char group[96];
    snprintf(group, sizeof group, "Vendor: %s", pmu);
    return walk->row(walk->ctx, &(struct event_row){ .group = group, .name = name, .help = help });
}

static bool pmu_event(void *ctx, const char *name, const char *terms)
{
    struct walk *walk = ctx;
    char group[96], full[256];
    snprintf(group, sizeof group, "PMU: %s", walk->pmu);
    snprintf(full, sizeof full, "%s/%s/", walk->pmu, name);
    const char *help = pmu_alias_help(walk->pmu, name);
    struct event_row r = { .group = group,
                           .name = full,
                           .alias = name,
                           .help = help     ? help
                                   : *terms ? terms
                                            : NULL };
    return walk->row(walk->ctx, &r);
}

static bool pmu_events(void *ctx, const struct pmu *pmu)
{
    struct walk *walk = ctx;
    walk->pmu = pmu->name;
    return pmu_each_alias(pmu, pmu_event, walk);
}

static bool tracepoints_of(struct walk *walk, const char *system)
{
    struct namelist names = { 0 };
    char group[160], full[256];
    bool go_on = true;
    tracepoint_names(system, &names, NULL);
    snprintf(group, sizeof group, "Tracepoint: %s", system);
    for (size_t i = 0; go_on && i < names.n; i++) {
        snprintf(full, sizeof full, "%s:%s", system, names.items[i]);
        go_on = walk->row(walk->ctx, &(struct event_row){ .group = group, .name = full });
    }
    namelist_done(&names);
    return go_on;
}

static bool latencies(struct walk *walk)
{
    const struct pair_rows *rows = pair_rows_all();
    char name[EVENT_NAME_MAX];
    bool go_on = true;
    for (size_t i = 0; go_on && i < rows->n; i++) {
        snprintf(name, sizeof name, EVENT_LATENCY "%s", rows->items[i].name);
        go_on = walk->row(
            walk->ctx, &(struct event_row){ .group = "Latency", .name = name, .help = rows->items[i].help });
    }
    return go_on;
}

void event_each(bool (*row)(void *ctx, const struct event_row *r), void *ctx, bool *no_tracefs)
{
    struct walk walk = { .row = row, .ctx = ctx };
    struct namelist systems = { 0 };
    bool readable = tracepoint_systems(&systems, NULL);
    if (no_tracefs)
        *no_tracefs = !readable;
    bool go_on = event_table_each(row, ctx) && latencies(&walk) && pmu_each(pmu_events, &walk) &&
                 vendor_each(vendor_event, &walk);
    for (size_t i = 0; go_on && i < systems.n; i++)
        go_on = tracepoints_of(&walk, systems.items[i]);
    namelist_done(&systems);
}
