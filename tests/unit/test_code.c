// SPDX-License-Identifier: GPL-2.0-or-later
/* Instructions: finding and decoding code, and validating the worker's replies. */
#include "symbolizer_fixture.h"

#include <elf.h>
#include <sys/mman.h>
#include <time.h>

#include "jitdump_maker.h"
#include "symbols/code.h"
#include "symbols/codecache.h"
#include "symbols/disasm.h"
#include "symbols/jitdump.h"

#ifdef HAVE_CAPSTONE
#define NEED_CAPSTONE() ((void)0)
#else
#define NEED_CAPSTONE() skip()
#endif

/* xor %edx,%edx; div %ecx; jne -4; call +0x10; jmp *%rax; ret; and an invalid byte in 64-bit mode */
static const uint8_t x86[] = {
    0x31, 0xd2, 0xf7, 0xf1, 0x75, 0xfa, 0xe8, 0x10, 0, 0, 0, 0xff, 0xe0, 0xc3, 0x06
};
static const uint8_t arm64[] = { 0x00, 0x04, 0x00, 0x91, 0x40, 0x00, 0x00, 0xb4,
                                 0xfe, 0xff, 0xff, 0x97, 0xc0, 0x03, 0x5f, 0xd6 };

static void build_blob(struct code_builder *b, struct buf *blob, const uint8_t *bytes, size_t n,
                       uint16_t machine, bool intel)
{
    struct disasm_code c = {
        .bytes = bytes, .n = n, .addr = 0x401000, .bias = 0x400000, .machine = machine, .intel = intel
    };
    struct error e = { 0 };

    b->header.start = 0x1000;
    b->header.bias = c.bias;
    if (!disasm_run(&c, b, &e))
        fail_msg("%s", e.text);
    code_build(b, bytes, n, blob);
    code_builder_done(b);
}

static const char *text_of(const struct code_view *v, uint32_t row)
{
    return v->strings + v->rows[row].text;
}

TEST(instructions_have_text_kind_and_target)
{
    static const uint8_t kinds[] = { CODE_PLAIN, CODE_PLAIN,  CODE_JUMP, CODE_CALL,
                                     CODE_JUMP,  CODE_RETURN, CODE_BAD };
    struct code_builder b = { 0 };
    struct buf blob = { 0 };
    struct code_view v;

    NEED_CAPSTONE();
    build_blob(&b, &blob, x86, sizeof x86, EM_X86_64, false);
    assert_true(code_view(&v, blob.data, blob.len, NULL));
    assert_int_equal(v.header.n_rows, sizeof kinds);
    for (uint32_t i = 0; i < sizeof kinds; i++)
        assert_int_equal(v.rows[i].kind, kinds[i]);
    assert_string_equal(text_of(&v, 0), "xorl   %edx, %edx");
    assert_string_equal(text_of(&v, 2), "jne    ");
    assert_int_equal(v.rows[2].offset, 0x1004);
    assert_int_equal(v.rows[2].target, 0x1000);
    assert_int_equal(v.rows[3].target, 0x101b);
    assert_true(v.rows[4].target == CODE_NO_TARGET);
    assert_int_equal(code_find(&v, 0x1005), 2);
    assert_int_equal(code_find(&v, 0xfff), -1);
    assert_int_equal(code_find(&v, 0x1000 + sizeof x86), -1);
    assert_memory_equal(v.bytes, x86, sizeof x86);
    buf_done(&blob);
}

TEST(intel_syntax_is_available)
{
    struct code_builder b = { 0 };
    struct buf blob = { 0 };
    struct code_view v;

    NEED_CAPSTONE();
    build_blob(&b, &blob, x86, sizeof x86, EM_X86_64, true);
    assert_true(code_view(&v, blob.data, blob.len, NULL));
    assert_string_equal(text_of(&v, 0), "xor    edx, edx");
    assert_int_equal(v.rows[2].target, 0x1000);
    buf_done(&blob);
}

