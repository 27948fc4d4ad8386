// SPDX-License-Identifier: GPL-2.0-or-later
/* Call tables: which calls a module's machine code has, and which functions they can lead to.
 *
 * They check return addresses: whether a call instruction ends right before one, and whether it can have
 * led to the callee. The worker makes a flat, sorted blob (calls_build). The blob is not trusted, like
 * the rows of unwind/rows.h. Addresses are offsets in the module. */
#ifndef FLAMETOP_UNWIND_CALLS_H
#define FLAMETOP_UNWIND_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "unwind/cfi.h"

enum calls_machine { CALLS_X86_64, CALLS_I386, CALLS_ARM64 };

struct calls_header {
    uint32_t magic;
    uint16_t version, zero;
    uint64_t size; /* bytes of the whole blob */
    uint64_t base; /* added to each u32 of the arrays */
    uint32_t n_calls, n_functions, n_jumps, zero2;
};
/* A checked view of a blob, which must stay mapped and unchanged.
 *
 * After the header come these arrays: u32 returns[n_calls], sorted; u32 targets[n_calls]; u32
 * functions[n_functions], the sorted starts of functions; u32 from[n_jumps], sorted: functions that are
 * left by a jump (tail call); u32 to[n_jumps]: where each jump leads. */
struct calls {
    const struct calls_header *header;
    const uint32_t *returns, *targets, *functions, *from, *to;
};
bool calls_view(struct calls *c, const void *blob, size_t size, struct error *e);

#define CALLS_ELSEWHERE UINT64_MAX
/* Returns true if a call that returns to `back` can have led to the function that contains `callee`:
 * directly, through a stub, or through tail calls. `callee` is an offset in the same module, or
 * CALLS_ELSEWHERE for another module. An indirect call can lead anywhere. */
bool calls_lead(const struct calls *c, uint64_t back, uint64_t callee);

/* Finds a missing frame between `back` and `callee`. Sets *between to the return address of the first
 * call to the function of `callee` within the only function that the call before `back` can lead to.
 * Returns false if there is no such call, or if the call before `back` can lead to several functions. */
bool calls_between(const struct calls *c, uint64_t back, uint64_t callee, uint64_t *between);
/* The same for a call from another module to `target`, an offset in this module. Returns whether there
 * is such a call. */
bool calls_reach(const struct calls *c, uint64_t target, uint64_t callee);

struct calls_input {
    enum calls_machine machine;
    const struct cfi_segment *segments; /* executable */
    size_t n_segments;
    const uint64_t *functions; /* sorted offsets of function starts; called functions may be missing */
    size_t n_functions;
};
/* Builds the blob. The caller frees *blob with mem_free. */
bool calls_build(const struct calls_input *in, void **blob, size_t *size, struct error *e);

#endif
