// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/box.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "perf/pmu.h"
#include "perf/tally.h"

/* One group on each CPU that was online when it was opened. */
struct box_counters {
    struct event_list events;
    struct scope scope;
    struct tally *tally;
    double cycles, instructions; /* at the last look */
};

void box_init(struct box *b)
{
    memset(b, 0, sizeof *b);
    b->stat_fd = b->vmstat_fd = -1;
    b->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN); /* until the first look */
    b->user_percent = b->system_percent = b->idle_percent = b->iowait_percent = -1;
    b->switches_per_sec = b->faults_per_sec = b->ipc = -1;
}

/* The value behind a key at the start of a line. */
static uint64_t box_value(const char *text, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = text; p && *p; p = strchr(p, '\n')) {
        if (*p == '\n')
            p++;
        if (!strncmp(p, key, n) && p[n] == ' ')
            return strtoull(p + n, NULL, 10);
    }
    return 0;
}

static void box_look_cpu(struct box *b, struct buf *text)
{
    unsigned long long user, nice, system, idle, iowait, irq, softirq, steal;
    if (sscanf(buf_str(text), "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &iowait,
               &irq, &softirq, &steal) != 8)
        return;
    struct box now = { .user = user + nice, .system = system + irq + softirq, .idle = idle, .iowait = iowait };
    now.total = now.user + now.system + now.idle + now.iowait + steal;
    if (b->total && now.total > b->total) {
        double all = now.total - b->total;
        /* iowait and idle may step back on some kernels: never show less than nothing */
        b->user_percent = now.user > b->user ? 100 * (now.user - b->user) / all : 0;
        b->system_percent = now.system > b->system ? 100 * (now.system - b->system) / all : 0;
        b->idle_percent = now.idle > b->idle ? 100 * (now.idle - b->idle) / all : 0;
        b->iowait_percent = now.iowait > b->iowait ? 100 * (now.iowait - b->iowait) / all : 0;
    }
    b->user = now.user, b->system = now.system, b->idle = now.idle, b->iowait = now.iowait, b->total = now.total;
}

static double box_rate(uint64_t before, uint64_t now, uint64_t interval_ns)
{
    return now >= before ? (double)(now - before) * NS_PER_SEC / interval_ns : 0;
}

static void box_count_cpus(struct box *b)
{
    uint32_t n = 0;
    for (const char *p = buf_str(&b->text); (p = strstr(p, "\ncpu")); p++)
        n++;
    b->cpus = n ? n : b->cpus;
}

/* To open a file of procfs costs more than to read it. */
static bool box_read(struct box *b, int *fd, const char *path)
{
    if (*fd < 0)
        *fd = open(path, O_RDONLY | O_CLOEXEC);
    return *fd >= 0 && lseek(*fd, 0, SEEK_SET) == 0 && file_read_fd(*fd, path, 1 << 20, &b->text, NULL);
}

static void box_close_counters(struct box *b)
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

/* Without a PMU nothing is tried: that costs each second in most VMs. */
static void box_open_counters(struct box *b)
{
    struct error e = { 0 }; /* whoever wants to know why asks view 4 */
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
        box_close_counters(b);
}

static void box_look_counters(struct box *b)
{
    if (!b->counters_tried)
        box_open_counters(b);
    struct box_counters *c = b->counters;
    if (!c)
        return;
    struct tally_result cycles = tally_read(c->tally, 0, TALLY_ALL), instructions = tally_read(c->tally, 1, TALLY_ALL);
    bool counted = cycles.state == COUNT_OK && instructions.state == COUNT_OK && c->cycles > 0 &&
                   cycles.value > c->cycles && instructions.value >= c->instructions;
    b->ipc = counted ? (instructions.value - c->instructions) / (cycles.value - c->cycles) : -1;
    c->cycles = cycles.value;
    c->instructions = instructions.value;
}

void box_look(struct box *b, uint64_t now_ns)
{
    uint64_t interval_ns = b->time_ns && now_ns > b->time_ns ? now_ns - b->time_ns : 0;
    if (box_read(b, &b->stat_fd, "/proc/stat")) {
        box_look_cpu(b, &b->text);
        box_count_cpus(b);
        uint64_t switches = box_value(buf_str(&b->text), "ctxt");
        if (interval_ns && switches)
            b->switches_per_sec = box_rate(b->switches, switches, interval_ns);
        b->switches = switches;
    }
    if (box_read(b, &b->vmstat_fd, "/proc/vmstat")) {
        uint64_t faults = box_value(buf_str(&b->text), "pgfault");
        if (interval_ns && faults)
            b->faults_per_sec = box_rate(b->faults, faults, interval_ns);
        b->faults = faults;
    }
    box_look_counters(b);
    b->time_ns = now_ns;
}

void box_done(struct box *b)
{
    if (b->stat_fd >= 0)
        close(b->stat_fd);
    if (b->vmstat_fd >= 0)
        close(b->vmstat_fd);
    buf_done(&b->text);
    box_close_counters(b);
    box_init(b);
}

static bool parse_cpu(const char *line, struct box_cpu *out)
{
    unsigned number;
    unsigned long long v[8];
    if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &number, &v[0], &v[1], &v[2], &v[3], &v[4],
               &v[5], &v[6], &v[7]) != 9)
        return false;
    *out = (struct box_cpu){ .number = number, .busy_percent = -1 };
    for (int i = 0; i < 8; i++) {
        out->total += v[i];
        out->busy += i == 3 || i == 4 ? 0 : v[i]; /* idle and iowait are not busy */
    }
    return true;
}

const struct box_cpu *box_cpus_find(const struct box_cpus *b, uint32_t number)
{
    for (uint32_t i = 0; i < b->n; i++)
        if (b->cpus[i].number == number)
            return &b->cpus[i];
    return NULL;
}

void box_cpus_look(struct box_cpus *b)
{
    struct box_cpus now = { 0 };
    struct buf text = { 0 };
    struct box_cpu cpu;
    file_read("/proc/stat", 1 << 20, &text, NULL);
    for (const char *line = buf_str(&text); line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!parse_cpu(line, &cpu))
            continue;
        const struct box_cpu *before = box_cpus_find(b, cpu.number);
        if (before && cpu.total > before->total)
            cpu.busy_percent = cpu.busy > before->busy
                                   ? 100.0 * (double)(cpu.busy - before->busy) / (double)(cpu.total - before->total)
                                   : 0;
        MEM_GROW(now.cpus, now.cap, now.n + 1);
        now.cpus[now.n++] = cpu;
    }
    buf_done(&text);
    box_cpus_done(b);
    *b = now;
}

void box_cpus_done(struct box_cpus *b)
{
    mem_free(b->cpus);
    *b = (struct box_cpus){ 0 };
}
