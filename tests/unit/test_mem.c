// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "unit_test.h"

TEST(zeroed_memory_is_zeroed)
{
    unsigned char *z = mem_zalloc(64), *a = mem_array(8, 8), *l = mem_lines(7, 9);
    unsigned char none[64] = { 0 };

    assert_memory_equal(z, none, sizeof none);
    assert_memory_equal(a, none, sizeof none);
    assert_memory_equal(l, none, 63);
    assert_int_equal((uintptr_t)l % 64, 0);
    mem_free(z);
    mem_free(a);
    mem_free(l);
}

TEST(size_zero_gives_a_unique_pointer)
{
    void *a = mem_alloc(0), *b = mem_array(0, 8), *c = mem_resize(NULL, 0, 8), *d = mem_try_array(8, 0);

    assert_non_null(a);
    assert_non_null(b);
    assert_non_null(c);
    assert_non_null(d);
    assert_ptr_not_equal(a, b);
    c = mem_resize(c, 0, 4);
    assert_non_null(c);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(d);
}

TEST(strings_are_copied_up_to_n_bytes_or_nul)
{
    char *all = mem_strdup("kernel"), *some = mem_strndup("kernel", 3), *shorter = mem_strndup("ab\0cd", 5);

    assert_string_equal(all, "kernel");
    assert_string_equal(some, "ker");
    assert_string_equal(shorter, "ab");
    mem_free(all);
    mem_free(some);
    mem_free(shorter);
}

TEST(overflowing_sizes_return_null_and_keep_the_block)
{
    char *p = mem_strdup("kept");
    volatile size_t half = SIZE_MAX / 2;

    assert_null(mem_try_array(half, 4));
    assert_null(mem_try_resize(p, half, 4));
    assert_string_equal(p, "kept");
    mem_free(p);
}

static void restore_terminal(void)
{
    printf("terminal restored\n");
    fflush(stdout);
}

