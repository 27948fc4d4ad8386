// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>

#include "unit_test.h"
#include "world_fixture.h"

TEST(an_address_gives_module_and_file_offset)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    struct world_address addr;

    do_map(w, 10, 0x400000, 0x500000, 0x1000, "/bin/a");
    do_map(w, 10, 0x7f0000, 0x7f2000, 0x26000, "/lib/libc.so.6");
    do_map(w, 10, 0x900000, 0x901000, 0, "//anon");
    do_map(w, 10, 0xa00000, 0xa02000, 0, "[vdso]");
    assert_string_equal(place_of(w, t, 0x400010), "a+0x1010");
    assert_string_equal(place_of(w, t, 0x7f1fff), "libc.so.6+0x27fff");
    assert_string_equal(place_of(w, t, 0x900123), "[JIT]+0x900123");
    assert_string_equal(place_of(w, t, 0xa00123), "[vdso]+0x123");
    assert_string_equal(place_of(w, t, 0x3fffff), "?");
    assert_string_equal(place_of(w, t, 0x500000), "?");
    assert_true(
        world_address(w, world_thread(w, t)->image, module_at(w, t, 0x7f0000), 0x26010, UINT64_MAX, &addr));
    assert_int_equal(addr.address, 0x7f0010);
    assert_false(
        world_address(w, world_thread(w, t)->image, module_at(w, t, 0x7f0000), 0x25fff, UINT64_MAX, &addr));
    assert_true(
        world_address(w, world_thread(w, t)->image, module_at(w, t, 0x900000), 0x900005, UINT64_MAX, &addr));
    assert_int_equal(addr.address, 0x900005);
    world_free(w);
}

TEST(impossible_ranges_do_no_harm)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);

    do_map(w, 10, 0x1000, 0x1000, 0, "/bin/empty");
    do_map(w, 10, UINT64_MAX - 0xfff, 0x1000, 0, "/bin/wraps");
    assert_string_equal(place_of(w, t, UINT64_MAX - 1), "wraps+0xffe");
    assert_string_equal(place_of(w, t, 0x1000), "?");
    world_free(w);
}

TEST(a_new_mapping_trims_and_splits_those_below)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), version;
    const struct world_map *maps;
    struct world_address addr;
    struct location hidden;

    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    assert_true(world_resolve(w, t, 0x15000, false, &hidden));
    version = world_image_version(w, world_thread(w, t)->image);
    do_map(w, 10, 0x14000, 0x16000, 0x100, "/b");
    assert_int_not_equal(world_image_version(w, world_thread(w, t)->image), version);
    assert_string_equal(place_of(w, t, 0x13fff), "a+0x3fff");
    assert_string_equal(place_of(w, t, 0x14000), "b+0x100");
    assert_string_equal(place_of(w, t, 0x16000), "a+0x6000");
    /* the hidden mapping is remembered, before it */
    assert_true(world_address(w, world_thread(w, t)->image, hidden.module, hidden.offset, UINT64_MAX, &addr));
    assert_int_equal(addr.address, 0x15000);
    assert_int_equal(world_image_maps(w, world_thread(w, t)->image, &maps), 4);
    assert_int_equal(maps[3].start, 0x14000);
    assert_true(maps[3].time_ns > maps[0].time_ns && maps[0].time_ns);
    world_free(w);
}

TEST(a_repeated_mapping_changes_nothing)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), version;
    const struct world_map *maps;

    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    version = world_image_version(w, world_thread(w, t)->image);
    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    do_map(w, 10, 0x12000, 0x13000, 0x2000, "/a");
    assert_int_equal(world_image_version(w, world_thread(w, t)->image), version);
    assert_int_equal(world_image_maps(w, world_thread(w, t)->image, &maps), 1);
    world_free(w);
}

TEST(a_growing_jit_stays_one_mapping)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    const struct world_map *maps;

    for (uint64_t i = 0; i < 1000; i++)
        do_map(w, 10, 0x10000 + i * 0x1000, 0x12000 + i * 0x1000, 0, "//anon");
    assert_int_equal(world_image_maps(w, world_thread(w, t)->image, &maps), 1);
    assert_int_equal(maps[0].end, 0x12000 + 999 * 0x1000);
    world_free(w);
}

