// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"
#include "base/mem.h"
#include "unit_test.h"
#include "world_fixture.h"

/* ---- threads ---- */

TEST(an_unannounced_thread_gets_a_guessed_name)
{
    struct world *w = world_new(false);

    assert_string_equal(comm_of(w, 12, 13), ":13");
    assert_string_equal(comm_of(w, 0, 0), "swapper");
    assert_string_equal(comm_of(w, ~0u, ~0u), ":-1");
    assert_int_equal(thread_of(w, 12, 13), thread_of(w, 12, 13));
    assert_int_not_equal(thread_of(w, 12, 13), 0);
    assert_null(world_thread(w, 0));
    assert_null(world_thread(w, world_thread_count(w)));
    world_free(w);
}

TEST(a_guessed_name_is_replaced_in_place)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);

    do_comm(w, 10, 10, "late", false);
    assert_int_equal(thread_of(w, 10, 10), t);
    assert_string_equal(world_thread(w, t)->comm, "late");
    world_free(w);
}

TEST(a_renamed_thread_is_a_new_version_and_the_old_one_stays)
{
    struct world *w = world_new(false);
    uint32_t before, after;

    do_comm(w, 10, 10, "sh", false);
    before = thread_of(w, 10, 10);
    do_comm(w, 10, 10, "sh", false);
    assert_int_equal(thread_of(w, 10, 10), before);
    do_comm(w, 10, 10, "worker", false);
    after = thread_of(w, 10, 10);
    assert_int_not_equal(before, after);
    assert_string_equal(world_thread(w, before)->comm, "sh");
    assert_string_equal(world_thread(w, after)->comm, "worker");
    assert_int_equal(world_thread(w, after)->start_ns, now_ns);
    assert_int_equal(world_thread(w, before)->image, world_thread(w, after)->image);
    world_free(w);
}

TEST(a_thread_in_another_cgroup_is_another_version)
{
    struct world *w = world_new(false);
    uint32_t unknown = world_thread_of(w, 10, 10, 5, 0), first, second;

    first = world_thread_of(w, 10, 10, 6, 100);
    assert_int_equal(first, unknown);
    assert_int_equal(world_thread(w, first)->cgroup, 100);
    second = world_thread_of(w, 10, 10, 7, 200);
    assert_int_not_equal(first, second);
    assert_int_equal(world_thread(w, second)->start_ns, 7);
    assert_int_equal(world_thread(w, first)->cgroup, 100);
    assert_int_equal(world_thread_of(w, 10, 10, 8, 0), second);
    world_free(w);
}

TEST(children_inherit_their_parents_name)
{
    struct world *w = world_new(false);

    do_comm(w, 10, 10, "parent", false);
    do_fork(w, 10, 11, 10, 10);
    do_fork(w, 20, 20, 10, 10);
    assert_string_equal(comm_of(w, 10, 11), "parent");
    assert_string_equal(comm_of(w, 20, 20), "parent");
    assert_int_equal(world_thread(w, thread_of(w, 10, 11))->image,
                     world_thread(w, thread_of(w, 10, 10))->image);
    assert_int_not_equal(world_thread(w, thread_of(w, 20, 20))->image,
                         world_thread(w, thread_of(w, 10, 10))->image);
    world_free(w);
}

static void assert_parent(struct world *w, uint32_t pid, const char *label)
{
    const struct world_thread *t = world_thread(w, thread_of(w, pid, pid));
    char text[64];

    assert_string_equal(world_parent_label(t->ppid, t->parent, text, sizeof text), label);
}

