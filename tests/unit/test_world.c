// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "process/proc.h"
#include "process/world.h"

/* ---- records ---- */

static uint64_t now_ns;

static struct record record(uint32_t type)
{
    return (struct record){ .type = type, .known = true, .id.time_ns = ++now_ns };
}

static void do_fork(struct world *w, uint32_t pid, uint32_t tid, uint32_t ppid, uint32_t ptid)
{
    struct record r = record(PERF_RECORD_FORK);

    r.task.pid = pid;
    r.task.tid = tid;
    r.task.ppid = ppid;
    r.task.ptid = ptid;
    r.task.time_ns = now_ns;
    world_apply(w, &r);
}

static void do_exit(struct world *w, uint32_t pid, uint32_t tid)
{
    struct record r = record(PERF_RECORD_EXIT);

    r.task.pid = pid;
    r.task.tid = tid;
    world_apply(w, &r);
}

static void do_comm(struct world *w, uint32_t pid, uint32_t tid, const char *comm, bool exec)
{
    struct record r = record(PERF_RECORD_COMM);

    r.comm.pid = pid;
    r.comm.tid = tid;
    r.comm.comm = comm;
    r.comm.exec = exec;
    world_apply(w, &r);
}

static void do_map(struct world *w, uint32_t pid, uint64_t start, uint64_t end, uint64_t pgoff,
                   const char *path)
{
    struct record r = record(PERF_RECORD_MMAP2);

    r.mmap.pid = r.mmap.tid = pid;
    r.mmap.addr = start;
    r.mmap.len = end - start;
    r.mmap.pgoff = pgoff;
    r.mmap.prot = PROT_READ | PROT_EXEC;
    r.mmap.path = path;
    world_apply(w, &r);
}

static void do_kernel_map(struct world *w, uint64_t start, uint64_t len, const char *path)
{
    struct record r = record(PERF_RECORD_MMAP);

    r.misc = PERF_RECORD_MISC_KERNEL;
    r.mmap.pid = ~0u;
    r.mmap.addr = start;
    r.mmap.len = len;
    r.mmap.prot = PROT_EXEC;
    r.mmap.path = path;
    world_apply(w, &r);
}

static void do_ksymbol(struct world *w, uint64_t addr, uint32_t len, const char *name, bool gone)
{
    struct record r = record(PERF_RECORD_KSYMBOL);

    r.ksymbol.addr = addr;
    r.ksymbol.len = len;
    r.ksymbol.ksym_type = PERF_RECORD_KSYMBOL_TYPE_BPF;
    r.ksymbol.flags = gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0;
    r.ksymbol.name = name;
    world_apply(w, &r);
}

/* ---- what is asked ---- */

static uint32_t thread_of(struct world *w, uint32_t pid, uint32_t tid)
{
    return world_thread_of(w, pid, tid, now_ns, 0);
}

static const char *comm_of(struct world *w, uint32_t pid, uint32_t tid)
{
    return world_thread(w, thread_of(w, pid, tid))->comm;
}

/* "libc.so.6+0x123" or "?" */
static const char *place_of(struct world *w, uint32_t thread, uint64_t addr)
{
    static char text[4][300];
    static int next;
    char *out = text[next++ % 4];
    struct place place;

    if (!world_resolve(w, thread, addr, false, &place)) {
        assert_int_equal(place.module, MODULE_ID_UNKNOWN);
        assert_int_equal(place.offset, addr);
        return "?";
    }
    snprintf(out, sizeof text[0], "%s+0x%llx", world_module(w, place.module)->name,
             (unsigned long long)place.offset);
    return out;
}

static uint32_t module_at(struct world *w, uint32_t thread, uint64_t addr)
{
    struct place place;

    assert_true(world_resolve(w, thread, addr, false, &place));
    return place.module;
}

static void collect_all(struct world *w)
{
    world_collect(w, NULL, NULL, 0, NULL);
}

/* ---- threads ---- */

