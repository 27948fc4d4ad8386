// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "symbols/supplied.h"
#include "unit_test.h"

static const struct module program = {
    .kind = MODULE_FILE, .path = "/a b\n%", .maj = 8, .min = 1, .ino = 77
};
static const struct module kernel = { .kind = MODULE_KERNEL, .path = "[kernel.kallsyms]" };

static struct supplied_symbols *parse_symbols(const char *text)
{
    struct error e = { 0 };
    struct supplied_symbols *g = supplied_parse(text, strlen(text), &e);
    assert_non_null(g);
    return g;
}

TEST(written_symbols_are_read_back)
{
    const uint8_t id[] = { 1, 0xff };
    const struct symbol function = { SYMBOL_FOUND, SYMBOL_CLASS_CXX, "f(int, char)", 0x100,
                                     0x20,         UINT64_MAX,       false,          false };
    const struct symbol idle = { SYMBOL_FOUND, SYMBOL_CLASS_KERNEL, "idle", 0xffffffff81000000, 16, 5, true,
                                 false };
    const struct symbol nameless = { SYMBOL_NONE, SYMBOL_CLASS_UNKNOWN, "x+0x300", 0x300, 0x40, 6, false,
                                     false };
    const struct symbol_inline in[] = { { "inner", "b c.h", 3, 8 }, { "outer", "", 0, 9 } };
    const struct symbol_lines lines = { "a%.c", 12, 2, in };
    struct buf text = { 0 };
    struct symbol symbol;
    struct symbol_lines line;
    supplied_put_head(&text);
    supplied_put_module(&text, &program, id, 2);
    supplied_put_symbol(&text, 0x300, &nameless);
    supplied_put_symbol(&text, 0x110, &function);
    supplied_put_lines(&text, 0x110, &lines);
    supplied_put_module(&text, &kernel, NULL, 0);
    supplied_put_symbol(&text, 0xffffffff81000004, &idle);
    struct supplied_symbols *g = parse_symbols(buf_str(&text));
    const struct supplied_module *m = supplied_module(g, &program);
    assert_non_null(m);
    assert_true(supplied_symbol(m, 0x11f, &symbol));
    assert_string_equal(symbol.name, "f(int, char)");
    assert_int_equal(symbol.state, SYMBOL_FOUND);
    assert_int_equal(symbol.class, SYMBOL_CLASS_CXX);
    assert_int_equal(symbol.start, 0x100);
    assert_true(symbol.key == UINT64_MAX);
    assert_false(supplied_symbol(m, 0x120, &symbol));
    assert_false(supplied_symbol(m, 0xff, &symbol));
    assert_true(supplied_symbol(m, 0x33f, &symbol));
    assert_int_equal(symbol.state, SYMBOL_NONE);
    assert_true(supplied_lines(m, 0x110, &line));
    assert_string_equal(line.file, "a%.c");
    assert_int_equal(line.n_inlines, 2);
    assert_string_equal(line.inlines[0].name, "inner");
    assert_string_equal(line.inlines[0].file, "b c.h");
    assert_int_equal(line.inlines[1].key, 9);
    assert_false(supplied_lines(m, 0x111, &line));
    assert_true(supplied_symbol(supplied_module(g, &kernel), 0xffffffff8100000f, &symbol));
    assert_true(symbol.idle);
    supplied_free(g);
    buf_done(&text);
}

TEST(a_replaced_file_has_its_own_names)
{
    struct module other = { .kind = MODULE_FILE, .path = "/lib/a.so", .ino = 2 };
    struct supplied_symbols *g =
        parse_symbols("flametop names 1\nm 0 0 0 1 0 - /lib/a.so\nf 0 10 1 0 0 old\n");
    assert_null(supplied_module(g, &other));
    other.ino = 1;
    assert_non_null(supplied_module(g, &other));
    supplied_free(g);
}

TEST(damaged_lines_are_skipped)
{
    const struct module a = { .kind = MODULE_FILE, .path = "/a" };
    struct symbol symbol;
    struct supplied_symbols *g =
        parse_symbols("flametop names 1\n"
                      "f 0 1 1 0 0 too_early\ni 1 1 x%09y\nm 99 0 0 0 0 - /b\nf 0 8 1 0 0 of_no_module\n"
                      "m 0 0 0 0 0 - /a\n"
                      "f 10 0 1 0 0 empty\nf ffffffffffffffff 2 1 0 0 wraps\nf 20 4 1 63 0 class\n"
                      "f 30 4 1 0 0 bad%zz\nf 30\nf\n\nf 40 4 1 0 0 over%1blay\nf 42 4 1 0 0 overlaps\n"
                      "i 1 1 x%09y\nl 5 1 f\ni 1 1 without_tab\nf 50 4 1 0 0 last");
    const struct supplied_module *m = supplied_module(g, &a);
    assert_non_null(m);
    for (unsigned offset = 0; offset < 0x40; offset++)
        assert_false(supplied_symbol(m, offset, &symbol));
    assert_true(supplied_symbol(m, 0x43, &symbol));
    assert_string_equal(symbol.name, "over?lay");
    assert_false(supplied_symbol(m, 0x44, &symbol));
    assert_true(supplied_symbol(m, 0x50, &symbol));
    assert_string_equal(symbol.name, "last");
    supplied_free(g);
}

TEST(other_formats_are_refused)
{
    struct error e = { 0 };
    assert_null(supplied_parse("flametop names 2\n", 17, &e));
    assert_null(supplied_parse("", 0, &e));
    assert_int_equal(e.class, ERROR_FORMAT);
}

TEST_MAIN(NULL, NULL)
