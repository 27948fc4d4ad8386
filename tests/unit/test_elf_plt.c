// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf_maker.h"
#include "symbols/elf.h"
#include "unit_test.h"

#define PLT ELF_MAKER_VADDR
#define GOT (ELF_MAKER_VADDR + 0x3000)

struct built {
    struct table table;
    void *blob;
};

static struct built read_file_as(const struct elf_maker *m, bool as_perf)
{
    struct table_builder b = { .as_perf = as_perf };
    struct built t = { .blob = NULL };
    int fd = elf_maker_open(m);
    size_t size;

    assert_true(fd >= 0);
    assert_true(elf_read(fd, &b, NULL));
    assert_true(table_build(&b, TABLE_NESTED, &t.blob, &size, NULL));
    assert_true(table_view(&t.table, t.blob, size, NULL));
    table_builder_done(&b);
    close(fd);
    return t;
}

static struct built read_file(const struct elf_maker *m)
{
    return read_file_as(m, false);
}

static const char *name_at(const struct built *t, uint64_t addr)
{
    struct table_entry entry;

    return table_find(&t->table, addr - ELF_MAKER_VADDR + ELF_MAKER_OFFSET, &entry) ? entry.name : "-";
}

/* Undefined symbols of .dynsym, outside the segment. */
static const struct elf_maker_symbol imports[] = { { "puts", 1, 0, 0 },
                                                   { "_ZdlPv", 1, 0, 0 },
                                                   { "malloc", 1, 0, 0 } };

static Elf64_Rela make_relocation(unsigned number, unsigned symbol, unsigned type)
{
    Elf64_Rela r = { .r_offset = GOT + 8 * number, .r_info = ELF64_R_INFO((uint64_t)symbol, type) };

    return r;
}

/* Writes jmp *SLOT(%rip) for address `at`, where SLOT is GOT entry `number`. */
static void put_jump(uint8_t *code, uint64_t at, unsigned number)
{
    int32_t distance = (int32_t)(GOT + 8 * number - (at + 6));

    code[0] = 0xff;
    code[1] = 0x25;
    memcpy(code + 2, &distance, 4);
}

TEST(plt_stubs_are_named_after_their_target)
{
    Elf64_Rela lazy[] = { make_relocation(3, 2, R_X86_64_JUMP_SLOT),
                          make_relocation(4, 1, R_X86_64_JUMP_SLOT) };
    Elf64_Rela now[] = { make_relocation(1, 3, R_X86_64_GLOB_DAT), make_relocation(2, 0, R_X86_64_RELATIVE) };
    uint8_t plt[48] = { 0xff, 0x35 }, got[16] = { 0 };
    struct elf_maker m = { .symbols = imports, .n_symbols = 3, .symtab_type = SHT_DYNSYM };
    struct built t;

    put_jump(plt + 16, PLT + 16, 3);
    put_jump(plt + 32, PLT + 32, 4);
    put_jump(got, PLT + 0x100, 1);
    put_jump(got + 8, PLT + 0x108, 2);
    m.extras[0] = (struct elf_maker_extra){ ".rela.plt", lazy, sizeof lazy, 0, 0 };
    m.extras[1] = (struct elf_maker_extra){ ".rela.dyn", now, sizeof now, 0, 0 };
    m.extras[2] = (struct elf_maker_extra){ ".plt", plt, sizeof plt, PLT, 0 };
    m.extras[3] = (struct elf_maker_extra){ ".plt.got", got, sizeof got, PLT + 0x100, 0 };
    t = read_file(&m);
    assert_string_equal(name_at(&t, PLT), ".plt");
    assert_string_equal(name_at(&t, PLT + 16), "_ZdlPv@plt");
    assert_string_equal(name_at(&t, PLT + 31), "_ZdlPv@plt");
    assert_string_equal(name_at(&t, PLT + 32), "puts@plt");
    assert_string_equal(name_at(&t, PLT + 48), "-");
    assert_string_equal(name_at(&t, PLT + 0x100), "malloc@plt");
    assert_string_equal(name_at(&t, PLT + 0x108), "-");
    mem_free(t.blob);
    /* perf counts the stubs, whatever their target */
    put_jump(plt + 16, PLT + 16, 4);
    t = read_file_as(&m, true);
    assert_string_equal(name_at(&t, PLT), "-");
    assert_string_equal(name_at(&t, PLT + 16), "_ZdlPv@plt");
    assert_string_equal(name_at(&t, PLT + 32), "puts@plt");
    assert_string_equal(name_at(&t, PLT + 0x100), "-");
    mem_free(t.blob);
}

