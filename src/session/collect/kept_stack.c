// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/kept_stack.h"

#include "session/session_state.h"

void kept_stack_prepare(struct session *s)
{
    session_add_hidden_event(s, &s->collect.holders, "kept stacks");
}

uint64_t kept_stack_put(struct session *s, const struct record *r, const struct sample *sample,
                        const struct stack_result *stack)
{
    if (!stack->awaits)
        return stack->stack;
    struct sample holder = *sample;
    holder.event = s->collect.holders % SAMPLE_EVENTS;
    uint64_t number = history_append(s->store.history, &holder, NULL, 0);
    aside_put(s, r, sample->thread, number);
    return kept_make(KEPT_HOLDER, number);
}

uint32_t kept_stack_of(const struct session *s, uint64_t kept)
{
    const struct sample *holder;
    switch (kept_kind_of(kept)) {
    case KEPT_STACK:
        return (uint32_t)kept;
    case KEPT_HOLDER:
        holder = history_sample(s->store.history, kept_number(kept));
        return holder ? holder->stack : 0;
    default:
        return 0;
    }
}

void kept_stack_follow(struct session *s, uint64_t kept, uint64_t number, bool ends)
{
    if (kept_kind_of(kept) == KEPT_HOLDER)
        aside_also(s, kept_number(kept), number, ends);
}

uint64_t kept_stack_before_drop(struct session *s, uint64_t kept, bool all)
{
    bool holder = kept_kind_of(kept) == KEPT_HOLDER;
    return holder && (all || !aside_has(s, kept_number(kept))) ? kept_stack_of(s, kept) : kept;
}

uint64_t kept_stack_renumber(uint64_t kept, const uint32_t *new_stack)
{
    return kept_kind_of(kept) == KEPT_STACK ? new_stack[kept] : kept;
}
