// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds _start and main in programs without a symbol table, built by the installed compilers. */

#include "lines_fixture.h"
#include "unit_test.h"

#define FIXTURE_TEST(name) TEST_WITH(name, lines_set_up, lines_tear_down)

struct location {
    uint64_t start, size;
};

/* Returns the offset and size of a symbol; 0, 0: no such symbol. */
static struct location location_of(const char *dir, const char *file, const char *name)
{
    struct table_builder b = { 0 };
    struct location found = { 0 };
    struct table t;
    struct table_entry entry;
    int fd = lines_open_file(dir, file);
    void *blob;
    size_t n;

    assert_true(fd >= 0);
    assert_true(elf_read(fd, &b, NULL));
    assert_true(table_build(&b, TABLE_NESTED, &blob, &n, NULL));
    assert_true(table_view(&t, blob, n, NULL));
    for (uint32_t i = 0; table_entry_at(&t, i, &entry); i++)
        if (!strcmp(entry.name, name))
            found = (struct location){ entry.start, entry.size };
    mem_free(blob);
    table_builder_done(&b);
    close(fd);
    return found;
}

static void write_file(const char *dir, const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) != EOF);
    assert_int_equal(fclose(f), 0);
}

/* Checks that the stripped program's locations equal those of its symbol table. */
static void check_same(const char *dir)
{
    struct location start = location_of(dir, "program", "_start"), main = location_of(dir, "program", "main"),
                    other = { 0 }, found;

    assert_true(start.start && main.size);
    assert_true(lines_run(dir, "strip -s -o stripped program || llvm-strip -o stripped program || "
                               "llvm-objcopy --strip-all program stripped"));
    found = location_of(dir, "stripped", "main");
    assert_int_equal(found.start, main.start);
    assert_int_equal(found.size, main.size);
    assert_int_equal(location_of(dir, "stripped", "_start").start, start.start);
    other = location_of(dir, "stripped", "work");
    assert_int_equal(other.size, 0);
}

FIXTURE_TEST(main_is_found_in_a_stripped_program)
{
    static const char *const options[] = {
        "-O2 -pie -fPIE",        "-O2 -no-pie -fno-pie",          "-O1 -static",
        "-O1 -static-pie -fPIE", "-O2 -fcf-protection=full",      "-O2 -fuse-ld=lld",
        "-O2 -fuse-ld=gold",     "-O0 -Wl,-z,norelro -Wl,-z,now", "-O2 -Wl,--no-relax"
    };
    const char *dir = *state;
    unsigned made = 0;

#if !defined(__x86_64__) && !defined(__aarch64__)
    skip();
#endif
    write_file(dir, "p.c",
               "volatile unsigned sink;\n__attribute__((noinline)) void work(void) { sink++; }\n"
               "int main(int argc, char **argv) { (void)argv; work(); return argc + sink; }\n");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (lines_run(dir, "cc %s -o program p.c && ./program; test $? -eq 2", options[i])) {
            check_same(dir);
            made++;
        }
    if (!made)
        skip();
}

/* glibc's start code with main in place of its other function arguments. Each test adds the instructions
 * that differ between versions to X86_BEGIN or ARM_BEGIN. */
#define X86_BEGIN                                                                                            \
    "xor %ebp, %ebp\nmov %rdx, %r9\npop %rsi\nmov %rsp, %rdx\nand $-16, %rsp\npush %rax\npush %rsp\n"
#define ARM_BEGIN "mov x29, #0\nmov x30, #0\nmov x5, x0\nldr x1, [sp]\nadd x2, sp, #8\nmov x6, sp\n"
#define REST                                                                                                 \
    ".globl main, __libc_start_main, abort\n.type main, @function\nmain: "                                   \
    ".cfi_startproc\nnop\nret\n.cfi_endproc\n.size main, .-main\n"                                           \
    "__libc_start_main: .cfi_startproc\nnop\nret\n.cfi_endproc\nabort: .cfi_startproc\nret\n.cfi_endproc\n"