static void a_thread_that_nobody_told_of_gets_a_guessed_name(void **state)
{
    struct world *w = world_new(false);

    (void)state;
    assert_string_equal(comm_of(w, 12, 13), ":13");
    assert_string_equal(comm_of(w, 0, 0), "swapper");
    assert_string_equal(comm_of(w, ~0u, ~0u), ":-1");
    assert_int_equal(thread_of(w, 12, 13), thread_of(w, 12, 13));
    assert_int_not_equal(thread_of(w, 12, 13), 0);
    assert_null(world_thread(w, 0));
    assert_null(world_thread(w, world_thread_count(w)));
    world_free(w);
}

static void a_guess_becomes_a_name_in_place(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);

    (void)state;
    do_comm(w, 10, 10, "late", false);
    assert_int_equal(thread_of(w, 10, 10), t);
    assert_string_equal(world_thread(w, t)->comm, "late");
    world_free(w);
}

static void a_new_name_makes_a_new_version_and_the_old_one_stays(void **state)
{
    struct world *w = world_new(false);
    uint32_t before, after;

    (void)state;
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

static void a_thread_in_another_cgroup_is_another_version(void **state)
{
    struct world *w = world_new(false);
    uint32_t unknown = world_thread_of(w, 10, 10, 5, 0), first, second;

    (void)state;
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

static void children_inherit_their_parents_name(void **state)
{
    struct world *w = world_new(false);

    (void)state;
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

static void names_with_escapes_are_cleaned(void **state)
{
    struct world *w = world_new(false);

    (void)state;
    do_comm(w, 10, 10, "\033[2J\n\r\x9b\xe2\x80\xae", true);
    for (const char *c = comm_of(w, 10, 10); *c; c++)
        assert_true(*c >= ' ' && *c < 127);
    do_map(w, 10, 0x1000, 0x2000, 0, "/tmp/\033]0;x\007y");
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x1000), "?]0;x?y+0x0");
    world_free(w);
}

static void an_exit_marks_the_thread_and_a_late_sample_still_finds_it(void **state)
{
    struct world *w = world_new(false);
    uint32_t t, late;

    (void)state;
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

static void a_pid_that_is_used_again_is_another_process(void **state)
{
    struct world *w = world_new(false);
    uint32_t old, new;

    (void)state;
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
    /* a thread of the one before, whose end we have not seen */
    do_exit(w, 10, 11);
    assert_int_equal(thread_of(w, 10, 10), new);
    world_free(w);
}

static void a_tid_that_moved_to_another_process_without_a_word_is_another_thread(void **state)
{
    struct world *w = world_new(false);
    uint32_t old = thread_of(w, 10, 11), new = thread_of(w, 20, 11);

    (void)state;
    assert_int_not_equal(old, new);
    assert_true(world_thread(w, old)->exited);
    assert_int_equal(world_thread(w, new)->pid, 20);
    world_free(w);
}

/* ---- maps ---- */

static void an_address_gives_module_and_file_offset(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    uint64_t addr;

    (void)state;
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
    assert_true(world_address(w, world_thread(w, t)->image, module_at(w, t, 0x7f0000), 0x26010, &addr));
    assert_int_equal(addr, 0x7f0010);
    assert_false(world_address(w, world_thread(w, t)->image, module_at(w, t, 0x7f0000), 0x25fff, &addr));
    assert_true(world_address(w, world_thread(w, t)->image, module_at(w, t, 0x900000), 0x900005, &addr));
    assert_int_equal(addr, 0x900005);
    world_free(w);
}

static void impossible_ranges_are_survived(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);

    (void)state;
    do_map(w, 10, 0x1000, 0x1000, 0, "/bin/empty");
    do_map(w, 10, UINT64_MAX - 0xfff, 0x1000, 0, "/bin/wraps");
    assert_string_equal(place_of(w, t, UINT64_MAX - 1), "wraps+0xffe");
    assert_string_equal(place_of(w, t, 0x1000), "?");
    world_free(w);
}

static void a_mapping_over_others_trims_and_splits_them(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), version;
    const struct world_map *maps;
    uint64_t addr;
    struct place hidden;

    (void)state;
    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    assert_true(world_resolve(w, t, 0x15000, false, &hidden));
    version = world_image_version(w, world_thread(w, t)->image);
    do_map(w, 10, 0x14000, 0x16000, 0x100, "/b");
    assert_int_not_equal(world_image_version(w, world_thread(w, t)->image), version);
    assert_string_equal(place_of(w, t, 0x13fff), "a+0x3fff");
    assert_string_equal(place_of(w, t, 0x14000), "b+0x100");
    assert_string_equal(place_of(w, t, 0x16000), "a+0x6000");
    /* what it hid is remembered, before it */
    assert_true(world_address(w, world_thread(w, t)->image, hidden.module, hidden.offset, &addr));
    assert_int_equal(addr, 0x15000);
    assert_int_equal(world_image_maps(w, world_thread(w, t)->image, &maps), 4);
    assert_int_equal(maps[3].start, 0x14000);
    assert_true(maps[3].time_ns > maps[0].time_ns && maps[0].time_ns);
    world_free(w);
}

