// SPDX-License-Identifier: GPL-2.0-or-later
#include <byteswap.h>

#include "unit_test.h"
#include "unwind/arch.h"

/* One value per bit of the mask: 100 + the bit. */
static size_t fill(uint64_t mask, uint64_t *regs)
{
    size_t n = 0;

    for (unsigned bit = 0; bit < 64; bit++)
        if (mask >> bit & 1)
            regs[n++] = 100 + bit;
    return n;
}

TEST(x86_64_registers_are_mapped_from_perf_order_to_dwarf_order)
{
    static const unsigned perf_of_dwarf[17] = { 0, 3, 2, 1, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23, 8 };
    uint64_t regs[64], mask = unwind_arch_regs_mask(UNWIND_ARCH_X86_64);
    struct unwind_regs r;

    fill(mask, regs);
    assert_true(unwind_arch_take_regs(UNWIND_ARCH_X86_64, regs, mask, false, &r));
    for (unsigned i = 0; i < 17; i++) {
        assert_int_equal(r.r[i], 100 + perf_of_dwarf[i]);
        assert_true(r.known >> i & 1);
    }
    assert_int_equal(r.pc, 108);
    assert_int_equal(r.sp, 107);
    assert_int_equal(r.fp, 106);
}

TEST(registers_outside_the_requested_mask_are_skipped)
{
    uint64_t regs[64], mask = 0xff0fff; /* what perf record samples: segments and flags too */
    struct unwind_regs r;

    fill(mask, regs);
    assert_true(unwind_arch_take_regs(UNWIND_ARCH_X86_64, regs, mask, false, &r));
    assert_int_equal(r.r[8], 116);
    assert_int_equal(r.pc, 108);
}

TEST(arm64_registers_keep_their_numbers)
{
    uint64_t regs[64], mask = unwind_arch_regs_mask(UNWIND_ARCH_ARM64);
    struct unwind_regs r;

    assert_int_equal(fill(mask, regs), 33);
    assert_true(unwind_arch_take_regs(UNWIND_ARCH_ARM64, regs, mask, false, &r));
    assert_int_equal(r.pc, 132);
    assert_int_equal(r.sp, 131);
    assert_int_equal(r.fp, 129);
    assert_int_equal(r.r[30], 130);
}

TEST(a_sample_without_pc_or_sp_is_refused)
{
    uint64_t regs[64] = { 0 };
    struct unwind_regs r;

    assert_false(unwind_arch_take_regs(UNWIND_ARCH_X86_64, regs, 1u << 8, false, &r));
    assert_false(unwind_arch_take_regs(UNWIND_ARCH_X86_64, regs, 1u << 7, false, &r));
    assert_true(unwind_arch_take_regs(UNWIND_ARCH_X86_64, regs, 3u << 7, false, &r));
    assert_false(unwind_arch_take_regs(UNWIND_ARCH_NONE, regs, UINT64_MAX, false, &r));
}

TEST(registers_of_opposite_byte_order_are_swapped)
{
    uint64_t regs[2] = { bswap_64(0x1122334455667788), bswap_64(0x99) };
    struct unwind_regs r;

    assert_true(unwind_arch_take_regs(UNWIND_ARCH_X86_64, regs, 3u << 7, true, &r));
    assert_true(r.sp == 0x1122334455667788);
    assert_true(r.pc == 0x99);
}

TEST(arm64_pointer_authentication_codes_are_stripped_from_addresses)
{
    assert_true(unwind_arch_strip(UNWIND_ARCH_ARM64, 0x002faaaabbbbcccc) == 0xaaaabbbbcccc);
    assert_true(unwind_arch_strip(UNWIND_ARCH_ARM64, 0xffa0800012345678) == 0xffff800012345678);
    assert_true(unwind_arch_strip(UNWIND_ARCH_ARM64, 0xaaaabbbbcccc) == 0xaaaabbbbcccc);
    assert_true(unwind_arch_strip(UNWIND_ARCH_X86_64, 0xffffffff81000000) == 0xffffffff81000000);
}

TEST(architectures_are_recognized_by_their_uname_machine_name)
{
    assert_int_equal(unwind_arch_named("x86_64"), UNWIND_ARCH_X86_64);
    assert_int_equal(unwind_arch_named("aarch64"), UNWIND_ARCH_ARM64);
    assert_int_equal(unwind_arch_named("riscv64"), UNWIND_ARCH_NONE);
    assert_int_equal(unwind_arch_named(""), UNWIND_ARCH_NONE);
    assert_true(unwind_arch_regs_mask(UNWIND_ARCH_NONE) == 0);
}

TEST_MAIN(NULL, NULL)