TEST(stubs_with_branch_protection_are_named_in_both_sections)
{
    static const uint8_t endbr_push[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, 1, 0, 0, 0, 0xf2, 0xe9 };
    static const uint8_t endbr_bnd[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2 };
    Elf64_Rela lazy[] = { make_relocation(3, 1, R_X86_64_JUMP_SLOT),
                          make_relocation(4, 3, R_X86_64_JUMP_SLOT) };
    uint8_t plt[48] = { 0 }, sec[16] = { 0 };
    struct elf_maker m = { .symbols = imports, .n_symbols = 3, .symtab_type = SHT_DYNSYM };
    struct built t;

    memcpy(plt + 16, endbr_push, sizeof endbr_push);
    memcpy(plt + 32, endbr_push, sizeof endbr_push);
    plt[37] = 2; /* there is no such relocation */
    memcpy(sec, endbr_bnd, sizeof endbr_bnd);
    put_jump(sec + 5, PLT + 0x205, 4);
    m.extras[0] = (struct elf_maker_extra){ ".rela.plt", lazy, sizeof lazy, 0, 0 };
    m.extras[1] = (struct elf_maker_extra){ ".plt", plt, sizeof plt, PLT, 0 };
    m.extras[2] = (struct elf_maker_extra){ ".plt.sec", sec, sizeof sec, PLT + 0x200, 0 };
    t = read_file(&m);
    assert_string_equal(name_at(&t, PLT + 16), "malloc@plt");
    assert_string_equal(name_at(&t, PLT + 32), ".plt");
    assert_string_equal(name_at(&t, PLT + 0x20f), "malloc@plt");
    mem_free(t.blob);
}

TEST(arm64_stubs_are_read)
{
    /* bti c; adrp x16, +3 pages; ldr x17, [x16, #0x18]; add x16, x16, #0x18; br x17; nop */
    static const uint32_t code[] = { 0xa9bf7bf0, 0x900000d0, 0xf9400a11, 0xd503201f, 0xd503201f, 0xd503201f,
                                     0xd503245f, 0xf0000010, 0xf9400e11, 0x91006210, 0xd61f0220, 0xd503201f };
    Elf64_Rela lazy[] = { make_relocation(3, 1, R_AARCH64_JUMP_SLOT) };
    struct elf_maker m = {
        .symbols = imports, .n_symbols = 3, .symtab_type = SHT_DYNSYM, .machine = EM_AARCH64
    };
    struct built t;

    m.extras[0] = (struct elf_maker_extra){ ".rela.plt", lazy, sizeof lazy, 0, 0 };
    m.extras[1] = (struct elf_maker_extra){ ".plt", code, sizeof code, PLT, 0 };
    t = read_file(&m);
    assert_string_equal(name_at(&t, PLT + 4), ".plt");
    assert_string_equal(name_at(&t, PLT + 24), "puts@plt");
    assert_string_equal(name_at(&t, PLT + 43), "puts@plt");
    assert_string_equal(name_at(&t, PLT + 44), ".plt");
    mem_free(t.blob);
}