static void the_same_mapping_told_twice_changes_nothing(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), version;
    const struct world_map *maps;

    (void)state;
    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    version = world_image_version(w, world_thread(w, t)->image);
    do_map(w, 10, 0x10000, 0x20000, 0, "/a");
    do_map(w, 10, 0x12000, 0x13000, 0x2000, "/a");
    assert_int_equal(world_image_version(w, world_thread(w, t)->image), version);
    assert_int_equal(world_image_maps(w, world_thread(w, t)->image, &maps), 1);
    world_free(w);
}

static void a_growing_jit_stays_one_mapping(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    const struct world_map *maps;

    (void)state;
    for (uint64_t i = 0; i < 1000; i++)
        do_map(w, 10, 0x10000 + i * 0x1000, 0x12000 + i * 0x1000, 0, "//anon");
    assert_int_equal(world_image_maps(w, world_thread(w, t)->image, &maps), 1);
    assert_int_equal(maps[0].end, 0x12000 + 999 * 0x1000);
    world_free(w);
}

static void dlclose_and_another_dlopen_leave_both_libraries(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), image, old_module;
    const struct world_map *maps;
    size_t bytes = 0;
    uint64_t addr;

    (void)state;
    do_map(w, 10, 0x10000, 0x20000, 0, "/old.so");
    old_module = module_at(w, t, 0x10000);
    do_map(w, 10, 0x10000, 0x18000, 0, "/new.so");
    image = world_thread(w, t)->image;
    assert_string_equal(place_of(w, t, 0x10010), "new.so+0x10");
    assert_true(world_address(w, image, old_module, 0x10, &addr));
    /* again and again: what is remembered is bounded */
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

