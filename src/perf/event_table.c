// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/event_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "perf/tracepoint.h"

struct def {
    const char *name, *alias;
    uint32_t type;
    uint64_t config;
    const char *help;
};

// clang-format off
#define HW(config, name, alias, help) { name, alias, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config, help }
#define TOOL(config, name, help) { name, NULL, EVENT_TYPE_TOOL, EVENT_TOOL_##config, help }
#define SW(config, name, alias, help) { name, alias, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config, help }
// clang-format on

/* In perf-list(1) order. */
static const struct def defs[] = {
    HW(CPU_CYCLES, "cycles", "cpu-cycles", "CPU cycles at the current CPU frequency; where the time goes"),
    HW(INSTRUCTIONS, "instructions", NULL, "instructions retired"),
    HW(CACHE_REFERENCES, "cache-references", NULL, "usually last-level cache accesses"),
    HW(CACHE_MISSES, "cache-misses", NULL, "usually last-level cache misses"),
    HW(BRANCH_INSTRUCTIONS, "branches", "branch-instructions", "branch instructions retired"),
    HW(BRANCH_MISSES, "branch-misses", NULL, "mispredicted branches"),
    HW(BUS_CYCLES, "bus-cycles", NULL, "cycles of the bus clock"),
    HW(STALLED_CYCLES_FRONTEND, "stalled-cycles-frontend", "idle-cycles-frontend",
       "cycles in which no instruction could be fetched or decoded"),
    HW(STALLED_CYCLES_BACKEND, "stalled-cycles-backend", "idle-cycles-backend",
       "cycles in which execution waited for memory or a unit"),
    HW(REF_CPU_CYCLES, "ref-cycles", NULL, "cycles of a constant clock, independent of the frequency"),
    SW(CPU_CLOCK, "cpu-clock", NULL, "time on the CPU by a timer; needs no hardware counter"),
    SW(TASK_CLOCK, "task-clock", NULL, "run time of tasks by a timer"),
    SW(PAGE_FAULTS, "page-faults", "faults", "accesses to pages that were not mapped yet"),
    SW(CONTEXT_SWITCHES, "context-switches", "cs", "switches from one task to another"),
    SW(CPU_MIGRATIONS, "cpu-migrations", "migrations", "moves of a task to another CPU"),
    SW(PAGE_FAULTS_MIN, "minor-faults", NULL, "page faults resolved without I/O"),
    SW(PAGE_FAULTS_MAJ, "major-faults", NULL, "page faults that waited for I/O"),
    SW(ALIGNMENT_FAULTS, "alignment-faults", NULL, "unaligned accesses fixed up by the kernel"),
    SW(EMULATION_FAULTS, "emulation-faults", NULL, "instructions emulated by the kernel"),
    SW(DUMMY, "dummy", NULL, "counts nothing: carries comm, mmap and fork records"),
    SW(BPF_OUTPUT, "bpf-output", NULL, "data that BPF programs send"),
    SW(CGROUP_SWITCHES, "cgroup-switches", NULL, "switches to a task of another cgroup"),
    /* completed by event.c */
    { "off-cpu", NULL, PERF_TYPE_TRACEPOINT, EVENT_TABLE_OFF_CPU,
      "time that threads wait, with the stack and the reason of each wait" },
    { "wakers", NULL, PERF_TYPE_TRACEPOINT, EVENT_TABLE_WAKERS,
      "off-cpu, with who ended a wait, or ran while a thread waited for a CPU" },
    { "wall", NULL, PERF_TYPE_TRACEPOINT, EVENT_TABLE_WALL,
      "wall-clock time of threads: on and off the CPU" },
    TOOL(DURATION, "duration_time", "elapsed time in ns during --stat"),
    TOOL(USER, "user_time", "user-space time in ns of the command during --stat"),
    TOOL(SYSTEM, "system_time", "kernel time in ns of the command during --stat"),
};
#define DEFS (sizeof defs / sizeof *defs)

#define ALIASES 5

/* perf's spellings (evsel__hw_cache and similar tables in tools/perf/util/evsel.c), the canonical one
 * first. */