TEST(arm64_calls_and_branches_are_recognized)
{
    static const uint8_t kinds[] = { CODE_PLAIN, CODE_JUMP, CODE_CALL, CODE_RETURN };
    struct code_builder b = { 0 };
    struct buf blob = { 0 };
    struct code_view v;

    NEED_CAPSTONE();
    build_blob(&b, &blob, arm64, sizeof arm64, EM_AARCH64, false);
    assert_true(code_view(&v, blob.data, blob.len, NULL));
    assert_int_equal(v.header.n_rows, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(v.rows[i].kind, kinds[i]);
    assert_string_equal(text_of(&v, 1), "cbz    x0, ");
    assert_int_equal(v.rows[1].target, 0x100c);
    assert_int_equal(v.rows[2].target, 0x1000);
    buf_done(&blob);
}

TEST(an_architecture_without_disassembler_is_reported)
{
    struct disasm_code c = { .bytes = x86, .n = sizeof x86, .machine = EM_VAX };
    struct code_builder b = { 0 };
    struct error e = { 0 };

    assert_false(disasm_run(&c, &b, &e));
    assert_int_equal(e.class, ERROR_UNSUPPORTED);
    code_builder_done(&b);
}

/* Builds rows by hand: no disassembler is needed. */
static void make_code_blob(struct buf *blob, struct code_row *rows, uint32_t n)
{
    struct code_builder b = { .header = { .start = 0x1000 } };

    for (uint32_t i = 0; i < n; i++)
        assert_true(code_build_row(&b, &rows[i], "nop"));
    code_build(&b, x86, sizeof x86, blob);
    code_builder_done(&b);
}

TEST(inconsistent_worker_replies_are_refused)
{
    static const struct {
        struct code_row rows[2];
        bool right;
    } answers[] = {
        { { { .offset = 0x1000, .size = 2 }, { .offset = 0x1002, .size = 13 } }, true },
        { { { .offset = 0x1000, .size = 2 }, { .offset = 0x1002, .size = 14 } }, false },
        { { { .offset = 0x1002, .size = 2 }, { .offset = 0x1000, .size = 2 } }, false },
        { { { .offset = 0x1000, .size = 2 }, { .offset = 0x1001, .size = 2 } }, false },
        { { { .offset = 0x1000, .size = 0 }, { .offset = 0x1001, .size = 2 } }, false },
        { { { .offset = 0x0fff, .size = 1 }, { .offset = 0x1001, .size = 2 } }, false },
        { { { .offset = 0x1000, .size = 1 }, { .offset = UINT64_MAX, .size = 2 } }, false },
        { { { .offset = 0x1000, .size = 1, .kind = CODE_KINDS }, { .offset = 0x1001, .size = 2 } }, false },
    };

    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct code_row rows[2] = { answers[i].rows[0], answers[i].rows[1] };
        struct buf blob = { 0 };
        struct code_view v;
        make_code_blob(&blob, rows, 2);
        assert_int_equal(code_view(&v, blob.data, blob.len, NULL), answers[i].right);
        for (size_t n = 0; n < blob.len; n++)
            assert_false(code_view(&v, blob.data, n, NULL));
        buf_done(&blob);
    }
}

TEST(a_text_offset_out_of_bounds_is_refused)
{
    struct code_row row = { .offset = 0x1000, .size = 1 };
    struct code_view v;
    struct buf blob = { 0 };

    make_code_blob(&blob, &row, 1);
    struct code_row *inside = (struct code_row *)(blob.data + sizeof(struct code_header));
    inside->text = 1000;
    assert_false(code_view(&v, blob.data, blob.len, NULL));
    buf_done(&blob);
}

/* ---- finding code ---- */

static struct module *elf_with_code(struct setup *s, const char *name)
{
    static struct elf_maker_file f;
    static uint8_t bytes[ELF_MAKER_OFFSET + ELF_MAKER_SIZE];
    const struct elf_maker m = { .id = 3 };

