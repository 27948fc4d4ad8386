// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of SVG flame graphs: text, colours, the palette map. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "export/export.h"
#include "unit_test.h"

static struct buf out;
static struct error error;

static int tear_down(void **state)
{
    buf_done(&out);
    out = (struct buf){ 0 };
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, NULL, tear_down)

static const char *text(const char *of)
{
    buf_clear(&out);
    svg_put_text(&out, of);
    return buf_str(&out);
}

static const char *json(const char *of)
{
    buf_clear(&out);
    svg_put_json(&out, of);
    return buf_str(&out);
}

static const char *label(const char *of, int columns)
{
    buf_clear(&out);
    svg_put_label(&out, of, columns);
    return buf_str(&out);
}

FIXTURE_TEST(nothing_in_a_name_ends_an_element_or_a_value)
{
    assert_string_equal(text("</text><a b=\"c\">&amp;]]>"),
                        "&lt;/text&gt;&lt;a b=&quot;c&quot;&gt;&amp;amp;]]&gt;");
    assert_string_equal(text("µs 漢字"), "µs 漢字");
    assert_string_equal(text("a\x01"
                             "b\x7f\x1b[2J"),
                        "a\xef\xbf\xbd"
                        "b\xef\xbf\xbd\xef\xbf\xbd[2J");
    assert_string_equal(text("\xc3(\xff\xed\xa0\x80"),
                        "\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(text("\xef\xbf\xbf"), "\xef\xbf\xbd"); /* U+FFFF, which XML forbids */
}

FIXTURE_TEST(nothing_in_a_name_ends_a_script_or_a_string)
{
    assert_string_equal(json("</script>]]>\"\\"), "\"\\u003c/script\\u003e]]\\u003e\\u0022\\u005c\"");
    assert_string_equal(json("a\nb\x02\xff"), "\"a\\u000ab\\ufffd\\ufffd\"");
    assert_string_equal(json("\xe2\x80\xa8&"), "\"\\u2028\\u0026\""); /* ends a line in scripts */
    assert_string_equal(json("'ä"), "\"'ä\"");
}

FIXTURE_TEST(labels_drop_template_arguments_first)
{
    const char *name = "shop::Cart<std::pair<int, int> >::add";
    assert_string_equal(label(name, 40), "shop::Cart&lt;std::pair&lt;int, int&gt; &gt;::add");
    assert_string_equal(label(name, 20), "shop::Cart&lt;…&gt;::add");
    assert_string_equal(label(name, 10), "shop::Car…");
    assert_string_equal(label(name, 2), "");
    assert_string_equal(label("operator< (long, long)", 12), "operator&lt; (…");
    assert_string_equal(label("std::function<void () -> int>::call", 24), "std::function&lt;…&gt;::call");
    assert_string_equal(label("a<b<c", 4), "a&lt;b…");
    assert_string_equal(label("漢字漢字", 5), "漢字…");
}

static uint32_t colour(enum svg_palette palette, bool hash, const char *name, enum symbol_class class)
{
    struct svg_options o = { .palette = palette, .hash = hash };
    return svg_colour_of(&(struct nametree_func){ .name = name, .module = "", .class = class }, &o);
}

TEST(hashed_colours_match_flamegraph_pl)
{
    assert_float_equal(svg_name_hash("main", false), 0.363351, 1e-6);
    assert_float_equal(svg_name_hash("do_syscall_64", true), 0.557297, 1e-6);
    assert_float_equal(svg_name_hash("", false), 1, 1e-6);
    assert_int_equal(colour(SVG_HOT, true, "main", SYMBOL_CLASS_USER), 247 << 16 | 83 << 8 | 46);
    assert_int_equal(colour(SVG_AQUA, true, "std::sort", SYMBOL_CLASS_CXX), 88 << 16 | 200 << 8 | 200);
    assert_int_equal(colour(SVG_WAKEUP, true, "std::sort", SYMBOL_CLASS_CXX), 88 << 16 | 200 << 8 | 200);
}

static bool is_orange(uint32_t c)
{
    return c >> 16 >= 190 && (c & 0xff) == 0;
}

static bool is_green(uint32_t c)
{
    return (c >> 8 & 0xff) >= 200 && c >> 16 < 111;
}

TEST(java_and_js_palettes_distinguish_kinds_of_code)
{
    assert_true(is_orange(colour(SVG_JAVA, false, "do_syscall_64", SYMBOL_CLASS_KERNEL)));
    assert_true(is_green(colour(SVG_JAVA, false, "Spin.run", SYMBOL_CLASS_JIT)));
    assert_true(is_green(colour(SVG_JAVA, false, "Ljava/lang/String;::hash", SYMBOL_CLASS_USER)));
    assert_int_equal(colour(SVG_JAVA, true, "JavaMain", SYMBOL_CLASS_USER),
                     colour(SVG_RED, true, "JavaMain", SYMBOL_CLASS_USER));
    assert_int_equal(colour(SVG_JAVA, true, "A::b", SYMBOL_CLASS_USER),
                     colour(SVG_YELLOW, true, "A::b", SYMBOL_CLASS_USER));
    assert_true(is_green(colour(SVG_JS, false, "f /srv/x.js:1", SYMBOL_CLASS_JIT)));
    assert_int_equal(colour(SVG_JS, true, "Builtin:x", SYMBOL_CLASS_JIT),
                     colour(SVG_AQUA, true, "Builtin:x", SYMBOL_CLASS_JIT));
}

TEST(larger_differences_have_stronger_colours)
{
    uint32_t same = svg_difference_colour(0, 10, false), some = svg_difference_colour(2, 10, false);
    uint32_t more = svg_difference_colour(10, 10, false), less = svg_difference_colour(-10, 10, false);
    assert_int_equal(same >> 16, same & 0xff);
    assert_int_equal(svg_difference_colour(0, 0, false), same);
    assert_true((some & 0xff) < (same & 0xff) && (more & 0xff) < (some & 0xff));
    assert_true(more >> 16 > (more & 0xff) && less >> 16 < (less & 0xff));
    assert_int_equal(svg_difference_colour(10, 10, true), less);
    assert_int_equal(svg_difference_colour(-10, 10, true), more);
}

TEST(backgrounds_are_named_or_numbers)
{
    uint32_t c[2];
    assert_true(svg_background("blue", c) && c[0] == 0xeeeeee && c[1] == 0xe0e0ff);
    assert_true(svg_background("#aBcDeF", c) && c[0] == 0xabcdef && c[1] == 0xabcdef);
    assert_false(svg_background("pink", c) || svg_background("#12345", c) || svg_background("#12345g", c) ||
                 svg_background("", c) || svg_background(NULL, c));
}

static void write_file(const char *path, const char *content)
{
    struct outfile o;
    assert_true(outfile_open(&o, path, &error));
    outfile_write(&o, content, strlen(content));
    assert_true(outfile_commit(&o, &error));
}

FIXTURE_TEST(a_palette_map_gives_colours_and_gets_new_ones)
{
    char folder[] = "/tmp/flametop-svg-XXXXXX", path[64];
    struct nametree_func funcs[] = { { "all", "", 0, true, 0 },
                                     { "main", "", 0, false, 1 },
                                     { "operator->", "", 0, false, 2 } };
    struct nametree t = { .funcs = funcs, .n_funcs = 3 };
    uint32_t colours[] = { 1, 0x102030, 0x405060 };
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/map", folder);
    assert_true(svg_map_apply(path, &t, colours, &error));
    assert_int_equal(colours[1], 0x102030);
    assert_true(file_read(path, 4096, &out, &error));
    assert_string_equal(out.data, "main->rgb(16,32,48)\noperator->->rgb(64,80,96)\n");

    write_file(path,
               "z->rgb(7,8,9)\noperator->->rgb(1,2,3)\nmain->rgb(1,2,300)\nmain->url(x)\nnonsense\n->\n");
    assert_true(svg_map_apply(path, &t, colours, &error));
    assert_int_equal(colours[1], 0x102030);
    assert_int_equal(colours[2], 0x010203);
    assert_true(file_read(path, 4096, &out, &error));
    assert_string_equal(out.data, "main->rgb(16,32,48)\noperator->->rgb(1,2,3)\nz->rgb(7,8,9)\n");
    write_file(path, "");
    assert_true(svg_map_apply(path, &t, colours, &error));
    unlink(path);
    rmdir(folder);
    assert_false(svg_map_apply(path, &t, colours, &error));
    assert_non_null(strstr(error.text, "--cp"));
}

TEST_MAIN(NULL, NULL)
