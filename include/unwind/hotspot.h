// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the frame size of code that the HotSpot Java VM compiled on x86-64.
 *
 * Such code has no table and usually no frame pointer. But a method's frame has one size from prologue
 * to epilogue, and rbp is saved right below the return address.
 *
 * Source: OpenJDK, src/hotspot/cpu/x86/macroAssembler_x86.cpp (verified_entry),
 * c1_MacroAssembler_x86.cpp (build_frame, remove_frame), x86.ad (MachEpilogNode); checked against the
 * code of a running OpenJDK 17:
 *
 *     mov %eax,-0x14000(%rsp); push %rbp; [sub $N,%rsp]      or     sub $M,%rsp; mov %rbp,M-8(%rsp)
 *     add $N,%rsp; pop %rbp; [cmp …(%r15),%rsp; ja …]; ret
 *
 * The first instruction becomes a jmp once the method must not be entered any more. */
#ifndef FLAMETOP_UNWIND_HOTSPOT_H
#define FLAMETOP_UNWIND_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rowformat.h"

#define UNWIND_HOTSPOT_EPILOGUES 8

/* Offsets in the code of a method. */
struct unwind_hotspot {
    struct {
        uint32_t from; /* start; ends at the next step */
        uint32_t size; /* CFA = rsp + size; the return address is right below the CFA */
        bool fp_saved; /* the caller's rbp is right below the return address */
    } steps[2];        /* before the first step, size is 8 */
    uint32_t n_epilogues;
    struct {
        uint32_t pop, end; /* start of the pop %rbp; end of the last instruction */
    } epilogues[UNWIND_HOTSPOT_EPILOGUES];
};

/* Reads the frame layout from a method's code, which starts at its symbol. Returns false if it is not
 * HotSpot's code, or if it keeps a frame pointer. The bytes are not trusted. */
bool unwind_hotspot_read(struct unwind_hotspot *h, const uint8_t *code, size_t n);
/* Computes the frame at code[at], as an entry marked as deduced. Searches backward for the method's
 * prologue; the instructions from there must lead to code[at], so that no other code is between them.
 * Returns false if no prologue was found. */
bool unwind_hotspot_find(const uint8_t *code, size_t n, size_t at, struct unwind_entry *out);
/* Returns true if the bytes are an entry point at which HotSpot's interpreter continues after a method
 * returns. The interpreter pushes that address itself, so no call instruction ends there.
 *
 * Source: templateInterpreterGenerator_x86.cpp (generate_return_entry_for):
 *
 *     mov -16(%rbp),%rsp; movq $0,-16(%rbp) */
#define UNWIND_HOTSPOT_RETURN 12 /* bytes */
bool unwind_hotspot_returns(const uint8_t *code, size_t n);
/* Returns the frame's size at an offset. exact: the offset is a thread's pc, not a return address. */
uint32_t unwind_hotspot_size(const struct unwind_hotspot *h, uint64_t offset, bool exact, bool *fp_saved);

#endif
