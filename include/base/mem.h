// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocation with overflow checks, and arenas.
 *
 * mem_* never return NULL: when the system has no memory left for our small, bounded structures, the
 * registered last-words function runs (it restores the terminal) and the process ends with a message.
 * Whatever is sized by data from elsewhere goes through mem_try_*, which may return NULL. */
#ifndef FLAMETOP_BASE_MEM_H
#define FLAMETOP_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t size); /* size 0 gives a unique pointer */
void *mem_zalloc(size_t size);
void *mem_array(size_t count, size_t size); /* zeroed */
void *mem_lines(size_t count, size_t size); /* the same, from the start of a line of the CPU's cache on */
void *mem_resize(void *p, size_t count, size_t size); /* contents kept, new part not zeroed */
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
void *mem_try_array(size_t count, size_t size); /* zeroed; NULL: no memory or overflow */
void *mem_try_resize(void *p, size_t count, size_t size);
void mem_free(void *p);
/* Before anything else: large arrays grow in place then, as the kernel moves their pages, instead of being copied into new
 * ones of which each has to be made. */
void mem_prepare(void);
/* Where a limit of memory is low: what was freed goes back to the kernel soon, and all threads share one heap. */
void mem_be_frugal(void);
/* Runs (once) before the process ends for want of memory. */
void mem_on_exhausted(void (*last_words)(void));

/* Makes room for `need` elements in a growing array: `MEM_GROW(v->items, v->cap, v->n + 1)`. */
#define MEM_GROW(array, cap, need)                                                                           \
    do {                                                                                                     \
        if ((size_t)(need) > (size_t)(cap)) {                                                                \
            size_t mem_cap_ = mem_next_cap((cap), (need));                                                   \
            (array) = mem_resize((array), mem_cap_, sizeof *(array));                                        \
            (cap) = mem_cap_;                                                                                \
        }                                                                                                    \
    } while (0)
size_t mem_next_cap(size_t cap, size_t need);

/* A bump allocator: everything goes at once. Pointers stay valid until arena_clear or arena_done. */
struct arena {
    struct arena_block *head;
    size_t used_bytes; /* handed out since the last clear */
    size_t held_bytes; /* taken from the system */
};
void *arena_alloc(struct arena *a, size_t size); /* aligned to 16, not zeroed */
char *arena_strndup(struct arena *a, const char *s, size_t n);
void arena_clear(struct arena *a); /* keeps one block for reuse */
void arena_done(struct arena *a);

/* Brings what lies there into the CPU's cache, while other work is done. Who does nothing but that has to be inlined too:
 * gcc takes a function without effects for one that need not be called. */
#define MEM_FETCHES static inline __attribute__((always_inline))
MEM_FETCHES void mem_fetch(const void *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 64)
        __builtin_prefetch((const char *)p + i);
}
/* The same with much that will all be of use: beyond what it has under way at once, a CPU may ignore what is only a hint. */
static inline void mem_fetch_all(const void *p, size_t bytes)
{
    const volatile char *from = p;

    for (size_t i = 0; i < bytes; i += 64)
        (void)from[i];
}

#endif
