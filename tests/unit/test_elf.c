// SPDX-License-Identifier: GPL-2.0-or-later
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "elf_maker.h"
#include "symbols/elf.h"
#include "process/elfid.h"
#include "symbols/machine.h"
#include "unit_test.h"

struct built {
    struct table table;
    void *blob;
    bool ok;
    struct error error;
};

static void build(struct table_builder *b, struct built *t)
{
    size_t size;

    if (t->ok) {
        assert_true(table_build(b, TABLE_NESTED, &t->blob, &size, &t->error));
        assert_true(table_view(&t->table, t->blob, size, &t->error));
    }
    table_builder_done(b);
}

static struct built read_fd(int fd)
{
    struct table_builder b = { 0 };
    struct built t = { .blob = NULL };

    assert_true(fd >= 0);
    t.ok = elf_read(fd, &b, &t.error);
    build(&b, &t);
    close(fd);
    return t;
}

static struct built read_pair(int fd, int debug_fd)
{
    struct table_builder b = { 0 };
    struct built t = { .blob = NULL };

    t.ok = elf_read_with_debug(fd, debug_fd, &b, &t.error);
    build(&b, &t);
    close(fd);
    close(debug_fd);
    return t;
}

static const char *name_at(const struct built *t, uint64_t offset)
{
    struct table_entry entry;

    return table_find(&t->table, offset, &entry) ? entry.name : "-";
}

/* Returns the file offset of an address of this process. */
static uint64_t file_offset_of(const void *p)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long long start, end, pgoff, found = 0;
    char line[4096];

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &pgoff) == 3 && (uintptr_t)p >= start &&
            (uintptr_t)p < end)
            found = (uintptr_t)p - start + pgoff;
    fclose(maps);
    return found;
}

TEST(own_functions_are_found_at_their_file_offset)
{
    struct built t = read_fd(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));

    assert_true(t.ok);
    assert_true(t.table.header->flags & TABLE_FULL);
    assert_string_equal(name_at(&t, file_offset_of((void *)(uintptr_t)elf_read)), "elf_read");
    assert_string_equal(name_at(&t, file_offset_of((void *)(uintptr_t)elf_read) + 3), "elf_read");
    assert_string_equal(name_at(&t, file_offset_of((void *)(uintptr_t)file_offset_of)), "file_offset_of");
    mem_free(t.blob);
}

TEST(exported_symbols_of_libc_are_found)
{
    struct built t;
    Dl_info info;
    void *p = dlsym(RTLD_DEFAULT, "qsort_r");

    assert_non_null(p);
    assert_true(dladdr(p, &info));
    t = read_fd(open(info.dli_fname, O_RDONLY | O_CLOEXEC));
    assert_true(t.ok);
    assert_non_null(strstr(name_at(&t, file_offset_of(p)), "qsort_r"));
    assert_true(t.table.header->build_id_size > 0);
    mem_free(t.blob);
}

TEST(the_vdso_has_symbols)
{
    struct built t;
    struct table_entry entry;
    uint32_t i;
    bool found = false;
    int fd = machine_open_vdso();

    if (fd < 0) {
        print_message("this process has no vdso\n");
        skip();
    }
    t = read_fd(fd);
    assert_true(t.ok);
    for (i = 0; table_entry_at(&t.table, i, &entry); i++)
        found |= strstr(entry.name, "clock_gettime") != NULL;
    assert_true(found);
    mem_free(t.blob);
}

TEST(only_code_symbols_inside_the_segment_are_used)
{
    static const struct elf_maker_symbol symbols[] = {
        { "function", ELF_MAKER_VADDR + 0x10, 0x10, 0 },
        { "label", ELF_MAKER_VADDR + 0x40, 0, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE) },
        { "$x", ELF_MAKER_VADDR + 0x50, 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE) },
        { "$d.7", ELF_MAKER_VADDR + 0x54, 0, ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE) },
        { "$anon", ELF_MAKER_VADDR + 0x70, 8, 0 },
        { "variable", ELF_MAKER_VADDR + 0x60, 8, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT) },
        { "chosen", ELF_MAKER_VADDR + 0x80, 0x10, ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC) },
        { "outside", ELF_MAKER_VADDR + ELF_MAKER_SIZE, 8, 0 },
        { "below", ELF_MAKER_VADDR - 8, 8, 0 },
        { "huge", ELF_MAKER_VADDR + 0xff0, UINT64_MAX, 0 },
    };
    struct elf_maker m = {
        .symbols = symbols, .n_symbols = sizeof symbols / sizeof *symbols, .symtab_type = SHT_SYMTAB, .id = 7
    };
    struct built t = read_fd(elf_maker_open(&m));

    assert_true(t.ok);
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x1f), "function");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x20), "-");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x60), "label");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x70), "$anon");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x80), "chosen");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0xfff), "huge");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x1000), "-");
    assert_int_equal(t.table.header->build_id_size, 20);
    assert_int_equal(t.table.header->build_id[19], 7);
    mem_free(t.blob);
}