TEST(processes_keep_the_parent_of_their_start)
{
    struct world *w = world_new(false);
    struct record r = record(PERF_RECORD_FORK);

    do_comm(w, 10, 10, "shell", false);
    do_fork(w, 20, 20, 10, 10);
    do_comm(w, 20, 20, "program", true);
    do_comm(w, 10, 10, "renamed", false);
    assert_parent(w, 20, "shell/10");
    do_exit(w, 10, 10);
    do_comm(w, 20, 20, "next program", true);
    assert_parent(w, 20, "shell/10");
    do_fork(w, 20, 21, 20, 20); /* a thread has its process's parent */
    assert_int_equal(world_thread(w, thread_of(w, 20, 21))->ppid, 10);
    do_fork(w, 40, 40, 30, 30); /* of a process that had no record */
    assert_parent(w, 40, "pid 30");
    do_comm(w, 30, 30, "late", false);
    do_comm(w, 40, 40, "child", true);
    assert_parent(w, 40, "late/30");
    thread_of(w, 50, 50);
    assert_parent(w, 50, "[unknown]");
    do_comm(w, 60, 60, "\033[2Jhostile and much too long", false);
    do_fork(w, 70, 70, 60, 60);
    assert_null(strchr(world_thread(w, thread_of(w, 70, 70))->parent, '\033'));
    /* written by perf and by flametop for a process that began earlier */
    do_comm(w, 80, 80, "known", false);
    r.misc = PERF_RECORD_MISC_FORK_EXEC;
    r.task.pid = r.task.tid = 80;
    r.task.ppid = r.task.ptid = 20;
    world_apply(w, &r);
    assert_parent(w, 80, "next program/20");
    world_free(w);
}

TEST(threads_that_end_unsampled_are_counted)
{
    struct world *w = world_new(false);

    do_comm(w, 10, 10, "parent", false);
    do_fork(w, 20, 20, 10, 10);
    do_fork(w, 30, 30, 10, 10);
    do_fork(w, 30, 31, 30, 30);
    thread_of(w, 20, 20);
    do_exit(w, 20, 20);
    assert_int_equal(world_unseen(w), 0);
    do_exit(w, 40, 40); /* an unknown thread */
    assert_int_equal(world_unseen(w), 0);
    do_exit(w, 30, 31);
    assert_int_equal(world_unseen(w), 1);
    do_exit(w, 30, 30);
    assert_int_equal(world_unseen(w), 2);
    world_free(w);
}

TEST(names_with_escapes_are_cleaned)
{
    struct world *w = world_new(false);

    do_comm(w, 10, 10, "\033[2J\n\r\x9b\xe2\x80\xae", true);
    for (const char *c = comm_of(w, 10, 10); *c; c++)
        assert_true(*c >= ' ' && *c < 127);
    do_map(w, 10, 0x1000, 0x2000, 0, "/tmp/\033]0;x\007y");
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x1000), "?]0;x?y+0x0");
    world_free(w);
}

TEST(a_late_sample_still_finds_its_exited_thread)
{
    struct world *w = world_new(false);
    uint32_t t, late;

    do_comm(w, 10, 10, "brief", true);
    t = thread_of(w, 10, 10);
    do_exit(w, 10, 10);
    assert_true(world_thread(w, t)->exited);
    assert_int_equal(thread_of(w, 10, 10), t);
    do_comm(w, 11, 11, "unseen", true);
    do_exit(w, 11, 11);
    late = thread_of(w, 11, 11);
    assert_string_equal(world_thread(w, late)->comm, "unseen");
    assert_true(world_thread(w, late)->exited);
    world_free(w);
}

TEST(a_reused_pid_is_another_process)
{
    struct world *w = world_new(false);
    uint32_t old, new;

    do_comm(w, 10, 10, "old", true);
    do_map(w, 10, 0x1000, 0x2000, 0, "/bin/old");
    do_fork(w, 10, 11, 10, 10);
    old = thread_of(w, 10, 10);
    do_exit(w, 10, 10);
    do_comm(w, 5, 5, "init", true);
    do_fork(w, 10, 10, 5, 5);
    do_comm(w, 10, 10, "new", true);
    new = thread_of(w, 10, 10);
    assert_int_not_equal(old, new);
    assert_string_equal(place_of(w, old, 0x1000), "old+0x0");
    assert_string_equal(place_of(w, new, 0x1000), "?");
    /* a thread of the previous process whose exit was missed */
    do_exit(w, 10, 11);
    assert_int_equal(thread_of(w, 10, 10), new);
    world_free(w);
}

TEST(a_tid_silently_reused_by_another_process_is_another_thread)
{
    struct world *w = world_new(false);
    uint32_t old = thread_of(w, 10, 11), new = thread_of(w, 20, 11);

    assert_int_not_equal(old, new);
    assert_true(world_thread(w, old)->exited);
    assert_int_equal(world_thread(w, new)->pid, 20);
    world_free(w);
}