TEST(stubs_of_irelative_relocations_are_named_after_the_ifunc)
{
    static const struct elf_maker_symbol symbols[] = {
        { "__strlen_ifunc", ELF_MAKER_VADDR + 0x800, 0x20, ELF64_ST_INFO(STB_LOCAL, STT_GNU_IFUNC) },
        { "strlen", ELF_MAKER_VADDR + 0x800, 0x20, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC) },
        { "__strlen_sse2", ELF_MAKER_VADDR + 0x900, 0x20, 0 },
    };
    Elf64_Rela lazy[] = { make_relocation(3, 0, R_X86_64_IRELATIVE) };
    uint8_t plt[16] = { 0 };
    struct elf_maker m = { .symbols = symbols, .n_symbols = 3, .symtab_type = SHT_SYMTAB };
    struct built t;

    lazy[0].r_addend = ELF_MAKER_VADDR + 0x800;
    put_jump(plt, PLT, 3);
    m.extras[0] = (struct elf_maker_extra){ ".rela.plt", lazy, sizeof lazy, 0, 0 };
    m.extras[1] = (struct elf_maker_extra){ ".plt", plt, sizeof plt, PLT, 0 };
    t = read_file(&m);
    assert_string_equal(name_at(&t, PLT), "strlen@plt");
    assert_string_equal(name_at(&t, ELF_MAKER_VADDR + 0x800), "strlen");
    mem_free(t.blob);
}

/* Compares with the stub names that objdump prints. */
TEST(stubs_of_this_program_match_objdump)
{
    FILE *p = popen("objdump -d -j .plt -j .plt.sec -j .plt.got /proc/$PPID/exe 2>/dev/null", "r");
    struct table_builder b = { 0 };
    unsigned long long addr;
    char line[512], name[256];
    uint64_t offset, limit;
    struct elffile f;
    struct built t;
    unsigned seen = 0;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    size_t size;

    assert_non_null(p);
    assert_true(fd >= 0 && elf_read(fd, &b, NULL) && elffile_open(&f, fd, NULL));
    assert_true(table_build(&b, TABLE_NESTED, &t.blob, &size, NULL) &&
                table_view(&t.table, t.blob, size, NULL));
    while (fgets(line, sizeof line, p)) {
        struct table_entry entry;
        if (sscanf(line, "%llx <%255[^>]>:", &addr, name) != 2 || !strstr(name, "@plt"))
            continue;
        if (strpbrk(name, "+-*")) /* puts@plt-0x10, *ABS*+0x…@plt */
            continue;
        assert_true(elffile_offset(&f, addr, &offset, &limit) && table_find(&t.table, offset, &entry));
        assert_string_equal(entry.name, name);
        seen++;
    }
    elffile_close(&f);
    table_builder_done(&b);
    mem_free(t.blob);
    close(fd);
    if (pclose(p) || !seen) {
        print_message("no objdump, or no stubs in this program\n");
        skip();
    }
}

TEST(damaged_relocations_and_stubs_are_handled)
{
    Elf64_Rela lazy[] = { make_relocation(3, 2, R_X86_64_JUMP_SLOT),
                          make_relocation(4, 1, R_X86_64_IRELATIVE) };
    uint8_t plt[47] = { 0xff, 0x35 };
    struct elf_maker m = { .symbols = imports, .n_symbols = 3, .symtab_type = SHT_DYNSYM };
    size_t i;

    put_jump(plt + 16, PLT + 16, 3);
    put_jump(plt + 32, PLT + 32, 4);
    m.extras[0] = (struct elf_maker_extra){ ".rela.plt", lazy, sizeof lazy, 0, 0 };
    m.extras[1] = (struct elf_maker_extra){ ".plt", plt, sizeof plt, PLT, 0 };
    for (i = 0; i < sizeof lazy + sizeof plt; i++) {
        uint8_t *byte = i < sizeof lazy ? (uint8_t *)lazy + i : plt + (i - sizeof lazy);
        struct built t;
        *byte ^= 0xff;
        t = read_file(&m);
        mem_free(t.blob);
        t = read_file_as(&m, true);
        mem_free(t.blob);
        *byte ^= 0xff;
    }
}

TEST_MAIN(NULL, NULL)
