// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/pmu.h"

#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/namelist.h"
#include "perf/pmu_files.h"

#define DEFAULT_ROOT "/sys/bus/event_source/devices"
#define FILE_MAX     4096 /* sysfs files are at most a page */

static const char *root = DEFAULT_ROOT;

/* Core PMUs by CPU, read once, as each open needs their types. */
static struct {
    pthread_mutex_t lock;
    bool read;
    struct pmu pmus[PMU_HYBRID_MAX];
    uint32_t n; /* below 2: not hybrid */
} hybrid = { .lock = PTHREAD_MUTEX_INITIALIZER };

void pmu_set_root(const char *dir)
{
    root = dir ? dir : DEFAULT_ROOT;
    hybrid.read = false;
}

static void path_of(char path[PATH_MAX], const char *pmu, const char *file)
{
    snprintf(path, PATH_MAX, "%s/%s/%s", root, pmu, file);
}

static bool read_text(const char *pmu, const char *file, struct buf *b)
{
    char path[PATH_MAX];
    path_of(path, pmu, file);
    if (!file_read(path, FILE_MAX, b, NULL))
        return false;
    while (b->len && strchr(" \t\n", b->data[b->len - 1]))
        b->data[--b->len] = '\0';
    return true;
}

bool pmu_read_file(const struct pmu *pmu, const char *file, struct buf *text)
{
    return read_text(pmu->name, file, text);
}

bool pmu_names_event(const struct pmu *pmu, const char *event)
{
    char file[96];
    struct buf terms = { 0 };
    (void)snprintf(file, sizeof file, "events/%s", event);
    bool there = pmu_read_file(pmu, file, &terms);
    buf_done(&terms);
    return there;
}

/* True if the PMU's name is a plain folder name that does not lead out of the root. */
static bool plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/') && strlen(name) < sizeof((struct pmu *)0)->name;
}

static bool load(const char *name, struct pmu *out)
{
    char path[PATH_MAX];
    uint64_t type;
    *out = (struct pmu){ 0 };
    if (!plain_name(name))
        return false;
    path_of(path, name, "type");
    if (!file_read_u64(path, &type) || type > UINT32_MAX)
        return false;
    snprintf(out->name, sizeof out->name, "%s", name);
    out->type = (uint32_t)type;
    /* Core PMUs of hybrid CPUs (big.LITTLE, P and E cores) have "cpus"; uncore PMUs have "cpumask". */
    struct buf list = { 0 };
    bool mixed = read_text(name, "cpus", &list);
    out->core = mixed || !strcmp(name, "cpu");
    if (mixed || read_text(name, "cpumask", &list))
        out->cpus = cpu_mask_of(buf_str(&list));
    buf_done(&list);
    return true;
}

static bool no_such_pmu(const char *name, struct error *e)
{
    struct namelist all = { 0 };
    char list[200];
    namelist_add_dir(&all, root, true, NULL);
    const char *near = namelist_nearest(&all, name);
    namelist_join(&all, list, sizeof list);
    if (near)
        error_set(e, ERROR_MISSING, "no PMU '%s' on this machine; did you mean '%s'?", name, near);
    else if (all.n)
        error_set(e, ERROR_MISSING, "no PMU '%s' on this machine; available: %s", name, list);
    else
        error_set(e, ERROR_MISSING, "no PMU '%s': %s lists none; is /sys mounted?", name, root);
    namelist_done(&all);
    return false;
}

bool pmu_find(const char *name, struct pmu *out, struct error *e)
{
    return load(name, out) || no_such_pmu(name, e);
}

bool pmu_each(bool (*fn)(void *ctx, const struct pmu *pmu), void *ctx)
{
    struct namelist all = { 0 };
    bool go_on = true;
    namelist_add_dir(&all, root, true, NULL);
    for (size_t i = 0; go_on && i < all.n; i++) {
        struct pmu pmu;
        if (load(all.items[i], &pmu))
            go_on = fn(ctx, &pmu);
    }
    namelist_done(&all);
    return go_on;
}

