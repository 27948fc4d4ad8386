// SPDX-License-Identifier: GPL-2.0-or-later
/* Find what can be counted, and how each PMU of this machine counts it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "perf/count_set.h"
#include "perf/pmu.h"

#define MIB         1048576.0
#define CACHE_LINE  64 /* bytes moved by a command of AMD's memory controllers */
#define CPUINFO_MAX (4u << 20)
#define SOFT        (COUNT_ALWAYS | COUNT_ANY_MODE)
#define CORE        (COUNT_ALWAYS | COUNT_CORE)

const struct count_def count_defs[COUNT_EVENTS] = {
    [COUNT_CLOCK] = { "cpu-clock", COUNT_GROUP_SOFTWARE, 1, SOFT },
    [COUNT_CONTEXT_SWITCHES] = { "context-switches", COUNT_GROUP_SOFTWARE, 1, SOFT | COUNT_KERNEL_ONLY },
    [COUNT_CPU_MIGRATIONS] = { "cpu-migrations", COUNT_GROUP_SOFTWARE, 1, SOFT | COUNT_KERNEL_ONLY },
    [COUNT_PAGE_FAULTS] = { "page-faults", COUNT_GROUP_SOFTWARE, 1, SOFT },
    [COUNT_CYCLES] = { "cycles", COUNT_GROUP_CYCLES, 1, CORE },
    [COUNT_STALLED_FRONTEND] = { "stalled-cycles-frontend", COUNT_GROUP_FRONTEND, 1, COUNT_CORE },
    [COUNT_STALLED_BACKEND] = { "stalled-cycles-backend", COUNT_GROUP_BACKEND, 1, COUNT_CORE },
    [COUNT_INSTRUCTIONS] = { "instructions", COUNT_GROUP_CYCLES, 1, CORE },
    [COUNT_BRANCHES] = { "branches", COUNT_GROUP_BRANCHES, 1, CORE },
    [COUNT_BRANCH_MISSES] = { "branch-misses", COUNT_GROUP_BRANCHES, 1, CORE },
    [COUNT_L1_LOADS] = { "L1-dcache-loads", COUNT_GROUP_L1, 1, CORE },
    [COUNT_L1_MISSES] = { "L1-dcache-load-misses", COUNT_GROUP_L1, 1, CORE },
    [COUNT_LLC_LOADS] = { "LLC-loads", COUNT_GROUP_LLC, 1, CORE },
    [COUNT_LLC_MISSES] = { "LLC-load-misses", COUNT_GROUP_LLC, 1, CORE },
    [COUNT_L1I_LOADS] = { "L1-icache-loads", COUNT_GROUP_L1I, 2, CORE },
    [COUNT_L1I_MISSES] = { "L1-icache-load-misses", COUNT_GROUP_L1I, 2, CORE },
    [COUNT_DTLB_LOADS] = { "dTLB-loads", COUNT_GROUP_DTLB, 2, CORE },
    [COUNT_DTLB_MISSES] = { "dTLB-load-misses", COUNT_GROUP_DTLB, 2, CORE },
    [COUNT_ITLB_LOADS] = { "iTLB-loads", COUNT_GROUP_ITLB, 2, CORE },
    [COUNT_ITLB_MISSES] = { "iTLB-load-misses", COUNT_GROUP_ITLB, 2, CORE },
    [COUNT_PREFETCHES] = { "L1-dcache-prefetches", COUNT_GROUP_PREFETCH, 3, CORE },
    [COUNT_PREFETCH_MISSES] = { "L1-dcache-prefetch-misses", COUNT_GROUP_PREFETCH, 3, CORE },
    [COUNT_SLOTS] = { "slots", COUNT_GROUP_NONE, 1, COUNT_CORE },
    [COUNT_RETIRING] = { "topdown-retiring", COUNT_GROUP_NONE, 1, COUNT_CORE },
    [COUNT_BAD_SPECULATION] = { "topdown-bad-spec", COUNT_GROUP_NONE, 1, COUNT_CORE },
    [COUNT_FRONTEND_BOUND] = { "topdown-fe-bound", COUNT_GROUP_NONE, 1, COUNT_CORE },
    [COUNT_BACKEND_BOUND] = { "topdown-be-bound", COUNT_GROUP_NONE, 1, COUNT_CORE },
    [COUNT_TSC] = { "msr/tsc/", COUNT_GROUP_MSR, 1, COUNT_ANY_MODE },
    [COUNT_APERF] = { "msr/aperf/", COUNT_GROUP_MSR, 1, COUNT_ANY_MODE },
    [COUNT_MPERF] = { "msr/mperf/", COUNT_GROUP_MSR, 1, COUNT_ANY_MODE },
    [COUNT_ENERGY_CORES] = { "power/energy-cores/", COUNT_GROUP_ENERGY, 1, COUNT_SOCKET | COUNT_ANY_MODE },
    [COUNT_ENERGY_PKG] = { "power/energy-pkg/", COUNT_GROUP_ENERGY, 1, COUNT_SOCKET | COUNT_ANY_MODE },
    [COUNT_ENERGY_RAM] = { "power/energy-ram/", COUNT_GROUP_ENERGY, 1, COUNT_SOCKET | COUNT_ANY_MODE },
    [COUNT_ENERGY_GPU] = { "power/energy-gpu/", COUNT_GROUP_ENERGY, 1, COUNT_SOCKET | COUNT_ANY_MODE },
    [COUNT_ENERGY_PSYS] = { "power/energy-psys/", COUNT_GROUP_ENERGY, 1, COUNT_SOCKET | COUNT_ANY_MODE },
    [COUNT_MEMORY_READS] = { "memory reads", COUNT_GROUP_MEMORY, 1, COUNT_SOCKET | COUNT_ANY_MODE },
    [COUNT_MEMORY_WRITES] = { "memory writes", COUNT_GROUP_MEMORY, 1, COUNT_SOCKET | COUNT_ANY_MODE },
    [COUNT_TEMPERATURE] = { "temperature", COUNT_GROUP_NONE, 1, COUNT_SOCKET },
    [COUNT_TOPDOWN_0] = { "slots", COUNT_GROUP_TOPDOWN, 1, COUNT_CORE },
    [COUNT_TOPDOWN_1] = { "slots", COUNT_GROUP_TOPDOWN, 1, COUNT_CORE },
    [COUNT_TOPDOWN_2] = { "slots", COUNT_GROUP_TOPDOWN, 1, COUNT_CORE },
    [COUNT_TOPDOWN_3] = { "slots", COUNT_GROUP_TOPDOWN, 1, COUNT_CORE },
    [COUNT_TOPDOWN_4] = { "slots", COUNT_GROUP_TOPDOWN, 1, COUNT_CORE },
};

