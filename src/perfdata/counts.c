// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts a file's records by type, and names record types and feature sections. Names: <linux/perf_event.h>;
 * for perf's own, tools/lib/perf/include/perf/event.h and tools/perf/util/header.h. */
#include <stdlib.h>

#include "perfdata/perfdata_file.h"

/* clang-format off */
static const char *const kernel_names[] = {
    [1] = "MMAP",           [2] = "LOST",          [3] = "COMM",
    [4] = "EXIT",           [5] = "THROTTLE",      [6] = "UNTHROTTLE",
    [7] = "FORK",           [8] = "READ",          [9] = "SAMPLE",
    [10] = "MMAP2",         [11] = "AUX",          [12] = "ITRACE_START",
    [13] = "LOST_SAMPLES",  [14] = "SWITCH",       [15] = "SWITCH_CPU_WIDE",
    [16] = "NAMESPACES",    [17] = "KSYMBOL",      [18] = "BPF_EVENT",
    [19] = "CGROUP",        [20] = "TEXT_POKE",    [21] = "AUX_OUTPUT_HW_ID",
    [22] = "CALLCHAIN_DEFERRED",
};
/* clang-format on */

static const char *const perf_names[] = {
    "ATTR",          "EVENT_TYPE",  "TRACING_DATA",   "BUILD_ID",   "FINISHED_ROUND", "ID_INDEX",
    "AUXTRACE_INFO", "AUXTRACE",    "AUXTRACE_ERROR", "THREAD_MAP", "CPU_MAP",        "STAT_CONFIG",
    "STAT",          "STAT_ROUND",  "EVENT_UPDATE",   "TIME_CONV",  "FEATURE",        "COMPRESSED",
    "FINISHED_INIT", "COMPRESSED2", "BPF_METADATA",
};

const char *perfdata_type_name(uint32_t type)
{
    if (type < sizeof kernel_names / sizeof *kernel_names)
        return kernel_names[type];
    type -= FORMAT_RECORD_USER;
    return type < sizeof perf_names / sizeof *perf_names ? perf_names[type] : NULL;
}

/* clang-format off */
static const char *const feature_names[] = {
    [1] = "TRACING_DATA",   [2] = "BUILD_ID",         [3] = "HOSTNAME",      [4] = "OSRELEASE",
    [5] = "VERSION",        [6] = "ARCH",             [7] = "NRCPUS",        [8] = "CPUDESC",
    [9] = "CPUID",          [10] = "TOTAL_MEM",       [11] = "CMDLINE",      [12] = "EVENT_DESC",
    [13] = "CPU_TOPOLOGY",  [14] = "NUMA_TOPOLOGY",   [15] = "BRANCH_STACK", [16] = "PMU_MAPPINGS",
    [17] = "GROUP_DESC",    [18] = "AUXTRACE",        [19] = "STAT",         [20] = "CACHE",
    [21] = "SAMPLE_TIME",   [22] = "MEM_TOPOLOGY",    [23] = "CLOCKID",      [24] = "DIR_FORMAT",
    [25] = "BPF_PROG_INFO", [26] = "BPF_BTF",         [27] = "COMPRESSED",   [28] = "CPU_PMU_CAPS",
    [29] = "CLOCK_DATA",    [30] = "HYBRID_TOPOLOGY", [31] = "PMU_CAPS",
};
/* clang-format on */

const char *perfdata_feature_name(unsigned feature)
{
    return feature < sizeof feature_names / sizeof *feature_names ? feature_names[feature] : NULL;
}

void counts_add(struct perfdata *p, uint32_t type)
{
    if (type < FORMAT_RECORD_USER_END)
        p->count_of[type]++;
    else
        ++*map_at(&p->count_of_others, type, 0, NULL);
}

static int by_type(const void *a, const void *b)
{
    const struct perfdata_count *x = a, *y = b;
    return x->type < y->type ? -1 : x->type > y->type;
}

uint32_t perfdata_counts(struct perfdata *p, const struct perfdata_count **counts)
{
    uint32_t n = 0;
    uint64_t type, value;
    mem_free(p->counts);
    p->counts = mem_array(FORMAT_RECORD_USER_END + p->count_of_others.n, sizeof *p->counts);
    for (uint32_t i = 0; i < FORMAT_RECORD_USER_END; i++)
        if (p->count_of[i])
            p->counts[n++] = (struct perfdata_count){ i, perfdata_type_name(i), p->count_of[i] };
    for (size_t pos = 0; map_next(&p->count_of_others, &pos, &type, &value);)
        p->counts[n++] = (struct perfdata_count){ (uint32_t)type, NULL, value };
    qsort(p->counts, n, sizeof *p->counts, by_type);
    *counts = p->counts;
    return n;
}
