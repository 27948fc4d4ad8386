// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/system_stats.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "perf/pmu.h"
#include "perf/tally.h"

#define READ_CHUNK 8192
#define READ_MAX   (1u << 20)
#define READ_SPARE 64 /* room for numbers that grow */

struct jiffies {
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
};

/* One group on each CPU that was online at the opening. */
struct system_counters {
    struct event_list events;
    struct scope scope;
    struct tally *tally;
    double cycles, instructions; /* at the last read */
};

void system_init(struct system_stats *b)
{
    memset(b, 0, sizeof *b);
    b->stat.fd = b->vmstat.fd = -1;
    b->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); /* until the first read */
    b->user_percent = b->system_percent = b->idle_percent = b->iowait_percent = -1;
    b->switches_per_sec = b->faults_per_sec = b->ipc = -1;
}

/* Parses a CPU's line of /proc/stat, after its name. False: the line is incomplete. */
static bool parse_jiffies(const char *p, struct jiffies *out)
{
    uint64_t *const values[] = { &out->user,   &out->nice, &out->system,  &out->idle,
                                 &out->iowait, &out->irq,  &out->softirq, &out->steal };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *end;
        *values[i] = strtoull(p, &end, 10);
        if (end == p || (*end != ' ' && *end != '\n'))
            return false;
        p = end;
    }
    return true;
}

static void system_look_cpu(struct system_stats *b)
{
    struct jiffies j;
    const char *text = buf_str(&b->text);
    if (strncmp(text, "cpu ", 4) || !parse_jiffies(text + 4, &j))
        return;
    struct system_stats now = {
        .user = j.user + j.nice, .system = j.system + j.irq + j.softirq, .idle = j.idle, .iowait = j.iowait
    };
    now.total = now.user + now.system + now.idle + now.iowait + j.steal;
    if (b->total && now.total > b->total) {
        double all = now.total - b->total;
        /* iowait and idle may decrease on some kernels: show no negative values */
        b->user_percent = now.user > b->user ? 100 * (now.user - b->user) / all : 0;
        b->system_percent = now.system > b->system ? 100 * (now.system - b->system) / all : 0;
        b->idle_percent = now.idle > b->idle ? 100 * (now.idle - b->idle) / all : 0;
        b->iowait_percent = now.iowait > b->iowait ? 100 * (now.iowait - b->iowait) / all : 0;
    }
    b->user = now.user, b->system = now.system, b->idle = now.idle, b->iowait = now.iowait,
    b->total = now.total;
}

static double system_rate(uint64_t before, uint64_t now, uint64_t interval_ns)
{
    return now >= before ? (double)(now - before) * NS_PER_SEC / interval_ns : 0;
}

/* The line of all CPUs comes first; one line per CPU follows. */
static void box_count_cpus(struct system_stats *b)
{
    uint32_t n = 0;
    for (const char *p = buf_str(&b->text); (p = strchr(p, '\n')) && !strncmp(p, "\ncpu", 4); p++)
        n++;
    b->cpus = n ? n : b->cpus;
}

/* Reads a file up to the line that begins with key, and returns its number; 0: none. The file stays open,
 * since opening a procfs file costs more than reading it, and it is read no further, since the kernel then
 * does not generate the rest. */
static uint64_t system_read(struct system_stats *b, struct system_file *file, const char *path,
                            const char *key)
{
    char chunk[READ_CHUNK];
    ssize_t n;
    buf_clear(&b->text);
    if (file->fd < 0)
        file->fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t wanted = file->enough ? file->enough : sizeof chunk;
    while (b->text.len < READ_MAX && (n = pread(file->fd, chunk, wanted, (off_t)b->text.len)) > 0) {
        buf_add(&b->text, chunk, (size_t)n);
        const char *line = strstr(buf_str(&b->text), key), *end = line ? strchr(line + 1, '\n') : NULL;
        wanted = sizeof chunk;
        if (!end)
            continue;
        size_t enough = (size_t)(end - buf_str(&b->text)) + READ_SPARE;
        file->enough = enough < sizeof chunk ? enough : 0;
        return strtoull(line + strlen(key), NULL, 10);
    }
    return 0;
}

