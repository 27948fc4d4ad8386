// SPDX-License-Identifier: GPL-2.0-or-later
/* Source lines through the symbolizer: this program is also its worker. */

#include <elf.h>
#include <signal.h>

#include "base/buf.h"
#include "symbolizer_lines_fixture.h"
#include "unit_test.h"

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static void check(const struct symbol_lines *lines)
{
    uint32_t i;

    for (i = 0; i < lines->n_inlines; i++) {
        const char *caller = i + 1 < lines->n_inlines ? lines->inlines[i + 1].name : "work";
        assert_int_equal(lines->inlines[i].line, lines_call_line(lines->inlines[i].name, caller));
        assert_non_null(strstr(lines->inlines[i].file, "/inlines.c"));
        assert_true(lines->inlines[i].key != 0);
    }
    assert_non_null(strstr(lines->file, "/inlines.c"));
}

/* The number of addresses of `work` with inlined functions. */
static unsigned look_up_all(struct setup *s, enum symbol_state expected)
{
    struct symbol_lines lines;
    unsigned n = 0;
    uint64_t at;

    for (at = s->start; at < s->start + s->size; at++) {
        assert_int_equal(symbolizer_lines(s->sy, s->module, at, &lines), expected);
        if (expected == SYMBOL_FOUND)
            check(&lines);
        n += lines.n_inlines > 0;
    }
    return n;
}

/* Only the first lookup is sure to find nothing: the reply may arrive during the others. */
static void look_up_lines_and_settle(struct setup *s)
{
    uint32_t before = symbolizer_generation(s->sy);
    struct symbol_lines lines;
    uint64_t at;

    assert_int_equal(symbolizer_lines(s->sy, s->module, s->start, &lines), SYMBOL_PENDING);
    for (at = s->start + 1; at < s->start + s->size; at++)
        symbolizer_lines(s->sy, s->module, at, &lines);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_true(symbolizer_generation(s->sy) != before);
}

static void look_up_names_and_settle(struct setup *s)
{
    struct symbol symbol;

    symbolizer_lookup(s->sy, s->module, s->start, &symbol);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    symbolizer_lookup(s->sy, s->module, s->start, &symbol);
    assert_string_equal(symbol.name, "work");
}

