// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/clock.h"
#include "elf_maker.h"
#include "go_maker.h"
#include "symbols/golines.h"
#include "unit_test.h"

#define LONG_ENOUGH (60 * NS_PER_SEC)
#define TEXT        ((uint64_t)ELF_MAKER_VADDR)

enum { /* file offsets in the segment, except the table */
       WORK = 0x100,
       PLAIN = 0x180,
       END = 0x200,
       MODULEDATA = 0x400,
       DYNAMIC = 0xc00,
       RELOCATIONS = 0xd00,
       CALLS = 0xe00,
       TABLE = 0x800000
};

/* main.work calls main.two in line 11, which calls main.one in line 21, and main.one again in line 12. */
static const struct go_spec specs[] = {
    { "main.work", WORK, { { 0, 0x60 } }, 0, { 0 } },
    { "main.plain", PLAIN, { { 0, 0x40 } }, 0, { 0 } },
};
static const struct go_lines lines[] = {
    { .files = { { 0, 0x18 }, { 1, 0x20 }, { 0, 0x28 } },
      .lines = { { 10, 0x10 }, { 11, 8 }, { 21, 8 }, { 31, 0x18 }, { 12, 8 }, { 32, 0x10 }, { 13, 0x10 } },
      .inlined = { { -1, 0x18 }, { 0, 8 }, { 1, 0x18 }, { -1, 8 }, { 2, 0x10 }, { -1, 0x10 } },
      .has_calls = true },
    { .files = { { 1, 0x40 } }, .lines = { { 40, 0x40 } } },
};
static const struct go_call calls[] = { { "main.two", 0x10 }, { "main.one", 0x18 }, { "main.one", 0x38 } };

static void make_calls(struct go_maker *m, enum go_version version, const struct go_call *with)
{
    *m = (struct go_maker){
        .version = version, .text = TEXT, .lines = lines, .files = { "/src/work.go", "/src/other.go" }
    };
    go_make_table(m, specs, sizeof specs / sizeof *specs, END);
    go_make_calls(m, with, sizeof calls / sizeof *calls);
}

static void open_made(struct golines *g, const struct go_maker *m)
{
    *g = (struct golines){ .calls = m->calls, .calls_n = m->calls_n };
    assert_true(gotable_open(&g->table, m->bytes, m->n));
}

static void find_line(const struct golines *g, uint64_t at, struct lines_location *place)
{
    assert_int_equal(golines_find(g, TEXT + at, false, clock_now_ns() + LONG_ENOUGH, place), LINES_FIND_DONE);
    assert_in_range(TEXT + at, place->low, place->high - 1);
}

static void expect_line(const struct lines_location *place, const char *file, uint32_t line)
{
    assert_string_equal(place->file, file);
    assert_int_equal(place->line, line);
}

static void expect_call(const struct lines_inlined *in, const char *name, const char *file, uint32_t line)
{
    assert_string_equal(in->name, name);
    assert_string_equal(in->file, file);
    assert_int_equal(in->line, line);
}

static void check_work(const struct golines *g)
{
    struct lines_location place;

    find_line(g, WORK, &place);
    assert_int_equal(place.n, 0);
    expect_line(&place, "/src/work.go", 10);
    assert_true(place.unit_low == TEXT + WORK && place.unit_high == TEXT + PLAIN);
    find_line(g, WORK + 0x1f, &place);
    assert_int_equal(place.n, 1);
    expect_line(&place, "/src/other.go", 21);
    expect_call(&place.inlined[0], "main.two", "/src/work.go", 11);
    find_line(g, WORK + 0x20, &place);
    assert_int_equal(place.n, 2);
    assert_true(place.low == TEXT + WORK + 0x20 && place.high == TEXT + WORK + 0x38);
    expect_line(&place, "/src/other.go", 31);
    expect_call(&place.inlined[0], "main.one", "/src/other.go", 21);
    expect_call(&place.inlined[1], "main.two", "/src/work.go", 11);
    find_line(g, WORK + 0x4f, &place);
    assert_int_equal(place.n, 1);
    expect_call(&place.inlined[0], "main.one", "/src/work.go", 12);
    find_line(g, WORK + 0x70, &place); /* after its code */
    assert_int_equal(place.n, 0);
    assert_null(place.file);
    find_line(g, PLAIN, &place);
    assert_int_equal(place.n, 0);
    expect_line(&place, "/src/other.go", 40);
    find_line(g, END, &place);
    assert_true(!place.n && !place.file && !place.unit_high);
}

