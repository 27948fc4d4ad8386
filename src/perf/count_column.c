// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of the table with a row for each part of the total. */
#include <stdio.h>

#include "base/text.h"
#include "perf/count.h"

const struct count_column count_columns[] = {
    { "IPC", 5, COUNT_AS_RATIO, COUNT_INSTRUCTIONS, COUNT_CYCLES },
    { "GHz", 5, COUNT_AS_RATIO, COUNT_CYCLES, COUNT_CLOCK },
    { "CTX-SW/s", 9, COUNT_AS_RATE, COUNT_CONTEXT_SWITCHES, 0 },
    { "FAULTS/s", 9, COUNT_AS_RATE, COUNT_PAGE_FAULTS, 0 },
    { "MIGR/s", 7, COUNT_AS_RATE, COUNT_CPU_MIGRATIONS, 0 },
    { "BR-MISS", 8, COUNT_AS_PERCENT, COUNT_BRANCH_MISSES, COUNT_BRANCHES },
    { "L1-MISS", 8, COUNT_AS_PERCENT, COUNT_L1_MISSES, COUNT_L1_LOADS },
    { "LLC-MISS", 9, COUNT_AS_PERCENT, COUNT_LLC_MISSES, COUNT_LLC_LOADS },
    { "WATT", 7, COUNT_AS_WATT, COUNT_ENERGY_PKG, 0 },
    { "TEMP", 6, COUNT_AS_HEAT, COUNT_TEMPERATURE, 0 },
    { "READS/s", 9, COUNT_AS_BYTES, COUNT_MEMORY_READS, 0 },
    { "WRITES/s", 9, COUNT_AS_BYTES, COUNT_MEMORY_WRITES, 0 },
    { "TURBO", 6, COUNT_AS_RATIO, COUNT_APERF, COUNT_MPERF },
    { "RETIRING", 9, COUNT_AS_PERCENT, COUNT_RETIRING, COUNT_SLOTS },
    { "BAD-SPEC", 9, COUNT_AS_PERCENT, COUNT_BAD_SPECULATION, COUNT_SLOTS },
    { "FE-BOUND", 9, COUNT_AS_PERCENT, COUNT_FRONTEND_BOUND, COUNT_SLOTS },
    { "BE-BOUND", 9, COUNT_AS_PERCENT, COUNT_BACKEND_BOUND, COUNT_SLOTS },
    { "DTLB-MISS", 10, COUNT_AS_PERCENT, COUNT_DTLB_MISSES, COUNT_DTLB_LOADS },
    { "ITLB-MISS", 10, COUNT_AS_PERCENT, COUNT_ITLB_MISSES, COUNT_ITLB_LOADS },
    { "CYCLES/s", 9, COUNT_AS_RATE, COUNT_CYCLES, 0 },
    { "INSN/s", 9, COUNT_AS_RATE, COUNT_INSTRUCTIONS, 0 },
};
const uint32_t count_columns_n = sizeof count_columns / sizeof *count_columns;

bool count_column_text(uint32_t column, const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                       char *dst, size_t cap)
{
    double seconds = (double)interval_ns / 1e9, ratio = 0;
    const struct count_column *c = &count_columns[column];
    const struct count_value *v = &values[c->part];
    char number[32];
    dst[0] = '\0';
    if (c->form == COUNT_AS_RATIO || c->form == COUNT_AS_PERCENT) {
        if (!count_ratio(values, c->part, c->whole, &ratio))
            return false;
        (void)snprintf(dst, cap, c->form == COUNT_AS_RATIO ? "%.2f" : "%.2f%%",
                       c->form == COUNT_AS_RATIO ? ratio : 100 * ratio);
        return true;
    }
    if (v->state != COUNT_OK || !(seconds > 0))
        return false;
    if (c->form == COUNT_AS_HEAT)
        (void)snprintf(dst, cap, "%.0f C", v->value);
    else if (c->form == COUNT_AS_WATT)
        (void)snprintf(dst, cap, "%.2f", v->value / seconds);
    else
        (void)snprintf(dst, cap, "%s%s", text_si(number, sizeof number, v->value / seconds),
                       c->form == COUNT_AS_BYTES ? "B" : "");
    return true;
}
