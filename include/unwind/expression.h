// SPDX-License-Identifier: GPL-2.0-or-later
/* Evaluates DWARF expressions (DWARF 5, 2.5) over a memory dump and the registers of a frame.
 *
 * Expressions come from untrusted files: operations and stack depth are limited, and only the dump is
 * read. */
#ifndef FLAMETOP_UNWIND_EXPRESSION_H
#define FLAMETOP_UNWIND_EXPRESSION_H

#include "base/cursor.h"
#include "unwind/arch.h"
#include "unwind/reads.h"

/* A memory dump that starts at `base`. */
struct unwind_memory {
    const uint8_t *bytes;
    size_t size;
    uint64_t base;
    bool swap;
    struct unwind_reads *reads; /* records each word that is read; NULL: none */
};
/* Reads a word; returns false if it is not in the dump. Inline, because each frame needs two words and a
 * recording has millions of frames. */
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
/* Returns false if the value is not known. `reg` may be any number. */
bool unwind_regs_value(const struct unwind_regs *regs, uint64_t reg, uint64_t *value);

/* Evaluates `code`. `cfa` is pushed first; NULL: the stack starts empty. Returns false if that fails. If
 * the dump lacks an address, *missing is set to it. */
bool unwind_evaluate(const struct unwind_memory *memory, const struct unwind_regs *regs, struct cursor code,
                     const uint64_t *cfa, uint64_t *value, uint64_t *missing);

#endif
