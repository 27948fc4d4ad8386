// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/machine_load.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"

#define TEXT_MAX (1u << 20) /* /proc/stat has a line per CPU, and a long one for interrupts */

static const char *const resource_names[MACHINE_RESOURCES] = { "cpu", "memory", "io" };

void machine_load_average(struct machine_load *l, const char *text)
{
    struct machine_load now = { 0 };
    if (sscanf(text, "%lf %lf %lf %u/%u", &now.average[0], &now.average[1], &now.average[2], &now.running,
               &now.tasks) != 5)
        return;
    memcpy(l->average, now.average, sizeof l->average);
    l->running = now.running;
    l->tasks = now.tasks;
}

void machine_load_stat(struct machine_load *l, const char *text)
{
    unsigned long long t[8];
    const char *blocked = strstr(text, "\nprocs_blocked ");
    if (blocked)
        (void)sscanf(blocked, " procs_blocked %u", &l->blocked);
    if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
               &t[6], &t[7]) != 8)
        return;
    uint64_t total = 0, steal = t[7];
    for (int i = 0; i < 8; i++)
        total += t[i];
    if (l->total && total > l->total)
        l->steal_percent =
            steal > l->steal ? 100.0 * (double)(steal - l->steal) / (double)(total - l->total) : 0;
    else if (!l->total)
        l->steal_percent = -1;
    l->steal = steal;
    l->total = total;
}

void machine_load_pressure(struct machine_load *l, enum machine_resource resource, const char *text)
{
    struct machine_pressure p = { .there = true, .full = -1 };
    const char *full = strstr(text, "\nfull ");
    if (sscanf(text, "some avg10=%lf", &p.some) != 1)
        return;
    if (full && sscanf(full, " full avg10=%lf", &p.full) != 1)
        p.full = -1;
    l->pressure[resource] = p;
}

static bool read_text(struct buf *text, const char *path)
{
    text->len = 0;
    return file_read(path, TEXT_MAX, text, NULL);
}

void machine_load_read(struct machine_load *l)
{
    struct buf text = { 0 };
    char path[64];
    l->average[0] = -1;
    if (read_text(&text, "/proc/loadavg"))
        machine_load_average(l, buf_str(&text));
    if (read_text(&text, "/proc/stat"))
        machine_load_stat(l, buf_str(&text));
    for (int i = 0; i < MACHINE_RESOURCES; i++) {
        l->pressure[i].there = false;
        (void)snprintf(path, sizeof path, "/proc/pressure/%s", resource_names[i]);
        if (read_text(&text, path))
            machine_load_pressure(l, (enum machine_resource)i, buf_str(&text));
    }
    buf_done(&text);
}

static void load_text(const struct machine_load *l, char *dst, size_t cap)
{
    char steal[32] = "...";
    if (l->steal_percent >= 0)
        (void)snprintf(steal, sizeof steal, "%.1f%%", l->steal_percent);
    if (l->average[0] < 0)
        (void)snprintf(dst, cap, "load: /proc/loadavg cannot be read");
    else
        (void)snprintf(dst, cap, "load %.2f %.2f %.2f  run queue %u of %u tasks  blocked %u  steal %s",
                       l->average[0], l->average[1], l->average[2], l->running, l->tasks, l->blocked, steal);
}

static void pressure_text(const struct machine_load *l, char *dst, size_t cap)
{
    size_t n = 0;
    bool any = false;
    n += (size_t)snprintf(dst, cap, "PSI 10s:");
    for (int i = 0; i < MACHINE_RESOURCES && n < cap; i++) {
        const struct machine_pressure *p = &l->pressure[i];
        if (!p->there)
            continue;
        any = true;
        n += (size_t)snprintf(dst + n, cap - n, "  %s some %.1f%%", resource_names[i], p->some);
        if (p->full >= 0 && i != MACHINE_CPU && n < cap) /* always 0 for all CPUs */
            n += (size_t)snprintf(dst + n, cap - n, " full %.1f%%", p->full);
    }
    if (!any)
        (void)snprintf(dst, cap, "PSI: this kernel does not provide it (CONFIG_PSI, or psi=1 at boot)");
}

void machine_load_text(const struct machine_load *l, unsigned line, char *dst, size_t cap)
{
    if (line == 0)
        load_text(l, dst, cap);
    else
        pressure_text(l, dst, cap);
}