TEST(both_libraries_are_known_after_dlclose_and_dlopen)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), image, old_module;
    const struct world_map *maps;
    size_t bytes = 0;
    struct world_address addr;

    do_map(w, 10, 0x10000, 0x20000, 0, "/old.so");
    old_module = module_at(w, t, 0x10000);
    do_map(w, 10, 0x10000, 0x18000, 0, "/new.so");
    image = world_thread(w, t)->image;
    assert_string_equal(place_of(w, t, 0x10010), "new.so+0x10");
    assert_true(world_address(w, image, old_module, 0x10, UINT64_MAX, &addr));
    /* repeated many times: the number of remembered mappings is bounded */
    for (int i = 0; i < 20000; i++) {
        do_map(w, 10, 0x10000, 0x18000, 0, i % 2 ? "/x.so" : "/y.so");
        if (i == 5000)
            bytes = world_bytes(w);
    }
    assert_true(world_bytes(w) <= bytes);
    assert_true(world_image_maps(w, image, &maps) <= 600);
    assert_string_equal(place_of(w, t, 0x10010), "x.so+0x10");
    world_free(w);
}

TEST(held_maps_stay_unchanged)
{
    struct world *w = world_new(false);
    uint32_t thread = thread_of(w, 10, 10);
    struct space *held;
    struct location place;

    assert_null(world_hold_maps(w, 0));
    assert_null(world_hold_maps(w, world_thread_count(w)));
    world_let_maps(w, NULL);
    do_map(w, 10, 0x10000, 0x12000, 0, "/one.so");
    held = world_hold_maps(w, thread);
    assert_int_equal(world_held_version(held), world_image_version(w, world_thread(w, thread)->image));
    do_map(w, 10, 0x10000, 0x12000, 0x1000, "/two.so");
    do_map(w, 10, 0x20000, 0x22000, 0, "/three.so");
    assert_int_not_equal(world_held_version(held), world_image_version(w, world_thread(w, thread)->image));
    assert_string_equal(place_of(w, thread, 0x10008), "two.so+0x1008");
    assert_true(world_resolve_held(held, 0x10008, &place));
    assert_string_equal(world_module(w, place.module)->name, "one.so");
    assert_int_equal(place.offset, 8);
    assert_false(world_resolve_held(held, 0x20008, &place));
    assert_int_equal(place.module, MODULE_ID_UNKNOWN);

    do_comm(w, 10, 10, "other", true);
    do_exit(w, 10, 10);
    collect_all(w);
    assert_true(world_resolve_held(held, 0x10008, &place));
    assert_string_equal(world_module(w, place.module)->name, "one.so");
    world_let_maps(w, held);
    world_free(w);
}

TEST(data_mapped_over_code_removes_it)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    struct record r = record(PERF_RECORD_MMAP2);

    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    r.mmap.pid = r.mmap.tid = 10;
    r.mmap.addr = 0x18000;
    r.mmap.len = 0x1000;
    r.mmap.prot = PROT_READ;
    r.mmap.path = "/data";
    r.misc = PERF_RECORD_MISC_MMAP_DATA;
    world_apply(w, &r);
    assert_string_equal(place_of(w, t, 0x18000), "?");
    assert_string_equal(place_of(w, t, 0x19000), "a+0x9000");
    world_free(w);
}

