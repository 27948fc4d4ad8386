// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests modules of JIT code whose names change. */

#include <sys/mman.h>

#include "process/world.h"
#include "unit_test.h"

static struct world *w;

static int begin_world(void **state)
{
    w = world_new(false);
    return 0;
}

static int end_world(void **state)
{
    world_free(w);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, begin_world, end_world)

static void map_at_location(uint32_t pid, uint64_t start, const char *path)
{
    struct record r = { .type = PERF_RECORD_MMAP2, .known = true };

    r.mmap.pid = r.mmap.tid = pid;
    r.mmap.addr = start;
    r.mmap.len = 0x1000;
    r.mmap.prot = PROT_READ | PROT_EXEC;
    r.mmap.path = path;
    world_apply(w, &r);
}

static void fork_off(uint32_t pid, uint32_t ppid)
{
    struct record r = { .type = PERF_RECORD_FORK, .known = true };

    r.task.pid = r.task.tid = pid;
    r.task.ppid = r.task.ptid = ppid;
    world_apply(w, &r);
}

static void exec_in(uint32_t pid)
{
    struct record r = { .type = PERF_RECORD_COMM, .known = true };

    r.comm.pid = r.comm.tid = pid;
    r.comm.comm = "other";
    r.comm.exec = true;
    world_apply(w, &r);
}

static uint32_t module_at(uint32_t pid, uint64_t address)
{
    uint32_t thread = world_thread_of(w, pid, pid, 0, 0);
    struct location place;

    assert_true(world_resolve(w, thread, address, false, &place));
    assert_true(place.module < 16 || place.offset == address ||
                world_module(w, place.module)->kind != MODULE_JIT);
    return place.module;
}

static uint32_t image_version(uint32_t pid)
{
    return world_image_version(w, world_thread(w, world_thread_of(w, pid, pid, 0, 0))->image);
}

FIXTURE_TEST(a_renewed_module_is_replaced_by_its_successor)
{
    uint32_t old, new, version;

    map_at_location(10, 0x1000, "//anon");
    map_at_location(10, 0x9000, "//anon");
    map_at_location(10, 0x5000, "/bin/x");
    old = module_at(10, 0x1010);
    version = image_version(10);
    new = world_renew_jit(w, old);
    assert_true(new &&new != old);
    assert_int_not_equal(image_version(10), version);
    assert_int_equal(module_at(10, 0x1010), new);
    assert_int_equal(module_at(10, 0x9010), new);
    assert_int_equal(world_module(w, old)->kind, MODULE_JIT);
    assert_int_equal(world_module(w, new)->pid, 10);
    assert_int_not_equal(world_module(w, new)->epoch, world_module(w, old)->epoch);
    map_at_location(10, 0xa000, "//anon");
    assert_int_equal(module_at(10, 0xa010), new);
    assert_int_equal(world_renew_jit(w, old), 0); /* it was replaced already */
    assert_int_equal(world_renew_jit(w, module_at(10, 0x5010)), 0);
    assert_int_equal(world_renew_jit(w, 4711), 0);
}

FIXTURE_TEST(children_run_the_same_code)
{
    uint32_t old, new;

    map_at_location(10, 0x1000, "//anon");
    fork_off(20, 10);
    fork_off(30, 10);
    map_at_location(30, 0x7000, "/bin/y"); /* its memory is its own now */
    old = module_at(10, 0x1010);
    assert_int_equal(module_at(20, 0x1010), old);
    assert_int_equal(module_at(30, 0x1010), old);
    new = world_renew_jit(w, old);
    assert_int_equal(module_at(10, 0x1010), new);
    assert_int_equal(module_at(20, 0x1010), new);
    assert_int_equal(module_at(30, 0x1010), new);
}

FIXTURE_TEST(after_an_exec_no_module_is_renewed)
{
    uint32_t old, other;

    map_at_location(10, 0x1000, "//anon");
    old = module_at(10, 0x1010);
    exec_in(10);
    map_at_location(10, 0x1000, "//anon");
    other = module_at(10, 0x1010);
    assert_int_not_equal(old, other);
    assert_int_equal(world_renew_jit(w, old), 0);
    assert_int_equal(module_at(10, 0x1010), other);
}

FIXTURE_TEST(held_maps_stay_unchanged)
{
    struct space *held;
    struct location place;
    uint32_t old, new;

    map_at_location(10, 0x1000, "//anon");
    old = module_at(10, 0x1010);
    held = world_hold_maps(w, world_thread_of(w, 10, 10, 0, 0));
    new = world_renew_jit(w, old);
    assert_int_equal(module_at(10, 0x1010), new);
    assert_true(world_resolve_held(held, 0x1010, &place));
    assert_int_equal(place.module, old);
    world_let_maps(w, held);
}

FIXTURE_TEST(modules_that_no_sample_needs_are_removed)
{
    uint32_t old, new;

    map_at_location(10, 0x1000, "//anon");
    old = module_at(10, 0x1010);
    new = world_renew_jit(w, old);
    world_collect(w, NULL, NULL, 0, NULL);
    assert_null(world_module(w, old));
    assert_int_equal(module_at(10, 0x1010), new);
}

FIXTURE_TEST(a_file_sets_the_epochs_of_a_process)
{
    uint32_t first, second;

    world_set_jit_epoch(w, 10, 1); /* before anything is known of the process */
    map_at_location(10, 0x1000, "//anon");
    map_at_location(20, 0x1000, "//anon");
    first = module_at(10, 0x1010);
    assert_int_equal(world_module(w, first)->epoch, 1);
    assert_int_equal(world_module(w, module_at(20, 0x1010))->epoch, 0);
    world_set_jit_epoch(w, 10, 2);
    second = module_at(10, 0x1010);
    assert_int_equal(world_module(w, second)->epoch, 2);
    assert_int_equal(world_module(w, first)->epoch, 1);
    exec_in(10);
    map_at_location(10, 0x3000, "//anon");
    assert_int_equal(world_module(w, module_at(10, 0x3010))->epoch, 2);
    assert_int_equal(world_module(w, module_at(20, 0x1010))->epoch, 0);
}

TEST_MAIN(NULL, NULL)
