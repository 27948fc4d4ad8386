// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiled code of the HotSpot Java VM on x86-64: without a table, and as a rule without frame pointers, but a method's
 * frame has one size from its prologue to its epilogue, and rbp lies right below the return address.
 *
 * Source of the format: OpenJDK, src/hotspot/cpu/x86/macroAssembler_x86.cpp (verified_entry), c1_MacroAssembler_x86.cpp
 * (build_frame, remove_frame), x86.ad (MachEpilogNode); held against the code of a running OpenJDK 17:
 *     mov %eax,-0x14000(%rsp); push %rbp; [sub $N,%rsp]      or     sub $M,%rsp; mov %rbp,M-8(%rsp)
 *     add $N,%rsp; pop %rbp; [cmp …(%r15),%rsp; ja …]; ret
 * The first instruction becomes a jmp where the method is not to be entered any more. */
#ifndef FLAMETOP_UNWIND_HOTSPOT_H
#define FLAMETOP_UNWIND_HOTSPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/rowformat.h"

#define UNWIND_HOTSPOT_EPILOGUES 8

struct unwind_hotspot { /* offsets in the code of a method */
    struct {
        uint32_t from; /* … on, up to the next */
        uint32_t size; /* CFA = rsp + size, and the return address right below it */
        bool fp_saved; /* and below that the caller's rbp */
    } steps[2];        /* before the first one size is 8 */
    uint32_t n_epilogues;
    struct {
        uint32_t pop, end; /* of the pop %rbp; behind the last instruction */
    } epilogues[UNWIND_HOTSPOT_EPILOGUES];
};

/* What the code of a method, from where its symbol begins, tells of its frame. False: not by HotSpot, or it keeps a
 * frame pointer. The bytes are not trusted. */
bool unwind_hotspot_read(struct unwind_hotspot *h, const uint8_t *code, size_t n);
/* The frame of the method around code[at], as an entry that is marked as deduced. The method's prologue is searched for
 * backward; the instructions from there must lead to code[at], so that no other code lies between. False: none was found. */
bool unwind_hotspot_find(const uint8_t *code, size_t n, size_t at, struct unwind_entry *out);
/* Do these bytes begin where HotSpot's interpreter goes on when a method returns to it? It pushes that address by itself:
 * no call instruction ends there. Source: templateInterpreterGenerator_x86.cpp (generate_return_entry_for):
 *     mov -16(%rbp),%rsp; movq $0,-16(%rbp) */
#define UNWIND_HOTSPOT_RETURN 12 /* bytes */
bool unwind_hotspot_returns(const uint8_t *code, size_t n);
/* The frame's size at an offset. exact: that is where a thread is, not where it returns to. */
uint32_t unwind_hotspot_size(const struct unwind_hotspot *h, uint64_t offset, bool exact, bool *fp_saved);

#endif
