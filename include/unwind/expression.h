// SPDX-License-Identifier: GPL-2.0-or-later
/* DWARF expressions (DWARF 5, 2.5) over a dump of memory and the registers of a frame. They come from files that are
 * not to be trusted: operations and stack are counted, and nothing but the dump is read. */
#ifndef FLAMETOP_UNWIND_EXPRESSION_H
#define FLAMETOP_UNWIND_EXPRESSION_H

#include "base/cursor.h"
#include "unwind/arch.h"
#include "unwind/reads.h"

struct unwind_memory { /* a dump of memory from base on */
    const uint8_t *bytes;
    size_t size;
    uint64_t base;
    bool swap;
    struct unwind_reads *reads; /* where each word is noted that is asked for; NULL: nowhere */
};
/* False: not in the dump. Inline: a walk asks for two words a frame, and files have millions of them. */
static inline bool unwind_memory_word(const struct unwind_memory *m, uint64_t addr, uint64_t *value)
{
    uint64_t at = addr - m->base;

    if (m->reads)
        unwind_reads_note(m->reads, addr);
    if (m->size < sizeof *value || at > m->size - sizeof *value)
        return false;
    memcpy(value, m->bytes + at, sizeof *value);
    if (m->swap)
        *value = bswap_64(*value);
    return true;
}
/* False: not known. Any number may be asked for. */
bool unwind_regs_value(const struct unwind_regs *regs, uint64_t reg, uint64_t *value);

/* cfa: lies on the stack at the start; NULL: nothing does. False: it cannot be evaluated; *missing is then set to the
 * address that the dump lacks, if that is why. */
bool unwind_evaluate(const struct unwind_memory *memory, const struct unwind_regs *regs, struct cursor code,
                     const uint64_t *cfa, uint64_t *value, uint64_t *missing);

#endif