static void held_maps_stay_as_they_were(void **state)
{
    struct world *w = world_new(false);
    uint32_t thread = thread_of(w, 10, 10);
    struct space *held;
    struct place place;

    (void)state;
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

static void data_over_code_takes_it_away(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    struct record r = record(PERF_RECORD_MMAP2);

    (void)state;
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

static void after_a_fork_both_go_their_own_way(void **state)
{
    struct world *w = world_new(false);
    uint32_t parent, child;
    const struct world_map *maps;

    (void)state;
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
    /* code made before the fork is the parent's, code made after it is each one's own */
    assert_int_equal(module_at(w, child, 0x90000), module_at(w, parent, 0x90000));
    do_map(w, 20, 0xa0000, 0xa1000, 0, "//anon");
    do_map(w, 10, 0xa0000, 0xa1000, 0, "//anon");
    assert_int_not_equal(module_at(w, child, 0xa0000), module_at(w, parent, 0xa0000));
    assert_int_equal(world_module(w, module_at(w, child, 0xa0000))->pid, 20);
    world_free(w);
}

static void a_limit_holds_where_many_children_go_their_own_way(void **state)
{
    struct world *w = world_new(false);

    (void)state;
    world_set_limit(w, 1 << 20);
    for (uint32_t i = 0; i < 1000; i++)
        do_map(w, 10, 0x10000 * (i + 1), 0x10000 * (i + 1) + 0x1000, 0, "/a");
    for (uint32_t pid = 20; pid < 220; pid++) { /* copies would be 10 MB */
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

static void an_exec_starts_with_empty_memory(void **state)
{
    struct world *w = world_new(false);
    uint32_t before, after;

    (void)state;
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

static void files_are_one_module_whoever_maps_them(void **state)
{
    struct world *w = world_new(false);
    struct record r = record(PERF_RECORD_MMAP2);
    uint32_t a = thread_of(w, 10, 10), b = thread_of(w, 20, 20);

    (void)state;
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
    /* the inode was used again for a new file of that name */
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

/* ---- random mappings against a table of pages ---- */

#define PAGES 64
#define PAGE  0x1000u

static void random_mappings_agree_with_a_table_of_pages(void **state)
{
    static const char *const paths[] = { "/a", "/b", "/c", "//anon" };
    struct page {
        int path; /* -1: nothing */
        uint64_t offset;
    };

    (void)state;
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

/* Applied in their order, all that an image has had give what it has: what writing a recording relies on. */
static void maps_replayed_oldest_first_end_as_they_are(void **state)
{
    static const char *const paths[] = { "/a", "/b", "/c" };

    (void)state;
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
            struct place place = { 0 };

            assert_int_equal(world_resolve(w, t, (uint64_t)i * PAGE, false, &place), replayed[i] != 0);
            if (replayed[i])
                assert_int_equal(place.module, replayed[i]);
        }
        world_free(w);
    }
}

/* ---- the kernel ---- */

static void kernel_addresses_go_to_core_modules_and_pieces(void **state)
{
    struct world *w = world_new(false);
    const struct module *m;
    struct place p;

    (void)state;
    do_kernel_map(w, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text");
    do_kernel_map(w, 0xffffffffc0000000, 0x4000, "/lib/modules/6.1/kernel/fs/xfs/xfs.ko");
    do_kernel_map(w, 0xffffffffc0010000, 0x4000, "[nfs]");
    assert_true(world_resolve(w, 0, 0xffffffff81000123, true, &p));
    assert_int_equal(p.module, MODULE_ID_KERNEL);
    assert_int_equal(p.offset, 0xffffffff81000123);
    m = world_module(w, MODULE_ID_KERNEL);
    assert_int_equal(m->start, 0xffffffff81000000);
    assert_int_equal(m->size, 0x1000000);
    assert_true(world_resolve(w, 0, 0xffffffffc0000010, true, &p));
    assert_string_equal(world_module(w, p.module)->name, "[xfs]");
    assert_int_equal(world_module(w, p.module)->kind, MODULE_KMOD);
    assert_int_equal(p.offset, 0xffffffffc0000010);
    assert_true(world_resolve(w, 0, 0xffffffffc0010010, true, &p));
    assert_string_equal(world_module(w, p.module)->name, "[nfs]");
    world_free(w);
}

static void bpf_programs_come_and_go(void **state)
{
    struct world *w = world_new(false);
    struct place p;
    uint32_t id;

    (void)state;
    do_ksymbol(w, 0xffffffffc0100000, 0x100, "bpf_prog_1_x", false);
    assert_true(world_resolve(w, 0, 0xffffffffc0100010, true, &p));
    id = p.module;
    assert_string_equal(world_module(w, id)->path, "bpf_prog_1_x");
    assert_string_equal(world_module(w, id)->name, "[bpf]");
    do_ksymbol(w, 0xffffffffc0100000, 0x100, "bpf_prog_1_x", true);
    assert_true(world_resolve(w, 0, 0xffffffffc0100010, true, &p));
    assert_int_equal(p.module, MODULE_ID_KERNEL);
    /* a sample has it: it stays until a collection */
    assert_non_null(world_module(w, id));
    collect_all(w);
    assert_null(world_module(w, id));
    world_free(w);
}

static void churning_bpf_programs_take_no_memory(void **state)
{
    struct world *w = world_new(false);
    size_t bytes = 0;

    (void)state;
    for (uint32_t i = 0; i < 50000; i++) {
        char name[32];

        snprintf(name, sizeof name, "bpf_prog_%u", i);
        do_ksymbol(w, 0xffffffffc0100000 + i % 7 * 64, 0x100, name, false);
        do_ksymbol(w, 0xffffffffc0100000 + i % 7 * 64, 0x100, name, true);
        if (i == 1000)
            bytes = world_bytes(w);
    }
    assert_int_equal(world_bytes(w), bytes);
    world_free(w);
}

static void the_modules_that_always_exist_do(void **state)
{
    struct world *w = world_new(true);
    struct place p;

    (void)state;
    collect_all(w);
    assert_string_equal(world_module(w, MODULE_ID_UNKNOWN)->name, "[unknown]");
    assert_string_equal(world_module(w, MODULE_ID_BROKEN)->name, "[broken]");
    assert_string_equal(world_module(w, MODULE_ID_KERNEL)->name, "[kernel]");
    assert_string_equal(world_module(w, MODULE_ID_GUEST)->name, "[guest]");
    assert_null(world_module(w, MODULE_ID_FIRST + 1000));
#if defined(__x86_64__) || defined(__aarch64__)
    assert_false(world_resolve(w, 0, 0x1234, true, &p));
    assert_int_equal(p.module, MODULE_ID_UNKNOWN);
#endif
    assert_true(world_resolve(w, 0, UINT64_MAX - 0xfff, true, &p));
    world_free(w);
}

/* ---- build-ids ---- */

static void build_ids_reach_modules_made_before_and_after(void **state)
{
    static const uint8_t id[20] = { 1, 2, 3 }, other[20] = { 4 };
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    struct record r = record(PERF_RECORD_MMAP2);
    const struct module *m;

    (void)state;
    do_map(w, 10, 0x10000, 0x20000, 0, "/before");
    world_set_build_id(w, "/before", id, 20, false);
    world_set_build_id(w, "/after", id, 16, false);
    world_set_build_id(w, "[kernel.kallsyms]", id, 20, true);
    world_set_build_id(w, "/before", id, 21, false);
    do_map(w, 10, 0x30000, 0x40000, 0, "/after");
    m = world_module(w, module_at(w, t, 0x10000));
    assert_int_equal(m->build_id_size, 20);
    assert_memory_equal(m->build_id, id, 20);
    assert_int_equal(world_module(w, module_at(w, t, 0x30000))->build_id_size, 16);
    assert_int_equal(world_module(w, MODULE_ID_KERNEL)->build_id_size, 20);
    /* a record that tells its own */
    r.mmap.pid = r.mmap.tid = 10;
    r.mmap.addr = 0x50000;
    r.mmap.len = 0x1000;
    r.mmap.prot = PROT_EXEC;
    r.mmap.path = "/after";
    r.mmap.build_id_size = 20;
    memcpy(r.mmap.build_id, other, 20);
    world_apply(w, &r);
    m = world_module(w, module_at(w, t, 0x50000));
    assert_memory_equal(m->build_id, other, 20);
    assert_int_not_equal(m->id, module_at(w, t, 0x30000));
    world_free(w);
}

/* ---- collecting ---- */

static void a_collection_keeps_what_is_marked_and_renumbers(void **state)
{
    struct world *w = world_new(false);
    uint32_t gone, kept, alive, *remap, module;
    uint8_t keep[16] = { 0 }, keep_modules[64] = { 0 };

    (void)state;
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
    /* without a sample the thread, its image and its module go */
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

static void a_marked_module_outlives_its_mappings(void **state)
{
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10), module;
    uint8_t keep_modules[64] = { 0 };

    (void)state;
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

static void a_fork_storm_stays_flat(void **state)
{
    struct world *w = world_new(false);
    uint64_t start, spent;
    size_t early = 0, worst = 0;

    (void)state;
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

/* ---- /proc ---- */

static void read_and_install(struct world *w, uint32_t pid)
{
    world_install(w, pid, world_read_proc(pid));
}

/* What the dynamic linker knows of the object that holds an address. */
struct object {
    uint64_t addr;
    const char *path;
    uint64_t offset;
};

static int find_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    struct object *o = ctx;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + ph->p_vaddr;

        if (ph->p_type == PT_LOAD && o->addr >= start && o->addr < start + ph->p_memsz) {
            o->path = info->dlpi_name;
            o->offset = o->addr - start + ph->p_offset;
            return 1;
        }
    }
    return 0;
}

static void our_own_libc_is_resolved_to_its_file_offset(void **state)
{
    struct world *w = world_new(true);
    uint32_t pid = (uint32_t)getpid(), t;
    struct object o = { .addr = (uintptr_t)dlsym(RTLD_DEFAULT, "gnu_get_libc_version") };
    const struct world_thread *thread;
    char path[PATH_MAX];
    struct place p;

    (void)state;
    assert_int_equal(world_wants_proc(w, pid), pid);
    read_and_install(w, pid);
    assert_int_equal(world_wants_proc(w, pid), 0);
    t = thread_of(w, pid, pid);
    thread = world_thread(w, t);
    assert_non_null(strstr(thread->comm, "test_world"));
    assert_int_equal(thread->uid, geteuid());
    assert_int_equal(dl_iterate_phdr(find_object, &o), 1);
    assert_true(world_resolve(w, t, o.addr, false, &p));
    assert_int_equal(p.offset, o.offset);
    assert_non_null(realpath(o.path, path));
    assert_string_equal(world_module(w, p.module)->path, path);
    assert_true(world_module(w, p.module)->live);
    int fd = module_open(world_module(w, p.module), NULL);
    assert_true(fd >= 0);
    close(fd);
    world_free(w);
}

static void what_is_no_process_is_not_read(void **state)
{
    struct world *live = world_new(true), *file = world_new(false);

    (void)state;
    assert_int_equal(world_wants_proc(live, 0), 0);
    assert_int_equal(world_wants_proc(live, ~0u), 0);
    assert_int_equal(world_wants_proc(file, (uint32_t)getpid()), 0);
    world_free(live);
    world_free(file);
}

static void a_process_that_is_gone_is_asked_for_once(void **state)
{
    struct world *w = world_new(true);
    pid_t child = fork();
    uint32_t pid = (uint32_t)child;

    (void)state;
    if (!child)
        _exit(0);
    waitpid(child, NULL, 0);
    assert_int_equal(world_wants_proc(w, pid), pid);
    read_and_install(w, pid);
    assert_int_equal(world_wants_proc(w, pid), 0);
    assert_true(thread_of(w, pid, pid) != 0);
    world_free(w);
}

static struct proc_snapshot *snapshot(uint32_t pid, const char *comm, uint32_t uid)
{
    struct proc_snapshot *p = mem_zalloc(sizeof *p);

    p->pid = pid;
    p->uid = uid;
    MEM_GROW(p->threads, p->threads_cap, 1);
    p->threads[p->n_threads] = (struct proc_thread){ .tid = pid };
    snprintf(p->threads[p->n_threads++].comm, 16, "%s", comm);
    return p;
}

static void snapshot_map(struct proc_snapshot *p, const char *line)
{
    char text[256];

    snprintf(text, sizeof text, "%s", line);
    maps_add_text(&p->maps, text, strlen(text), true);
}

static void mappings_told_since_win_over_what_was_read(void **state)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "old", 7);
    uint32_t t;

    (void)state;
    do_map(w, 10, 0x14000, 0x16000, 0, "/new.so");
    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /old.so");
    snapshot_map(p, "30000-31000 r-xp 00000000 00:00 0 ");
    world_install(w, 10, p);
    t = thread_of(w, 10, 10);
    assert_string_equal(place_of(w, t, 0x13fff), "old.so+0x4fff");
    assert_string_equal(place_of(w, t, 0x14000), "new.so+0x0");
    assert_string_equal(place_of(w, t, 0x16000), "old.so+0x7000");
    assert_string_equal(place_of(w, t, 0x30001), "[JIT]+0x30001");
    world_free(w);
}

static void after_an_exec_there_is_nothing_left_to_read(void **state)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "sh", 7);

    (void)state;
    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/sh");
    thread_of(w, 10, 10);
    assert_int_equal(world_wants_proc(w, 10), 10);
    /* the exec comes while /proc is read */
    do_comm(w, 10, 10, "ls", true);
    world_install(w, 10, p);
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x10000), "?");
    assert_string_equal(comm_of(w, 10, 10), "ls");
    assert_int_equal(world_thread(w, thread_of(w, 10, 10))->uid, 7);
    assert_int_equal(world_wants_proc(w, 10), 0);
    world_free(w);
}

