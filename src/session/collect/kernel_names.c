// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of the kernel's part of a stack, which tell what a thread waits for and who wakes it. */
#include "session/session_state.h"

bool kernel_names_of(struct session *s, uint32_t stack, size_t most, const char **names, size_t *n)
{
    for (*n = 0; stack && *n < most; stack = stacks_parents(s->store.stacks)[stack]) {
        uint32_t frame = stacks_frames(s->store.stacks)[stack];
        struct module *m = world_module(s->store.world, stacks_frame_modules(s->store.stacks)[frame]);
        struct symbol symbol;
        if (!m || (m->kind != MODULE_KERNEL && m->kind != MODULE_KMOD && m->kind != MODULE_KSYM))
            break;
        symbolizer_lookup(s->store.symbolizer, m, stacks_frame_offsets(s->store.stacks)[frame], &symbol);
        if (symbol.state == SYMBOL_PENDING)
            return false;
        names[(*n)++] = symbol.name;
    }
    return true;
}