struct cache {
    const char *names[ALIASES];
    const char *what;
    unsigned ops; /* valid operations, a bit mask of enum perf_hw_cache_op_id */
};
#define R (1u << PERF_COUNT_HW_CACHE_OP_READ)
#define W (1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define P (1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)
static const struct cache caches[PERF_COUNT_HW_CACHE_MAX] = {
    [PERF_COUNT_HW_CACHE_L1D] = { { "L1-dcache", "l1-d", "l1d", "L1-data" },
                                  "level 1 data cache",
                                  R | W | P },
    [PERF_COUNT_HW_CACHE_L1I] = { { "L1-icache", "l1-i", "l1i", "L1-instruction" },
                                  "level 1 instruction cache",
                                  R | P },
    [PERF_COUNT_HW_CACHE_LL] = { { "LLC", "L2" }, "last level cache", R | W | P },
    [PERF_COUNT_HW_CACHE_DTLB] = { { "dTLB", "d-tlb", "Data-TLB" }, "data TLB", R | W | P },
    [PERF_COUNT_HW_CACHE_ITLB] = { { "iTLB", "i-tlb", "Instruction-TLB" }, "instruction TLB", R },
    [PERF_COUNT_HW_CACHE_BPU] = { { "branch", "branches", "bpu", "btb", "bpc" }, "branch predictor", R },
    [PERF_COUNT_HW_CACHE_NODE] = { { "node" }, "memory of the local node", R | W | P },
};