const char *count_event_name(const struct count_set *c, enum count_event event)
{
    return event == COUNT_CLOCK && c->tasks ? "task-clock" : count_defs[event].name;
}

/* The scale that sysfs gives for an event, or 1; `unit` is the resulting unit ("Joules"), or "". */
static double scale_of(const struct pmu *pmu, const char *event, char *unit, size_t cap)
{
    char file[128];
    struct buf text = { 0 };
    (void)snprintf(file, sizeof file, "events/%s.unit", event);
    bool has_unit = pmu_read_file(pmu, file, &text);
    (void)snprintf(unit, cap, "%s", has_unit ? buf_str(&text) : "");
    (void)snprintf(file, sizeof file, "events/%s.scale", event);
    double scale = pmu_read_file(pmu, file, &text) ? strtod(buf_str(&text), NULL) : 1;
    buf_done(&text);
    return scale > 0 ? scale : 1;
}

/* Build a source from terms of a PMU, or one of its events. */
static bool source_of(const struct pmu *pmu, const char *terms, struct count_source *out)
{
    char unit[32];
    *out = (struct count_source){ .attr.size = sizeof out->attr };
    out->have = pmu_apply(pmu, terms, &out->attr, NULL, NULL);
    out->scale = scale_of(pmu, terms, unit, sizeof unit) * (!strcmp(unit, "MiB") ? MIB : 1);
    return out->have;
}

