// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "elf_maker.h"
#include "symbols/elf.h"
#include "symbols/probeformat.h"
#include "unit_test.h"

struct go_function {
    uint32_t entry, name, rest[8];
};
struct go_program {
    uint32_t magic;
    uint8_t zero[2], quantum, pointer;
    uint64_t n, files, text, names_at, units, file_names, pcs, functab_at;
    char names[32];
    uint32_t functab[5];
    struct go_function functions[2];
};

static struct go_program make_program(void)
{
    struct go_program g = {
        .magic = 0xfffffff0,
        .quantum = 1,
        .pointer = 8,
        .n = 2,
        .text = ELF_MAKER_VADDR,
        .names_at = offsetof(struct go_program, names),
        .functab_at = offsetof(struct go_program, functab),
        .names = "main.main\0main.work",
        .functions = { { .entry = 0x20 }, { .entry = 0x60, .name = 10 } },
    };
    const uint32_t base = offsetof(struct go_program, functions) - offsetof(struct go_program, functab);
    const uint32_t functab[] = { 0x20, base, 0x60, base + (uint32_t)sizeof(struct go_function), 0x90 };

    memcpy(g.functab, functab, sizeof functab);
    return g;
}

/* Returns the name at an offset of the segment. "-": no table; "": no name there. */
static const char *name_in(const struct go_program *g, uint64_t offset)
{
    static char name[64];
    struct elf_maker m = { .id = 4 };
    struct table_builder b = { 0 };
    struct table_entry entry;
    struct table t;
    size_t size;
    void *blob = NULL;
    bool full;
    int fd;

    m.extras[0] = (struct elf_maker_extra){ ".gopclntab", g, sizeof *g, 0, 0 };
    fd = elf_maker_open(&m);
    assert_true(fd >= 0 && elf_read(fd, &b, NULL) && table_build(&b, TABLE_NESTED, &blob, &size, NULL) &&
                table_view(&t, blob, size, NULL));
    full = t.header->flags & TABLE_FULL;
    strcpy(name, full ? "" : "-");
    if (table_find(&t, ELF_MAKER_OFFSET + offset, &entry))
        strncpy(name, entry.name, sizeof name - 1);
    table_builder_done(&b);
    mem_free(blob);
    close(fd);
    return name;
}

TEST(a_stripped_go_program_has_function_names)
{
    struct go_program g = make_program();

    assert_string_equal(name_in(&g, 0x1f), "");
    assert_string_equal(name_in(&g, 0x20), "main.main");
    assert_string_equal(name_in(&g, 0x5f), "main.main");
    assert_string_equal(name_in(&g, 0x60), "main.work");
    assert_string_equal(name_in(&g, 0x90), "");
    g.magic++;
    assert_string_equal(name_in(&g, 0x60), "main.work");
}

TEST(function_tables_of_unknown_versions_are_ignored)
{
    struct go_program g = make_program();

    g.magic = 0xfffffffc;
    assert_string_equal(name_in(&g, 0x20), "-");
    g = make_program();
    g.pointer = 4;
    assert_string_equal(name_in(&g, 0x20), "-");
}

/* Returns the function name at an offset of the file's segment; "-": the file has no table. */
static const char *name_in_file(const struct elf_maker_file *f, uint64_t offset)
{
    static char name[64];
    struct table_builder b = { 0 };
    struct table_entry entry;
    struct table t;
    size_t size;
    void *blob = NULL;
    int fd = elf_maker_memfd(f, sizeof *f);

    assert_true(fd >= 0 && elf_read(fd, &b, NULL) && table_build(&b, TABLE_NESTED, &blob, &size, NULL) &&
                table_view(&t, blob, size, NULL));
    strcpy(name, t.header->flags & TABLE_FULL ? "" : "-");
    if (table_find(&t, ELF_MAKER_OFFSET + offset, &entry))
        strncpy(name, entry.name, sizeof name - 1);
    table_builder_done(&b);
    mem_free(blob);
    close(fd);
    return name;
}

#define TABLE_AT 0x800 /* offset in the segment */