    _Static_assert(sizeof f <= sizeof bytes + 16384, "the code may lie within");
    elf_maker_fill(&f, &m);
    memset(bytes, 0x90, sizeof bytes);
    memcpy(bytes, &f, sizeof f < ELF_MAKER_OFFSET ? sizeof f : ELF_MAKER_OFFSET);
    memcpy(bytes + ELF_MAKER_OFFSET, x86, sizeof x86);
    ((Elf64_Ehdr *)bytes)->e_shnum = 0;
    ((Elf64_Ehdr *)bytes)->e_shoff = 0;
    ((Elf64_Ehdr *)bytes)->e_shstrndx = 0;
    return make_file_module(s, name, bytes, sizeof bytes);
}

static struct code *code_of(struct setup *s, struct module *m, uint64_t start, uint64_t size)
{
    struct code *c = NULL;

    (void)symbolizer_code(s->sy, m, start, size, false, &c);
    code_put(c);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_int_not_equal(symbolizer_code(s->sy, m, start, size, false, &c), SYMBOL_PENDING);
    return c;
}

FIXTURE_TEST(code_of_a_file_is_found_by_file_offset)
{
    struct setup *s = *state;
    struct module *m = elf_with_code(s, "prog");
    struct code *c = code_of(s, m, ELF_MAKER_OFFSET, sizeof x86);

    assert_int_equal(c->view.header.bytes_n, sizeof x86);
    assert_memory_equal(c->view.bytes, x86, sizeof x86);
    assert_int_equal(c->view.header.bias, ELF_MAKER_VADDR - ELF_MAKER_OFFSET);
#ifdef HAVE_CAPSTONE
    assert_int_equal(c->view.header.n_rows, 7);
    assert_int_equal(c->view.rows[2].target, ELF_MAKER_OFFSET);
    assert_string_equal(c->trouble, "");
#else
    assert_int_equal(c->view.header.n_rows, 0);
    assert_non_null(strstr(c->trouble, "capstone"));
#endif
    code_put(c);
    module_put(m);
}

FIXTURE_TEST(modules_without_code_report_the_reason)
{
    struct setup *s = *state;
    struct module *m = elf_with_code(s, "prog"), *gone = make_module(MODULE_FILE, "/no/such/file", "file"),
                  *text = make_file_module(s, "text", "hello", 5),
                  *lost = make_module(MODULE_UNKNOWN, "", "[unknown]");
    struct code *c = code_of(s, m, 0x100000, 16);

    assert_non_null(strstr(c->trouble, "no code there"));
    code_put(c);
    c = code_of(s, gone, 0, 16);
    assert_non_null(strstr(c->trouble, "/no/such/file"));
    code_put(c);
    c = code_of(s, text, 0, 16);
    assert_int_not_equal(c->trouble[0], '\0');
    code_put(c);
    c = code_of(s, lost, 0, 16);
    assert_non_null(strstr(c->trouble, "no code"));
    code_put(c);
    module_put(m);
    module_put(gone);
    module_put(text);
    module_put(lost);
}

/* More functions than the cache keeps: the first is requested and fetched again. */
FIXTURE_TEST(evicted_functions_are_fetched_again)
{
    struct setup *s = *state;
    struct module *m = elf_with_code(s, "prog");

    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 2 * CODECACHE_SLOTS; i++) {
            struct code *c = code_of(s, m, ELF_MAKER_OFFSET + i, 2);
            assert_int_equal(c->view.header.bytes_n, 2);
            assert_int_equal(c->view.header.start, ELF_MAKER_OFFSET + i);
            code_put(c);
        }
    module_put(m);
}

/* As annotate does for a function with lines from many files: hold the functions received and request the
 * rest again. */
FIXTURE_TEST(more_functions_than_cache_slots_can_be_held_at_once)
{
    struct setup *s = *state;
    struct module *m = elf_with_code(s, "prog");
    struct code *held[3 * CODECACHE_SLOTS] = { NULL };
    size_t n = sizeof held / sizeof *held, got = 0;

    for (int round = 0; got < n; round++) {
        assert_true(round < 1000);
        for (size_t i = 0; i < n; i++)
            if (!held[i] &&
                symbolizer_code(s->sy, m, ELF_MAKER_OFFSET + i, 2, false, &held[i]) != SYMBOL_PENDING)
                got++;
        nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
    }
    for (size_t i = 0; i < n; i++)
        code_put(held[i]);
    module_put(m);
}