/* Returns what a child that runs out of memory writes to stdout and stderr. */
static int run_out_in_child(void (*body)(void), char *said, size_t cap)
{
    int fds[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        dup2(fds[1], STDOUT_FILENO);
        dup2(fds[1], STDERR_FILENO);
        body();
        _exit(0);
    }
    close(fds[1]);
    while (n + 1 < cap && (got = read(fds[0], said + n, cap - 1 - n)) > 0)
        n += (size_t)got;
    said[n] = '\0';
    close(fds[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void exhaust_by_array(void)
{
    volatile size_t half = SIZE_MAX / 2;

    mem_on_exhausted(restore_terminal);
    mem_array(half, 4);
}

static void exhaust_by_vector(void)
{
    VEC(uint64_t) v = { 0 };
    volatile size_t half = SIZE_MAX / 2;

    mem_on_exhausted(restore_terminal);
    VEC_RESERVE(&v, half);
}

static void exhaust_by_arena(void)
{
    struct arena a = { 0 };
    volatile size_t all = SIZE_MAX;

    mem_on_exhausted(restore_terminal);
    arena_alloc(&a, all);
}

static void exhaust_again_in_handler(void)
{
    restore_terminal();
    exhaust_by_array();
}

static void exhaust_in_handler(void)
{
    volatile size_t half = SIZE_MAX / 2;

    mem_on_exhausted(exhaust_again_in_handler);
    mem_array(half, 4);
}

TEST(out_of_memory_restores_the_terminal_then_prints_then_exits)
{
    char said[200];

    assert_int_equal(run_out_in_child(exhaust_by_array, said, sizeof said), EXIT_FAILURE);
    assert_string_equal(said, "terminal restored\nflametop: out of memory\n");
    assert_int_equal(run_out_in_child(exhaust_by_vector, said, sizeof said), EXIT_FAILURE);
    assert_string_equal(said, "terminal restored\nflametop: out of memory\n");
    assert_int_equal(run_out_in_child(exhaust_by_arena, said, sizeof said), EXIT_FAILURE);
    assert_string_equal(said, "terminal restored\nflametop: out of memory\n");
}

TEST(running_out_of_memory_in_the_handler_exits)
{
    char said[200];

    assert_int_equal(run_out_in_child(exhaust_in_handler, said, sizeof said), EXIT_FAILURE);
    assert_string_equal(said, "terminal restored\n");
}

TEST(growing_doubles_and_keeps_the_contents)
{
    int *items = NULL;
    size_t cap = 0, i;

    for (i = 0; i < 1000; i++) {
        MEM_GROW(items, cap, i + 1);
        items[i] = (int)i;
    }
    assert_int_equal(cap, 1024);
    for (i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    mem_free(items);
}

TEST(a_vector_keeps_its_elements_and_is_empty_after_free)
{
    struct numbers {
        VEC(int);
        bool more; /* a named vector may have more fields */
    } v = { .more = true };
    struct numbers *once[] = { &v, NULL }, **next = once;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++)
            *VEC_PUSH(&v) = i;
        assert_int_equal(v.n, 1000);
        assert_true(v.cap >= v.n);
        for (int i = 0; i < 1000; i++)
            assert_int_equal(v.items[i], i);
        VEC_FREE(&v);
        assert_null(v.items);
        assert_int_equal(v.n + v.cap, 0);
    }
    *VEC_PUSH(*next++) = 7; /* the argument is evaluated once */
    assert_ptr_equal(next, once + 1);
    assert_int_equal(v.items[0], 7);
    VEC_FREE(&v);
}

TEST(a_reserved_buffer_grows_only_when_it_is_too_small)
{
    BUFFER(char[32]) b = { 0 };
    char(*items)[32] = VEC_RESERVE(&b, 5);
    size_t cap = b.cap;

    assert_ptr_equal(items, b.items);
    assert_true(cap >= 5);
    strcpy(items[4], "kept");
    VEC_RESERVE(&b, cap);
    assert_int_equal(b.cap, cap);
    assert_string_equal(VEC_RESERVE(&b, 1000)[4], "kept");
    assert_true(b.cap >= 1000);
    VEC_FREE(&b);
    assert_null(b.items);
    assert_int_equal(b.cap, 0);
    for (size_t n = 1; n < 3000; n += 700)
        for (size_t i = 0; i < n; i++)
            assert_int_equal(VEC_RESERVE_ZEROED(&b, n)[i][31], 0);
    VEC_FREE(&b);
}

TEST(next_capacity_is_always_sufficient)
{
    assert_true(mem_next_cap(0, 1) >= 1);
    assert_true(mem_next_cap(4, 5) >= 5);
    assert_int_equal(mem_next_cap(16, 100), 100);
    assert_true(mem_next_cap(SIZE_MAX / 2 + 1, SIZE_MAX) == SIZE_MAX);
}

TEST(arena_memory_is_aligned_and_does_not_overlap)
{
    enum { N = 2000 };
    struct arena a = { 0 };
    unsigned char *p[N];
    size_t i, k;

    for (i = 0; i < N; i++) {
        p[i] = arena_alloc(&a, i % 100);
        assert_int_equal((uintptr_t)p[i] % 16, 0);
        memset(p[i], (int)(i & 0xff), i % 100);
    }
    for (i = 0; i < N; i++)
        for (k = 0; k < i % 100; k++)
            assert_int_equal(p[i][k], i & 0xff);
    arena_done(&a);
    assert_null(a.head);
    assert_int_equal(a.held_bytes, 0);
}

TEST(large_pieces_do_not_waste_the_open_block)
{
    struct arena a = { 0 };
    char *before = arena_alloc(&a, 16), *after;

    memset(arena_alloc(&a, 1000000), 1, 1000000);
    after = arena_alloc(&a, 16);
    assert_ptr_equal(after, before + 16);
    arena_done(&a);
}

TEST(a_cleared_arena_reuses_its_memory)
{
    struct arena a = { 0 };
    void *first = arena_alloc(&a, 100);
    size_t held = a.held_bytes;

    arena_alloc(&a, 1000000);
    assert_true(a.held_bytes > 1000000);
    assert_true(a.used_bytes >= 1000100);
    arena_clear(&a);
    assert_int_equal(a.used_bytes, 0);
    assert_int_equal(a.held_bytes, held);
    assert_ptr_equal(arena_alloc(&a, 100), first);
    arena_done(&a);
}

TEST(arena_strings_are_copied_and_terminated)
{
    struct arena a = { 0 };

    assert_string_equal(arena_strndup(&a, "do_command", 2), "do");
    assert_string_equal(arena_strndup(&a, "do", 10), "do");
    assert_string_equal(arena_strndup(&a, "", 0), "");
    arena_done(&a);
}

TEST_MAIN(NULL, NULL)