TEST(parent_and_child_change_independently_after_a_fork)
{
    struct world *w = world_new(false);
    uint32_t parent, child;
    const struct world_map *maps;

    parent = thread_of(w, 10, 10);
    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    do_map(w, 10, 0x90000, 0x91000, 0, "//anon");
    do_fork(w, 20, 20, 10, 10);
    child = thread_of(w, 20, 20);
    assert_string_equal(place_of(w, child, 0x10000), "a+0x0");
    assert_int_equal(world_image_maps(w, world_thread(w, child)->image, &maps), 2);
    do_map(w, 20, 0x30000, 0x40000, 0, "/child.so");
    do_map(w, 10, 0x50000, 0x60000, 0, "/parent.so");
    assert_string_equal(place_of(w, child, 0x30000), "child.so+0x0");
    assert_string_equal(place_of(w, child, 0x50000), "?");
    assert_string_equal(place_of(w, parent, 0x30000), "?");
    assert_string_equal(place_of(w, parent, 0x50000), "parent.so+0x0");
    assert_int_equal(module_at(w, child, 0x10000), module_at(w, parent, 0x10000));
    /* code mapped before the fork is the parent's; code mapped after it belongs to each process */
    assert_int_equal(module_at(w, child, 0x90000), module_at(w, parent, 0x90000));
    do_map(w, 20, 0xa0000, 0xa1000, 0, "//anon");
    do_map(w, 10, 0xa0000, 0xa1000, 0, "//anon");
    assert_int_not_equal(module_at(w, child, 0xa0000), module_at(w, parent, 0xa0000));
    assert_int_equal(world_module(w, module_at(w, child, 0xa0000))->pid, 20);
    world_free(w);
}

TEST(mappings_of_many_diverged_children_are_limited)
{
    struct world *w = world_new(false);

    world_set_limit(w, 1 << 20);
    for (uint32_t i = 0; i < 1000; i++)
        do_map(w, 10, 0x10000 * (i + 1), 0x10000 * (i + 1) + 0x1000, 0, "/a");
    for (uint32_t pid = 20; pid < 220; pid++) { /* copies would need 10 MB */
        do_fork(w, pid, pid, 10, 10);
        do_map(w, pid, 0x10000000, 0x10001000, 0, "/child.so");
    }
    assert_true(world_bytes(w) < 2 << 20);
    assert_in_range(world_spaces_left_out(w), 150, 199);
    assert_string_equal(place_of(w, thread_of(w, 20, 20), 0x10000), "a+0x0");
    assert_string_equal(place_of(w, thread_of(w, 219, 219), 0x10000), "?");
    assert_string_equal(place_of(w, thread_of(w, 219, 219), 0x10000000), "child.so+0x0");
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x10000), "a+0x0");
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x10000000), "?");
    world_free(w);
}

TEST(an_exec_starts_with_empty_memory)
{
    struct world *w = world_new(false);
    uint32_t before, after;

    do_map(w, 10, 0x10000, 0x20000, 0, "/bin/sh");
    before = thread_of(w, 10, 10);
    do_comm(w, 10, 10, "ls", true);
    do_map(w, 10, 0x10000, 0x20000, 0x1000, "/bin/ls");
    after = thread_of(w, 10, 10);
    assert_int_not_equal(before, after);
    assert_string_equal(place_of(w, before, 0x10000), "sh+0x0");
    assert_string_equal(place_of(w, after, 0x10000), "ls+0x1000");
    world_free(w);
}

TEST(a_file_is_one_module_for_all_processes)
{
    struct world *w = world_new(false);
    struct record r = record(PERF_RECORD_MMAP2);
    uint32_t a = thread_of(w, 10, 10), b = thread_of(w, 20, 20);

    r.mmap.pid = r.mmap.tid = 10;
    r.mmap.addr = 0x10000;
    r.mmap.len = 0x1000;
    r.mmap.prot = PROT_EXEC;
    r.mmap.ino = 5;
    r.mmap.maj = 8;
    r.mmap.path = "/lib/x.so";
    world_apply(w, &r); /* from /proc: no generation */
    r.mmap.pid = r.mmap.tid = 20;
    r.mmap.ino_generation = 77;
    world_apply(w, &r);
    assert_int_equal(module_at(w, a, 0x10000), module_at(w, b, 0x10000));
    r.mmap.addr = 0x20000;
    r.mmap.path = "/lib/x.so (deleted)";
    world_apply(w, &r);
    assert_int_equal(module_at(w, b, 0x20000), module_at(w, b, 0x10000));
    /* the inode number was reused for a new file of that name */
    r.mmap.addr = 0x30000;
    r.mmap.path = "/lib/x.so";
    r.mmap.ino_generation = 78;
    world_apply(w, &r);
    assert_int_not_equal(module_at(w, b, 0x30000), module_at(w, b, 0x10000));
    r.mmap.addr = 0x40000;
    r.mmap.maj = 9;
    world_apply(w, &r);
    assert_int_not_equal(module_at(w, b, 0x40000), module_at(w, b, 0x30000));
    world_free(w);
}

