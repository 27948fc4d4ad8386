// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/mem.h"

#include <malloc.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES  64
#define LARGE_BYTES (128 << 10)
#define SMALL_BYTES (64 << 10)

static void (*_Atomic last_words_fn)(void);

void mem_prepare(void)
{
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
#endif
}

void mem_be_frugal(void)
{
#ifdef M_ARENA_MAX
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_TRIM_THRESHOLD, SMALL_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, SMALL_BYTES);
#endif
}

void mem_on_exhausted(void (*last_words)(void))
{
    last_words_fn = last_words;
}

/* Several threads may get here at once, and the last words may themselves run out of memory. The first thread
 * runs the last words, the others wait for the end of the process. If the first thread gets here again, it
 * exits at once. */
static _Noreturn void exhausted(void)
{
    static const char message[] = "flametop: out of memory\n";
    static atomic_flag taken = ATOMIC_FLAG_INIT;
    static _Thread_local bool speaking;
    void (*last_words)(void) = last_words_fn;

    if (speaking)
        _exit(EXIT_FAILURE);
    while (atomic_flag_test_and_set(&taken))
        pause();
    speaking = true;
    if (last_words)
        last_words();
    /* a failed write cannot be reported */
    if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
        _exit(EXIT_FAILURE);
    _exit(EXIT_FAILURE);
}

static void *or_exhausted(void *p)
{
    if (!p)
        exhausted();
    return p;
}

void *mem_alloc(size_t size)
{
    return or_exhausted(malloc(size ? size : 1));
}

void *mem_zalloc(size_t size)
{
    return or_exhausted(calloc(1, size ? size : 1));
}

void *mem_try_array(size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    return calloc(1, total ? total : 1);
}

void *mem_try_resize(void *p, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    /* realloc to size 0 would free p */
    return realloc(p, total ? total : 1);
}

void *mem_array(size_t count, size_t size)
{
    return or_exhausted(mem_try_array(count, size));
}

void *mem_lines(size_t count, size_t size)
{
    size_t total = 0, whole;
    void *p = NULL;

    if (!__builtin_mul_overflow(count, size, &total) &&
        !__builtin_add_overflow(total, (size_t)LINE_BYTES - 1, &whole))
        p = aligned_alloc(LINE_BYTES, whole / LINE_BYTES * LINE_BYTES);
    return memset(or_exhausted(p), 0, total);
}

void *mem_resize(void *p, size_t count, size_t size)
{
    return or_exhausted(mem_try_resize(p, count, size));
}

char *mem_strndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = mem_alloc(len + 1);

    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *mem_strdup(const char *s)
{
    return mem_strndup(s, strlen(s));
}

void mem_free(void *p)
{
    free(p);
}

size_t mem_next_cap(size_t cap, size_t need)
{
    size_t next = cap < 8 ? 16 : cap;

    if (cap >= 8 && __builtin_mul_overflow(cap, 2, &next))
        return need;
    return next < need ? need : next;
}

#define ARENA_BLOCK_BYTES ((size_t)64 * 1024)
#define ARENA_ALIGN       ((size_t)16)

struct arena_block {
    struct arena_block *next;
    size_t size, used;
    alignas(16) unsigned char data[];
};

static struct arena_block *block_new(struct arena *a, size_t size)
{
    struct arena_block *b;
    size_t total;

    if (__builtin_add_overflow(size, sizeof *b, &total))
        exhausted();
    b = mem_alloc(total);
    b->next = NULL;
    b->size = size;
    b->used = 0;
    a->held_bytes += total;
    return b;
}

static struct arena_block *block_for(struct arena *a, size_t size)
{
    struct arena_block *b = a->head;

    if (b && b->size - b->used >= size)
        return b;
    /* A large allocation gets its own block after the head, so the head's free room stays in use. */
    if (b && size > ARENA_BLOCK_BYTES / 4) {
        struct arena_block *own = block_new(a, size);
        own->next = b->next;
        b->next = own;
        return own;
    }
    b = block_new(a, size > ARENA_BLOCK_BYTES ? size : ARENA_BLOCK_BYTES);
    b->next = a->head;
    a->head = b;
    return b;
}

void *arena_alloc(struct arena *a, size_t size)
{
    struct arena_block *b;
    size_t rounded;
    void *p;

    if (__builtin_add_overflow(size ? size : 1, ARENA_ALIGN - 1, &rounded))
        exhausted();
    rounded &= ~(ARENA_ALIGN - 1);
    b = block_for(a, rounded);
    p = b->data + b->used;
    b->used += rounded;
    a->used_bytes += rounded;
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = arena_alloc(a, len + 1);

    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

static void free_blocks(struct arena *a, struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;
        a->held_bytes -= b->size + sizeof *b;
        mem_free(b);
        b = next;
    }
}

void arena_clear(struct arena *a)
{
    struct arena_block *head = a->head;

    a->used_bytes = 0;
    if (!head)
        return;
    free_blocks(a, head->next);
    head->next = NULL;
    head->used = 0;
}

void arena_done(struct arena *a)
{
    free_blocks(a, a->head);
    *a = (struct arena){ 0 };
}