TEST(inlined_calls_are_found_in_both_layouts)
{
    struct go_maker m;
    struct golines g;

    for (enum go_version version = GO_118; version <= GO_120; version++) {
        make_calls(&m, version, calls);
        open_made(&g, &m);
        check_work(&g);
    }
}

TEST(lines_are_found_without_the_inlined_calls)
{
    struct lines_location place;
    struct go_maker m;
    struct golines g;

    make_calls(&m, GO_120, calls);
    open_made(&g, &m);
    g.calls = NULL;
    g.calls_n = 0;
    find_line(&g, WORK + 0x20, &place);
    assert_int_equal(place.n, 0);
    expect_line(&place, "/src/other.go", 31);
}

TEST(files_and_lines_can_be_omitted)
{
    struct lines_location place;
    struct go_maker m;
    struct golines g;

    make_calls(&m, GO_118, calls);
    open_made(&g, &m);
    assert_int_equal(golines_find(&g, TEXT + WORK + 0x20, true, clock_now_ns() + LONG_ENOUGH, &place),
                     LINES_FIND_DONE);
    assert_true(!place.file && !place.line && place.n == 2);
    assert_true(!place.inlined[0].file && !place.inlined[1].line);
}

TEST(circular_inlined_calls_terminate)
{
    static const struct go_call circle[] = { { "main.two", 0x20 },
                                             { "main.one", 0x18 },
                                             { "main.one", 0x38 } };
    struct lines_location place;
    struct go_maker m;
    struct golines g;

    make_calls(&m, GO_120, circle);
    open_made(&g, &m);
    find_line(&g, WORK + 0x20, &place);
    assert_int_equal(place.n, LINES_DEPTH_MAX);
    assert_string_equal(place.inlined[LINES_DEPTH_MAX - 1].name, LINES_MORE);
}

TEST(a_search_past_its_deadline_is_abandoned)
{
    static const struct go_call circle[] = { { "main.two", 0x20 },
                                             { "main.one", 0x18 },
                                             { "main.one", 0x38 } };
    struct lines_location place;
    struct go_maker m;
    struct golines g;

    make_calls(&m, GO_120, circle);
    open_made(&g, &m);
    assert_int_equal(golines_find(&g, TEXT + WORK + 0x20, true, 0, &place), LINES_FIND_LATE);
}

TEST(damaged_tables_are_handled)
{
    static struct lines_location place;
    struct go_maker m, whole;
    struct golines g;

    make_calls(&whole, GO_120, calls);
    for (size_t i = 0; i < whole.n + whole.calls_n; i++) {
        m = whole;
        *(i < m.n ? &m.bytes[i] : &m.calls[i - m.n]) ^= 0xff;
        g = (struct golines){ .calls = m.calls, .calls_n = m.calls_n };
        if (!gotable_open(&g.table, m.bytes, m.n - 1))
            continue;
        for (uint64_t at = WORK; at < END; at += 8)
            if (golines_find(&g, TEXT + at, false, clock_now_ns() + LONG_ENOUGH, &place) == LINES_FIND_DONE)
                for (uint32_t k = 0; k < place.n; k++)
                    assert_true(!place.inlined[k].name || strlen(place.inlined[k].name) < whole.n);
    }
}

static void put_word(struct elf_maker_file *f, uint64_t at, uint64_t word)
{
    memcpy((char *)f + ELF_MAKER_OFFSET + at, &word, sizeof word);
}

