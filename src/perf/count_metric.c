// SPDX-License-Identifier: GPL-2.0-or-later
/* Ratios of counters with perf stat's formulas and words (tools/perf/util/stat-shadow.c), and numbers as
 * text. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "perf/count.h"

enum form { FORM_RATIO, FORM_GHZ, FORM_PERCENT };
static const struct {
    enum count_event part, whole;
    const char *unit;
    enum form form;
} ratios[] = {
    { COUNT_INSTRUCTIONS, COUNT_CYCLES, "IPC", FORM_RATIO },
    { COUNT_CYCLES, COUNT_CLOCK, "GHz", FORM_GHZ },
    { COUNT_STALLED_FRONTEND, COUNT_CYCLES, "frontend cycles idle", FORM_PERCENT },
    { COUNT_STALLED_BACKEND, COUNT_CYCLES, "backend cycles idle", FORM_PERCENT },
    { COUNT_BRANCH_MISSES, COUNT_BRANCHES, "of all branches", FORM_PERCENT },
    { COUNT_L1_MISSES, COUNT_L1_LOADS, "of all L1-dcache accesses", FORM_PERCENT },
    { COUNT_LLC_MISSES, COUNT_LLC_LOADS, "of all LL-cache accesses", FORM_PERCENT },
    { COUNT_L1I_MISSES, COUNT_L1I_LOADS, "of all L1-icache accesses", FORM_PERCENT },
    { COUNT_DTLB_MISSES, COUNT_DTLB_LOADS, "of all dTLB accesses", FORM_PERCENT },
    { COUNT_ITLB_MISSES, COUNT_ITLB_LOADS, "of all iTLB accesses", FORM_PERCENT },
    { COUNT_PREFETCH_MISSES, COUNT_PREFETCHES, "of all prefetches", FORM_PERCENT },
    { COUNT_RETIRING, COUNT_SLOTS, "retiring", FORM_PERCENT },
    { COUNT_BAD_SPECULATION, COUNT_SLOTS, "bad speculation", FORM_PERCENT },
    { COUNT_FRONTEND_BOUND, COUNT_SLOTS, "frontend bound", FORM_PERCENT },
    { COUNT_BACKEND_BOUND, COUNT_SLOTS, "backend bound", FORM_PERCENT },
    { COUNT_TSC, COUNT_CLOCK, "GHz nominal", FORM_GHZ },
    { COUNT_APERF, COUNT_MPERF, "of the nominal clock (turbo)", FORM_RATIO },
    { COUNT_MPERF, COUNT_TSC, "not halted", FORM_PERCENT },
};

bool count_ratio(const struct count_value values[COUNT_EVENTS], enum count_event part, enum count_event whole,
                 double *ratio)
{
    if (values[part].state != COUNT_OK || values[whole].state != COUNT_OK || !(values[whole].value > 0))
        return false;
    *ratio = values[part].value / values[whole].value;
    return true;
}

static void set_unit(struct count_metric *out, const char *unit)
{
    (void)snprintf(out->unit, sizeof out->unit, "%s", unit);
}

/* Rate per second of clock time, of all CPUs together, as in perf stat. */
static bool rate(const struct count_value values[COUNT_EVENTS], enum count_event event,
                 struct count_metric *out)
{
    static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
    double per_ns;
    size_t unit = 0;
    if (!count_ratio(values, event, COUNT_CLOCK, &per_ns))
        return false;
    double v = per_ns * 1e9;
    for (; v >= 1000 && unit + 1 < sizeof units / sizeof *units; v /= 1000)
        unit++;
    snprintf(out->value, sizeof out->value, "%.3f", v);
    set_unit(out, units[unit]);
    return true;
}

/* Rate per wall-clock time. */
static bool per_interval(const struct count_value *v, double unit, uint64_t interval_ns, const char *form,
                         const char *name, struct count_metric *out)
{
    if (v->state != COUNT_OK || !interval_ns)
        return false;
    snprintf(out->value, sizeof out->value, form, v->value / unit / (double)interval_ns);
    set_unit(out, name);
    return true;
}

/* Add stalled cycles per instruction: frontend or backend, whichever is larger. */
static void add_stalls(const struct count_value values[COUNT_EVENTS], struct count_metric *out)
{
    double front = 0, back = 0;
    bool any = count_ratio(values, COUNT_STALLED_FRONTEND, COUNT_INSTRUCTIONS, &front);
    any |= count_ratio(values, COUNT_STALLED_BACKEND, COUNT_INSTRUCTIONS, &back);
    if (any)
        snprintf(out->unit, sizeof out->unit, "IPC, %.2f stalled/insn", front > back ? front : back);
}

static bool ratio_metric(const struct count_value values[COUNT_EVENTS], size_t i, struct count_metric *out)
{
    double ratio;
    if (!count_ratio(values, ratios[i].part, ratios[i].whole, &ratio))
        return false;
    const char *form = ratios[i].form == FORM_PERCENT ? "%.2f%%"
                       : ratios[i].form == FORM_GHZ   ? "%.3f"
                                                      : "%.2f";
    snprintf(out->value, sizeof out->value, form, ratios[i].form == FORM_PERCENT ? ratio * 100 : ratio);
    set_unit(out, ratios[i].unit);
    if (ratios[i].part == COUNT_INSTRUCTIONS)
        add_stalls(values, out);
    return true;
}

bool count_metric_of(const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                     enum count_event event, struct count_metric *out)
{
    if (event == COUNT_CLOCK)
        return per_interval(&values[event], 1, interval_ns, "%.3f", "CPUs utilized", out);
    if (event >= COUNT_ENERGY_CORES && event <= COUNT_ENERGY_PSYS)
        return per_interval(&values[event], 1e-9, interval_ns, "%.2f", "W", out);
    if (event == COUNT_MEMORY_READS || event == COUNT_MEMORY_WRITES)
        return per_interval(&values[event], 1, interval_ns, "%.3f", "GB/s", out);
    for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++)
        if (ratios[i].part == event)
            return ratio_metric(values, i, out);
    return event != COUNT_TEMPERATURE && rate(values, event, out);
}

char *count_text(char *dst, size_t cap, enum count_event event, const struct count_value *v, double seconds)
{
    double per = event == COUNT_TEMPERATURE || !(seconds > 0) ? 1 : seconds;
    char number[32];
    if (v->state != COUNT_OK)
        snprintf(dst, cap, "%s", v->state == COUNT_NOT_SUPPORTED ? "<not supported>" : "<not counted>");
    else if (event == COUNT_CLOCK)
        snprintf(dst, cap, "%.1f ms", v->value / NS_PER_MS / per);
    else if (event == COUNT_TEMPERATURE)
        snprintf(dst, cap, "%.0f C", v->value);
    else if (event >= COUNT_ENERGY_CORES && event <= COUNT_ENERGY_PSYS)
        snprintf(dst, cap, "%.2f J", v->value / per);
    else
        snprintf(dst, cap, "%s%s", text_si(number, sizeof number, v->value / per),
                 event == COUNT_MEMORY_READS || event == COUNT_MEMORY_WRITES ? "B" : "");
    return dst;
}