static bool assemble(const char *dir, const char *target, const char *options, const char *code)
{
    char text[4096];

    snprintf(text, sizeof text,
             ".text\n.globl _start\n.type _start, @function\n_start: .cfi_startproc\n%s.cfi_endproc\n"
             ".size _start, .-_start\n%s",
             code, REST);
    write_file(dir, "start.s", text);
    return lines_run(dir,
                     "sed -i s/@function/%%function/ start.s; "
                     "clang --target=%s -nostdlib -fuse-ld=lld -Wl,--eh-frame-hdr %s -o program start.s",
                     target, options);
}

FIXTURE_TEST(start_code_of_other_libc_versions_is_recognized)
{
    static const struct {
        const char *target, *options, *code;
    } all[] = {
        { "x86_64-linux-gnu", "-static",
          X86_BEGIN "mov $1, %r8\nmov $2, %rcx\nmov $main, %rdi\ncall __libc_start_main\nhlt\n" },
        { "x86_64-linux-gnu", "-pie",
          "endbr64\n" X86_BEGIN "lea main(%rip), %r8\nlea main(%rip), %rcx\n"
          "mov main@GOTPCREL(%rip), %rdi\ncall *__libc_start_main@GOTPCREL(%rip)\nhlt\n" },
        { "x86_64-linux-gnu", "-static",
          X86_BEGIN "xor %r8d, %r8d\nxor %ecx, %ecx\nmov $main, %edi\ncall __libc_start_main\nhlt\n" },
        { "aarch64-linux-gnu", "-pie",
          "bti c\n" ARM_BEGIN "adrp x0, :got:main\nldr x0, [x0, #:got_lo12:main]\nmov x3, #0\n"
          "mov x4, #0\nbl __libc_start_main\nbl abort\n" },
        { "aarch64-linux-gnu", "-pie -Wl,--no-relax",
          "bti c\n" ARM_BEGIN "adrp x0, :got:main\nldr x0, [x0, #:got_lo12:main]\n"
          "mov x3, #0\nmov x4, #0\nbl __libc_start_main\nbl abort\n" },
        { "aarch64-linux-gnu", "-static",
          "nop\n" ARM_BEGIN "adrp x0, wrap\nadd x0, x0, :lo12:wrap\nmov x3, #0\nmov x4, #0\n"
          "bl __libc_start_main\nbl abort\nwrap: bti c\nb main\n" },
        { "aarch64-linux-gnu", "-static",
          ARM_BEGIN "adrp x0, main\nadd x0, x0, :lo12:main\nadrp x3, main\nadd x3, x3, :lo12:main\n"
                    "adrp x4, main\nadd x4, x4, :lo12:main\nbl __libc_start_main\nbl abort\n" },
    };
    unsigned made = 0;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (assemble(*state, all[i].target, all[i].options, all[i].code)) {
            check_same(*state);
            made++;
        }
    if (!made)
        skip();
}

FIXTURE_TEST(unknown_code_at_the_entry_point_gets_no_names)
{
    static const char *const codes[] = {
        "mov $main, %rdi\ncall __libc_start_main\nhlt\n",
        X86_BEGIN "xor %r8d, %r8d\nxor %ecx, %ecx\nmov $main, %rdi\ncall __libc_start_main\nnop\n",
        X86_BEGIN "xor %r8d, %r8d\nxor %ecx, %ecx\nmov $main, %rsi\ncall __libc_start_main\nhlt\n",
        X86_BEGIN "xor %r8d, %r8d\nxor %ecx, %ecx\nmov $main+1, %rdi\ncall __libc_start_main\nhlt\n",
    };

    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        if (!assemble(*state, "x86_64-linux-gnu", "-static", codes[i]))
            skip();
        assert_true(location_of(*state, "program", "main").size);
        assert_true(lines_run(*state, "strip -s program || llvm-strip program"));
        assert_int_equal(location_of(*state, "program", "main").size, 0);
    }
}

TEST_MAIN(NULL, NULL)