static void a_child_is_known_by_reading_its_parent(void **state)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "bash", 1000);
    uint32_t t;

    (void)state;
    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/bash");
    do_fork(w, 20, 20, 10, 10);
    do_fork(w, 30, 30, 10, 10);
    do_comm(w, 30, 30, "ls", true);
    assert_int_equal(world_wants_proc(w, 20), 10);
    assert_int_equal(world_wants_proc(w, 30), 10);
    world_install(w, 10, p);
    t = thread_of(w, 20, 20);
    assert_string_equal(place_of(w, t, 0x10000), "bash+0x1000");
    assert_string_equal(world_thread(w, t)->comm, "bash");
    assert_int_equal(world_thread(w, t)->uid, 1000);
    assert_int_equal(world_thread(w, thread_of(w, 30, 30))->uid, 1000);
    assert_string_equal(place_of(w, thread_of(w, 30, 30), 0x10000), "?");
    assert_int_equal(world_wants_proc(w, 20), 0);
    assert_int_equal(world_wants_proc(w, 30), 0);
    do_fork(w, 40, 40, 10, 10);
    assert_int_equal(world_wants_proc(w, 40), 0);
    world_free(w);
}

static void a_child_that_is_read_itself_gives_its_parent_nothing(void **state)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(20, "ls", 1000);

    (void)state;
    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/ls");
    do_fork(w, 20, 20, 10, 10);
    world_install(w, 20, p);
    assert_string_equal(place_of(w, thread_of(w, 20, 20), 0x10000), "ls+0x1000");
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x10000), "?");
    assert_int_equal(world_wants_proc(w, 10), 10);
    world_free(w);
}