FIXTURE_TEST(code_of_a_process_is_read_from_its_memory)
{
    struct setup *s = *state;
    struct module *m = make_module(MODULE_JIT, "//anon", "[JIT]");
    struct code *c = code_of(s, m, (uintptr_t)x86, sizeof x86);

    assert_int_equal(c->view.header.bytes_n, sizeof x86);
    assert_memory_equal(c->view.bytes, x86, sizeof x86);
    assert_non_null(strstr(c->note, "memory"));
    code_put(c);
    c = code_of(s, m, 0, 16);
    assert_non_null(strstr(c->trouble, "cannot read the memory"));
    code_put(c);
    module_put(m);
}

/* ---- jitdumps ---- */

TEST(a_jitdump_gives_the_latest_code_at_an_address)
{
    struct jitdump_maker m = { .swap = false };
    struct buf code = { 0 };
    struct error e = { 0 };
    uint16_t machine;
    bool swapped;
    int fd = memfd_create("jit", MFD_CLOEXEC);

    maker_header(&m, 1);
    maker_load(&m, 0x1000, 16, 1, "first", 16);
    maker_load(&m, 0x1000, 32, 2, "second", 32);
    maker_load(&m, 0x9000, 8, 3, "cut", 0);
    memset(m.b.data + m.record - 32, 0xc3, 32); /* the code of the second load */
    assert_int_equal(write(fd, m.b.data, m.b.len), (ssize_t)m.b.len);
    if (!jitdump_find_code(fd, 0x1008, 100, &code, &machine, &swapped, &e))
        fail_msg("%s", e.text);
    assert_int_equal(code.len, 24);
    assert_int_equal((uint8_t)code.data[0], 0xc3);
    assert_int_equal((uint8_t)code.data[23], 0xc3);
    assert_int_equal(machine, EM_X86_64);
    assert_false(swapped);
    buf_clear(&code);
    assert_false(jitdump_find_code(fd, 0x5000, 16, &code, &machine, &swapped, &e));
    assert_false(jitdump_find_code(fd, 0x9000, 8, &code, &machine, &swapped, &e));
    assert_int_equal(e.class, ERROR_MISSING);
    buf_done(&code);
    buf_done(&m.b);
    close(fd);
}

/* ---- the kernel's memory ---- */

FIXTURE_TEST(kernel_code_is_found_by_address)
{
    struct setup *s = *state;
    struct {
        Elf64_Ehdr head;
        Elf64_Phdr segments[2];
        uint8_t code[sizeof x86];
    } core = { .head = { .e_phoff = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2 } };
    const uint64_t at = UINT64_C(0xffffffff81000000);
    uint8_t bytes[sizeof x86];
    struct error e = { 0 };
    char path[128];

    memcpy(core.head.e_ident, ELFMAG, SELFMAG);
    core.head.e_ident[EI_CLASS] = ELFCLASS64;
    core.segments[0] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_vaddr = 0, .p_memsz = UINT64_MAX };
    core.segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
                                     .p_vaddr = at,
                                     .p_memsz = 4096,
                                     .p_offset = (uint64_t)((char *)core.code - (char *)&core) };
    memcpy(core.code, x86, sizeof x86);
    module_put(make_file_module(s, "kcore", &core, sizeof core));
    snprintf(path, sizeof path, "%s/kcore", s->dir);
    assert_true(kcore_read(path, at + 2, bytes, sizeof x86 - 2, &e));
    assert_memory_equal(bytes, x86 + 2, sizeof x86 - 2);
    assert_false(kcore_read(path, at - 1, bytes, 2, &e));
    assert_false(kcore_read(path, at + 4095, bytes, 2, &e));
    assert_false(kcore_read(path, at + 2048, bytes, 2, &e)); /* past the end of the file */
    assert_int_equal(e.class, ERROR_MISSING);
    assert_false(kcore_read("/no/such/kcore", at, bytes, 2, &e));
}