FIXTURE_TEST(lines_are_read_in_the_background)
{
    struct setup *s = *state;

    if (!make(s, "", "true"))
        skip();
    look_up_lines_and_settle(s);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

/* Makes a section of debug information end after a hole of 3 GB. False: no disk space, or no such section. */
static bool enlarge_section(const char *path, const char *wanted)
{
    FILE *f = fopen(path, "r+e");
    Elf64_Ehdr e;
    Elf64_Shdr names, section = { 0 };
    char name[32] = "";
    long end;
    int i;

    assert_non_null(f);
    assert_int_equal(fread(&e, sizeof e, 1, f), 1);
    fseek(f, (long)(e.e_shoff + e.e_shstrndx * sizeof names), SEEK_SET);
    assert_int_equal(fread(&names, sizeof names, 1, f), 1);
    for (i = 0; i < e.e_shnum && strcmp(name, wanted) != 0; i++) {
        fseek(f, (long)(e.e_shoff + (size_t)i * sizeof section), SEEK_SET);
        assert_int_equal(fread(&section, sizeof section, 1, f), 1);
        fseek(f, (long)(names.sh_offset + section.sh_name), SEEK_SET);
        assert_non_null(fgets(name, sizeof name, f));
    }
    fseek(f, 0, SEEK_END);
    end = ftell(f);
    section.sh_offset = (Elf64_Off)end;
    section.sh_size = UINT64_C(3) << 30;
    fseek(f, (long)(e.e_shoff + (size_t)(i - 1) * sizeof section), SEEK_SET);
    if (strcmp(name, wanted) == 0)
        fwrite(&section, sizeof section, 1, f);
    fclose(f);
    return strcmp(name, wanted) == 0 && truncate(path, end + ((off_t)3 << 30)) == 0;
}

/* The worker's memory is limited; a mapped file does not count. */
FIXTURE_TEST(debug_information_may_be_larger_than_the_workers_memory)
{
    struct setup *s = *state;

    if (!make(s, "-g3", "true") || !enlarge_section(s->module->path, ".debug_macro")) {
        print_message("no .debug_macro, or no disk space for a file with a hole of 3 GB\n");
        skip();
    }
    look_up_lines_and_settle(s);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

FIXTURE_TEST(a_separate_debug_file_is_found_by_its_link)
{
    struct setup *s = *state;

    if (!make(s, "",
              "objcopy --only-keep-debug program program.debug && strip -g program && "
              "objcopy --add-gnu-debuglink=program.debug program"))
        skip();
    look_up_lines_and_settle(s);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

/* Names then come from the debug file, which has no link itself. */
FIXTURE_TEST(a_file_without_symbols_gets_lines_by_its_debug_link)
{
    struct setup *s = *state;

    if (!make(
            s, "",
            "objcopy -R .note.gnu.build-id program && objcopy --only-keep-debug program program.debug && strip program && "
            "objcopy --add-gnu-debuglink=program.debug program"))
        skip();
    look_up_names_and_settle(s);
    look_up_lines_and_settle(s);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

/* A made kernel and its machine's facts: its load address now and, for another boot, then. */
#define KERNEL_AT UINT64_C(0xffffffff9a000000)
#define MOVED     UINT64_C(0x2400000)

static void start_with(struct setup *s, const struct symbolizer_config *cfg)
{
    symbolizer_stop(s->sy);
    pthread_join(s->thread, NULL);
    symbolizer_free(s->sy);
    s->sy = symbolizer_new(cfg, NULL);
    assert_non_null(s->sy);
    assert_int_equal(pthread_create(&s->thread, NULL, run, s->sy), 0);
}

/* Its text begins with the file, so file offsets are distances. */
static bool make_kernel(struct setup *s)
{
    return lines_compile(
               s->dir,
               "cc -fno-pie -ffreestanding -nostdlib -static -no-pie -Wl,-z,noseparate-code,-e,main,"
               "--build-id=0x7777777777777777777777777777777777777777",
               "", "vmlinux") &&
           lines_run(s->dir, "mkdir -p usr/lib/debug/.build-id/77 && cp vmlinux "
                             "usr/lib/debug/.build-id/77/77777777777777777777777777777777777777.debug");
}

static void make_kernel_module(struct setup *s, uint64_t start)
{
    struct module like = {
        .id = MODULE_ID_KERNEL, .kind = MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]", .start = start
    };

    module_put(s->module);
    s->module = module_new(&like);
}

static void check_kernel(struct setup *s, uint64_t at, enum symbol_state expected)
{
    uint64_t file = s->start;
    unsigned n;

    make_kernel_module(s, at);
    s->start += at;
    look_up_names_and_settle(s);
    look_up_lines_and_settle(s);
    n = look_up_all(s, expected);
    assert_true(expected == SYMBOL_FOUND ? n > 5 : n == 0);
    s->start = file;
}

FIXTURE_TEST(kernel_lines_come_from_its_vmlinux_at_any_load_address)
{
    struct setup *s = *state;
    char kallsyms[96];
    struct symbolizer_config cfg = { .symfs = s->dir, .kallsyms = kallsyms, .kernel_build_id_size = 20 };
    int fd;

    if (!make_kernel(s))
        skip();
    fd = lines_open_file(s->dir, "vmlinux");
    assert_true(lines_find_work(fd, &s->start, &s->size));
    close(fd);
    snprintf(kallsyms, sizeof kallsyms, "%s/kallsyms", s->dir);
    assert_true(lines_run(s->dir, "printf '%llx T _text\\n%llx T work\\n%llx T end\\n' >kallsyms",
                          (unsigned long long)KERNEL_AT, (unsigned long long)(KERNEL_AT + s->start),
                          (unsigned long long)(KERNEL_AT + s->start + s->size)));
    memset(cfg.kernel_build_id, 0x77, 20);
    start_with(s, &cfg);
    check_kernel(s, KERNEL_AT, SYMBOL_FOUND);
    start_with(s, &cfg);
    check_kernel(s, KERNEL_AT + MOVED, SYMBOL_FOUND);
    memset(cfg.kernel_build_id, 0x78, 20); /* its vmlinux is not here */
    start_with(s, &cfg);
    check_kernel(s, KERNEL_AT, SYMBOL_NONE);
}

FIXTURE_TEST(split_units_are_found_where_they_were_compiled)
{
    struct setup *s = *state;

    if (!make(s, "-gsplit-dwarf", "true"))
        skip();
    look_up_lines_and_settle(s);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

FIXTURE_TEST(split_units_are_found_in_the_modules_folder)
{
    struct setup *s = *state;

    if (!make(s, "-gsplit-dwarf -fdebug-prefix-map=/tmp=/nowhere", "true"))
        skip();
    look_up_lines_and_settle(s);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

FIXTURE_TEST(the_file_shared_by_dwz_is_found)
{
    struct setup *s = *state;

    if (!make(s, "-gdwarf-4",
              "objcopy --only-keep-debug program program.debug && cp program.debug b.debug && "
              "dwz -m common -M common program.debug b.debug && strip -g program && "
              "objcopy --add-gnu-debuglink=program.debug program"))
        skip();
    look_up_lines_and_settle(s);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

FIXTURE_TEST(a_module_without_debug_information_has_no_lines)
{
    struct setup *s = *state;
    char trouble[256];

    if (!make(s, "-g0", "true"))
        skip();
    look_up_lines_and_settle(s);
    assert_int_equal(look_up_all(s, SYMBOL_NONE), 0);
    symbolizer_lines_trouble(s->sy, s->module, trouble, sizeof trouble);
    assert_string_equal(trouble, "");
}

/* An unknown kind of compression: ch_type of .debug_info. */
#define SPOIL(file)                                                                                          \
    "objcopy --compress-debug-sections " file " && readelf -SW " file " | grep '\\.debug_info .* C ' && "    \
    "at=$(readelf -SW " file                                                                                 \
    " | sed -n 's/.* \\.debug_info *PROGBITS *[0-9a-f]* *\\([0-9a-f]*\\).*/\\1/p') && "                      \
    "printf '\\111' | dd of=" file " bs=1 seek=$((0x$at)) conv=notrunc"

static void check_unreadable(struct setup *s, const char *command)
{
    char trouble[256];

    if (!make(s, "", command))
        skip();
    look_up_lines_and_settle(s);
    assert_int_equal(look_up_all(s, SYMBOL_NONE), 0);
    symbolizer_lines_trouble(s->sy, s->module, trouble, sizeof trouble);
    assert_string_equal(trouble, "its .debug_info cannot be decompressed");
    symbolizer_trouble(s->sy, s->module, trouble, sizeof trouble);
    assert_string_equal(trouble, "");
}

FIXTURE_TEST(unreadable_compressed_debug_information_is_reported)
{
    check_unreadable(*state, SPOIL("program"));
}

FIXTURE_TEST(an_unreadable_debug_file_is_reported)
{
    check_unreadable(*state, "objcopy --only-keep-debug program program.debug && " SPOIL(
                                 "program.debug") " && strip -g program && "
                                                  "objcopy --add-gnu-debuglink=program.debug program");
}

FIXTURE_TEST(anonymous_memory_has_no_lines)
{
    struct setup *s = *state;
    struct module like = { .id = MODULE_ID, .kind = MODULE_JIT, .path = "//anon" };
    struct symbol_lines lines;

    s->module = module_new(&like);
    assert_int_equal(symbolizer_lines(s->sy, s->module, 0x1000, &lines), SYMBOL_NONE);
}

FIXTURE_TEST(trimmed_lines_are_requested_again)
{
    struct setup *s = *state;
    uint8_t keep[MODULE_ID + 1] = { 0 };

    if (!make(s, "", "true"))
        skip();
    look_up_lines_and_settle(s);
    symbolizer_trim(s->sy, keep, sizeof keep);
    look_up_lines_and_settle(s);
    keep[MODULE_ID] = 1;
    symbolizer_trim(s->sy, keep, sizeof keep);
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

/* The children of this process: the worker. */
static void kill_workers(void)
{
    char command[64];

    snprintf(command, sizeof command, "kill -9 $(pgrep -P %d flametop-worker)", (int)getpid());
    lines_run("/", "%s", command);
}

FIXTURE_TEST(a_killed_worker_loses_no_lines)
{
    struct setup *s = *state;
    struct symbol_lines lines;
    uint64_t at;
    int i;

    if (!make(s, "", "true"))
        skip();
    for (i = 0; i < 4; i++) { /* a module is blamed after several in a row */
        for (at = s->start + (uint64_t)i; at < s->start + s->size; at += 4)
            symbolizer_lines(s->sy, s->module, at, &lines);
        kill_workers();
    }
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_true(look_up_all(s, SYMBOL_FOUND) > 5);
}

/* One request per address would keep the worker, and the memory it has read, as long as samples arrive. */
FIXTURE_TEST(one_lookup_brings_the_inlined_functions_around_the_address)
{
    struct setup *s = *state;
    struct symbol_lines inlined, lines;
    uint64_t at;
    unsigned deep = 0;
    uint32_t i;

    if (!make(s, "", "true"))
        skip();
    look_up_lines_and_settle(s);
    assert_int_equal(symbolizer_inlined(s->sy, s->module, s->start + s->size / 2, &inlined), SYMBOL_PENDING);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    for (at = s->start; at < s->start + s->size; at++) {
        enum symbol_state state_at = symbolizer_inlined(s->sy, s->module, at, &inlined);
        symbolizer_lines(s->sy, s->module, at, &lines);
        assert_int_equal(state_at, lines.n_inlines ? SYMBOL_FOUND : SYMBOL_NONE);
        assert_int_equal(inlined.n_inlines, lines.n_inlines);
        for (i = 0; i < lines.n_inlines; i++) {
            assert_string_equal(inlined.inlines[i].name, lines.inlines[i].name);
            assert_true(inlined.inlines[i].key == lines.inlines[i].key);
        }
        deep += lines.n_inlines == 3;
    }
    assert_true(deep > 0);
}

FIXTURE_TEST(inlined_functions_are_requested_once)
{
    struct setup *s = *state;
    struct symbol_lines inlined;

    if (!make(s, "-g0", "true"))
        skip();
    symbolizer_inlined(s->sy, s->module, s->start, &inlined);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_int_equal(symbolizer_inlined(s->sy, s->module, s->start, &inlined), SYMBOL_NONE);
    assert_int_equal(symbolizer_inlined(s->sy, s->module, s->start + 1, &inlined), SYMBOL_NONE);
}

WORKER_TEST_MAIN(NULL, NULL)
