// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <sys/sysmacros.h>

#include "symbolizer_fixture.h"
#include "symbols/machine.h"

FIXTURE_TEST(kernel_names_come_from_kallsyms)
{
    struct setup *s = *state, offline;
    struct module like = {
        .id = MODULE_ID_KERNEL, .kind = MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]"
    };
    struct module *m = module_new(&like);
    struct symbolizer_stats stats;
    struct symbol symbol;
    char path[128];
    struct symbolizer_config cfg = { .kallsyms = path };

    write_named(s, "kallsyms",
                "ffffffff81000000 T _text\nffffffff81000100 T default_idle\nffffffff81000200 T vfs_read\n",
                path, sizeof path);
    start(&offline, &cfg);
    symbol = settled(&offline, m, UINT64_C(0xffffffff81000108));
    assert_string_equal(symbol.name, "default_idle");
    assert_true(symbol.idle);
    assert_int_equal(symbol.class, SYMBOL_CLASS_KERNEL);
    symbol = settled(&offline, m, UINT64_C(0xffffffff81000208));
    assert_string_equal(symbol.name, "vfs_read");
    assert_false(symbol.idle);
    symbolizer_stats(offline.sy, &stats);
    assert_false(stats.kernel_hidden);
    assert_string_equal(stats.kernel_note, "");
    stop(&offline);
    module_put(m);
}

/* By a name in the cache folder for the kernel's table, after a first profile with its names. */
static bool keeps_kernel_table(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *de;
    uint8_t id[20];
    unsigned n = machine_kernel_build_id(id);
    char hex[2 * sizeof id + 1] = "-";
    bool found = false;

    for (unsigned i = 0; i < n; i++)
        sprintf(hex + 2 * (size_t)i, "%02x", id[i]);
    while (d && (de = readdir(d)))
        found |= !strncmp(de->d_name, hex, strlen(hex)) && strstr(de->d_name, ".names");
    if (d)
        closedir(d);
    return found;
}

/* The first line of kallsyms that names a function, at or above `from`. */
static bool read_kernel_function(uint64_t from, uint64_t *addr, char name[128])
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[512], type = 0;
    bool found = false;

    while (f && !found && fgets(line, sizeof line, f))
        found = sscanf(line, "%" SCNx64 " %c %127s", addr, &type, name) == 3 && *addr >= from &&
                strchr("tT", type) && !strchr(line, '[');
    if (f)
        fclose(f);
    return found && *addr;
}