static void system_close_counters(struct system_stats *b)
{
    if (!b->counters)
        return;
    if (b->counters->tally)
        tally_close(b->counters->tally);
    event_list_done(&b->counters->events);
    scope_done(&b->counters->scope);
    mem_free(b->counters);
    b->counters = NULL;
}

/* Without a PMU nothing is tried: it would cost time each second in most VMs. */
static void system_open_counters(struct system_stats *b)
{
    struct error e = { 0 }; /* not shown: view 4 reports the reason */
    b->counters_tried = true;
    if (!pmu_has_core())
        return;
    b->counters = mem_zalloc(sizeof *b->counters);
    scope_init(&b->counters->scope);
    if (event_list_parse(&b->counters->events, "{cycles,instructions}", &e))
        b->counters->tally = tally_open(&b->counters->events, &b->counters->scope, &e);
    if (b->counters->tally)
        tally_start(b->counters->tally);
    else
        system_close_counters(b);
}

static void system_look_counters(struct system_stats *b)
{
    if (!b->counters_tried)
        system_open_counters(b);
    struct system_counters *c = b->counters;
    if (!c)
        return;
    struct tally_result cycles = tally_read(c->tally, 0, TALLY_ALL),
                        instructions = tally_read(c->tally, 1, TALLY_ALL);
    bool counted = cycles.state == COUNT_OK && instructions.state == COUNT_OK && c->cycles > 0 &&
                   cycles.value > c->cycles && instructions.value >= c->instructions;
    b->ipc = counted ? (instructions.value - c->instructions) / (cycles.value - c->cycles) : -1;
    c->cycles = cycles.value;
    c->instructions = instructions.value;
}

void system_look(struct system_stats *b, uint64_t now_ns)
{
    uint64_t interval_ns = b->time_ns && now_ns > b->time_ns ? now_ns - b->time_ns : 0;
    uint64_t switches = system_read(b, &b->stat, "/proc/stat", "\nctxt ");
    if (b->text.len) {
        system_look_cpu(b);
        box_count_cpus(b);
        if (interval_ns && switches)
            b->switches_per_sec = system_rate(b->switches, switches, interval_ns);
        b->switches = switches;
    }
    uint64_t faults = system_read(b, &b->vmstat, "/proc/vmstat", "\npgfault ");
    if (b->text.len) {
        if (interval_ns && faults)
            b->faults_per_sec = system_rate(b->faults, faults, interval_ns);
        b->faults = faults;
    }
    system_look_counters(b);
    b->time_ns = now_ns;
}

void system_done(struct system_stats *b)
{
    if (b->stat.fd >= 0)
        close(b->stat.fd);
    if (b->vmstat.fd >= 0)
        close(b->vmstat.fd);
    buf_done(&b->text);
    system_close_counters(b);
    system_init(b);
}

static bool parse_cpu(const char *line, struct system_cpu *out)
{
    char *end;
    struct jiffies j;
    if (strncmp(line, "cpu", 3) || line[3] < '0' || line[3] > '9')
        return false;
    *out = (struct system_cpu){ .number = (uint32_t)strtoul(line + 3, &end, 10), .busy_percent = -1 };
    if (!parse_jiffies(end, &j))
        return false;
    out->busy = j.user + j.nice + j.system + j.irq + j.softirq + j.steal;
    out->total = out->busy + j.idle + j.iowait;
    return true;
}

const struct system_cpu *system_cpus_find(const struct system_cpus *b, uint32_t number)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (b->items[i].number == number)
            return &b->items[i];
    return NULL;
}

void system_cpus_look(struct system_cpus *b)
{
    struct system_cpus now = { 0 };
    struct buf text = { 0 };
    struct system_cpu cpu;
    file_read("/proc/stat", 1 << 20, &text, NULL);
    for (const char *line = buf_str(&text); line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!parse_cpu(line, &cpu))
            continue;
        const struct system_cpu *before = system_cpus_find(b, cpu.number);
        if (before && cpu.total > before->total)
            cpu.busy_percent = cpu.busy > before->busy ? 100.0 * (double)(cpu.busy - before->busy) /
                                                             (double)(cpu.total - before->total)
                                                       : 0;
        *VEC_PUSH(&now) = cpu;
    }
    buf_done(&text);
    system_cpus_done(b);
    *b = now;
}

void system_cpus_done(struct system_cpus *b)
{
    VEC_FREE(b);
}