/* A program with its table in a section and its calls in the segment, located through moduledata. */
static void make_program(struct elf_maker_file *f, enum go_version version, uint64_t moduledata[4][2])
{
    struct elf_maker e = { .id = 4 };
    struct go_maker m;
    const uint64_t words[4][2] = {
        { 0, TABLE }, { 8, TABLE + 72 }, { 176, TEXT }, { version == GO_118 ? 304 : 320, TEXT + CALLS }
    };

    make_calls(&m, version, calls);
    e.extras[0] = (struct elf_maker_extra){ ".gopclntab", m.bytes, m.n, TABLE, 0 };
    elf_maker_fill(f, &e);
    memcpy((char *)f + ELF_MAKER_OFFSET + CALLS, m.calls, m.calls_n);
    memcpy(moduledata, words, sizeof words);
}

static int open_program(enum go_version version)
{
    struct elf_maker_file f;
    uint64_t words[4][2];

    make_program(&f, version, words);
    for (unsigned i = 0; i < 4; i++)
        put_word(&f, MODULEDATA + words[i][0], words[i][1]);
    return elf_maker_memfd(&f, sizeof f);
}

static int open_relocated(enum go_version version)
{
    struct elf_maker_file f;
    uint64_t words[4][2];
    const Elf64_Dyn tags[] = { { DT_RELA, { TEXT + RELOCATIONS } },
                               { DT_RELASZ, { 4 * sizeof(Elf64_Rela) } },
                               { DT_NULL, { 0 } } };

    make_program(&f, version, words);
    f.note_segment = (Elf64_Phdr){ .p_type = PT_DYNAMIC, .p_vaddr = TEXT + DYNAMIC };
    f.header.e_phnum = 2;
    memcpy((char *)&f + ELF_MAKER_OFFSET + DYNAMIC, tags, sizeof tags);
    for (unsigned i = 0; i < 4; i++) {
        Elf64_Rela r = { TEXT + MODULEDATA + words[i][0], ELF64_R_INFO(0, R_X86_64_RELATIVE),
                         (int64_t)words[i][1] };
        memcpy((char *)&f + ELF_MAKER_OFFSET + RELOCATIONS + i * sizeof r, &r, sizeof r);
    }
    return elf_maker_memfd(&f, sizeof f);
}

static void check_program(int fd)
{
    struct lines_files files = { .fd = fd, .debug_fd = -1, .alt_fd = -1 };
    struct lines_want want;
    struct lines_location place;
    struct lines_module *m = NULL;
    uint64_t late = clock_now_ns() + LONG_ENOUGH;

    assert_int_equal(lines_open(&files, late, &m, &want, NULL), LINES_OPEN_GO_TABLE);
    files.go_table = true;
    assert_int_equal(lines_open(&files, late, &m, &want, NULL), LINES_OPEN_READY);
    close(fd);
    assert_int_equal(lines_find(m, ELF_MAKER_OFFSET + WORK + 0x20, false, late, &place, &want),
                     LINES_FIND_DONE);
    assert_int_equal(place.n, 2);
    assert_true(place.low == ELF_MAKER_OFFSET + WORK + 0x20 && place.high == ELF_MAKER_OFFSET + WORK + 0x38);
    assert_true(place.unit_low == ELF_MAKER_OFFSET + WORK && place.unit_high == ELF_MAKER_OFFSET + PLAIN);
    expect_call(&place.inlined[1], "main.two", "/src/work.go", 11);
    lines_close(m);
}

TEST(inlined_calls_are_found_in_a_program_without_debug_information)
{
    check_program(open_program(GO_118));
    check_program(open_program(GO_120));
}

TEST(inlined_calls_are_found_in_a_position_independent_program)
{
    check_program(open_relocated(GO_118));
    check_program(open_relocated(GO_120));
}

TEST_MAIN(NULL, NULL)