TEST(the_default_symbol_version_names_the_code)
{
    static const struct elf_maker_symbol symbols[] = {
        { "begin@VERSION_1", ELF_MAKER_VADDR + 0x10, 0x10, 0 },
        { "begin@@VERSION_2.34", ELF_MAKER_VADDR + 0x10, 0x10, 0 },
        { "old@VERSION_1", ELF_MAKER_VADDR + 0x40, 0x10, 0 },
    };
    struct elf_maker m = {
        .symbols = symbols, .n_symbols = sizeof symbols / sizeof *symbols, .symtab_type = SHT_SYMTAB, .id = 7
    };
    struct built t = read_fd(elf_maker_open(&m));

    assert_true(t.ok);
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x10), "begin");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x40), "old@VERSION_1");
    mem_free(t.blob);
}

TEST(hidden_symbol_versions_do_not_replace_other_names)
{
    static const struct elf_maker_symbol symbols[] = {
        { "cbegin", ELF_MAKER_VADDR + 0x10, 0x10, 0 },
        { "begin", ELF_MAKER_VADDR + 0x10, 0x10, 0 },
        { "only", ELF_MAKER_VADDR + 0x40, 0x10, 0 },
    };
    static const uint16_t versions[] = { 0, 0x8002, 2, 0x8002 };
    struct elf_maker m = {
        .symbols = symbols,
        .n_symbols = sizeof symbols / sizeof *symbols,
        .symtab_type = SHT_DYNSYM,
        .versions = versions,
    };
    struct built t = read_fd(elf_maker_open(&m));

    assert_true(t.ok);
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x10), "begin");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x40), "only");
    mem_free(t.blob);
}

TEST(perf_rules_use_the_longest_version_name)
{
    static const struct elf_maker_symbol symbols[] = {
        { "begin@@VERSION_2", ELF_MAKER_VADDR + 0x10, 0x10, 0 },
        { "begin@VERSION_1.1.1", ELF_MAKER_VADDR + 0x10, 0x10, 0 },
    };
    struct elf_maker m = {
        .symbols = symbols, .n_symbols = sizeof symbols / sizeof *symbols, .symtab_type = SHT_SYMTAB, .id = 7
    };
    struct table_builder b = { .as_perf = true };
    struct built t = { .blob = NULL };
    int fd = elf_maker_open(&m);

    t.ok = elf_read(fd, &b, &t.error);
    build(&b, &t);
    close(fd);
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x10), "begin@VERSION_1.1.1");
    mem_free(t.blob);
}

static const struct elf_maker_symbol secret = { "secret", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
static const struct elf_maker_symbol exported = { "exported", ELF_MAKER_VADDR + 0x40, 0x10, 0 };

TEST(a_stripped_file_gives_its_exports_and_debug_link)
{
    struct elf_maker m = { .symbols = &exported,
                           .n_symbols = 1,
                           .symtab_type = SHT_DYNSYM,
                           .id = 9,
                           .link = "prog.debug",
                           .link_crc = 0x12345678 };
    struct built t = read_fd(elf_maker_open(&m));

    assert_true(t.ok);
    assert_false(t.table.header->flags & TABLE_FULL);
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x40), "exported");
    assert_string_equal(table_debuglink(&t.table), "prog.debug");
    mem_free(t.blob);
}

TEST(a_debug_file_of_the_same_build_adds_its_symbols)
{
    struct elf_maker m = { .symbols = &exported, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = 9 };
    struct elf_maker debug = { .symbols = &secret, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct built t = read_pair(elf_maker_open(&m), elf_maker_open(&debug));

    assert_true(t.ok);
    assert_true(t.table.header->flags & TABLE_FULL);
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x10), "secret");
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x40), "exported");
    mem_free(t.blob);
}

TEST(a_debug_file_of_another_build_is_refused)
{
    struct elf_maker m = { .symbols = &exported, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = 9 };
    struct elf_maker debug = { .symbols = &secret, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 10 };
    struct built t = read_pair(elf_maker_open(&m), elf_maker_open(&debug));

    assert_false(t.ok);
    assert_int_equal(t.error.class, ERROR_FORMAT);
}

