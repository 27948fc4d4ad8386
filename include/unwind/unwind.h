// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds a sampled user stack (registers and a memory dump from sp upward) frame by frame. */
#ifndef FLAMETOP_UNWIND_UNWIND_H
#define FLAMETOP_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/arch.h"
#include "unwind/reads.h"
#include "unwind/rows.h"

/* Why unwinding ended. */
enum unwind_end {
    UNWIND_ROOT,     /* complete: return address undefined or 0, or the ABI's outermost frame */
    UNWIND_DUMP,     /* the next word is beyond the dump: truncated */
    UNWIND_NO_TABLE, /* a module without a table, and no usable frame pointer */
    UNWIND_PENDING,  /* the last frame's table is not yet loaded: try again later */
    UNWIND_NO_MAP,   /* a return address in no mapping: garbage */
    UNWIND_BAD_STEP, /* the CFA did not grow, or a row cannot be followed */
    /* The interrupted code or the caller is on another stack, which is not in the dump. */
    UNWIND_ELSEWHERE,
    UNWIND_DEEP,     /* `cap` frames are filled */
    UNWIND_UNPROVEN, /* code without a table, and no call instruction proves its caller */
    UNWIND_KNOWN,    /* the source knows the callers of the last frame */
};

struct unwind_entry;
struct unwind_memory;
/* What the source knows of an address. */
struct unwind_location {
    uint64_t offset;                  /* in the module */
    uint32_t frame;                   /* the source's own number of the frame, passed back */
    const struct unwind_rows *rows;   /* NULL: none */
    const struct unwind_entry *entry; /* the entry in rows, if already found */
    bool pending;                     /* rows are requested but not yet available */
    bool jit;                         /* anonymous code: uses frame pointers if it has no rows */
    /* The fields below are for such code on x86-64.
     *
     * It may lack a frame pointer: a step by frame pointer needs a proof, except for the next steps. */
    bool unproven;
    uint32_t frame_size; /* CFA = rsp + this, return address right below it; 0: unknown */
    bool fp_saved;       /* the caller's rbp is right below the return address */
    /* By frame pointer; the caller's rsp is saved right below its rbp (HotSpot's interpreter). */
    bool sender_sp;
};
struct unwind_frame {
    uint64_t addr;  /* as passed to find: pc, or return address - 1 */
    uint32_t frame; /* from struct unwind_location */
    /* addr is a pc: of the sample, of interrupted code, or of a trampoline without a caller. */
    bool exact;
};
enum unwind_call {
    UNWIND_CALL_UNKNOWN, /* the caller's code cannot be read */
    UNWIND_CALL_REFUTED, /* no call ends there, or it leads elsewhere */
    UNWIND_CALL_PROVEN,
    UNWIND_CALL_PENDING, /* not yet known: try again later */
};
struct unwind_source {
    void *ctx;
    /* Looks up an address: the pc of an exact frame, else one byte before the return address. Returns
     * false if it is in no mapping. */
    bool (*find)(void *ctx, uint64_t addr, struct unwind_location *out);
    /* Deduces rows for `unproven` code: sets the rows, or that they are pending, and the offset. addr:
     * as for find; pc: the next instruction. NULL: not supported. */
    void (*deduce)(void *ctx, uint64_t addr, uint64_t pc, struct unwind_location *location);
    /* Checks whether a call that returns to `back` can have led to the function at `callee` (an address
     * as for find). NULL: not supported. */
    enum unwind_call (*called)(void *ctx, uint64_t back, uint64_t callee);
    /* Finds a missing frame: the call before `back` leads to one function only, which calls the function
     * at `callee`. Sets *between to the return address of that call. NULL: not supported. */
    enum unwind_call (*between)(void *ctx, uint64_t back, uint64_t callee, uint64_t *between);
    /* Gets the memory of another stack around an address, read after the sample. REFUTED: not available.
     * NULL: not supported. */
    enum unwind_call (*other)(void *ctx, uint64_t at, struct unwind_memory *out);
    /* The memory that was read does not match the sample. Returns true if it will be read again; the
     * result is then PENDING. Needs `other`. */
    bool (*again)(void *ctx, uint64_t at);
    /* Returns true if the callers that only such memory shows are credible. frames[0] is the function that
     * switched stacks, `function` the address of the function that it called. Needs `other`. */
    bool (*believe)(void *ctx, uint64_t fp, uint64_t function, const struct unwind_frame *frames, uint32_t n);
    /* Called at most once, with the first frames, where only pc, sp, fp and memory determine the next
     * step. Returns true to end unwinding there, as KNOWN. NULL: not supported. */
    bool (*knows)(void *ctx, const struct unwind_frame *frames, uint32_t n,
                  const struct unwind_memory *memory, const struct unwind_regs *regs);
    /* For `knows`: records what is read from there on. Bad if that does not determine the result. */
    struct unwind_reads *reads;
};

struct unwind_input {
    enum unwind_arch arch;
    struct unwind_regs regs;
    const uint8_t *stack; /* memory from regs.sp; borrowed */
    size_t stack_bytes;   /* really sampled (dyn_size) */
    bool swap;
    /* The kernel's frame-pointer callchain: pc and return addresses (x86-64), unaligned. n_chain 0:
     * none. */
    const void *chain;
    uint32_t n_chain;
};

/* Unwinds into `frames`, leaf first. Returns their number, at least 1 if the pc is in a mapping. The
 * first frame is the pc itself. */
uint32_t unwind_stack(const struct unwind_input *in, const struct unwind_source *src,
                      struct unwind_frame *frames, uint32_t cap, enum unwind_end *end);
/* The same for a 32-bit x86 program, whose registers come as those of x86-64. Ignores in->arch. In
 * unwind32.c. */
uint32_t unwind_stack_32(const struct unwind_input *in, const struct unwind_source *src,
                         struct unwind_frame *frames, uint32_t cap, enum unwind_end *end);

#endif
