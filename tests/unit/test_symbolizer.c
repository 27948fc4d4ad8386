// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer_fixture.h"

FIXTURE_TEST(a_function_of_this_program_gets_its_name)
{
    struct setup *s = *state;
    uint64_t offset = 0;
    struct module *m = own_module((void *)(uintptr_t)symbolizer_lookup, &offset);
    struct symbol symbol;

    symbolizer_lookup(s->sy, m, offset + 1, &symbol);
    assert_int_equal(symbol.state, SYMBOL_PENDING);
    assert_non_null(strstr(symbol.name, "self+0x"));
    symbol = settled(s, m, offset + 1);
    assert_int_equal(symbol.state, SYMBOL_FOUND);
    assert_string_equal(symbol.name, "symbolizer_lookup");
    assert_int_equal(symbol.start, offset);
    assert_true(symbol.size > 1);
    assert_int_equal(symbol.class, SYMBOL_CLASS_USER);
    assert_false(symbol.idle);
    module_put(m);
}

FIXTURE_TEST(the_generation_grows_when_names_arrive)
{
    struct setup *s = *state;
    struct module *m = make_elf_module(s, "a", &plain_elf);
    uint32_t before = symbolizer_generation(s->sy);

    symbolizer_request(s->sy, m);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_int_not_equal(symbolizer_generation(s->sy), before);
    module_put(m);
}

FIXTURE_TEST(only_modules_with_new_names_are_changed)
{
    struct setup *s = *state;
    struct elf_maker other = {
        .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 10
    };
    struct module *a = make_elf_module(s, "a", &plain_elf), *b = make_elf_module(s, "b", &other);
    uint32_t changed;

    assert_int_equal(symbolizer_changed(s->sy, a), 0);
    settled(s, a, ELF_MAKER_OFFSET);
    changed = symbolizer_changed(s->sy, a);
    assert_int_not_equal(changed, 0);
    settled(s, b, ELF_MAKER_OFFSET);
    assert_int_not_equal(symbolizer_changed(s->sy, b), 0);
    assert_int_equal(symbolizer_changed(s->sy, a), changed);
    module_put(a);
    module_put(b);
}

FIXTURE_TEST(a_gap_shows_module_and_offset)
{
    struct setup *s = *state;
    struct module *m = make_elf_module(s, "a", &plain_elf);
    struct symbol symbol = settled(s, m, ELF_MAKER_OFFSET + 0x800);

    assert_int_equal(symbol.state, SYMBOL_NONE);
    assert_string_equal(symbol.name, "a+0x1800");
    assert_int_equal(symbol.class, SYMBOL_CLASS_UNKNOWN);
    assert_string_equal(trouble(s, m), "");
    module_put(m);
}

FIXTURE_TEST(cxx_names_are_demangled)
{
    struct setup *s = *state;
    struct elf_maker maker = {
        .symbols = &mangled_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9
    };
    struct module *m = make_elf_module(s, "a", &maker);
    struct symbol symbol = settled(s, m, ELF_MAKER_OFFSET + 0x10);

    assert_int_equal(symbol.class, SYMBOL_CLASS_CXX);
#ifdef HAVE_LIBIBERTY
    assert_string_equal(symbol.name, "foo::bar");
#else
    assert_string_equal(symbol.name, "_ZN3foo3barEi");
#endif
    module_put(m);
}

FIXTURE_TEST(escapes_in_names_are_removed)
{
    static const struct elf_maker_symbol evil = { "evil\x1b[31m\n\xe2\x80\xae", ELF_MAKER_VADDR, 0x10, 0 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &evil, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct module *m = make_elf_module(s, "a", &maker);

    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET).name, "evil?[31m??");
    module_put(m);
}

FIXTURE_TEST(keys_depend_on_names_only)
{
    struct setup *s = *state;
    struct module *a = make_elf_module(s, "a", &plain_elf);
    struct elf_maker other = {
        .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 10
    };
    struct module *a_again = make_elf_module(s, "a", &other), *b = make_elf_module(s, "b", &plain_elf);
    uint64_t key = settled(s, a, ELF_MAKER_OFFSET + 0x10).key;

    assert_true(key == settled(s, a, ELF_MAKER_OFFSET + 0x1f).key);
    assert_true(key == settled(s, a_again, ELF_MAKER_OFFSET + 0x10).key);
    assert_true(key != settled(s, b, ELF_MAKER_OFFSET + 0x10).key);
    assert_true(key != settled(s, a, ELF_MAKER_OFFSET + 0x20).key);
    module_put(a);
    module_put(a_again);
    module_put(b);
}

