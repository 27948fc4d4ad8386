// SPDX-License-Identifier: GPL-2.0-or-later
/* Allocation with overflow checks, and arenas.
 *
 * mem_* never return NULL: they are for small, bounded structures. When memory is exhausted, the registered
 * last-words function runs (it restores the terminal) and the process ends with a message. Allocations sized
 * by outside data use mem_try_*, which may return NULL. */
#ifndef FLAMETOP_BASE_MEM_H
#define FLAMETOP_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *mem_alloc(size_t size); /* size 0 gives a unique pointer */
void *mem_zalloc(size_t size);
void *mem_array(size_t count, size_t size);           /* zeroed */
void *mem_lines(size_t count, size_t size);           /* zeroed, aligned to a CPU cache line */
void *mem_resize(void *p, size_t count, size_t size); /* contents kept, new part not zeroed */
char *mem_strdup(const char *s);
char *mem_strndup(const char *s, size_t n);
void *mem_try_array(size_t count, size_t size); /* zeroed; NULL: no memory or overflow */
void *mem_try_resize(void *p, size_t count, size_t size);
void mem_free(void *p);
/* Call before any allocation. Makes large arrays grow in place: the kernel moves their pages instead of the
 * program copying them into new pages that each fault. */
void mem_prepare(void);
/* For systems with a low memory limit: freed memory goes back to the kernel soon, and all threads share one
 * heap. */
void mem_be_frugal(void);
/* Sets the function to run (once) before the process ends because memory is exhausted. */
void mem_on_exhausted(void (*last_words)(void));

/* A growing array: `VEC(struct pmu) pmus;` is a field or a variable, and a named type is
 * `struct pmus { VEC(struct pmu); };`. Zero-initialised is empty; mem_free(v.items) frees it. */
#define VEC(type)                                                                                            \
    struct {                                                                                                 \
        __typeof__(type) *items;                                                                             \
        size_t n, cap;                                                                                       \
    }
/* Adds an element, not zeroed, and returns its address, valid until the next is added. The new value must not
 * be read from the same vector: `*VEC_PUSH(&v) = v.items[0]` may read freed memory. */
#define VEC_PUSH(v)                                                                                          \
    ({                                                                                                       \
        __auto_type vec_to_ = (v);                                                                           \
        VEC_RESERVE(vec_to_, (size_t)vec_to_->n + 1) + vec_to_->n++;                                         \
    })
/* An array whose length is known from elsewhere. */
#define BUFFER(type)                                                                                         \
    struct {                                                                                                 \
        __typeof__(type) *items;                                                                             \
        size_t cap;                                                                                          \
    }
/* Makes room for `need` elements in a vector or buffer, and returns the first. */
#define VEC_RESERVE(v, need)                                                                                 \
    ({                                                                                                       \
        __auto_type vec_ = (v);                                                                              \
        MEM_GROW(vec_->items, vec_->cap, (need));                                                            \
        vec_->items;                                                                                         \
    })
/* Same, and zeroes the elements that it adds. */
#define VEC_RESERVE_ZEROED(v, need)                                                                          \
    ({                                                                                                       \
        __auto_type vec_of_ = (v);                                                                           \
        size_t vec_old_ = vec_of_->cap;                                                                      \
        VEC_RESERVE(vec_of_, (need));                                                                        \
        if (vec_of_->cap > vec_old_)                                                                         \
            memset(vec_of_->items + vec_old_, 0, (vec_of_->cap - vec_old_) * sizeof *vec_of_->items);        \
        vec_of_->items;                                                                                      \
    })
/* Frees the elements and zeroes *v. */
#define VEC_FREE(v)                                                                                          \
    do {                                                                                                     \
        __auto_type vec_ = (v);                                                                              \
        mem_free(vec_->items);                                                                               \
        *vec_ = (__typeof__(*vec_)){ 0 };                                                                    \
    } while (0)
/* Same for an array and its capacity: `MEM_GROW(v->items, v->cap, v->n + 1)`. */
#define MEM_GROW(array, cap, need)                                                                           \
    do {                                                                                                     \
        if ((size_t)(need) > (size_t)(cap)) {                                                                \
            size_t mem_cap_ = mem_next_cap((cap), (need));                                                   \
            (array) = mem_resize((array), mem_cap_, sizeof *(array));                                        \
            (cap) = mem_cap_;                                                                                \
        }                                                                                                    \
    } while (0)
/* Same for sizes from outside data. False: no memory; the array is unchanged. */
#define MEM_TRY_GROW(array, cap, need)                                                                       \
    ({                                                                                                       \
        size_t mem_need_ = (need);                                                                           \
        if (mem_need_ > (cap)) {                                                                             \
            size_t mem_cap_ = mem_next_cap((cap), mem_need_);                                                \
            __typeof__(array) mem_more_ = mem_try_resize((array), mem_cap_, sizeof *(array));                \
            if (mem_more_) {                                                                                 \
                (array) = mem_more_;                                                                         \
                (cap) = mem_cap_;                                                                            \
            }                                                                                                \
        }                                                                                                    \
        mem_need_ <= (cap);                                                                                  \
    })
size_t mem_next_cap(size_t cap, size_t need);

/* A bump allocator: all its memory is freed at once. Pointers stay valid until arena_clear or arena_done. */
struct arena {
    struct arena_block *head;
    size_t used_bytes; /* handed out since the last clear */
    size_t held_bytes; /* allocated from the system */
};
void *arena_alloc(struct arena *a, size_t size); /* aligned to 16, not zeroed */
char *arena_strndup(struct arena *a, const char *s, size_t n);
void arena_clear(struct arena *a); /* keeps one block for reuse */
void arena_done(struct arena *a);

#endif