/* The checksum of binutils' gnu_debuglink_crc32. Its known value for "123456789" is 0xcbf43926. */
TEST(the_checksum_identifies_debug_files_without_build_ids)
{
    struct elf_maker debug = { .symbols = &secret, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 0 };
    struct elf_maker m = { .symbols = &exported,
                           .n_symbols = 1,
                           .symtab_type = SHT_DYNSYM,
                           .id = 0,
                           .link = "x",
                           .link_crc = 0xcbf43926 };
    struct built t = read_pair(elf_maker_open(&m), elf_maker_memfd("123456789", 9));
    struct elf_maker_file f;
    uint32_t crc = UINT32_MAX;
    size_t i, bit;

    assert_false(t.ok);
    t = read_pair(elf_maker_open(&m), elf_maker_open(&debug));
    assert_false(t.ok);
    elf_maker_fill(&f, &debug);
    for (i = 0; i < sizeof f; i++)
        for (crc ^= ((unsigned char *)&f)[i], bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    m.link_crc = ~crc;
    t = read_pair(elf_maker_open(&m), elf_maker_open(&debug));
    assert_true(t.ok);
    assert_string_equal(name_at(&t, ELF_MAKER_OFFSET + 0x10), "secret");
    mem_free(t.blob);
}

TEST(a_file_truncated_anywhere_is_handled)
{
    struct elf_maker m = { .symbols = &exported,
                           .n_symbols = 1,
                           .symtab_type = SHT_SYMTAB,
                           .id = 9,
                           .link = "prog.debug",
                           .link_crc = 1 };
    struct elf_maker_file f;
    size_t n;

    elf_maker_fill(&f, &m);
    for (n = 0; n < sizeof f; n += n < 600 ? 1 : 13) {
        struct built t = read_fd(elf_maker_memfd(&f, n));
        mem_free(t.blob);
    }
}

TEST(a_file_with_any_byte_changed_is_handled)
{
    struct elf_maker m = { .symbols = &exported,
                           .n_symbols = 1,
                           .symtab_type = SHT_SYMTAB,
                           .id = 9,
                           .link = "prog.debug",
                           .link_crc = 1 };
    struct elf_maker_file f;
    size_t i;

    for (i = 0; i < offsetof(struct elf_maker_file, symbols) + 64; i++) {
        struct built t;
        elf_maker_fill(&f, &m);
        ((unsigned char *)&f)[i] ^= 0xff;
        t = read_fd(elf_maker_memfd(&f, sizeof f));
        mem_free(t.blob);
    }
}

TEST(files_that_are_not_elf_are_refused_with_a_reason)
{
    struct built t = read_fd(elf_maker_memfd("#!/bin/sh\necho no\n", 18));

    assert_false(t.ok);
    assert_string_equal(t.error.text, "not an ELF file");
}

TEST(a_build_id_is_found_among_other_notes)
{
    static const uint32_t notes[] = { 6, 3, 257, 0x756e694c, 0x78,       0x12345,
                                      4, 8, 3,   0x554e47,   0x01010101, 0x02020202 };
    uint8_t id[20];

    assert_int_equal(elfid_in_notes(notes, sizeof notes, id), 8);
    assert_int_equal(id[7], 2);
    assert_int_equal(elfid_in_notes(notes, sizeof notes - 4, id), 0);
}

TEST(elfid_finds_the_build_id_and_handles_damaged_files)
{
    struct elf_maker m = { .symbols = &exported, .n_symbols = 1, .id = 0x42, .note_segment = true };
    struct elf_maker none = { .symbols = &exported, .n_symbols = 1, .id = 0x42 };
    struct elf_maker_file f;
    uint8_t id[20];
    size_t n;
    int fd = elf_maker_open(&m);

    assert_int_equal(elfid_read(fd, id), 20);
    assert_int_equal(id[0], 0x42);
    assert_int_equal(id[19], 0x42);
    close(fd);
    fd = elf_maker_open(&none);
    assert_int_equal(elfid_read(fd, id), 0);
    close(fd);
    elf_maker_fill(&f, &m);
    for (n = 0; n < offsetof(struct elf_maker_file, link); n += 7) {
        fd = elf_maker_memfd(&f, n);
        elfid_read(fd, id);
        close(fd);
        elf_maker_fill(&f, &m);
        ((unsigned char *)&f)[n] ^= 0xff;
        fd = elf_maker_memfd(&f, sizeof f);
        elfid_read(fd, id);
        close(fd);
    }
}

TEST_MAIN(NULL, NULL)