static void after_missed_records_everything_is_read_again(void **state)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "sh", 7);
    uint32_t t;

    (void)state;
    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /bin/sh");
    world_install(w, 10, p);
    t = thread_of(w, 10, 10);
    world_resync(w);
    assert_string_equal(world_thread(w, t)->comm, "sh");
    assert_string_equal(place_of(w, t, 0x10000), "sh+0x1000");
    assert_int_equal(world_wants_proc(w, 10), 10);
    assert_int_not_equal(thread_of(w, 10, 10), t);
    world_free(w);
}

static void the_end_of_a_process_that_was_lost_is_found_out(void **state)
{
    struct world *w = world_new(true);
    struct record lost = record(PERF_RECORD_LOST);
    pid_t child = fork();
    uint32_t t;

    (void)state;
    if (!child)
        _exit(0);
    t = thread_of(w, (uint32_t)child, (uint32_t)child);
    waitpid(child, NULL, 0);
    collect_all(w);
    assert_int_equal(world_thread_count(w), t + 1);
    world_apply(w, &lost);
    collect_all(w);
    assert_int_equal(world_thread_count(w), 1);
    world_free(w);
}

static void many_sleeping_processes_cost_nothing_per_record(void **state)
{
    struct world *w = world_new(false);
    uint64_t start, spent;

    (void)state;
    for (uint32_t pid = 100; pid < 100100; pid++)
        do_fork(w, pid, pid, 5, 5);
    start = clock_self_cpu_ns();
    for (uint32_t i = 0; i < 100000; i++) {
        do_comm(w, 100 + i, 100 + i, "x", true);
        do_map(w, 100 + i, 0x1000, 0x2000, 0, "/bin/x");
    }
    spent = clock_self_cpu_ns() - start;
    print_message("%.2f us for each record, %.1f MB for 100,000 processes\n", (double)spent / 200000 / 1000,
                  (double)world_bytes(w) / (1 << 20));
    assert_true(spent < 20 * NS_PER_SEC);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_that_nobody_told_of_gets_a_guessed_name),
        cmocka_unit_test(a_guess_becomes_a_name_in_place),
        cmocka_unit_test(a_new_name_makes_a_new_version_and_the_old_one_stays),
        cmocka_unit_test(a_thread_in_another_cgroup_is_another_version),
        cmocka_unit_test(children_inherit_their_parents_name),
        cmocka_unit_test(names_with_escapes_are_cleaned),
        cmocka_unit_test(an_exit_marks_the_thread_and_a_late_sample_still_finds_it),
        cmocka_unit_test(a_pid_that_is_used_again_is_another_process),
        cmocka_unit_test(a_tid_that_moved_to_another_process_without_a_word_is_another_thread),
        cmocka_unit_test(an_address_gives_module_and_file_offset),
        cmocka_unit_test(impossible_ranges_are_survived),
        cmocka_unit_test(a_mapping_over_others_trims_and_splits_them),
        cmocka_unit_test(the_same_mapping_told_twice_changes_nothing),
        cmocka_unit_test(a_growing_jit_stays_one_mapping),
        cmocka_unit_test(dlclose_and_another_dlopen_leave_both_libraries),
        cmocka_unit_test(held_maps_stay_as_they_were),
        cmocka_unit_test(data_over_code_takes_it_away),
        cmocka_unit_test(after_a_fork_both_go_their_own_way),
        cmocka_unit_test(a_limit_holds_where_many_children_go_their_own_way),
        cmocka_unit_test(an_exec_starts_with_empty_memory),
        cmocka_unit_test(files_are_one_module_whoever_maps_them),
        cmocka_unit_test(random_mappings_agree_with_a_table_of_pages),
        cmocka_unit_test(maps_replayed_oldest_first_end_as_they_are),
        cmocka_unit_test(kernel_addresses_go_to_core_modules_and_pieces),
        cmocka_unit_test(bpf_programs_come_and_go),
        cmocka_unit_test(churning_bpf_programs_take_no_memory),
        cmocka_unit_test(the_modules_that_always_exist_do),
        cmocka_unit_test(build_ids_reach_modules_made_before_and_after),
        cmocka_unit_test(a_collection_keeps_what_is_marked_and_renumbers),
        cmocka_unit_test(a_marked_module_outlives_its_mappings),
        cmocka_unit_test(a_fork_storm_stays_flat),
        cmocka_unit_test(our_own_libc_is_resolved_to_its_file_offset),
        cmocka_unit_test(what_is_no_process_is_not_read),
        cmocka_unit_test(a_process_that_is_gone_is_asked_for_once),
        cmocka_unit_test(mappings_told_since_win_over_what_was_read),
        cmocka_unit_test(after_an_exec_there_is_nothing_left_to_read),
        cmocka_unit_test(a_child_is_known_by_reading_its_parent),
        cmocka_unit_test(a_child_that_is_read_itself_gives_its_parent_nothing),
        cmocka_unit_test(after_missed_records_everything_is_read_again),
        cmocka_unit_test(the_end_of_a_process_that_was_lost_is_found_out),
        cmocka_unit_test(many_sleeping_processes_cost_nothing_per_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
