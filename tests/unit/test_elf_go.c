// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "elf_maker.h"
#include "symbols/elf.h"

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

/* "-": no table; "": no name at that offset of the segment. */
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

static void a_stripped_go_program_has_names(void **state)
{
    struct go_program g = make_program();

    (void)state;
    assert_string_equal(name_in(&g, 0x1f), "");
    assert_string_equal(name_in(&g, 0x20), "main.main");
    assert_string_equal(name_in(&g, 0x5f), "main.main");
    assert_string_equal(name_in(&g, 0x60), "main.work");
    assert_string_equal(name_in(&g, 0x90), "");
    g.magic++;
    assert_string_equal(name_in(&g, 0x60), "main.work");
}

static void tables_of_other_versions_are_left_alone(void **state)
{
    struct go_program g = make_program();

    (void)state;
    g.magic = 0xfffffffb;
    assert_string_equal(name_in(&g, 0x20), "-");
    g = make_program();
    g.pointer = 4;
    assert_string_equal(name_in(&g, 0x20), "-");
}

static void a_damaged_table_is_survived(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; i < sizeof(struct go_program); i++) {
        struct go_program g = make_program();
        ((uint8_t *)&g)[i] ^= 0xff;
        name_in(&g, 0x20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stripped_go_program_has_names),
        cmocka_unit_test(tables_of_other_versions_are_left_alone),
        cmocka_unit_test(a_damaged_table_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