FIXTURE_TEST(kernel_names_are_cached_until_the_next_boot)
{
    struct setup *s = *state, one;
    struct module *kernel = make_module(MODULE_KERNEL, "[kernel]", "[kernel]");
    struct module *kmod = make_module(MODULE_KMOD, "[some_module]", "[some_module]");
    struct symbolizer_config cfg = { .live = true, .keep_tables = true };
    struct symbolizer_stats stats;
    struct symbol first, second;
    char folder[128], before[256], name[128];
    uint64_t addr = 0, text = 0;

    if (!read_kernel_function(1, &text, name) || !read_kernel_function(text + (1 << 20), &addr, name)) {
        print_message("kernel addresses are hidden\n");
        skip();
    }
    snprintf(before, sizeof before, "%s", getenv("XDG_CACHE_HOME") ? getenv("XDG_CACHE_HOME") : "");
    setenv("XDG_CACHE_HOME", s->dir, 1);
    snprintf(folder, sizeof folder, "%s/flametop", s->dir);

    start(&one, &cfg);
    first = settled(&one, kernel, addr);
    assert_int_equal(first.state, SYMBOL_FOUND);
    snprintf(name, sizeof name, "%s", first.name);
    stop(&one);
    assert_true(keeps_kernel_table(folder));

    start(&one, &cfg);
    second = settled(&one, kernel, addr);
    assert_string_equal(second.name, name);
    assert_int_equal(second.start, first.start);
    symbolizer_stats(one.sy, &stats);
    assert_int_equal(stats.worker_starts, 0); /* nothing was parsed */
    settled(&one, kmod, UINT64_C(0xfffffffffffff000));
    symbolizer_stats(one.sy, &stats);
    assert_int_equal(stats.worker_starts, 1); /* data that may have changed since is read again */
    second = settled(&one, kernel, addr);
    assert_string_equal(second.name, name);
    stop(&one);

    start(&one, &cfg); /* looked up before the cached table is there, and never again */
    symbolizer_lookup(one.sy, kernel, UINT64_C(0xfffffffffffff000), &first);
    assert_int_equal(first.state, SYMBOL_PENDING);
    assert_true(symbolizer_settle(one.sy, LONG_ENOUGH));
    symbolizer_lookup(one.sy, kernel, UINT64_C(0xfffffffffffff000), &first);
    assert_int_equal(first.state, SYMBOL_NONE);
    stop(&one);
    if (before[0])
        setenv("XDG_CACHE_HOME", before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    module_put(kernel);
    module_put(kmod);
}

#define CORE "ffffffff81000000 T _text\nffffffff81000100 T vfs_read\nffffffff81000200 T _etext\n"

/* The addresses of an unloaded module are used again. Its samples keep its names. */
FIXTURE_TEST(modules_that_are_loaded_later_have_names)
{
    struct setup *s = *state, one;
    struct module *kernel = make_module(MODULE_KERNEL, "[kernel]", "[kernel]");
    struct module *first = make_module(MODULE_KMOD, "[first]", "[first]");
    struct module *second = make_module(MODULE_KMOD, "[second]", "[second]");
    char path[128];
    struct symbolizer_config cfg = { .kallsyms = path, .live = true };

    write_named(s, "kallsyms", CORE "ffffffffc0000000 t first_one\t[first]\n", path, sizeof path);
    start(&one, &cfg);
    assert_string_equal(settled(&one, kernel, UINT64_C(0xffffffff81000108)).name, "vfs_read");
    assert_string_equal(settled(&one, first, UINT64_C(0xffffffffc0000008)).name, "first_one");

    write_named(s, "kallsyms",
                CORE "ffffffffc0000000 t second_one\t[second]\nffffffffc0000080 t second_two\t[second]\n",
                path, sizeof path);
    symbolizer_kernel_modified(one.sy);
    assert_string_equal(settled(&one, second, UINT64_C(0xffffffffc0000088)).name, "second_two");
    assert_string_equal(settled(&one, first, UINT64_C(0xffffffffc0000008)).name, "first_one");
    assert_string_equal(settled(&one, kernel, UINT64_C(0xffffffff81000108)).name, "vfs_read");

    /* an address that was sampled before the module was noticed */
    write_named(s, "kallsyms", CORE "ffffffffc0000000 t third_one\t[third]\n", path, sizeof path);
    symbolizer_kernel_modified(one.sy);
    assert_string_equal(settled(&one, kernel, UINT64_C(0xffffffffc0000008)).name, "third_one");
    assert_string_equal(settled(&one, second, UINT64_C(0xffffffffc0000088)).name, "second_two");

    /* the oldest tables are given up */
    for (unsigned i = 0; i < 9; i++) {
        symbolizer_kernel_modified(one.sy);
        assert_string_equal(settled(&one, kernel, UINT64_C(0xffffffffc0000008)).name, "third_one");
    }
    assert_string_equal(settled(&one, first, UINT64_C(0xffffffffc0000008)).name, "third_one");
    stop(&one);
    module_put(kernel);
    module_put(first);
    module_put(second);
}

FIXTURE_TEST(names_of_another_boot_are_shifted_to_the_kernels_address)
{
    struct setup *s = *state, offline;
    struct module like = { .id = MODULE_ID_KERNEL,
                           .kind = MODULE_KERNEL,
                           .path = "[kernel]",
                           .name = "[kernel]",
                           .start = UINT64_C(0xffffffff9a000000),
                           .size = 0x1000000 };
    struct module *m = module_new(&like);
    struct symbol symbol;
    char path[128];
    struct symbolizer_config cfg = { .kallsyms = path };

    write_named(s, "kallsyms", "ffffffff81000000 T _text\nffffffff81000200 T vfs_read\n", path, sizeof path);
    start(&offline, &cfg);
    symbol = settled(&offline, m, UINT64_C(0xffffffff9a000208));
    assert_string_equal(symbol.name, "vfs_read");
    assert_int_equal(symbol.start, UINT64_C(0xffffffff9a000200));
    stop(&offline);
    module_put(m);
}

FIXTURE_TEST(hidden_kernel_addresses_are_reported_with_the_fix)
{
    struct setup *s = *state, offline;
    struct module like = {
        .id = MODULE_ID_KERNEL, .kind = MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]"
    };
    struct module *m = module_new(&like);
    struct symbolizer_stats stats;
    char path[128];
    struct symbolizer_config cfg = { .kallsyms = path };

    write_named(s, "kallsyms", "0000000000000000 T _text\n0000000000000000 T vfs_read\n", path, sizeof path);
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, m, UINT64_C(0xffffffff81000208)).state, SYMBOL_NONE);
    symbolizer_stats(offline.sy, &stats);
    assert_true(stats.kernel_hidden);
    assert_non_null(strstr(stats.kernel_note, "root"));
    stop(&offline);
    module_put(m);
}

