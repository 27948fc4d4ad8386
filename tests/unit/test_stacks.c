// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/mem.h"
#include "profile/stacks.h"
#include "unit_test.h"

TEST(a_frame_is_interned_by_module_and_offset)
{
    struct stacks *s = stacks_new();
    uint32_t a = stacks_frame(s, 1, 0x1000);

    assert_int_not_equal(a, 0);
    assert_int_equal(stacks_frame(s, 1, 0x1000), a);
    assert_int_not_equal(stacks_frame(s, 2, 0x1000), a);
    assert_int_not_equal(stacks_frame(s, 1, 0x1001), a);
    assert_int_equal(stacks_frame_count(s), 4);
    assert_int_equal(stacks_frame_modules(s)[a], 1);
    assert_int_equal(stacks_frame_offsets(s)[a], 0x1000);
    stacks_free(s);
}

TEST(no_module_with_offset_zero_is_a_frame)
{
    struct stacks *s = stacks_new();
    uint32_t a = stacks_frame(s, 0, 0);

    assert_int_not_equal(a, 0);
    assert_int_equal(stacks_frame(s, 0, 0), a);
    assert_int_equal(stacks_frame(s, UINT32_MAX, UINT64_MAX), stacks_frame(s, UINT32_MAX, UINT64_MAX));
    stacks_free(s);
}

TEST(a_child_is_interned_by_parent_and_frame)
{
    struct stacks *s = stacks_new();
    uint32_t f = stacks_frame(s, 1, 1), g = stacks_frame(s, 1, 2);
    uint32_t a = stacks_child(s, 0, f);
    uint32_t b = stacks_child(s, a, f);

    assert_int_not_equal(a, 0);
    assert_int_not_equal(b, a);
    assert_int_equal(stacks_child(s, 0, f), a);
    assert_int_equal(stacks_child(s, a, f), b);
    assert_int_not_equal(stacks_child(s, 0, g), a);
    assert_int_equal(stacks_parents(s)[b], a);
    assert_int_equal(stacks_frames(s)[b], f);
    assert_int_equal(stacks_parents(s)[a], 0);
    assert_int_equal(stacks_node_count(s), 4);
    stacks_free(s);
}

TEST(a_stack_is_moved_onto_another_from_any_ancestor)
{
    struct stacks *s = stacks_new();
    uint32_t f = stacks_frame(s, 1, 1), g = stacks_frame(s, 1, 2), h = stacks_frame(s, 1, 3);
    uint32_t a = stacks_child(s, 0, f), b = stacks_child(s, a, g), c = stacks_child(s, b, h);
    uint32_t to = stacks_child(s, 0, h);
    assert_int_equal(stacks_rebase(s, c, a, to), stacks_child(s, stacks_child(s, to, g), h));
    assert_int_equal(stacks_rebase(s, a, 0, to), stacks_child(s, to, f));
    assert_int_equal(stacks_rebase(s, c, c, to), to);
    assert_int_equal(stacks_rebase(s, a, b, to), to); /* no ancestor */
    stacks_free(s);
}

#define MANY 20000

TEST(many_frames_and_nodes_keep_their_ids_when_the_tables_grow)
{
    struct stacks *s = stacks_new();
    uint32_t *node = mem_array(MANY, sizeof *node), *frame = mem_array(MANY, sizeof *frame);

    for (uint32_t i = 0; i < MANY; i++) {
        frame[i] = stacks_frame(s, i % 7, (uint64_t)i << 32 | i);
        node[i] = stacks_child(s, i ? node[i / 3] : 0, frame[i]);
        assert_int_equal(frame[i], i + 1);
        assert_int_equal(node[i], i + 1);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(stacks_frame(s, i % 7, (uint64_t)i << 32 | i), frame[i]);
        assert_int_equal(stacks_child(s, i ? node[i / 3] : 0, frame[i]), node[i]);
        assert_true(stacks_parents(s)[node[i]] < node[i]);
    }
    mem_free(node);
    mem_free(frame);
    stacks_free(s);
}