/* A Go program, recognized by a section, whose function table has no section of its own. */
static void make_file(struct elf_maker_file *f, const struct go_program *g, const char *section)
{
    struct elf_maker m = { .id = 4 };

    m.extras[0] = (struct elf_maker_extra){ section, "built by Go", 12, 0, 0 };
    elf_maker_fill(f, &m);
    memcpy((char *)f + ELF_MAKER_OFFSET + TABLE_AT, g, sizeof *g);
}

TEST(probes_know_a_go_program)
{
    struct go_program g = make_program();
    struct probefile_ask q = { .kind = PROBEFILE_FUNCTION, .name = "main.work" };
    struct probefile_view v;
    struct elf_maker_file f;
    struct buf reply = { 0 };

    make_file(&f, &g, ".go.buildinfo");
    int fd = elf_maker_memfd(&f, sizeof f);
    assert_true(fd >= 0 && probefile_serve(&q, sizeof q, &fd, 1, &reply, NULL));
    assert_true(probefile_view(&v, reply.data, reply.len, NULL));
    assert_int_equal(v.header.n_places, 1);
    assert_int_equal(v.places[0].offset, ELF_MAKER_OFFSET + 0x60);
    assert_true(v.header.go);
    buf_done(&reply);
    close(fd);
}

TEST(a_function_table_without_a_section_is_found)
{
    struct go_program g = make_program();
    struct elf_maker_file f;

    make_file(&f, &g, ".go.buildinfo");
    assert_string_equal(name_in_file(&f, 0x60), "main.work");
    make_file(&f, &g, ".data.rel.ro");
    assert_string_equal(name_in_file(&f, 0x60), "-");
    f.header.e_shoff = f.header.e_shnum = f.header.e_shstrndx = 0;
    assert_string_equal(name_in_file(&f, 0x60), "main.work");
}

/* Four bytes of a number may look like the start of a table. */
TEST(false_table_headers_are_skipped)
{
    struct go_program g = make_program(), other = make_program();
    struct elf_maker_file f;

    make_file(&f, &g, ".go.buildinfo");
    other.functab[1] = UINT32_MAX;
    memcpy((char *)&f + ELF_MAKER_OFFSET + 0x100, &other, sizeof other);
    memcpy((char *)&f + ELF_MAKER_OFFSET + 0x400, &other.magic, sizeof other.magic);
    assert_string_equal(name_in_file(&f, 0x60), "main.work");
}

/* In a position-independent program a relocation gives the code address, and .text may start before it. */
TEST(the_code_address_is_relocated)
{
    enum { DYNAMIC = 0xc00, RELOCATIONS = 0xd00 };
    struct go_program g = make_program();
    struct elf_maker_file f;
    Elf64_Dyn tags[] = { { DT_RELA, { ELF_MAKER_VADDR + RELOCATIONS } },
                         { DT_RELASZ, { 2 * sizeof(Elf64_Rela) } },
                         { DT_NULL, { 0 } } };
    Elf64_Rela all[] = {
        { ELF_MAKER_VADDR + TABLE_AT + 16, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x1234 },
        { ELF_MAKER_VADDR + TABLE_AT + offsetof(struct go_program, text), ELF64_R_INFO(0, R_X86_64_RELATIVE),
          ELF_MAKER_VADDR + 0x40 },
    };

    g.text = 0;
    make_file(&f, &g, ".go.buildinfo");
    f.note_segment = (Elf64_Phdr){ .p_type = PT_DYNAMIC, .p_vaddr = ELF_MAKER_VADDR + DYNAMIC };
    f.header.e_phnum = 2;
    memcpy((char *)&f + ELF_MAKER_OFFSET + DYNAMIC, tags, sizeof tags);
    memcpy((char *)&f + ELF_MAKER_OFFSET + RELOCATIONS, all, sizeof all);
    assert_string_equal(name_in_file(&f, 0x20 + 0x40), "main.main");
    assert_string_equal(name_in_file(&f, 0x60 + 0x40), "main.work");
    f.header.e_phnum = 1;
    assert_string_equal(name_in_file(&f, 0x60 + 0x40), "-");
}

TEST(damaged_function_tables_are_handled)
{
    size_t i;

    for (i = 0; i < sizeof(struct go_program); i++) {
        struct go_program g = make_program();
        ((uint8_t *)&g)[i] ^= 0xff;
        name_in(&g, 0x20);
    }
}

TEST_MAIN(NULL, NULL)