FIXTURE_TEST(another_machines_kernel_gets_no_names_from_this_one)
{
    struct setup offline;
    struct module like = {
        .id = MODULE_ID_KERNEL, .kind = MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]"
    };
    struct module *m = module_new(&like);
    struct symbolizer_config cfg = { .kernel_build_id = { 1, 2, 3 }, .kernel_build_id_size = 20 };
    struct symbolizer_stats stats;
    char path[128];

    start(&offline, &cfg);
    symbolizer_stats(offline.sy, &stats);
    assert_false(stats.kernel_foreign); /* no one looked it up */
    assert_int_equal(settled(&offline, m, UINT64_C(0xffffffff81000208)).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&offline, m), "another kernel"));
    symbolizer_stats(offline.sy, &stats);
    assert_true(stats.kernel_foreign);
    stop(&offline);

    write_named(*state, "kallsyms", "ffffffff81000000 T _text\nffffffff81000200 T vfs_read\n", path,
                sizeof path);
    cfg.kallsyms = path;
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, m, UINT64_C(0xffffffff81000208)).state, SYMBOL_FOUND);
    symbolizer_stats(offline.sy, &stats);
    assert_false(stats.kernel_foreign);
    stop(&offline);
    module_put(m);
}

FIXTURE_TEST(a_file_that_is_no_vmlinux_is_refused)
{
    struct setup *s = *state;
    char path[128], missing[128];
    const struct symbolizer_config wrong[] = {
        { .kallsyms = path }, { .kallsyms = s->dir }, { .vmlinux = path },
        { .symfs = path },    { .symfs = missing },
    };

    snprintf(missing, sizeof missing, "%s/missing", s->dir);
    write_named(s, "words", "face it: this is no list\n", path, sizeof path);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *named = wrong[i].kallsyms  ? wrong[i].kallsyms
                            : wrong[i].vmlinux ? wrong[i].vmlinux
                                               : wrong[i].symfs;
        struct error e = { 0 };
        assert_null(symbolizer_new(&wrong[i], &e));
        assert_non_null(strstr(e.text, named));
    }
}

/* A vmlinux in the build-id tree below symfs. */
static void make_vmlinux(const struct setup *s, unsigned char id)
{
    static const struct elf_maker_symbol symbols[] = { { "_text", ELF_MAKER_VADDR, 0, 0 },
                                                       { "vfs_read", ELF_MAKER_VADDR + 0x200, 0x40, 0 } };
    struct elf_maker m = {
        .symbols = symbols, .n_symbols = 2, .symtab_type = SHT_SYMTAB, .id = id, .note_segment = true
    };
    char command[192], name[128];
    int i, n;

    n = snprintf(name, sizeof name, "usr/lib/debug/.build-id/77/");
    snprintf(command, sizeof command, "mkdir -p '%s/%s'", s->dir, name);
    assert_int_equal(system(command), 0);
    for (i = 0; i < 19; i++)
        n += snprintf(name + n, sizeof name - (size_t)n, "77");
    snprintf(name + n, sizeof name - (size_t)n, ".debug");
    module_put(make_elf_module(s, name, &m));
}

static struct module *kernel_at(uint64_t start)
{
    struct module like = {
        .id = MODULE_ID_KERNEL, .kind = MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]", .start = start
    };

    return module_new(&like);
}

FIXTURE_TEST(names_of_another_kernel_come_from_its_vmlinux)
{
    struct setup *s = *state, offline;
    struct symbolizer_config cfg = { .symfs = s->dir, .kernel_build_id_size = 20 };
    struct module *placed = kernel_at(UINT64_C(0xffffffff9a000000)), *lost = kernel_at(0);
    struct symbol symbol;

    memset(cfg.kernel_build_id, 0x77, 20);
    make_vmlinux(s, 0x77);
    start(&offline, &cfg);
    symbol = settled(&offline, placed, UINT64_C(0xffffffff9a000208));
    assert_string_equal(symbol.name, "vfs_read");
    assert_int_equal(symbol.start, UINT64_C(0xffffffff9a000200));
    assert_string_equal(trouble(&offline, placed), "");
    stop(&offline);
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, lost, ELF_MAKER_VADDR + 0x208).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&offline, lost), "KASLR"));
    stop(&offline);
    make_vmlinux(s, 0x78); /* of another build, under the same name */
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, placed, UINT64_C(0xffffffff9a000208)).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&offline, placed), "another kernel"));
    stop(&offline);
    module_put(placed);
    module_put(lost);
}

