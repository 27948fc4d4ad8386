// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes this machine's hardware topology from sysfs, in the sections of tools/perf/util/header.c. Leaves out
 * what sysfs does not have. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"
#include "perf/namelist.h"
#include "perf/pmu.h"
#include "perfdata/write.h"

#define CPU_ROOT     "/sys/devices/system/cpu"
#define NODE_ROOT    "/sys/devices/system/node"
#define MEMORY_BLOCK "/sys/devices/system/memory/block_size_bytes"
#define PMU_ROOT     "/sys/bus/event_source/devices"
#define FILE_MAX     65536
#define LEVELS_MAX   10
#define BLOCKS_MAX   (1u << 24) /* of memory: far more than exist */

/* Reads the file named by format, without trailing blanks; false: missing or empty. */
__attribute__((format(printf, 2, 3))) static bool read_text(struct buf *text, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    if (n < 0 || n >= (int)sizeof path || !file_read(path, FILE_MAX, text, NULL))
        return false;
    while (text->len && strchr(" \t\n", text->data[text->len - 1]))
        text->data[--text->len] = '\0';
    return text->len > 0;
}

static bool names_have(const struct namelist *names, const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (!strcmp(names->items[i], name))
            return true;
    return false;
}

static uint32_t cpus_configured(void)
{
    long n = sysconf(_SC_NPROCESSORS_CONF);
    return n > 0 ? (uint32_t)n : 0;
}

/* ---- CPUs ---- */

/* Writes the distinct lists of CPUs that share something, in the order of the CPUs. */
static void add_siblings(const char *file, const char *old_file, struct buf *out)
{
    struct namelist lists = { 0 };
    struct buf text = { 0 };
    for (uint32_t cpu = 0; cpu < cpus_configured(); cpu++)
        if ((read_text(&text, CPU_ROOT "/cpu%" PRIu32 "/topology/%s", cpu, file) ||
             (old_file && read_text(&text, CPU_ROOT "/cpu%" PRIu32 "/topology/%s", cpu, old_file))) &&
            !names_have(&lists, text.data))
            namelist_add(&lists, text.data);
    write_add_u32(out, (uint32_t)lists.n);
    for (size_t i = 0; i < lists.n; i++)
        write_string(out, lists.items[i]);
    namelist_done(&lists);
    buf_done(&text);
}

static void add_number(uint32_t cpu, const char *file, struct buf *out)
{
    struct buf text = { 0 };
    int number = read_text(&text, CPU_ROOT "/cpu%" PRIu32 "/topology/%s", cpu, file) ? atoi(text.data) : -1;
    write_add_u32(out, (uint32_t)number);
    buf_done(&text);
}

static void cpu_topology(struct buf *out)
{
    struct buf text = { 0 };
    bool dies = read_text(&text, CPU_ROOT "/cpu0/topology/die_cpus_list");
    if (read_text(&text, CPU_ROOT "/cpu0/topology/core_id")) {
        add_siblings("package_cpus_list", "core_siblings_list", out);
        add_siblings("core_cpus_list", "thread_siblings_list", out);
        for (uint32_t cpu = 0; cpu < cpus_configured(); cpu++) {
            add_number(cpu, "core_id", out);
            add_number(cpu, "physical_package_id", out);
        }
        if (dies) {
            add_siblings("die_cpus_list", NULL, out);
            for (uint32_t cpu = 0; cpu < cpus_configured(); cpu++)
                add_number(cpu, "die_id", out);
        }
    }
    buf_done(&text);
}

/* Formats one cache as in the section; false: the CPU has no such index. */
static bool cache_of(uint32_t cpu, int index, struct buf *out)
{
    static const char *const numbers[] = { "level", "coherency_line_size", "number_of_sets",
                                           "ways_of_associativity" };
    static const char *const texts[] = { "type", "size", "shared_cpu_list" };
    struct buf text = { 0 };
    bool there = read_text(&text, CPU_ROOT "/cpu%" PRIu32 "/cache/index%d/level", cpu, index);
    buf_clear(out);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && there; i++)
        write_add_u32(out,
                      read_text(&text, CPU_ROOT "/cpu%" PRIu32 "/cache/index%d/%s", cpu, index, numbers[i])
                          ? (uint32_t)strtoul(text.data, NULL, 10)
                          : 0);
    for (size_t i = 0; i < sizeof texts / sizeof *texts && there; i++)
        write_string(out, read_text(&text, CPU_ROOT "/cpu%" PRIu32 "/cache/index%d/%s", cpu, index, texts[i])
                              ? text.data
                              : "");
    buf_done(&text);
    return there;
}

