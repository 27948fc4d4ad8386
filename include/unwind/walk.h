// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks a sampled user stack (registers and a dump of memory from sp upward) frame by frame. */
#ifndef FLAMETOP_UNWIND_WALK_H
#define FLAMETOP_UNWIND_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/arch.h"
#include "unwind/reads.h"
#include "unwind/rows.h"

enum unwind_end {              /* why the walk ended */
                  UNWIND_ROOT, /* at the true end: return address undefined or 0, or the ABI's outermost frame */
                  UNWIND_DUMP,     /* the next word lies beyond the dump */
                  UNWIND_NO_TABLE, /* a module without a table, and no frame pointer that leads on */
                  UNWIND_PENDING,  /* the table of the last frame's module is still to come: try again then */
                  UNWIND_NO_MAP,   /* a return address in no mapping: garbage */
                  UNWIND_BAD_STEP, /* the CFA did not grow, or a row that cannot be followed */
                  UNWIND_ELSEWHERE, /* what a signal interrupted, or what called, is on another stack, where no dump of this one reaches */
                  UNWIND_DEEP,     /* cap frames */
                  UNWIND_UNPROVEN, /* code without a table, and no call instruction proves who called it */
                  UNWIND_KNOWN,    /* the caller knows what calls the last frame */
};

struct unwind_entry;
struct unwind_memory;
struct unwind_place {                 /* what the caller knows of an address */
    uint64_t offset;                  /* in its module */
    uint32_t frame;                   /* the caller's own number for it, handed back */
    const struct unwind_rows *rows;   /* NULL: none */
    const struct unwind_entry *entry; /* of rows, if it was looked up before */
    bool pending;                     /* rows are asked for, and not there yet */
    bool jit;                         /* anonymous code: without rows by frame pointer, where that leads on */
    /* x86-64, of such code: */
    bool
        unproven; /* nothing says that it keeps a frame pointer: a step by one needs a proof, but for the next ones */
    uint32_t frame_size; /* CFA = rsp + this, the return address right below it; 0: not known */
    bool fp_saved;       /* … and below that the caller's rbp */
    bool
        sender_sp; /* by frame pointer; the caller's rsp lies below the caller's rbp (HotSpot's interpreter) */
};
struct unwind_frame {
    uint64_t addr;  /* as looked up: pc, or return address - 1 */
    uint32_t frame; /* from the place */
    bool exact; /* pc of the sample, of what a signal interrupted, or of a trampoline that nobody called */
};
enum unwind_call {
    UNWIND_CALL_UNKNOWN, /* the caller's code cannot be read */
    UNWIND_CALL_REFUTED, /* no call ends there, or it leads elsewhere */
    UNWIND_CALL_PROVEN,
    UNWIND_CALL_PENDING, /* not known yet: try again later */
};
struct unwind_source {
    void *ctx;
    /* False: in no mapping. addr is the pc of an exact frame, else one byte before the return address. */
    bool (*find)(void *ctx, uint64_t addr, struct unwind_place *out);
    /* Of code that is `unproven`: its rows, or that they are pending, and its offset there. addr as find took it; pc: the
     * instruction that comes next. NULL: there are none. */
    void (*deduce)(void *ctx, uint64_t addr, uint64_t pc, struct unwind_place *place);
    /* Can a call that returns to `back` have led to the function at `callee`, an address as find takes it? NULL: not
     * known of any. */
    enum unwind_call (*called)(void *ctx, uint64_t back, uint64_t callee);
    /* Where the function that a call before `back` leads to, and no other one, calls the function at `callee`: *between returns
     * there. NULL: not known of any. */
    enum unwind_call (*between)(void *ctx, uint64_t back, uint64_t callee, uint64_t *between);
    /* The memory of another stack around an address, read since the sample. REFUTED: it cannot be had. NULL: of none. */
    enum unwind_call (*other)(void *ctx, uint64_t at, struct unwind_memory *out);
    /* What was read there was of another time: is it to be read again? The walk is PENDING then. With other. */
    bool (*again)(void *ctx, uint64_t at);
    /* Callers that nothing but such memory tells, frames[n] from the one on that changed the stack: may they be believed?
     * With other. */
    bool (*believe)(void *ctx, uint64_t fp, const struct unwind_frame *frames, uint32_t n);
    /* NULL: none. Asked once at most, with the first frames, where nothing but pc, sp, fp and memory leads on from the
     * last of them. True: the walk ends there, as KNOWN. */
    bool (*knows)(void *ctx, const struct unwind_frame *frames, uint32_t n,
                  const struct unwind_memory *memory, const struct unwind_regs *regs);
    /* With knows: what the walk reads from there on. Begun there, and bad where that does not tell where it goes. */
    struct unwind_reads *reads;
};

struct unwind_input {
    enum unwind_arch arch;
    struct unwind_regs regs;
    const uint8_t *stack; /* memory from regs.sp; borrowed */
    size_t stack_bytes;   /* that were really taken (dyn_size) */
    bool swap;
    /* The pc and the return addresses that the kernel found by frame pointers (x86-64), unaligned; n_chain 0: none. */
    const void *chain;
    uint32_t n_chain;
};

/* Fills frames, leaf first; returns their number (at least 1 if the pc lies in a mapping). The first frame is
 * the pc itself. */
uint32_t unwind_walk(const struct unwind_input *in, const struct unwind_source *src,
                     struct unwind_frame *frames, uint32_t cap, enum unwind_end *end);
/* walk32.c: the same of a 32-bit program of x86, whose registers come as those of x86-64; in->arch is not looked at. */
uint32_t unwind_walk_32(const struct unwind_input *in, const struct unwind_source *src,
                        struct unwind_frame *frames, uint32_t cap, enum unwind_end *end);

#endif
