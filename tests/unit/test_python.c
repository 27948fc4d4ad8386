// SPDX-License-Identifier: GPL-2.0-or-later
/* CPython 3.8 to 3.13 in made memory: the runtime is found, code objects are read, line tables give the
 * lines that each version's compiler stored, and contradictory memory is refused. */

#include <stdio.h>

#include "python_image.h"
#include "unit_test.h"

static struct image image;
static const struct interpreter_memory MEMORY = { &image, image_read };

/* Line table of a function in line 10 with instructions in lines 11, 13 and 12. From 3.11 on: 2
 * instructions with columns in the function's line, then one line on, a long entry two lines on, one
 * without columns a line back. */
static const uint8_t LNOTAB[] = { 0, 1, 4, 2, 4, 255 };
static const uint8_t RANGES[] = { 0, 1, 4, 0, 4, 2, 4, 255, 2, 128 };
static const uint8_t LOCATIONS[] = {
    0x80 | 11 << 3 | 1, 1, 2, 0x80 | 14 << 3 | 1, 4, 0, 1, 2, 0x80 | 13 << 3 | 1, 3, 0x80 | 15 << 3
};

static const uint8_t *table_of(unsigned minor, size_t *n)
{
    *n = minor < 10 ? sizeof LNOTAB : minor == 10 ? sizeof RANGES : sizeof LOCATIONS;
    return minor < 10 ? LNOTAB : minor == 10 ? RANGES : LOCATIONS;
}

static void make_interpreter(unsigned minor, struct interpreter_process *p)
{
    char name[32];
    struct error e = { 0 };
    size_t n;
    const uint8_t *lines = table_of(minor, &n);

    image_make(&image, minor);
    image_code(&image, python_offsets_of(minor), minor, 7, lines, n);
    snprintf(name, sizeof name, "libpython3.%u.so.1.0", minor);
    if (!python_interpreter.find(&MEMORY, name, IMAGE_BASE + 0x1000, p, &e))
        fail_msg("3.%u: %s", minor, e.text);
}

#define EACH(minor) for (unsigned minor = PYTHON_MINOR_FIRST; minor <= PYTHON_MINOR_LAST; minor++)

TEST(the_runtime_is_found)
{
    EACH(minor)
    {
        struct interpreter_process p;
        const struct python_offsets *o = python_offsets_of(minor);
        make_interpreter(minor, &p);
        assert_int_equal(p.minor, minor);
        assert_int_equal(p.main_thread, IMAGE_MAIN_THREAD);
        assert_int_equal(p.layout.current,
                         minor < 12 ? IMAGE_BASE + IMAGE_RUNTIME + o->current : IMAGE_BASE + IMAGE_GIL + 8);
        assert_int_equal(p.layout.code, o->code);
        assert_int_equal(p.layout.indirect == STACKPROBE_NONE, minor != 11 && minor != 12);
    }
}

TEST(threads_are_listed)
{
    struct interpreter_thread t[4];

    EACH(minor)
    {
        struct interpreter_process p;
        make_interpreter(minor, &p);
        assert_int_equal(python_interpreter.threads(&MEMORY, &p, t, 4), 1);
        assert_int_equal(t[0].state, IMAGE_BASE + IMAGE_THREAD);
        assert_int_equal(t[0].thread, IMAGE_MAIN_THREAD);
        image_put(&image, IMAGE_THREAD + p.at.next, IMAGE_BASE + IMAGE_THREAD, 8); /* a cycle */
        assert_int_equal(python_interpreter.threads(&MEMORY, &p, t, 4), 4);
    }
}

static uint64_t instr_of(const struct interpreter_process *p, const struct interpreter_code *c,
                         int instruction)
{
    if (p->minor >= 11)
        return c->start + (uint64_t)(2 * instruction);
    return (uint32_t)(p->minor == 10 ? instruction : instruction < 0 ? instruction : 2 * instruction);
}

TEST(code_objects_have_name_and_lines)
{
    static const uint32_t lines[] = { 11, 11, 13, 13, 12, 12 };

    EACH(minor)
    {
        struct interpreter_process p;
        struct interpreter_code c;
        make_interpreter(minor, &p);
        assert_true(python_interpreter.read_code(&MEMORY, &p, IMAGE_BASE + IMAGE_CODE, &c));
        assert_string_equal(c.name, "work");
        assert_string_equal(c.file, "prog.py");
        assert_int_equal(python_interpreter.line(&p, &c, instr_of(&p, &c, -1)), 10);
        for (int i = 0; i < 6; i++)
            assert_int_equal(python_interpreter.line(&p, &c, instr_of(&p, &c, i)), lines[i]);
        if (minor >= 10) /* has no line: the function's line is used */
            assert_int_equal(python_interpreter.line(&p, &c, instr_of(&p, &c, 6)), 10);
        assert_int_equal(python_interpreter.line(&p, &c, instr_of(&p, &c, 7)), 0);
        assert_int_equal(python_interpreter.line(&p, &c, instr_of(&p, &c, -3)), 0);
        interpreter_code_done(&c);
    }
}

TEST(packages_keep_their_folder)
{
    struct interpreter_process p;
    struct interpreter_code c;

    make_interpreter(11, &p);
    image_text(&image, python_offsets_of(11), IMAGE_FILE, "/usr/lib/re/__init__.py");
    assert_true(python_interpreter.read_code(&MEMORY, &p, IMAGE_BASE + IMAGE_CODE, &c));
    assert_string_equal(c.file, "re/__init__.py");
    interpreter_code_done(&c);
}

