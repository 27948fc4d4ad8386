// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns of the table with a row for each part of the total. */
#include <stdio.h>

#include "base/text.h"
#include "perf/count.h"

enum form { FORM_RATE, FORM_RATIO, FORM_PERCENT, FORM_WATT, FORM_BYTES, FORM_HEAT };
static const struct {
    enum form form;
    enum count_event part, whole;
} what[] = {
    { FORM_RATIO, COUNT_INSTRUCTIONS, COUNT_CYCLES },
    { FORM_RATIO, COUNT_CYCLES, COUNT_CLOCK },
    { FORM_RATE, COUNT_CONTEXT_SWITCHES, 0 },
    { FORM_RATE, COUNT_PAGE_FAULTS, 0 },
    { FORM_RATE, COUNT_CPU_MIGRATIONS, 0 },
    { FORM_PERCENT, COUNT_BRANCH_MISSES, COUNT_BRANCHES },
    { FORM_PERCENT, COUNT_L1_MISSES, COUNT_L1_LOADS },
    { FORM_PERCENT, COUNT_LLC_MISSES, COUNT_LLC_LOADS },
    { FORM_WATT, COUNT_ENERGY_PKG, 0 },
    { FORM_HEAT, COUNT_TEMPERATURE, 0 },
    { FORM_BYTES, COUNT_MEMORY_READS, 0 },
    { FORM_BYTES, COUNT_MEMORY_WRITES, 0 },
    { FORM_RATIO, COUNT_APERF, COUNT_MPERF },
    { FORM_PERCENT, COUNT_RETIRING, COUNT_SLOTS },
    { FORM_PERCENT, COUNT_BAD_SPECULATION, COUNT_SLOTS },
    { FORM_PERCENT, COUNT_FRONTEND_BOUND, COUNT_SLOTS },
    { FORM_PERCENT, COUNT_BACKEND_BOUND, COUNT_SLOTS },
    { FORM_PERCENT, COUNT_DTLB_MISSES, COUNT_DTLB_LOADS },
    { FORM_PERCENT, COUNT_ITLB_MISSES, COUNT_ITLB_LOADS },
    { FORM_RATE, COUNT_CYCLES, 0 },
    { FORM_RATE, COUNT_INSTRUCTIONS, 0 },
};
const struct count_column count_columns[] = {
    { "IPC", 5 },      { "GHz", 5 },      { "CTX-SW/s", 9 },   { "FAULTS/s", 9 },   { "MIGR/s", 7 },
    { "BR-MISS", 8 },  { "L1-MISS", 8 },  { "LLC-MISS", 9 },   { "WATT", 7 },       { "TEMP", 6 },
    { "READS/s", 9 },  { "WRITES/s", 9 }, { "TURBO", 6 },      { "RETIRING", 9 },   { "BAD-SPEC", 9 },
    { "FE-BOUND", 9 }, { "BE-BOUND", 9 }, { "DTLB-MISS", 10 }, { "ITLB-MISS", 10 }, { "CYCLES/s", 9 },
    { "INSN/s", 9 },
};
const uint32_t count_columns_n = sizeof count_columns / sizeof *count_columns;
_Static_assert(sizeof count_columns / sizeof *count_columns == sizeof what / sizeof *what,
               "a title for each column");

bool count_column_text(uint32_t column, const struct count_value values[COUNT_EVENTS], uint64_t interval_ns,
                       char *dst, size_t cap)
{
    double seconds = (double)interval_ns / 1e9, ratio = 0;
    const struct count_value *v = &values[what[column].part];
    enum form form = what[column].form;
    char number[32];
    dst[0] = '\0';
    if (form == FORM_RATIO || form == FORM_PERCENT) {
        if (!count_ratio(values, what[column].part, what[column].whole, &ratio))
            return false;
        (void)snprintf(dst, cap, form == FORM_RATIO ? "%.2f" : "%.2f%%",
                       form == FORM_RATIO ? ratio : 100 * ratio);
        return true;
    }
    if (v->state != COUNT_OK || !(seconds > 0))
        return false;
    if (form == FORM_HEAT)
        (void)snprintf(dst, cap, "%.0f C", v->value);
    else if (form == FORM_WATT)
        (void)snprintf(dst, cap, "%.2f", v->value / seconds);
    else
        (void)snprintf(dst, cap, "%s%s", text_si(number, sizeof number, v->value / seconds),
                       form == FORM_BYTES ? "B" : "");
    return true;
}