/* ---- collecting ---- */

TEST(a_collection_keeps_marked_entries_and_renumbers_them)
{
    struct world *w = world_new(false);
    uint32_t gone, kept, alive, *remap, module;
    uint8_t keep[16] = { 0 }, keep_modules[64] = { 0 };

    do_comm(w, 10, 10, "gone", true);
    gone = thread_of(w, 10, 10);
    do_comm(w, 11, 11, "kept", true);
    do_map(w, 11, 0x1000, 0x2000, 0, "/kept");
    kept = thread_of(w, 11, 11);
    module = module_at(w, kept, 0x1000);
    do_comm(w, 12, 12, "alive", true);
    alive = thread_of(w, 12, 12);
    do_exit(w, 10, 10);
    do_exit(w, 11, 11);
    keep[kept] = 1;
    world_collect(w, keep, keep_modules, sizeof keep_modules, &remap);
    assert_int_equal(remap[gone], 0);
    assert_string_equal(world_thread(w, remap[kept])->comm, "kept");
    assert_string_equal(world_thread(w, remap[alive])->comm, "alive");
    assert_int_equal(world_thread_count(w), 3);
    assert_int_equal(thread_of(w, 12, 12), remap[alive]);
    assert_string_equal(place_of(w, remap[kept], 0x1000), "kept+0x0");
    mem_free(remap);
    /* without samples the thread, its image and its module are dropped */
    keep_modules[module] = 0;
    for (uint32_t i = 0; i < 300; i++) {
        do_fork(w, 1000 + i, 1000 + i, 12, 12);
        do_exit(w, 1000 + i, 1000 + i);
    }
    collect_all(w);
    assert_int_equal(world_thread_count(w), 2);
    assert_null(world_module(w, module));
    world_free(w);
}

TEST(a_marked_module_outlives_its_mappings)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), module;
    uint8_t keep_modules[64] = { 0 };

    do_map(w, 10, 0x1000, 0x2000, 0, "/kept");
    module = module_at(w, t, 0x1000);
    do_exit(w, 10, 10);
    keep_modules[module] = 1;
    world_resync(w);
    for (uint32_t i = 0; i < 300; i++)
        do_exit(w, thread_of(w, 20 + i, 20 + i) ? 20 + i : 0, 20 + i);
    world_collect(w, NULL, keep_modules, sizeof keep_modules, NULL);
    assert_non_null(world_module(w, module));
    collect_all(w);
    assert_null(world_module(w, module));
    world_free(w);
}

TEST(a_fork_storm_uses_constant_memory)
{
    struct world *w = world_new(false);
    uint64_t start, spent;
    size_t early = 0, worst = 0;

    do_comm(w, 5, 5, "make", true);
    do_map(w, 5, 0x10000, 0x20000, 0, "/bin/make");
    start = clock_self_cpu_ns();
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t pid = 100 + i % 30000;
        char jit[32];

        do_fork(w, pid, pid, 5, 5);
        do_comm(w, pid, pid, "cc1", true);
        snprintf(jit, sizeof jit, "/tmp/conftest-%u", i);
        do_map(w, pid, 0x10000, 0x20000, 0, jit);
        do_map(w, pid, 0x30000, 0x40000, 0, "/lib/libc.so.6");
        do_map(w, pid, 0x50000, 0x60000, 0, "//anon");
        if (i % 50 == 0)
            module_at(w, thread_of(w, pid, pid), 0x10000);
        do_exit(w, pid, pid);
        if (i % 10000 == 9999) {
            collect_all(w);
            if (!early)
                early = world_bytes(w);
            if (world_bytes(w) > worst)
                worst = world_bytes(w);
        }
    }
    spent = clock_self_cpu_ns() - start;
    print_message("%.2f us for each record\n", (double)spent / 200000 / 6 / 1000);
    assert_true(worst <= early + early / 10);
    assert_true(early < 2 << 20);
    world_free(w);
}

TEST_MAIN(NULL, NULL)