static const char *const ops[PERF_COUNT_HW_CACHE_OP_MAX][ALIASES] = {
    [PERF_COUNT_HW_CACHE_OP_READ] = { "load", "loads", "read" },
    [PERF_COUNT_HW_CACHE_OP_WRITE] = { "store", "stores", "write" },
    [PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetch", "prefetches", "speculative-read", "speculative-load" },
};
static const char *const results[PERF_COUNT_HW_CACHE_RESULT_MAX][ALIASES] = {
    [PERF_COUNT_HW_CACHE_RESULT_ACCESS] = { "refs", "Reference", "ops", "access" },
    [PERF_COUNT_HW_CACHE_RESULT_MISS] = { "misses", "miss" },
};

/* True if *s starts with one of the names as a whole word, before '-' or the end; then advance *s past it. */
static bool take_word(const char **s, const char *const names[ALIASES])
{
    for (int i = 0; i < ALIASES && names[i]; i++) {
        size_t len = strlen(names[i]);
        if (strncasecmp(*s, names[i], len) || ((*s)[len] && (*s)[len] != '-'))
            continue;
        *s += len;
        return true;
    }
    return false;
}

/* Parse one more "-word": an operation or a result, each at most once. */
static bool take_part(const char **s, int *op, int *result)
{
    if (*(*s)++ != '-')
        return false;
    for (int i = 0; *op < 0 && i < PERF_COUNT_HW_CACHE_OP_MAX; i++)
        if (take_word(s, ops[i])) {
            *op = i;
            return true;
        }
    for (int i = 0; *result < 0 && i < PERF_COUNT_HW_CACHE_RESULT_MAX; i++)
        if (take_word(s, results[i])) {
            *result = i;
            return true;
        }
    return false;
}

/* Parse CACHE[-OP][-RESULT], the last two in either order. Defaults: loads and accesses. */
static enum event_match find_cache(const char *name, uint64_t *config)
{
    const char *s = name;
    int cache = 0, op = -1, result = -1;
    while (cache < PERF_COUNT_HW_CACHE_MAX && !take_word(&s, caches[cache].names))
        cache++;
    if (cache == PERF_COUNT_HW_CACHE_MAX)
        return EVENT_MATCH_NONE;
    while (*s)
        if (!take_part(&s, &op, &result))
            return EVENT_MATCH_NONE;
    op = op < 0 ? PERF_COUNT_HW_CACHE_OP_READ : op;
    result = result < 0 ? PERF_COUNT_HW_CACHE_RESULT_ACCESS : result;
    *config = (uint64_t)cache | (uint64_t)op << 8 | (uint64_t)result << 16;
    return caches[cache].ops & 1u << op ? EVENT_MATCH_FOUND : EVENT_MATCH_ILLEGAL;
}

bool event_table_raw(const char *name, uint64_t *config)
{
    const char *hex = name + 1 + 2 * !strncasecmp(name, "r0x", 3);
    size_t digits = *name ? strspn(hex, "0123456789abcdefABCDEF") : 0;
    if (name[0] != 'r' || !digits || digits > EVENT_RAW_DIGITS || hex[digits])
        return false;
    *config = strtoull(hex, NULL, 16);
    return true;
}

static enum event_kind kind_of(uint32_t type)
{
    return type == PERF_TYPE_HARDWARE     ? EVENT_HARDWARE
           : type == PERF_TYPE_SOFTWARE   ? EVENT_SOFTWARE
           : type == PERF_TYPE_TRACEPOINT ? EVENT_TRACEPOINT
                                          : EVENT_TOOL;
}

static enum event_match found(struct event *out, enum event_kind kind, uint32_t type, uint64_t config)
{
    out->kind = kind;
    out->attr.type = type;
    out->attr.config = config;
    return EVENT_MATCH_FOUND;
}

enum event_match event_table_find(const char *name, struct event *out)
{
    for (size_t i = 0; i < DEFS; i++) {
        const struct def *d = &defs[i];
        if (!strcasecmp(d->name, name) || (d->alias && !strcasecmp(d->alias, name)))
            return found(out, kind_of(d->type), d->type, d->config);
    }
    uint64_t config;
    enum event_match match = find_cache(name, &config);
    return match == EVENT_MATCH_FOUND ? found(out, EVENT_CACHE, PERF_TYPE_HW_CACHE, config) : match;
}

/* Write perf's name: "L1-dcache-loads", "L1-dcache-load-misses". */
static void cache_name(char *dst, size_t cap, int cache, int op, bool misses)
{
    snprintf(dst, cap, "%s-%s%s", caches[cache].names[0], ops[op][!misses], misses ? "-misses" : "");
}

static bool each_of_cache(int cache, bool (*row)(void *, const struct event_row *), void *ctx)
{
    for (int i = 0; i < PERF_COUNT_HW_CACHE_OP_MAX * 2; i++) {
        char name[64], help[96];
        int op = i / 2;
        if (!(caches[cache].ops & 1u << op))
            continue;
        cache_name(name, sizeof name, cache, op, i % 2);
        snprintf(help, sizeof help, "%s: %s%s", caches[cache].what, ops[op][1], i % 2 ? " that miss" : "");
        struct event_row r = { .group = "Cache", .name = name, .help = help };
        if (!row(ctx, &r))
            return false;
    }
    return true;
}

bool event_table_each(bool (*row)(void *ctx, const struct event_row *r), void *ctx)
{
    for (size_t i = 0; i < DEFS; i++) {
        static const char *const groups[] = { [EVENT_HARDWARE] = "Hardware",
                                              [EVENT_SOFTWARE] = "Software",
                                              [EVENT_TRACEPOINT] = "Software",
                                              [EVENT_TOOL] = "Tool" };
        if (!strcmp(defs[i].name, "wakers") && !tracepoint_exists("sched", "sched_waking"))
            continue;
        struct event_row r = { .group = groups[kind_of(defs[i].type)],
                               .name = defs[i].name,
                               .alias = defs[i].alias,
                               .help = defs[i].help };
        if (!row(ctx, &r))
            return false;
    }
    for (int i = 0; i < PERF_COUNT_HW_CACHE_MAX; i++)
        if (!each_of_cache(i, row, ctx))
            return false;
    return true;
}

static bool add_names(void *ctx, const struct event_row *r)
{
    namelist_add(ctx, r->name);
    if (r->alias)
        namelist_add(ctx, r->alias);
    return true;
}

void event_table_names(struct namelist *out)
{
    event_table_each(add_names, out);
}