FIXTURE_TEST(a_named_vmlinux_must_match_the_recording)
{
    struct setup *s = *state, offline;
    char path[256];
    struct symbolizer_config cfg = { .vmlinux = path, .kernel_build_id_size = 20 };
    struct module *placed = kernel_at(UINT64_C(0xffffffff9a000000));
    struct error e = { 0 };
    int i, n;

    memset(cfg.kernel_build_id, 0x77, 20);
    make_vmlinux(s, 0x77);
    n = snprintf(path, sizeof path, "%s/usr/lib/debug/.build-id/77/", s->dir);
    for (i = 0; i < 19; i++)
        n += snprintf(path + n, sizeof path - (size_t)n, "77");
    snprintf(path + n, sizeof path - (size_t)n, ".debug");
    start(&offline, &cfg);
    assert_string_equal(settled(&offline, placed, UINT64_C(0xffffffff9a000208)).name, "vfs_read");
    stop(&offline);
    make_vmlinux(s, 0x78);
    assert_null(symbolizer_new(&cfg, &e));
    assert_non_null(strstr(e.text, "another kernel"));
    snprintf(path, sizeof path, "%s", s->dir);
    assert_null(symbolizer_new(&cfg, &e));
    assert_non_null(strstr(e.text, "not a file"));
    module_put(placed);
}

FIXTURE_TEST(only_files_with_matching_build_ids_name_another_machines_code)
{
    static const struct elf_maker_symbol symbols[] = { { "theirs", ELF_MAKER_VADDR + 0x40, 0x10, 0 } };
    struct elf_maker m = {
        .symbols = symbols, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9, .note_segment = true
    };
    struct setup *s = *state, offline;
    struct symbolizer_config cfg = { .other_machine = true };
    struct module *live = make_elf_module(s, "program", &m), like, *nameless, *same, *very;
    uint64_t at = ELF_MAKER_OFFSET + 0x44;
    struct stat st;

    like = (struct module){ .id = 9001, .kind = MODULE_FILE, .path = live->path, .name = "program" };
    nameless = module_new(&like);
    like.id = 9002;
    like.build_id_size = 20;
    memset(like.build_id, 9, 20);
    same = module_new(&like);
    assert_int_equal(stat(live->path, &st), 0);
    like = (struct module){ .id = 9003,
                            .kind = MODULE_FILE,
                            .path = live->path,
                            .name = "program",
                            .ino = st.st_ino,
                            .maj = major(st.st_dev),
                            .min = minor(st.st_dev) };
    very = module_new(&like);
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, nameless, at).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&offline, nameless), "--symfs"));
    assert_string_equal(settled(&offline, same, at).name, "theirs");
    assert_string_equal(settled(&offline, very, at).name, "theirs");
    stop(&offline);
    cfg.symfs = "/"; /* the user's choice is trusted */
    start(&offline, &cfg);
    assert_string_equal(settled(&offline, nameless, at).name, "theirs");
    stop(&offline);
    module_put(live);
    module_put(nameless);
    module_put(same);
    module_put(very);
}

FIXTURE_TEST(this_machines_kernel_is_named)
{
    struct setup *s = *state;
    struct module *m = make_module(MODULE_KERNEL, "[kernel]", "[kernel]");
    FILE *f = fopen("/proc/kallsyms", "r");
    unsigned long long addr = 0;
    char name[256] = "", type;
    struct symbolizer_stats stats;

    while (f && fscanf(f, "%llx %c %255s%*[^\n]", &addr, &type, name) == 3 && strcmp(name, "schedule"))
        ;
    if (f)
        fclose(f);
    if (!addr || strcmp(name, "schedule")) {
        module_put(m);
        print_message("/proc/kallsyms shows no addresses here\n");
        skip();
    }
    assert_string_equal(settled(s, m, addr + 4).name, "schedule");
    symbolizer_stats(s->sy, &stats);
    assert_false(stats.kernel_hidden);
    module_put(m);
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
