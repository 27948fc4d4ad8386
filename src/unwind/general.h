// SPDX-License-Identifier: GPL-2.0-or-later
/* General rules: rare unwind rows with a rule per register, including DWARF expressions (DWARF 5, 2.5,
 * 6.4.1).
 *
 * They come from untrusted files and are evaluated in flametop's own process. So only the blob and the
 * dump are read, and steps and stack depth are limited.
 *
 * Format in the blob, unaligned: u8 flags; u8 kind of the CFA's rule (CFI_REGISTER: u8 register, i64
 * offset; CFI_VAL_EXPRESSION: u16 size, bytes); u8 n; then n times u8 register, u8 kind (enum
 * cfi_rule_kind), and by kind nothing, an i64 (for a register: u8), or u16 size and bytes. Callee-saved
 * registers without a rule keep their values. */
#ifndef FLAMETOP_UNWIND_GENERAL_H
#define FLAMETOP_UNWIND_GENERAL_H

#include "unwind/expression.h"
#include "unwind/rows.h"

#define GENERAL_SIGNAL         1 /* flags: the caller's pc is exact */
#define GENERAL_EXPRESSION_MAX 512

/* Steps from the registers of a frame to those of its caller, by the rules at offset `at` of t's general
 * rules. regs->known must be accurate. Returns false if that fails; *missing is then the address that
 * the dump lacks, or 0. */
bool unwind_general_step(const struct unwind_rows *t, uint32_t at, enum unwind_arch arch,
                         const struct unwind_memory *m, struct unwind_regs *regs, bool *signal,
                         uint64_t *missing);

#endif