FIXTURE_TEST(pseudo_modules_have_fixed_names)
{
    struct setup *s = *state;
    struct module *broken = make_module(MODULE_BROKEN, "[broken]", "[broken]");
    struct module *unknown = make_module(MODULE_UNKNOWN, "[unknown]", "[unknown]");
    struct module *bpf = make_module(MODULE_KSYM, "bpf_prog_1\x1b", "[bpf]");
    struct symbol symbol;
    uint64_t i;

    symbolizer_lookup(s->sy, broken, 0, &symbol);
    assert_int_equal(symbol.state, SYMBOL_NONE);
    assert_string_equal(symbol.name, "[broken]");
    symbolizer_lookup(s->sy, broken, BROKEN_DUMP, &symbol);
    assert_string_equal(symbol.name, "[truncated: stack dump too small]");
    symbolizer_lookup(s->sy, broken, BROKEN_UNPROVEN, &symbol);
    assert_string_equal(symbol.name, "[caller unknown]");
    for (i = 1; i < BROKEN_UNPROVEN; i++) {
        symbolizer_lookup(s->sy, broken, i, &symbol);
        assert_memory_equal(symbol.name, "[truncated: ", 12);
    }
    symbolizer_lookup(s->sy, broken, UINT64_MAX, &symbol);
    assert_string_equal(symbol.name, "[broken]");
    symbolizer_lookup(s->sy, unknown, 0x1234, &symbol);
    assert_string_equal(symbol.name, "[unknown] 0x1234");
    symbolizer_lookup(s->sy, bpf, 0x1234, &symbol);
    assert_int_equal(symbol.state, SYMBOL_FOUND);
    assert_string_equal(symbol.name, "bpf_prog_1?");
    assert_int_equal(symbol.class, SYMBOL_CLASS_KERNEL);
    module_put(broken);
    module_put(unknown);
    module_put(bpf);
}

FIXTURE_TEST(a_stripped_file_reports_missing_symbols)
{
    struct setup *s = *state;
    struct elf_maker maker = {
        .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = 0xab
    };
    struct module *m = make_elf_module(s, "a", &maker);
    uint8_t id[20];

    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    assert_non_null(strstr(trouble(s, m), "stripped"));
    assert_non_null(strstr(trouble(s, m), "abababab"));
    assert_int_equal(symbolizer_build_id(s->sy, m, id), 20);
    assert_int_equal(id[0], 0xab);
    module_put(m);
}

FIXTURE_TEST(the_symbol_package_is_found_on_request)
{
    struct setup *s = *state;
    struct module *m = make_module(MODULE_FILE, "/usr/bin/sleep", "sleep");
    struct module *own = make_elf_module(s, "a", &plain_elf);
    char package[64];

    assert_int_equal(symbolizer_package(s->sy, m, package, sizeof package), SYMBOL_PENDING);
    assert_int_equal(symbolizer_package(s->sy, own, package, sizeof package), SYMBOL_PENDING);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    if (!access("/var/lib/dpkg/info/coreutils.list", R_OK)) {
        assert_int_equal(symbolizer_package(s->sy, m, package, sizeof package), SYMBOL_FOUND);
        assert_string_equal(package, "coreutils-dbgsym");
    }
    assert_int_equal(symbolizer_package(s->sy, own, package, sizeof package), SYMBOL_NONE);
    assert_string_equal(package, "");
    module_put(m);
    module_put(own);
}

FIXTURE_TEST(a_debug_file_in_the_modules_folder_is_found)
{
    static const struct elf_maker_symbol secret = { "secret", ELF_MAKER_VADDR + 0x40, 0x10, 0 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain_symbol,
                               .n_symbols = 1,
                               .symtab_type = SHT_DYNSYM,
                               .id = 0x3e,
                               .link = "a.debug",
                               .link_crc = 0 };
    struct elf_maker debug = { .symbols = &secret, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 0x3e };
    struct module *m = make_elf_module(s, "a", &maker);

    module_put(make_elf_module(s, "a.debug", &debug));
    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET + 0x40).name, "secret");
    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    assert_string_equal(trouble(s, m), "");
    module_put(m);
}