static void named_source(const struct count_set *c, enum count_event event, struct count_source *out)
{
    struct event ev;
    out->have = event_parse(count_event_name(c, event), &ev, NULL);
    out->attr = ev.attr;
    out->scale = 1;
}

/* On hybrid machines the upper half of config selects the kind of CPU, for events without a type of their
 * own (<linux/perf_event.h>, PERF_PMU_TYPE_SHIFT). */
static void fill_core(const struct count_set *c, struct count_core *core, const struct pmu *pmu, bool mixed,
                      double amd_width)
{
    for (int event = 0; event < COUNT_EVENTS; event++) {
        struct count_source *source = &core->sources[event];
        if (!(count_defs[event].flags & COUNT_CORE) || count_defs[event].group == COUNT_GROUP_TOPDOWN ||
            count_defs[event].group == COUNT_GROUP_NONE)
            continue;
        named_source(c, event, source);
        if (mixed)
            source->attr.config |= (uint64_t)pmu->type << 32;
    }
    if (!pmu)
        return;
    topdown_find(pmu, amd_width, &core->topdown);
    /* Only TOPDOWN_METRICS has dedicated counters; the other models use counters that more popular events
     * need. */
    if (core->topdown.model != TOPDOWN_METRICS && c->how.detail < 2)
        core->topdown = (struct topdown){ .model = TOPDOWN_NONE };
    for (int i = 0; i < COUNT_TOPDOWN_INPUTS && core->topdown.events[i]; i++)
        if (!source_of(pmu, core->topdown.events[i], &core->sources[COUNT_TOPDOWN_0 + i]))
            core->topdown.model = TOPDOWN_NONE;
    for (int i = 0; core->topdown.model == TOPDOWN_NONE && i < COUNT_TOPDOWN_INPUTS; i++)
        core->sources[COUNT_TOPDOWN_0 + i].have = false;
}

static void read_cpus(const struct pmu *pmu, const char *file, struct cpus *out)
{
    struct buf text = { 0 };
    *out = (struct cpus){ 0 };
    if (pmu_read_file(pmu, file, &text) && !cpus_parse(buf_str(&text), out))
        cpus_done(out);
    buf_done(&text);
}

struct pmus {
    VEC(struct pmu);
};

static bool add_pmu(void *ctx, const struct pmu *pmu)
{
    struct pmus *all = ctx;
    *VEC_PUSH(all) = *pmu;
    return true;
}

static double amd_width(void)
{
    struct buf text = { 0 };
    double width =
        file_read("/proc/cpuinfo", CPUINFO_MAX, &text, NULL) ? topdown_amd_width(buf_str(&text)) : 0;
    buf_done(&text);
    return width;
}

/* Without a core PMU, add one with the kernel's default: its error says why nothing is counted. */
static void find_cores(struct count_set *c, const struct pmus *all)
{
    const struct pmu *core[COUNT_CORES_MAX];
    double width = amd_width();
    for (size_t i = 0; i < all->n && c->n_cores < COUNT_CORES_MAX; i++)
        if (all->items[i].core)
            core[c->n_cores++] = &all->items[i];
    for (uint32_t i = 0; i < c->n_cores; i++) {
        if (c->n_cores > 1)
            read_cpus(core[i], "cpus", &c->cores[i].cpus);
        fill_core(c, &c->cores[i], core[i], c->n_cores > 1, width);
    }
    if (!c->n_cores)
        fill_core(c, &c->cores[c->n_cores++], NULL, false, 0);
}

static struct count_uncore *add_uncore(struct count_set *c, const struct pmu *pmu)
{
    struct count_uncore *u = VEC_PUSH(&c->uncores);
    *u = (struct count_uncore){ 0 };
    read_cpus(pmu, "cpumask", &u->cpus);
    return u;
}

/* The event name is between the slashes: "energy-pkg" of "power/energy-pkg/". */
static void add_power(struct count_set *c, const struct pmu *pmu)
{
    struct count_uncore *u = add_uncore(c, pmu);
    for (int event = COUNT_ENERGY_CORES; event <= COUNT_ENERGY_PSYS; event++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s", count_defs[event].name + strlen("power/"));
        name[strlen(name) - 1] = '\0';
        if (pmu_names_event(pmu, name))
            source_of(pmu, name, &u->sources[event]);
    }
}