TEST(the_interpreters_own_code_is_no_function)
{
    struct interpreter_process p;
    struct interpreter_code c;

    EACH(minor)
    {
        make_interpreter(minor, &p);
        image_put(&image, IMAGE_CODE + p.at.code_first, 0, 4);
        assert_true(python_interpreter.read_code(&MEMORY, &p, IMAGE_BASE + IMAGE_CODE, &c) && !c.shim);
        interpreter_code_done(&c);
        image_put(&image, IMAGE_CODE + p.at.code_file, IMAGE_BASE + IMAGE_NAME, 8);
        assert_true(python_interpreter.read_code(&MEMORY, &p, IMAGE_BASE + IMAGE_CODE, &c) && c.shim);
        interpreter_code_done(&c);
    }
}

TEST(wide_characters_become_utf8)
{
    const uint16_t name[] = { 'g', 0xf6, 0x20ac };

    EACH(minor)
    {
        struct interpreter_process p;
        const struct python_offsets *o = python_offsets_of(minor);
        char text[16];
        make_interpreter(minor, &p);
        image.bytes[IMAGE_NAME + 32] = 2 << 2 | 1 << 5;
        image_put(&image, IMAGE_NAME + 16, 3, 8);
        memcpy(image.bytes + IMAGE_NAME + o->text_wide_data, name, sizeof name);
        assert_true(python_text(&MEMORY, &p, IMAGE_BASE + IMAGE_NAME, text, sizeof text));
        assert_string_equal(text, "g\xc3\xb6\xe2\x82\xac");
        assert_true(
            python_text(&MEMORY, &p, IMAGE_BASE + IMAGE_NAME, text, 5)); /* truncated, in whole characters */
        assert_string_equal(text, "\xe2\x82\xac");
    }
}

TEST(invalid_code_objects_are_refused)
{
    static const struct {
        size_t at;
        uint64_t value;
    } damage[] = {
        { IMAGE_CODE + 8, IMAGE_BASE + IMAGE_TYPE_TEXT },
        { IMAGE_NAME + 8, IMAGE_BASE + IMAGE_TYPE_CODE },
        { IMAGE_NAME + 16, UINT64_MAX },
        { IMAGE_NAME + 32, 0 },
        { IMAGE_LINES + 8, 0 },
        { IMAGE_LINES + 16, UINT64_MAX },
        { IMAGE_FILE + 8, 0 },
    };

    EACH(minor)
    {
        struct interpreter_process p;
        struct interpreter_code c;
        for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
            make_interpreter(minor, &p);
            image_put(&image, damage[i].at, damage[i].value, 8);
            assert_false(python_interpreter.read_code(&MEMORY, &p, IMAGE_BASE + IMAGE_CODE, &c));
            interpreter_code_done(&c);
        }
        assert_false(
            python_interpreter.read_code(&MEMORY, &p, IMAGE_BASE + IMAGE_CODE + 4, &c)); /* not aligned */
        assert_false(
            python_interpreter.read_code(&MEMORY, &p, IMAGE_BASE + IMAGE_BYTES, &c)); /* not mapped */
    }
}

TEST(frames_show_where_an_evaluator_begins)
{
    struct interpreter_process p;
    struct stackprobe_frame f = { 0 };

    EACH(minor)
    {
        make_interpreter(minor, &p);
        f.flags = 0;
        assert_int_equal(python_interpreter.frame(&p, &f),
                         minor < 11 ? INTERPRETER_FRAME_ENTRY : INTERPRETER_FRAME_INNER);
        f.flags = UINT64_C(1) << 32;
        if (minor == 11)
            assert_int_equal(python_interpreter.frame(&p, &f), INTERPRETER_FRAME_ENTRY);
        f.flags = UINT64_C(3) << 48;
        if (minor > 11)
            assert_int_equal(python_interpreter.frame(&p, &f), INTERPRETER_FRAME_SHIM);
    }
}

static bool finds(const char *name, struct error *e)
{
    struct interpreter_process p;

    error_clear(e);
    return python_interpreter.find(&MEMORY, name, IMAGE_BASE, &p, e);
}

TEST(unsupported_interpreters_are_reported)
{
    struct error e = { 0 };

    image_make(&image, 9);
    assert_false(finds("python3", &e)); /* does not name the version */
    assert_true(finds("python3.9", &e));
    assert_false(finds("libpython3.7m.so.1.0", &e));
    image_put(&image, IMAGE_RUNTIME + python_offsets_of(9)->main_thread, 0, 8);
    assert_false(finds("python3.9", &e));
    assert_non_null(strstr(e.text, "not been initialized"));
    image_make(&image, 13);
    image_put(&image, IMAGE_RUNTIME + 16, 1, 8);
    assert_false(finds("python3", &e));
    assert_non_null(strstr(e.text, "GIL"));
    image_make(&image, 13);
    image_put(&image, IMAGE_RUNTIME + 8 * 30, UINT64_MAX, 8);
    assert_false(finds("python3", &e));
    image_make(&image, 12);
    memcpy(image.bytes + IMAGE_STRINGS + 1, "_PyOther__", 10);
    assert_false(finds("python3", &e));
    memset(&image, 0, sizeof image);
    assert_false(finds("python3.9", &e));
}

TEST(names_of_modules)
{
    unsigned minor;

    assert_true(python_module("libpython3.11.so.1.0", &minor) && minor == 11);
    assert_true(python_module("python3.8", &minor) && minor == 8);
    assert_true(python_module("python3", &minor) && minor == 0);
    assert_false(python_module("python2.7", &minor));
    assert_false(python_module("python3-config", &minor));
    assert_false(python_module("libpythonic.so", &minor));
    assert_ptr_equal(interpreter_of_module("python3.12"), &python_interpreter);
    assert_null(interpreter_of_module("bash"));
}

TEST_MAIN(NULL, NULL)
