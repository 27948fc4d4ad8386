// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/world_state.h"
#include "unit_test.h"
#include "world_fixture.h"

/* ---- the kernel ---- */

TEST(kernel_addresses_are_found_in_core_modules_and_pieces)
{
    struct world *w = world_new(false);
    const struct module *m;
    struct location p;

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

static const char *kernel_code_at(struct world *w, uint64_t addr)
{
    struct location p;
    assert_true(world_resolve(w, 0, addr, true, &p));
    assert_int_equal(p.offset, addr);
    return world_module(w, p.module)->name;
}

TEST(kernel_modules_may_be_loaded_and_unloaded_at_any_time)
{
    struct world *w = world_new(true);

    assert_false(apply_kernel_modules(w, ""));
    assert_true(apply_kernel_modules(w, "nfs 8192 0 - Live 0xffffffffc0010000\n"
                                        "xfs 16384 1 nfs, Live 0xffffffffc0000000\n"));
    do_ksymbol(w, 0xffffffffc0001000, 0x100, "bpf_prog_1_x", false);
    assert_string_equal(kernel_code_at(w, 0xffffffffc0000010), "[xfs]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0010010), "[nfs]");
    /* in use by others, in another order: no other modules */
    assert_false(apply_kernel_modules(w, "xfs 16384 7 - Live 0xffffffffc0000000 (E)\n"
                                         "nfs 8192 0 - Live 0xffffffffc0010000\n"));
    /* another module at the address of one that was unloaded */
    assert_true(apply_kernel_modules(w, "zram 4096 0 - Live 0xffffffffc0010000\n"
                                        "xfs 16384 1 - Live 0xffffffffc0000000\n"));
    assert_string_equal(kernel_code_at(w, 0xffffffffc0000010), "[xfs]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0010010), "[zram]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0011010), "[kernel]");
    assert_true(apply_kernel_modules(w, ""));
    assert_string_equal(kernel_code_at(w, 0xffffffffc0000010), "[kernel]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0001010), "[bpf]");
    /* without the privilege to see addresses */
    assert_false(apply_kernel_modules(w, "xfs 16384 1 - Live 0x0000000000000000\nnfs\n\n"));
    world_free(w);
}

TEST(the_range_of_a_kernel_module_ends_where_the_next_one_begins)
{
    struct world *w = world_new(true);

    /* Linux 6.4: 12 KiB of xfs are data elsewhere */
    assert_true(apply_kernel_modules(w, "xfs 16384 1 - Live 0xffffffffc0000000\n"
                                        "nfs 4096 0 - Live 0xffffffffc0001000\n"));
    assert_string_equal(kernel_code_at(w, 0xffffffffc0000ff0), "[xfs]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0001010), "[nfs]");
    /* loaded into that range, and into that of a BPF program */
    do_ksymbol(w, 0xffffffffc0003000, 0x100, "bpf_prog_1_x", false);
    assert_true(apply_kernel_modules(w, "zram 8192 0 - Live 0xffffffffc0002800\n"
                                        "xfs 16384 1 - Live 0xffffffffc0000000\n"
                                        "nfs 65536 0 - Live 0xffffffffc0001000\n"));
    assert_string_equal(kernel_code_at(w, 0xffffffffc0001010), "[nfs]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0002810), "[zram]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0003010), "[bpf]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0004010), "[zram]");
    /* what begins in the range of an unloaded module stays */
    assert_true(apply_kernel_modules(w, "zram 8192 0 - Live 0xffffffffc0002800\n"
                                        "xfs 16384 1 - Live 0xffffffffc0000000\n"));
    assert_string_equal(kernel_code_at(w, 0xffffffffc0000ff0), "[xfs]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0001010), "[kernel]");
    assert_string_equal(kernel_code_at(w, 0xffffffffc0002810), "[zram]");
    world_free(w);
}

TEST(bpf_programs_are_added_and_removed)
{
    struct world *w = world_new(false);
    struct location p;
    uint32_t id;

    do_ksymbol(w, 0xffffffffc0100000, 0x100, "bpf_prog_1_x", false);
    assert_true(world_resolve(w, 0, 0xffffffffc0100010, true, &p));
    id = p.module;
    assert_string_equal(world_module(w, id)->path, "bpf_prog_1_x");
    assert_string_equal(world_module(w, id)->name, "[bpf]");
    do_ksymbol(w, 0xffffffffc0100000, 0x100, "bpf_prog_1_x", true);
    assert_true(world_resolve(w, 0, 0xffffffffc0100010, true, &p));
    assert_int_equal(p.module, MODULE_ID_KERNEL);
    /* a sample refers to it: it stays until a collection */
    assert_non_null(world_module(w, id));
    collect_all(w);
    assert_null(world_module(w, id));
    world_free(w);
}

TEST(churning_bpf_programs_use_constant_memory)
{
    struct world *w = world_new(false);
    size_t bytes = 0;

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

TEST(pseudo_modules_always_exist)
{
    struct world *w = world_new(true);
    struct location p;

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

TEST(build_ids_reach_earlier_and_later_modules)
{
    static const uint8_t id[20] = { 1, 2, 3 }, other[20] = { 4 };
    struct world *w = world_new(false);
    uint32_t t = thread_of(w, 10, 10);
    struct record r = record(PERF_RECORD_MMAP2);
    const struct module *m;

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
    /* a record with its own build-id */
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

TEST_MAIN(NULL, NULL)
