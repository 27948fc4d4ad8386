// SPDX-License-Identifier: GPL-2.0-or-later
/* Ratios of counters, with the formulas and words of perf stat (tools/perf/util/stat-shadow.c). */
#include <stdio.h>

#include "perf/count.h"
#include "perf/count_set.h"

static const struct {
    enum count_event part, whole;
    const char *unit;
    bool percent;
} ratios[] = {
    { COUNT_INSTRUCTIONS, COUNT_CYCLES, "IPC", false },
    { COUNT_CYCLES, COUNT_CLOCK, "GHz", false },
    { COUNT_STALLED_FRONTEND, COUNT_CYCLES, "frontend cycles idle", true },
    { COUNT_STALLED_BACKEND, COUNT_CYCLES, "backend cycles idle", true },
    { COUNT_BRANCH_MISSES, COUNT_BRANCHES, "of all branches", true },
    { COUNT_L1_MISSES, COUNT_L1_LOADS, "of all L1-dcache accesses", true },
    { COUNT_LLC_MISSES, COUNT_LLC_LOADS, "of all LL-cache accesses", true },
};

static bool divide(const struct count_value values[COUNT_EVENTS], enum count_event part,
                   enum count_event whole, double *ratio)
{
    if (values[part].state != COUNT_OK || values[whole].state != COUNT_OK || !(values[whole].value > 0))
        return false;
    *ratio = values[part].value / values[whole].value;
    return true;
}

/* Per second of the clock's time, of all CPUs together, as perf stat has it. */
static bool rate(const struct count_value values[COUNT_EVENTS], enum count_event event,
                 struct count_metric *out)
{
    static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
    double per_ns;
    size_t unit = 0;
    if (!divide(values, event, COUNT_CLOCK, &per_ns))
        return false;
    double v = per_ns * 1e9;
    for (; v >= 1000 && unit + 1 < sizeof units / sizeof *units; v /= 1000)
        unit++;
    snprintf(out->value, sizeof out->value, "%.3f", v);
    out->unit = units[unit];
    return true;
}

static bool utilization(const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                        struct count_metric *out)
{
    if (values[COUNT_CLOCK].state != COUNT_OK || !interval_ns)
        return false;
    snprintf(out->value, sizeof out->value, "%.3f", values[COUNT_CLOCK].value / (double)interval_ns);
    out->unit = "CPUs utilized";
    return true;
}

bool count_metric_of(const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                     enum count_event event, struct count_metric *out)
{
    if (event == COUNT_CLOCK)
        return utilization(values, interval_ns, out);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        double ratio;
        if (ratios[i].part != event)
            continue;
        if (!divide(values, event, ratios[i].whole, &ratio))
            return false;
        const char *form = ratios[i].percent ? "%.2f%%" : event == COUNT_CYCLES ? "%.3f" : "%.2f";
        snprintf(out->value, sizeof out->value, form, ratios[i].percent ? ratio * 100 : ratio);
        out->unit = ratios[i].unit;
        return true;
    }
    return rate(values, event, out);
}

bool count_metric(const struct count_set *c, uint32_t row, struct count_metric *out)
{
    return count_metric_of(c->total, c->interval_ns, c->rows[row], out);
}

bool count_ipc(const struct count_set *c, int cpu_index, double *ipc)
{
    const struct count_value *values = cpu_index < 0 ? c->total : c->slots[cpu_index].now;
    return divide(values, COUNT_INSTRUCTIONS, COUNT_CYCLES, ipc);
}