struct cache {
    struct buf bytes;
    uint32_t level, order;
};

static int by_level(const void *a, const void *b)
{
    const struct cache *x = a, *y = b;
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_known(const struct cache *caches, size_t n, const struct buf *bytes)
{
    for (size_t i = 0; i < n; i++)
        if (caches[i].bytes.len == bytes->len && !memcmp(caches[i].bytes.data, bytes->data, bytes->len))
            return true;
    return false;
}

static void caches(struct buf *out)
{
    VEC(struct cache) all = { 0 };
    struct buf one = { 0 };
    for (uint32_t cpu = 0; cpu < cpus_configured(); cpu++)
        for (int index = 0; index < LEVELS_MAX && cache_of(cpu, index, &one); index++) {
            if (is_known(all.items, all.n, &one))
                continue;
            struct cache *new = VEC_PUSH(&all);
            *new = (struct cache){ .bytes = one, .order = (uint32_t)(new - all.items) };
            memcpy(&new->level, one.data, sizeof(uint32_t));
            one = (struct buf){ 0 };
        }
    if (all.n) {
        qsort(all.items, all.n, sizeof *all.items, by_level);
        write_add_u32(out, 1); /* version */
        write_add_u32(out, (uint32_t)all.n);
    }
    for (size_t i = 0; i < all.n; i++) {
        buf_add(out, all.items[i].bytes.data, all.items[i].bytes.len);
        buf_done(&all.items[i].bytes);
    }
    buf_done(&one);
    mem_free(all.items);
}

/* ---- memory ---- */

/* Returns the sorted numbers after `word` in the names of a folder: "node0", "memory12". */
static uint32_t *numbers_in(const char *folder, const char *word, size_t *n)
{
    struct namelist names = { 0 };
    uint32_t *list;
    uint64_t number;
    size_t len = strlen(word);
    namelist_add_dir(&names, folder, false, NULL);
    list = mem_array(names.n + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; i < names.n; i++)
        if (!strncmp(names.items[i], word, len) &&
            text_parse_u64(names.items[i] + len, 0, BLOCKS_MAX, &number))
            list[(*n)++] = (uint32_t)number;
    qsort(list, *n, sizeof *list, search_compare_u32);
    namelist_done(&names);
    return list;
}

static uint64_t node_memory(uint32_t node, const char *word)
{
    struct buf text = { 0 };
    const char *at =
        read_text(&text, NODE_ROOT "/node%" PRIu32 "/meminfo", node) ? strstr(text.data, word) : NULL;
    uint64_t kb = at ? strtoull(at + strlen(word), NULL, 10) : 0;
    buf_done(&text);
    return kb;
}

static void numa_topology(struct buf *out)
{
    size_t n;
    struct buf text = { 0 };
    uint32_t *nodes = numbers_in(NODE_ROOT, "node", &n);
    if (n)
        write_add_u32(out, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        write_add_u32(out, nodes[i]);
        write_add_u64(out, node_memory(nodes[i], "MemTotal:"));
        write_add_u64(out, node_memory(nodes[i], "MemFree:"));
        write_string(out, read_text(&text, NODE_ROOT "/node%" PRIu32 "/cpulist", nodes[i]) ? text.data : "");
    }
    mem_free(nodes);
    buf_done(&text);
}

static void add_blocks(uint32_t node, struct buf *out)
{
    char folder[64];
    size_t n;
    snprintf(folder, sizeof folder, NODE_ROOT "/node%" PRIu32, node);
    uint32_t *blocks = numbers_in(folder, "memory", &n);
    uint32_t size = n ? blocks[n - 1] + 1 : 0;
    uint64_t *bits = mem_array(size / 64 + 1, sizeof *bits);
    for (size_t i = 0; i < n; i++)
        bits[blocks[i] / 64] |= UINT64_C(1) << blocks[i] % 64;
    write_add_u64(out, node);
    write_add_u64(out, size);
    write_add_u64(out, size);
    buf_add(out, bits, ((size_t)size + 63) / 64 * sizeof *bits);
    mem_free(bits);
    mem_free(blocks);
}

static void memory_topology(struct buf *out)
{
    size_t n;
    struct buf text = { 0 };
    uint32_t *nodes = numbers_in(NODE_ROOT, "node", &n);
    if (n && read_text(&text, MEMORY_BLOCK)) {
        write_add_u64(out, 1); /* version */
        write_add_u64(out, strtoull(text.data, NULL, 16));
        write_add_u64(out, n);
        for (size_t i = 0; i < n; i++)
            add_blocks(nodes[i], out);
    }
    mem_free(nodes);
    buf_done(&text);
}

/* ---- PMUs ---- */

struct counted {
    struct buf all;
    uint32_t n;
};

/* Writes the count, then the entries; nothing if there are none. Frees them. */
static void add_counted(struct buf *out, struct counted *c)
{
    if (c->n) {
        write_add_u32(out, c->n);
        buf_add(out, c->all.data, c->all.len);
    }
    buf_done(&c->all);
}

static bool add_mapping(void *counted, const struct pmu *pmu)
{
    struct counted *c = counted;
    write_add_u32(&c->all, pmu->type);
    write_string(&c->all, pmu->name);
    c->n++;
    return true;
}

static void pmu_mappings(struct buf *out)
{
    struct counted c = { 0 };
    pmu_each(add_mapping, &c);
    add_counted(out, &c);
}

/* Writes the count, then a name and a value each; false: none. */
static bool add_caps(const char *pmu, struct buf *out)
{
    char folder[PATH_MAX];
    struct namelist caps = { 0 };
    struct buf text = { 0 };
    struct counted c = { 0 };
    snprintf(folder, sizeof folder, PMU_ROOT "/%s/caps", pmu);
    namelist_add_dir(&caps, folder, false, NULL);
    for (size_t i = 0; i < caps.n; i++)
        if (read_text(&text, "%s/%s", folder, caps.items[i])) {
            write_string(&c.all, caps.items[i]);
            write_string(&c.all, text.data);
            c.n++;
        }
    add_counted(out, &c);
    namelist_done(&caps);
    buf_done(&text);
    return c.n;
}

static bool add_caps_of(void *counted, const struct pmu *pmu)
{
    struct counted *c = counted;
    if (strcmp(pmu->name, "cpu") && add_caps(pmu->name, &c->all)) {
        write_string(&c->all, pmu->name);
        c->n++;
    }
    return true;
}

static void pmu_caps(struct buf *out)
{
    struct counted c = { 0 };
    pmu_each(add_caps_of, &c);
    add_counted(out, &c);
}

/* Machines with two kinds of cores, such as Intel's since Alder Lake. */
static void hybrid_topology(struct buf *out)
{
    static const char *const pmus[] = { "cpu_core", "cpu_atom" };
    struct buf text = { 0 };
    struct counted c = { 0 };
    for (size_t i = 0; i < sizeof pmus / sizeof *pmus; i++)
        if (read_text(&text, PMU_ROOT "/%s/cpus", pmus[i])) {
            write_string(&c.all, pmus[i]);
            write_string(&c.all, text.data);
            c.n++;
        }
    add_counted(out, &c);
    buf_done(&text);
}

void write_machine(enum format_feature feature, struct buf *out)
{
    switch ((int)feature) {
    case FORMAT_CPU_TOPOLOGY:
        cpu_topology(out);
        break;
    case FORMAT_NUMA_TOPOLOGY:
        numa_topology(out);
        break;
    case FORMAT_CACHE:
        caches(out);
        break;
    case FORMAT_MEM_TOPOLOGY:
        memory_topology(out);
        break;
    case FORMAT_PMU_MAPPINGS:
        pmu_mappings(out);
        break;
    case FORMAT_CPU_PMU_CAPS:
        add_caps("cpu", out);
        break;
    case FORMAT_PMU_CAPS:
        pmu_caps(out);
        break;
    case FORMAT_HYBRID_TOPOLOGY:
        hybrid_topology(out);
        break;
    }
}
