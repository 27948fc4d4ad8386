// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls in a module's machine code: whether a return address has a call instruction right before it, and whether
 * that call can have led to a function. A flat, sorted blob made by the worker (calls_build) and not trusted, as the rows
 * of unwind/rows.h. Addresses are offsets in the module. */
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
    uint64_t size; /* of the whole blob */
    uint64_t base; /* that the numbers below count from */
    uint32_t n_calls, n_functions, n_jumps, zero2;
};
/* Behind the header: u32 returns[n_calls], sorted; u32 targets[n_calls]; u32 functions[n_functions], sorted: where they
 * begin; u32 from[n_jumps], sorted: a function that is left without a call; u32 to[n_jumps]: to where. */
struct calls { /* a checked view of a blob, which must stay mapped and unchanged */
    const struct calls_header *header;
    const uint32_t *returns, *targets, *functions, *from, *to;
};
bool calls_view(struct calls *c, const void *blob, size_t size, struct error *e);

#define CALLS_ELSEWHERE UINT64_MAX
/* Can a call that returns to `back` have led to the function that holds `callee`, directly, through a stub, or through
 * functions that jump on? callee: an offset in the same module, or CALLS_ELSEWHERE. An indirect call leads anywhere. */
bool calls_lead(const struct calls *c, uint64_t back, uint64_t callee);

/* Where the function that the call before `back` leads to, and no other one, calls the one that holds `callee`: *between
 * is the return address of the first of these calls. False: it has none, or the call may lead to others. */
bool calls_between(const struct calls *c, uint64_t back, uint64_t callee, uint64_t *between);
/* The same for a call from elsewhere that leads to `target`, an offset in the module. */
bool calls_reach(const struct calls *c, uint64_t target, uint64_t callee);

struct calls_input {
    enum calls_machine machine;
    const struct cfi_segment *segments; /* executable */
    size_t n_segments;
    const uint64_t *functions; /* offsets where functions begin, sorted; called ones need not be among them */
    size_t n_functions;
};
/* *blob is the caller's, for mem_free. */
bool calls_build(const struct calls_input *in, void **blob, size_t *size, struct error *e);

#endif
