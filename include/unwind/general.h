// SPDX-License-Identifier: GPL-2.0-or-later
/* The rare rows: rules for each register, DWARF expressions among them (DWARF 5, 2.5 and 6.4.1). They come from files
 * that are not to be trusted and are followed in the program's own process: so nothing is read but the blob and the
 * dump, and steps and stack are counted.
 *
 * Rules in a blob, unaligned: u8 flags; u8 kind of the CFA's rule (CFI_REGISTER: u8 register, i64 offset;
 * CFI_VAL_EXPRESSION: u16 size, bytes); u8 n; n times u8 register, u8 kind (enum cfi_rule_kind), and by kind nothing,
 * an i64 (a register: u8), or u16 size and bytes. Registers without a rule keep their values if they are the ABI's
 * saved ones. */
#ifndef FLAMETOP_UNWIND_GENERAL_H
#define FLAMETOP_UNWIND_GENERAL_H

#include "unwind/expression.h"
#include "unwind/rows.h"

#define GENERAL_SIGNAL         1 /* flags: the caller's pc is exact */
#define GENERAL_EXPRESSION_MAX 512

/* Steps from the registers of a frame to those of its caller by the rules at `at` of t's blob. regs->known must be
 * true. False: they cannot be followed; *missing tells the address that the dump lacks, or 0. */
bool unwind_general_step(const struct unwind_rows *t, uint32_t at, enum unwind_arch arch,
                         const struct unwind_memory *m, struct unwind_regs *regs, bool *signal,
                         uint64_t *missing);

#endif