/* Memory controllers' events for reads and writes. Only the first entry found is used: a machine may report
 * the same traffic twice, by its controllers and by free-running counters. */
static const struct {
    const char *pmu, *reads, *writes;
    double bytes; /* per count; 0: given by the PMU */
} memory[] = {
    { "uncore_imc", "cas_count_read", "cas_count_write", 0 },
    { "uncore_imc", "data_reads", "data_writes", 0 },
    { "uncore_imc_free_running", "data_read", "data_write", 0 },
    { "amd_umc", "event=0x0a,rdwrmask=0x1", "event=0x0a,rdwrmask=0x2", CACHE_LINE },
};

/* True for "uncore_imc" and "uncore_imc_3", but not "uncore_imc_free_running_0". */
static bool is_instance(const char *name, const char *of)
{
    size_t n = strlen(of);
    return !strncmp(name, of, n) &&
           (!name[n] || (name[n] == '_' && strspn(name + n + 1, "0123456789") == strlen(name + n + 1)));
}

static bool add_memory(struct count_set *c, const struct pmu *pmu, size_t kind)
{
    bool named = !memory[kind].bytes;
    if (!is_instance(pmu->name, memory[kind].pmu) || (named && !pmu_names_event(pmu, memory[kind].reads)))
        return false;
    struct count_uncore *u = add_uncore(c, pmu);
    struct count_source *reads = &u->sources[COUNT_MEMORY_READS], *writes = &u->sources[COUNT_MEMORY_WRITES];
    source_of(pmu, memory[kind].reads, reads);
    source_of(pmu, memory[kind].writes, writes);
    if (!named)
        reads->scale = writes->scale = memory[kind].bytes;
    return true;
}

static void find_uncores(struct count_set *c, const struct pmus *all)
{
    bool found = false;
    for (size_t i = 0; i < all->n; i++)
        if (!strcmp(all->items[i].name, "power"))
            add_power(c, &all->items[i]);
    for (size_t kind = 0; !found && kind < sizeof memory / sizeof *memory; kind++)
        for (size_t i = 0; i < all->n; i++)
            found |= add_memory(c, &all->items[i], kind);
}

void count_sources_find(struct count_set *c)
{
    struct pmus all = { 0 };
    pmu_each(add_pmu, &all);
    for (int event = 0; event < COUNT_EVENTS; event++)
        if (!(count_defs[event].flags & (COUNT_CORE | COUNT_SOCKET)))
            named_source(c, event, &c->sources[event]);
    /* Only ratios of the three are of interest. */
    if (!c->sources[COUNT_APERF].have || !c->sources[COUNT_MPERF].have)
        for (int event = COUNT_TSC; event <= COUNT_MPERF; event++)
            c->sources[event].have = false;
    find_cores(c, &all);
    if (!c->tasks && c->scope.kind != SCOPE_CGROUP)
        find_uncores(c, &all);
    mem_free(all.items);
}

void count_sources_done(struct count_set *c)
{
    for (uint32_t i = 0; i < c->n_cores; i++)
        cpus_done(&c->cores[i].cpus);
    for (uint32_t i = 0; i < c->uncores.n; i++)
        cpus_done(&c->uncores.items[i].cpus);
    VEC_FREE(&c->uncores);
    c->n_cores = 0;
}

const struct count_source *count_source_of(const struct count_set *c, const struct count_slot *slot,
                                           enum count_event event)
{
    if (count_defs[event].flags & COUNT_SOCKET)
        return &c->uncores.items[slot->source].sources[event];
    return count_defs[event].flags & COUNT_CORE ? &c->cores[slot->source].sources[event] : &c->sources[event];
}

uint32_t count_core_of(const struct count_set *c, uint32_t cpu)
{
    for (uint32_t i = 0; i < c->n_cores; i++)
        if (cpus_has(&c->cores[i].cpus, cpu))
            return i;
    return 0;
}
