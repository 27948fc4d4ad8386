// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes machine code of a Java method from an untrusted process: all results are inside the code. */
#include <stdint.h>
#include <stdlib.h>

#include "unwind/hotspot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct unwind_hotspot h;
    struct unwind_entry entry;
    bool fp_saved;
    for (size_t at = 0; at <= size; at += 1 + at / 8)
        if (unwind_hotspot_find(data, size, at, &entry) &&
            (entry.kind != UNWIND_ROW_SP || entry.cfa_offset < 8))
            abort();
    (void)unwind_hotspot_returns(data, size);
    if (!unwind_hotspot_read(&h, data, size))
        return 0;
    if (h.n_epilogues > UNWIND_HOTSPOT_EPILOGUES || h.steps[0].from > size || h.steps[1].from > size)
        abort();
    for (uint32_t i = 0; i < h.n_epilogues; i++)
        if (h.epilogues[i].pop >= h.epilogues[i].end || h.epilogues[i].end > size)
            abort();
    for (uint64_t at = 0; at <= size + 16; at++)
        for (int exact = 0; exact < 2; exact++)
            (void)unwind_hotspot_size(&h, at, exact, &fp_saved);
    return 0;
}