/* ---- random mappings compared with a table of pages ---- */

#define PAGES 64
#define PAGE  0x1000u

TEST(random_mappings_agree_with_a_table_of_pages)
{
    static const char *const paths[] = { "/a", "/b", "/c", "//anon" };
    struct page {
        int path; /* -1: not mapped */
        uint64_t offset;
    };

    srand(1);
    for (int round = 0; round < 300; round++) {
        struct world *w = world_new(false);
        struct page table[2][PAGES];
        uint32_t t[2] = { thread_of(w, 10, 10), 0 };
        int n = 1;

        for (int i = 0; i < PAGES; i++)
            table[0][i].path = -1;
        for (int step = 0; step < 60; step++) {
            int who = rand() % n, path = rand() % 4, from = rand() % PAGES,
                to = from + 1 + rand() % (PAGES - from);
            uint64_t pgoff = (uint64_t)(rand() % 3 ? from : rand() % 8) * PAGE;

            if (step == 30) {
                do_fork(w, 20, 20, 10, 10);
                t[1] = thread_of(w, 20, 20);
                memcpy(table[1], table[0], sizeof table[0]);
                n = 2;
            }
            do_map(w, 10 + 10 * (uint32_t)who, (uint64_t)from * PAGE, (uint64_t)to * PAGE, pgoff,
                   paths[path]);
            for (int i = from; i < to; i++)
                table[who][i] = (struct page){ path, path == 3 ? (uint64_t)i * PAGE
                                                               : pgoff + (uint64_t)(i - from) * PAGE };
            for (who = 0; who < n; who++) {
                for (int i = 0; i < PAGES; i++) {
                    const struct page *p = &table[who][i];
                    char want[64] = "?";

                    if (p->path >= 0)
                        snprintf(want, sizeof want, "%s+0x%llx", p->path == 3 ? "[JIT]" : paths[p->path] + 1,
                                 (unsigned long long)p->offset + 7);
                    assert_string_equal(place_of(w, t[who], (uint64_t)i * PAGE + 7), want);
                }
            }
        }
        world_free(w);
    }
}

/* Replaying all mappings that an image has had, in order, gives its present mappings. Writing a recording
 * relies on this. */
TEST(replayed_maps_equal_the_original)
{
    static const char *const paths[] = { "/a", "/b", "/c" };

    srand(2);
    for (int round = 0; round < 100; round++) {
        struct world *w = world_new(false);
        uint32_t t = thread_of(w, 10, 10), replayed[PAGES] = { 0 };
        const struct world_map *maps;
        uint32_t n;

        for (int step = 0; step < 100; step++) {
            int from = rand() % PAGES, to = from + 1 + rand() % (PAGES - from);

            do_map(w, 10, (uint64_t)from * PAGE, (uint64_t)to * PAGE, (uint64_t)from * PAGE,
                   paths[rand() % 3]);
        }
        n = world_image_maps(w, world_thread(w, t)->image, &maps);
        for (uint32_t i = 0; i < n; i++)
            for (uint64_t page = maps[i].start / PAGE; page < maps[i].end / PAGE; page++)
                replayed[page] = maps[i].module;
        for (uint32_t i = 0; i < PAGES; i++) {
            struct location place = { 0 };

            assert_int_equal(world_resolve(w, t, (uint64_t)i * PAGE, false, &place), replayed[i] != 0);
            if (replayed[i])
                assert_int_equal(place.module, replayed[i]);
        }
        world_free(w);
    }
}

TEST_MAIN(NULL, NULL)
