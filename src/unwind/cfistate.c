// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfistate.h"

#include <string.h>

#include "base/mem.h"

#define STATES_USUAL 1024

/* Two states with the same hash are rare: the later one then gets a new number each time. */
uint32_t cfi_states_number(struct cfi_states *s, const struct cfi_state *state)
{
    uint64_t *number = map_at(&s->by_hash, map_hash_bytes(state, sizeof *state, 0), s->n, NULL);

    _Static_assert(sizeof(struct cfi_state) == (1 + UNWIND_REGS_MAX) * 16, "a state is compared as bytes");
    if (*number < s->n && !memcmp(&s->all[*number].state, state, sizeof *state))
        return (uint32_t)*number;
    if (s->n == CFI_STATES_MAX || !MEM_TRY_GROW(s->all, s->cap, s->n + 1))
        return CFI_NO_STATE;
    s->all[s->n] = (struct cfi_known){ .state = *state };
    return (uint32_t)s->n++;
}

struct cfi_known *cfi_states_at(struct cfi_states *s, uint32_t number)
{
    return &s->all[number];
}

struct cfi_step *cfi_states_step(struct cfi_states *s, uint64_t instruction, uint32_t from, uint64_t location)
{
    uint64_t hash = (instruction ^ (uint64_t)from << 40 ^ location << 17) * UINT64_C(0x9e3779b97f4a7c15);

    return &s->steps[hash >> (64 - CFI_STEP_BITS)];
}

bool cfi_states_trim(struct cfi_states *s)
{
    if (s->n < STATES_USUAL)
        return false;
    s->n = 0;
    map_clear(&s->by_hash);
    memset(s->steps, 0, sizeof s->steps);
    return true;
}

void cfi_states_done(struct cfi_states *s)
{
    mem_free(s->all);
    map_done(&s->by_hash);
    *s = (struct cfi_states){ 0 };
}