FIXTURE_TEST(a_file_with_another_build_id_gives_no_names)
{
    struct setup *s = *state;
    struct module *on_disk = make_elf_module(s, "a", &plain_elf);
    struct module like = *on_disk;
    struct module *m;

    like.id = 5000;
    like.build_id_size = 20;
    memset(like.build_id, 8, sizeof like.build_id);
    m = module_new(&like);
    assert_int_equal(settled(s, m, ELF_MAKER_OFFSET + 0x10).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(s, m), "another build"));
    module_put(m);
    module_put(on_disk);
}

FIXTURE_TEST(missing_and_non_elf_files_are_reported)
{
    struct setup *s = *state;
    struct module *gone = make_module(MODULE_FILE, "/nonexistent/lib.so", "lib.so");
    struct module *text = make_file_module(s, "script", "#!/bin/sh\n", 10);
    struct symbolizer_stats stats;

    assert_int_equal(settled(s, gone, 0x10).state, SYMBOL_NONE);
    assert_int_equal(settled(s, text, 0x10).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(s, gone), "No such file"));
    assert_non_null(strstr(trouble(s, text), "not an ELF file"));
    symbolizer_stats(s->sy, &stats);
    assert_int_equal(stats.failed, 2);
    assert_int_equal(stats.modules, 2);
    assert_int_equal(stats.pending, 0);
    module_put(gone);
    module_put(text);
}

static char *map_path(void)
{
    static char path[64];

    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    return path;
}

static void append_map(const char *text)
{
    int fd = open(map_path(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

FIXTURE_TEST(a_grown_perf_map_is_read_again)
{
    struct setup *s = *state;
    struct module *m = make_module(MODULE_JIT, "//anon", "[JIT]");
    struct symbol symbol = { .state = SYMBOL_NONE };
    uint64_t end = clock_now_ns() + LONG_ENOUGH;

    unlink(map_path());
    assert_int_equal(settled(s, m, 0x5000).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(s, m), map_path()));
    append_map("1000 100 fib\n");
    while (settled(s, m, 0x1010).state != SYMBOL_FOUND && clock_now_ns() < end)
        usleep(100000);
    symbol = settled(s, m, 0x1010);
    assert_string_equal(symbol.name, "fib");
    assert_int_equal(symbol.class, SYMBOL_CLASS_JIT);
    append_map("2000 100 fact\n");
    while (settled(s, m, 0x2010).state != SYMBOL_FOUND && clock_now_ns() < end)
        usleep(100000);
    assert_string_equal(settled(s, m, 0x2010).name, "fact");
    assert_string_equal(settled(s, m, 0x1010).name, "fib");
    assert_string_equal(trouble(s, m), "");
    unlink(map_path());
    module_put(m);
}

FIXTURE_TEST(a_32_bit_vdso_is_read_from_its_process)
{
    struct setup *s = *state;
    unsigned long long start = 0, end = 0;
    struct module like = {
        .id = 7000, .kind = MODULE_VDSO, .path = MODULE_VDSO32, .live = true, .pid = (uint32_t)getpid()
    };
    FILE *maps = fopen("/proc/self/maps", "r");
    struct module *gone, *m;
    char line[4096];

    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "[vdso]"))
            sscanf(line, "%llx-%llx", &start, &end);
    fclose(maps);
    if (!start) {
        print_message("no vdso here\n");
        skip();
    }
    like.map_start = start; /* the 64-bit vdso serves as well to show where it is read from */
    like.map_end = end;
    m = module_new(&like);
    like.id = 7001;
    like.pid = 0x7ffffff0;
    gone = module_new(&like);
    assert_string_equal(m->name, "[vdso]");
    settled(s, m, 0);
    assert_string_equal(trouble(s, m), "");
    assert_int_equal(settled(s, gone, 0).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(s, gone), "cannot read the vdso of process"));
    module_put(m);
    module_put(gone);
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