static bool stop_at_core(void *ctx, const struct pmu *pmu)
{
    (void)ctx;
    return !pmu->core;
}

bool pmu_has_core(void)
{
    return !pmu_each(stop_at_core, NULL);
}

/* An event "E" may have attribute files: "E.unit", "E.scale", "E.snapshot", "E.per-pkg". */
static bool is_event_name(const char *name)
{
    return !strchr(name, '.');
}

bool pmu_files_alias(const char *pmu, const char *event, struct buf *terms)
{
    char file[PATH_MAX];
    if (!*event || strchr(event, '/') || !is_event_name(event))
        return false;
    snprintf(file, sizeof file, "events/%s", event);
    return read_text(pmu, file, terms);
}

void pmu_files_names(const char *pmu, const char *folder, struct namelist *out)
{
    char path[PATH_MAX];
    struct namelist all = { 0 };
    path_of(path, pmu, folder);
    namelist_add_dir(&all, path, false, NULL);
    for (size_t i = 0; i < all.n; i++)
        if (is_event_name(all.items[i]))
            namelist_add(out, all.items[i]);
    namelist_done(&all);
}

bool pmu_each_alias(const struct pmu *pmu, bool (*fn)(void *ctx, const char *name, const char *terms),
                    void *ctx)
{
    struct namelist events = { 0 };
    struct buf terms = { 0 };
    bool go_on = true;
    pmu_files_names(pmu->name, "events", &events);
    for (size_t i = 0; go_on && i < events.n; i++)
        if (pmu_files_alias(pmu->name, events.items[i], &terms))
            go_on = fn(ctx, events.items[i], buf_str(&terms));
    buf_done(&terms);
    namelist_done(&events);
    return go_on;
}

bool pmu_formats(const struct pmu *pmu, char *dst, size_t cap)
{
    struct namelist names = { 0 };
    struct buf out = { 0 }, bits = { 0 };
    pmu_files_names(pmu->name, "format", &names);
    for (size_t i = 0; i < names.n; i++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "format/%s", names.items[i]);
        if (read_text(pmu->name, file, &bits))
            buf_printf(&out, "%s%s (%s)", out.len ? ", " : "", names.items[i], buf_str(&bits));
    }
    snprintf(dst, cap, "%s", buf_str(&out));
    namelist_done(&names);
    buf_done(&bits);
    buf_done(&out);
    return *dst;
}

struct alias_search {
    const char *event;
    struct pmu *out;
};

static bool stop_at_alias(void *ctx, const struct pmu *pmu)
{
    struct alias_search *search = ctx;
    struct buf terms = { 0 };
    bool there = pmu_files_alias(pmu->name, search->event, &terms);
    buf_done(&terms);
    if (there)
        *search->out = *pmu;
    return !there;
}

bool pmu_find_alias(const char *event, struct pmu *out)
{
    return !pmu_each(stop_at_alias, &(struct alias_search){ event, out });
}

/* Collect hybrid core PMUs ("cpu_…", x86 only): other architectures find a CPU's PMU without its type. */
static bool add_hybrid(void *ctx, const struct pmu *pmu)
{
    (void)ctx;
    if (pmu->core && !strncmp(pmu->name, "cpu_", 4) && hybrid.n < PMU_HYBRID_MAX)
        hybrid.pmus[hybrid.n++] = *pmu;
    return true;
}

static void read_hybrid(void)
{
    pthread_mutex_lock(&hybrid.lock);
    if (!hybrid.read) {
        hybrid.n = 0;
        pmu_each(add_hybrid, NULL);
        hybrid.read = true;
    }
    pthread_mutex_unlock(&hybrid.lock);
}