TEST(compacting_keeps_marked_nodes_and_their_ancestors_in_order)
{
    struct stacks *s = stacks_new();
    uint32_t f[5];
    uint8_t keep[6] = { 0 };
    uint32_t *to;

    for (uint32_t i = 0; i < 5; i++)
        f[i] = stacks_frame(s, 9, 100 + i);
    stacks_child(s, 0, f[0]); /* 1: removed */
    stacks_child(s, 0, f[1]); /* 2: kept for 4 */
    stacks_child(s, 1, f[2]); /* 3: removed */
    stacks_child(s, 2, f[3]); /* 4: marked */
    stacks_child(s, 4, f[4]); /* 5: removed */
    keep[4] = 1;
    to = stacks_compact(s, keep);
    assert_int_equal(to[0], 0);
    assert_int_equal(to[1], 0);
    assert_int_equal(to[2], 1);
    assert_int_equal(to[3], 0);
    assert_int_equal(to[4], 2);
    assert_int_equal(to[5], 0);
    assert_int_equal(stacks_node_count(s), 3);
    assert_int_equal(stacks_frame_count(s), 3);
    assert_int_equal(stacks_parents(s)[2], 1);
    assert_int_equal(stacks_frame_offsets(s)[stacks_frames(s)[1]], 101);
    assert_int_equal(stacks_frame_offsets(s)[stacks_frames(s)[2]], 103);
    assert_int_equal(stacks_frame_modules(s)[stacks_frames(s)[2]], 9);
    mem_free(to);
    stacks_free(s);
}

TEST(an_interrupted_frame_is_a_separate_frame)
{
    struct stacks *s = stacks_new();
    uint8_t keep[4] = { 0, 0, 1, 1 };
    uint32_t called = stacks_frame(s, 9, 100), interrupted = stacks_frame_interrupted(s, called);

    assert_int_not_equal(called, interrupted);
    assert_int_equal(stacks_frame_interrupted(s, called), interrupted);
    assert_int_equal(stacks_frame_interrupted(s, interrupted), interrupted);
    assert_int_equal(stacks_frame(s, 9, 100), called);
    assert_int_equal(stacks_frame_offsets(s)[interrupted], 100);
    stacks_child(s, 0, stacks_frame(s, 1, 1)); /* removed */
    stacks_child(s, 0, called);
    stacks_child(s, 0, interrupted);
    mem_free(stacks_compact(s, keep));
    assert_int_equal(stacks_frame_interrupts(s)[stacks_frames(s)[1]], 0);
    assert_int_equal(stacks_frame_interrupts(s)[stacks_frames(s)[2]], 1);
    assert_int_equal(stacks_frame_interrupted(s, stacks_frames(s)[1]), stacks_frames(s)[2]);
    stacks_free(s);
}

TEST(kept_nodes_are_found_after_compacting)
{
    struct stacks *s = stacks_new();
    uint8_t keep[3] = { 0, 0, 1 };
    uint32_t *to;

    stacks_child(s, 0, stacks_frame(s, 1, 10));
    stacks_child(s, 0, stacks_frame(s, 1, 20));
    to = stacks_compact(s, keep);
    assert_int_equal(stacks_child(s, 0, stacks_frame(s, 1, 20)), 1);
    assert_int_equal(stacks_child(s, 0, stacks_frame(s, 1, 10)), 2); /* was dropped, so it is new */
    mem_free(to);
    stacks_free(s);
}

TEST(compacting_everything_frees_the_memory)
{
    struct stacks *s = stacks_new();
    size_t empty = stacks_bytes(s), full;
    uint8_t *keep = mem_array(MANY + 1, 1);
    uint32_t *to;

    for (uint32_t i = 0; i < MANY; i++)
        stacks_child(s, i, stacks_frame(s, 1, i)); /* one chain, as deep as it is long */
    full = stacks_bytes(s);
    assert_true(full > MANY * 20);
    to = stacks_compact(s, keep);
    assert_int_equal(stacks_node_count(s), 1);
    assert_int_equal(stacks_frame_count(s), 1);
    assert_true(stacks_bytes(s) <= empty);
    assert_int_equal(stacks_child(s, 0, stacks_frame(s, 1, 5)), 1);
    mem_free(to);
    mem_free(keep);
    stacks_free(s);
}

TEST(keeping_the_leaf_of_a_deep_chain_keeps_all_of_it)
{
    struct stacks *s = stacks_new();
    uint8_t *keep = mem_array(MANY + 1, 1);
    uint32_t *to;

    for (uint32_t i = 0; i < MANY; i++)
        stacks_child(s, i, stacks_frame(s, 1, i % 5));
    keep[MANY] = 1;
    to = stacks_compact(s, keep);
    assert_int_equal(stacks_node_count(s), MANY + 1);
    for (uint32_t i = 0; i <= MANY; i++)
        assert_int_equal(to[i], i);
    mem_free(to);
    mem_free(keep);
    stacks_free(s);
}

TEST_MAIN(NULL, NULL)