/* ---- source files ---- */

static struct source *source_of(const char *text, size_t n, struct error *e)
{
    int fd = memfd_create("source", MFD_CLOEXEC);
    struct source *found;

    assert_int_equal(write(fd, text, n), (ssize_t)n);
    found = source_read(fd, e);
    close(fd);
    return found;
}

TEST(source_lines_are_cleaned)
{
    static const char text[] = "one\n\ttwo\r\n\n  \033[31mfour";
    struct error e = { 0 };
    char line[64];
    struct source *found = source_of(text, strlen(text), &e);

    assert_non_null(found);
    assert_int_equal(found->n_lines, 4);
    assert_string_equal(source_line(found, 1, line, sizeof line), "one");
    assert_string_equal(source_line(found, 2, line, sizeof line), "    two");
    assert_string_equal(source_line(found, 3, line, sizeof line), "");
    assert_string_equal(source_line(found, 4, line, sizeof line), "  ?[31mfour");
    assert_string_equal(source_line(found, 5, line, sizeof line), "");
    assert_string_equal(source_line(found, 0, line, sizeof line), "");
    assert_string_equal(source_line(found, 4, line, 8), "  ?");
    source_put(found);
}

TEST(binary_files_are_refused_as_source)
{
    struct error e = { 0 };

    assert_null(source_of("a\0b", 3, &e));
    assert_non_null(strstr(e.text, "not text"));
    struct source *empty = source_of("", 0, &e);
    assert_non_null(empty);
    assert_int_equal(empty->n_lines, 0);
    source_put(empty);
}

static void set_time(const struct module *m, time_t seconds)
{
    const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };

    assert_int_equal(utimensat(AT_FDCWD, m->path, times, 0), 0);
}

FIXTURE_TEST(source_newer_than_its_program_is_not_shown)
{
    struct setup *s = *state;
    struct module *m = elf_with_code(s, "prog"), *older = make_file_module(s, "older.c", "int main;\n", 10),
                  *newer = make_file_module(s, "newer.c", "int main;\n", 10);
    struct source *found;

    assert_int_equal(chmod(older->path, 0644), 0);
    set_time(older, 1000);
    set_time(m, 1000);
    set_time(newer, 1001);
    (void)symbolizer_source(s->sy, m, older->path, &found);
    (void)symbolizer_source(s->sy, m, newer->path, &found);
    (void)symbolizer_source(s->sy, m, "/no/such.c", &found);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_int_equal(symbolizer_source(s->sy, m, newer->path, &found), SYMBOL_NONE);
    assert_non_null(strstr(found->trouble, "newer.c is newer than prog"));
    source_put(found);
    assert_int_equal(symbolizer_source(s->sy, m, "/no/such.c", &found), SYMBOL_NONE);
    assert_non_null(strstr(found->trouble, "/no/such.c is not on this machine"));
    source_put(found);
    assert_int_equal(symbolizer_source(s->sy, m, older->path, &found), SYMBOL_FOUND);
    assert_int_equal(found->n_lines, 1);
    source_put(found);
    module_put(m);
    module_put(older);
    module_put(newer);
}

/* A program may claim any file as its source. */
FIXTURE_TEST(files_readable_only_by_root_are_refused_as_source)
{
    struct setup *s = *state;
    struct module *m = elf_with_code(s, "prog"), *secret = make_file_module(s, "secret.c", "int main;\n", 10);
    struct source *found;

    if (geteuid()) {
        print_message("needs root, to test files of root\n");
        skip();
    }
    set_time(secret, 1000);
    assert_int_equal(chmod(secret->path, 0640), 0);
    (void)symbolizer_source(s->sy, m, secret->path, &found);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_int_equal(symbolizer_source(s->sy, m, secret->path, &found), SYMBOL_NONE);
    assert_non_null(strstr(found->trouble, "not world-readable"));
    source_put(found);
    module_put(m);
    module_put(secret);
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
