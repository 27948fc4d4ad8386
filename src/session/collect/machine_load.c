// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/machine_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#define TEXT_MAX    (1u << 20) /* /proc/stat has a line per CPU, and a long one for interrupts */
#define THREADS_MAX 1e7        /* more than the kernel's limit, PID_MAX_LIMIT */

static bool is_average(double value)
{
    return value >= 0 && value < THREADS_MAX; /* false for NaN */
}

bool machine_load_average(struct machine_load *l, const char *text)
{
    double average[3];
    unsigned running, threads;
    if (sscanf(text, "%lf %lf %lf %u/%u", &average[0], &average[1], &average[2], &running, &threads) != 5)
        return false;
    if (!is_average(average[0]) || !is_average(average[1]) || !is_average(average[2]))
        return false;
    measured_add(&l->average, average[0]);
    l->average_5 = average[1];
    l->average_15 = average[2];
    l->running = running;
    l->threads = threads;
    return true;
}

/* Takes the ticks of all CPUs since boot: their sum, and the steal time. */
static void take_ticks(struct machine_load *l, uint64_t total, uint64_t steal)
{
    double percent = -1;
    if (l->total_ticks && total > l->total_ticks)
        percent = steal > l->steal_ticks
                      ? 100.0 * (double)(steal - l->steal_ticks) / (double)(total - l->total_ticks)
                      : 0;
    if (percent >= 0 || !l->total_ticks)
        measured_add(&l->steal, percent < 100 ? percent : 100);
    l->steal_ticks = steal;
    l->total_ticks = total;
}

bool machine_load_stat(struct machine_load *l, const char *text)
{
    unsigned long long t[8];
    unsigned queue, blocked;
    const char *at = strstr(text, "\nprocs_running ");
    if (!at || sscanf(at, " procs_running %u procs_blocked %u", &queue, &blocked) != 2)
        return false;
    if (sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4], &t[5],
               &t[6], &t[7]) != 8)
        return false;
    uint64_t total = 0;
    for (int i = 0; i < 8; i++)
        total += t[i];
    take_ticks(l, total, t[7]);
    measured_add(&l->queue, queue);
    measured_add(&l->blocked, blocked);
    return true;
}

/* ---- reading ---- */

static bool same_cgroups(const struct machine_load *l, const struct scope *scope)
{
    bool same = l->places.n == 1 + scope_cgroups(scope);
    for (uint32_t i = 1; same && i < l->places.n; i++)
        same = !strcmp(l->places.items[i].cgroup, scope_cgroup(scope, i - 1));
    return same;
}

static void set_places(struct machine_load *l, const struct scope *scope)
{
    machine_load_done(l);
    VEC_RESERVE_ZEROED(&l->places, 1 + scope_cgroups(scope));
    l->places.n = 1 + scope_cgroups(scope);
    for (uint32_t i = 1; i < l->places.n; i++)
        (void)snprintf(l->places.items[i].cgroup, sizeof l->places.items[i].cgroup, "%s",
                       scope_cgroup(scope, i - 1));
}

void machine_load_open(struct machine_load *l, const struct scope *scope)
{
    if (!same_cgroups(l, scope))
        set_places(l, scope);
    l->total_ticks = 0;
    for (uint32_t i = 0; i < l->places.n; i++)
        pressure_restart(&l->places.items[i]);
    machine_load_read(l);
}

static bool read_file(const char *path, bool (*parse)(struct machine_load *, const char *),
                      struct machine_load *l, struct error *e)
{
    struct buf text = { 0 };
    error_clear(e);
    bool ok = file_read(path, TEXT_MAX, &text, e) &&
              (parse(l, buf_str(&text)) ||
               error_set(e, ERROR_FORMAT, "%s is not as proc(5) describes it: no value is shown", path));
    buf_done(&text);
    return ok;
}

static void read_cgroup(struct pressure_place *place)
{
    char root[512];
    bool v2 = false;
    error_clear(&place->why_not);
    if (!scope_cgroup_root(root, sizeof root, &v2, &place->why_not))
        return;
    if (!v2) {
        error_set(&place->why_not, ERROR_UNSUPPORTED,
                  "no pressure of this cgroup: only cgroup v2 has it, and perf events of cgroups use the v1 "
                  "hierarchy %s here",
                  root);
        return;
    }
    struct scope one = { .kind = SCOPE_CGROUP };
    memcpy(one.cgroup, place->cgroup, sizeof one.cgroup);
    int folder = scope_open_cgroup(&one, 0);
    if (folder >= 0) {
        pressure_read(place, folder);
        close(folder);
    } else {
        error_sys(&place->why_not, errno, "no pressure of this cgroup: cannot open its folder");
        if (place->why_not.sys == ENOENT)
            error_hint(&place->why_not, "it was removed");
        pressure_restart(place); /* a later cgroup of this name counts from 0 */
    }
}

void machine_load_read(struct machine_load *l)
{
    if (!read_file("/proc/loadavg", machine_load_average, l, &l->no_average))
        l->average.now = -1;
    if (!read_file("/proc/stat", machine_load_stat, l, &l->no_stat))
        l->queue.now = l->blocked.now = l->steal.now = -1;
    for (uint32_t i = 0; i < l->places.n; i++) {
        if (i == 0)
            pressure_read(&l->places.items[i], AT_FDCWD);
        else
            read_cgroup(&l->places.items[i]);
    }
    l->read_ns = clock_now_ns();
    machine_load_make_rows(l);
}

void machine_load_done(struct machine_load *l)
{
    VEC_FREE(&l->places);
    VEC_FREE(&l->rows);
    *l = (struct machine_load){ 0 };
}