uint32_t pmu_hybrid_type(int cpu)
{
    read_hybrid();
    if (hybrid.n < 2)
        return 0;
    for (uint32_t i = 0; cpu >= 0 && i < hybrid.n; i++)
        if (cpu_mask_has(&hybrid.pmus[i].cpus, (uint32_t)cpu))
            return hybrid.pmus[i].type;
    return hybrid.pmus[0].type;
}

uint32_t pmu_hybrid_types(uint32_t types[PMU_HYBRID_MAX])
{
    read_hybrid();
    for (uint32_t i = 0; i < hybrid.n; i++)
        types[i] = hybrid.pmus[i].type;
    return hybrid.n < 2 ? 0 : hybrid.n;
}

/* True if the name matches an instance: "uncore_imc" and "imc" match uncore_imc_0, uncore_imc_1 and so on,
 * as in perf. */
static bool is_one_of(const char *pmu, const char *name)
{
    static const char uncore[] = "uncore_";
    if (strpbrk(name, "*?["))
        return !fnmatch(name, pmu, 0);
    if (strncmp(name, uncore, sizeof uncore - 1) && !strncmp(pmu, uncore, sizeof uncore - 1))
        pmu += sizeof uncore - 1;
    size_t n = strlen(name);
    if (strncmp(pmu, name, n))
        return false;
    pmu += n + (pmu[n] == '_');
    return !pmu[strspn(pmu, "0123456789")];
}

void pmu_match(const char *name, struct namelist *out)
{
    struct namelist all = { 0 };
    struct pmu pmu;
    namelist_add_dir(&all, root, true, NULL);
    for (size_t i = 0; i < all.n; i++)
        if (is_one_of(all.items[i], name) && load(all.items[i], &pmu))
            namelist_add(out, all.items[i]);
    namelist_done(&all);
}

static const struct {
    const char *pmu, *event, *help;
} known[] = {
    { "msr", "tsc", "the time stamp counter: cycles of a constant clock" },
    { "msr", "aperf", "cycles at the current CPU frequency, while not idle" },
    { "msr", "mperf", "cycles at the nominal CPU frequency, while not idle" },
    { "msr", "pperf", "cycles like aperf, without memory stalls" },
    { "msr", "smi", "system management interrupts (firmware)" },
    { "msr", "ptsc", "the performance time stamp counter" },
    { "msr", "irperf", "instructions retired" },
    { "msr", "cpu_thermal_margin", "degrees below the temperature at which the CPU slows down" },
    { "power", "energy-cores", "energy of all cores" },
    { "power", "energy-core", "energy of a core" },
    { "power", "energy-pkg", "energy of the package: cores, caches and the rest" },
    { "power", "energy-ram", "energy of the memory" },
    { "power", "energy-gpu", "energy of the graphics in the package" },
    { "power", "energy-psys", "energy of the whole platform" },
    { "cstate_*", "c*-residency", "cycles of the constant clock spent in this sleep state" },
    { "uncore_imc*", "cas_count_read", "memory reads: data that the memory controller fetched" },
    { "uncore_imc*", "cas_count_write", "memory writes: data that the memory controller stored" },
    { "uncore_imc*", "data_reads", "memory reads by all devices" },
    { "uncore_imc*", "data_writes", "memory writes by all devices" },
    { "uncore_imc*", "clockticks", "cycles of the memory controller" },
    { "cpu*", "mem-loads", "loads with their address and latency, sampled precisely" },
    { "cpu*", "mem-stores", "stores with their address, sampled precisely" },
    { "cpu*", "slots", "issue slots: the total of the top-down shares" },
    { "cpu*", "topdown-retiring", "slots that retired work" },
    { "cpu*", "topdown-bad-spec", "slots lost to mispredictions" },
    { "cpu*", "topdown-fe-bound", "slots that waited for instructions" },
    { "cpu*", "topdown-be-bound", "slots that waited for data or a unit" },
};

const char *pmu_alias_help(const char *pmu, const char *event)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!fnmatch(known[i].pmu, pmu, 0) && !fnmatch(known[i].event, event, 0))
            return known[i].help;
    return NULL;
}
