// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "symbolizer_fixture.h"
#include "symbols/machine.h"

#include "symbols/blob.h"

static const struct elf_maker_symbol plain = { "plain_function", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
static const struct elf_maker_symbol mangled = { "_ZN3foo3barEi", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
static const struct elf_maker plain_elf = {
    .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9
};

static void a_function_of_ours_gets_its_name(void **state)
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

static void the_generation_moves_when_names_come(void **state)
{
    struct setup *s = *state;
    struct module *m = make_elf_module(s, "a", &plain_elf);
    uint32_t before = symbolizer_generation(s->sy);

    symbolizer_request(s->sy, m);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    assert_int_not_equal(symbolizer_generation(s->sy), before);
    module_put(m);
}

static void a_gap_shows_module_and_offset(void **state)
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

static void cxx_names_come_demangled(void **state)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &mangled, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
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

static void escapes_in_names_never_come_out(void **state)
{
    static const struct elf_maker_symbol evil = { "evil\x1b[31m\n\xe2\x80\xae", ELF_MAKER_VADDR, 0x10, 0 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &evil, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct module *m = make_elf_module(s, "a", &maker);

    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET).name, "evil?[31m??");
    module_put(m);
}

static void keys_depend_on_names_only(void **state)
{
    struct setup *s = *state;
    struct module *a = make_elf_module(s, "a", &plain_elf);
    struct elf_maker other = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 10 };
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

static void pseudo_modules_have_fixed_names(void **state)
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
    assert_string_equal(symbol.name, "[cut: stack dump too small]");
    for (i = 1; i < BROKEN_REASONS; i++) {
        symbolizer_lookup(s->sy, broken, i, &symbol);
        assert_memory_equal(symbol.name, "[cut: ", 6);
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

static void a_stripped_file_says_what_is_missing(void **state)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = 0xab };
    struct module *m = make_elf_module(s, "a", &maker);
    uint8_t id[20];

    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    assert_non_null(strstr(trouble(s, m), "stripped"));
    assert_non_null(strstr(trouble(s, m), "abababab"));
    assert_int_equal(symbolizer_build_id(s->sy, m, id), 20);
    assert_int_equal(id[0], 0xab);
    module_put(m);
}

static void the_package_with_the_symbols_is_found_when_asked_for(void **state)
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

static void a_debug_file_beside_the_module_is_found(void **state)
{
    static const struct elf_maker_symbol secret = { "secret", ELF_MAKER_VADDR + 0x40, 0x10, 0 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain,
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

static void a_file_of_another_build_gives_no_names(void **state)
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

static void files_that_are_missing_or_no_elf_say_so(void **state)
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

/* Whenever the worker goes, what it had not answered is asked again. */
static void names_come_though_the_worker_is_killed(void **state)
{
    struct setup *s = *state;
    struct module *modules[40];
    struct symbolizer_stats stats;
    char name[16];
    unsigned i, kills = 0;

    for (i = 0; i < 40; i++) {
        struct elf_maker maker = {
            .symbols = &mangled, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = (unsigned char)(i + 1)
        };
        snprintf(name, sizeof name, "m%u", i);
        modules[i] = make_elf_module(s, name, &maker);
        symbolizer_request(s->sy, modules[i]);
        if (i % 4 == 3) {
            pid_t pid = worker_pid();
            if (pid > 0 && !kill(pid, SIGKILL))
                kills++;
        }
    }
    for (i = 0; i < 40; i++) {
        struct symbol symbol = settled(s, modules[i], ELF_MAKER_OFFSET + 0x10);
        assert_int_equal(symbol.state, SYMBOL_FOUND);
#ifdef HAVE_LIBIBERTY
        assert_string_equal(symbol.name, "foo::bar");
#endif
        module_put(modules[i]);
    }
    symbolizer_stats(s->sy, &stats);
    assert_int_equal(stats.failed, 0);
    if (!kills) {
        print_message("this kernel does not tell a thread's children\n");
        skip();
    }
    assert_true(stats.worker_starts > 1);
}

struct asker {
    struct setup *s;
    struct module *m;
    unsigned found;
};

static void *ask_often(void *arg)
{
    struct asker *a = arg;
    struct symbol symbol;
    unsigned i;

    for (i = 0; i < 20000; i++) {
        symbolizer_lookup(a->s->sy, a->m, ELF_MAKER_OFFSET + i % 0x40, &symbol);
        a->found += symbol.state == SYMBOL_FOUND && symbol.name[0];
    }
    return NULL;
}

static void a_profile_may_ask_from_many_threads(void **state)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &mangled, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct module *m = make_elf_module(s, "a", &maker);
    struct asker askers[3] = { { s, m, 0 }, { s, m, 0 }, { s, m, 0 } };
    pthread_t threads[3];
    int i;

    for (i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &askers[i]), 0);
    for (i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    settled(s, m, ELF_MAKER_OFFSET + 0x10);
    ask_often(&askers[0]);
    assert_true(askers[0].found >= 20000 / 0x40 * 0x10);
    module_put(m);
}

static void a_trim_forgets_unmarked_modules_and_they_come_back(void **state)
{
    struct setup *s = *state;
    struct module *a = make_elf_module(s, "a", &plain_elf), *b = make_elf_module(s, "b", &plain_elf);
    struct symbolizer_stats stats;
    uint8_t *keep = mem_zalloc(b->id + 1);

    settled(s, a, ELF_MAKER_OFFSET + 0x10);
    settled(s, b, ELF_MAKER_OFFSET + 0x10);
    keep[b->id] = 1;
    symbolizer_trim(s->sy, keep, b->id + 1);
    symbolizer_stats(s->sy, &stats);
    assert_int_equal(stats.modules, 1);
    assert_string_equal(settled(s, a, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    assert_string_equal(settled(s, b, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    mem_free(keep);
    module_put(a);
    module_put(b);
}

static void a_trim_while_names_are_under_way_is_survived(void **state)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &mangled, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct symbol symbol;
    char name[16];
    int i;

    for (i = 0; i < 50; i++) {
        struct module *m;
        maker.id = (unsigned char)(i + 1);
        snprintf(name, sizeof name, "t%d", i);
        m = make_elf_module(s, name, &maker);
        symbolizer_lookup(s->sy, m, ELF_MAKER_OFFSET + 0x10, &symbol);
        module_put(m);
        if (i % 3 == 0)
            symbolizer_trim(s->sy, NULL, 0);
    }
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    symbolizer_trim(s->sy, NULL, 0);
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

static void a_jits_map_is_read_again_when_it_has_grown(void **state)
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

static void write_text(const struct setup *s, const char *name, const char *text, char *path, size_t cap)
{
    FILE *f;

    snprintf(path, cap, "%s/%s", s->dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    fclose(f);
}

static void kernel_names_come_from_kallsyms(void **state)
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

    write_text(s, "kallsyms",
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

/* By a name in the cache's folder for the kernel's table, after a first profile with its names. */
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
        found = sscanf(line, "%" SCNx64 " %c %127s", addr, &type, name) == 3 && *addr >= from && strchr("tT", type) &&
                !strchr(line, '[');
    if (f)
        fclose(f);
    return found && *addr;
}

static void the_kernels_own_names_are_kept_until_the_next_boot(void **state)
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
        print_message("this kernel hides its names\n");
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
    assert_int_equal(stats.worker_starts, 1); /* what may have changed since is read anew */
    second = settled(&one, kernel, addr);
    assert_string_equal(second.name, name);
    stop(&one);
    if (before[0])
        setenv("XDG_CACHE_HOME", before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    module_put(kernel);
    module_put(kmod);
}

static void a_kernel_of_another_boot_is_shifted(void **state)
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

    write_text(s, "kallsyms", "ffffffff81000000 T _text\nffffffff81000200 T vfs_read\n", path, sizeof path);
    start(&offline, &cfg);
    symbol = settled(&offline, m, UINT64_C(0xffffffff9a000208));
    assert_string_equal(symbol.name, "vfs_read");
    assert_int_equal(symbol.start, UINT64_C(0xffffffff9a000200));
    stop(&offline);
    module_put(m);
}

static void hidden_kernel_addresses_are_noted_with_the_remedy(void **state)
{
    struct setup *s = *state, offline;
    struct module like = {
        .id = MODULE_ID_KERNEL, .kind = MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]"
    };
    struct module *m = module_new(&like);
    struct symbolizer_stats stats;
    char path[128];
    struct symbolizer_config cfg = { .kallsyms = path };

    write_text(s, "kallsyms", "0000000000000000 T _text\n0000000000000000 T vfs_read\n", path, sizeof path);
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, m, UINT64_C(0xffffffff81000208)).state, SYMBOL_NONE);
    symbolizer_stats(offline.sy, &stats);
    assert_true(stats.kernel_hidden);
    assert_non_null(strstr(stats.kernel_note, "root"));
    stop(&offline);
    module_put(m);
}

static void another_machines_kernel_has_no_names_here(void **state)
{
    struct setup offline;
    struct module like = {
        .id = MODULE_ID_KERNEL, .kind = MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]"
    };
    struct module *m = module_new(&like);
    struct symbolizer_config cfg = { .kernel_build_id = { 1, 2, 3 }, .kernel_build_id_size = 20 };

    (void)state;
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, m, UINT64_C(0xffffffff81000208)).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&offline, m), "another kernel"));
    stop(&offline);
    module_put(m);
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

static void another_kernels_names_come_from_its_vmlinux(void **state)
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

static void a_vmlinux_that_is_named_has_to_be_the_recorded_one(void **state)
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
    assert_non_null(strstr(e.text, "no file"));
    module_put(placed);
}

static void of_another_machine_only_files_with_its_build_ids_count(void **state)
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
    like = (struct module){ .id = 9003, .kind = MODULE_FILE, .path = live->path, .name = "program", .ino = st.st_ino,
                            .maj = major(st.st_dev), .min = minor(st.st_dev) };
    very = module_new(&like);
    start(&offline, &cfg);
    assert_int_equal(settled(&offline, nameless, at).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&offline, nameless), "--symfs"));
    assert_string_equal(settled(&offline, same, at).name, "theirs");
    assert_string_equal(settled(&offline, very, at).name, "theirs");
    stop(&offline);
    cfg.symfs = "/"; /* whoever says so knows */
    start(&offline, &cfg);
    assert_string_equal(settled(&offline, nameless, at).name, "theirs");
    stop(&offline);
    module_put(live);
    module_put(nameless);
    module_put(same);
    module_put(very);
}

static void a_32_bit_vdso_is_read_from_its_process(void **state)
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
    like.map_start = start; /* ours is as good as a 32-bit one to show where it is read from */
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

static bool write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
    return pwrite(fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

/* 4 GB, nearly all of it a hole, with 2 million symbols that cover each other. */
static void a_huge_file_is_read_within_limits(void **state)
{
    enum { MANY = SANITIZED ? 500000 : 2000000, NAME_BYTES = 9 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB };
    static struct elf_maker_file f;
    Elf64_Sym *symbols = mem_array(MANY, sizeof *symbols);
    char *names = mem_array(MANY, NAME_BYTES);
    Elf64_Shdr *table = &f.sections[4], *strings;
    struct module *m;
    bool written;
    int fd;
    unsigned i;

    elf_maker_fill(&f, &maker);
    f.segment.p_filesz = f.segment.p_memsz = UINT64_C(0x100000000);
    table->sh_offset = ELF_MAKER_OFFSET + UINT64_C(0x100000000);
    table->sh_size = MANY * sizeof *symbols;
    strings = &f.sections[table->sh_link];
    strings->sh_offset = table->sh_offset + table->sh_size;
    strings->sh_size = MANY * NAME_BYTES;
    for (i = 1; i < MANY; i++) {
        snprintf(names + i * NAME_BYTES, NAME_BYTES, "f%07u", i);
        symbols[i] = (Elf64_Sym){ .st_name = i * NAME_BYTES,
                                  .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                  .st_shndx = 5,
                                  .st_value = ELF_MAKER_VADDR + i * 7919ul % MANY * 16,
                                  .st_size = i % 100 * 16 };
    }
    m = make_file_module(s, "huge", &f, sizeof f);
    fd = open(m->path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    written = write_at(fd, symbols, table->sh_size, table->sh_offset) &&
              write_at(fd, names, strings->sh_size, strings->sh_offset);
    close(fd);
    mem_free(symbols);
    mem_free(names);
    if (!written) {
        print_message("no room for a file with a hole of 4 GB\n");
        module_put(m);
        skip();
    }
    assert_string_equal(settled(s, m, ELF_MAKER_OFFSET + 7919 * 16).name, "f0000001");
    assert_string_equal(trouble(s, m), "");
    module_put(m);
}

static unsigned count_mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    unsigned n = 0;
    int c;

    while ((c = getc(f)) != EOF)
        n += c == '\n';
    fclose(f);
    return n;
}

/* No two of them share a table, for the file has no build-id. A process may have 65,530 mappings. */
static void a_hundred_thousand_modules_take_few_mappings(void **state)
{
    enum { MANY = SANITIZED ? 10000 : 100000 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB };
    struct module **modules = mem_array(MANY, sizeof *modules);
    unsigned i, before = count_mappings();
    struct symbol symbol;

    modules[0] = make_elf_module(s, "one", &maker);
    for (i = 0; i < MANY; i++) {
        if (i)
            modules[i] = make_module(MODULE_FILE, modules[0]->path, "one");
        symbolizer_lookup(s->sy, modules[i], ELF_MAKER_OFFSET + 0x10, &symbol);
    }
    while (!symbolizer_settle(s->sy, LONG_ENOUGH))
        ;
    for (i = 0; i < MANY; i++) {
        symbolizer_lookup(s->sy, modules[i], ELF_MAKER_OFFSET + 0x10, &symbol);
        assert_int_equal(symbol.state, SYMBOL_FOUND);
        assert_string_equal(trouble(s, modules[i]), "");
        module_put(modules[i]);
    }
    assert_in_range(count_mappings(), 0, before + 200);
    mem_free(modules);
}

/* Sections that lie upon each other, that claim all there is, and counts that nothing can hold. */
static void lying_headers_cost_one_line_of_trouble_at_most(void **state)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 5 };
    static const uint64_t lies[] = { 0, 1, UINT64_C(1) << 31, UINT64_C(1) << 40, INT64_MAX, UINT64_MAX };
    unsigned section, field, lie, n = 0;
    char name[16];

    for (section = 0; section < 6; section++)
        for (field = 0; field < 4; field++)
            for (lie = 0; lie < sizeof lies / sizeof *lies; lie++) {
                static struct elf_maker_file f;
                const struct unwind_rows *rows;
                struct module *m;
                Elf64_Shdr *h = &f.sections[section];
                elf_maker_fill(&f, &maker);
                *(field == 0   ? &h->sh_offset
                  : field == 1 ? &h->sh_size
                  : field == 2 ? &h->sh_entsize
                               : &h->sh_addralign) = lies[lie];
                snprintf(name, sizeof name, "l%u", n++);
                m = make_file_module(s, name, &f, sizeof f);
                settled(s, m, ELF_MAKER_OFFSET + 0x10);
                symbolizer_unwind_wait(s->sy, m, LONG_ENOUGH, &rows);
                assert_null(strchr(trouble(s, m), '\n'));
                assert_null(strstr(trouble(s, m), "worker"));
                module_put(m);
            }
}

static void this_machines_kernel_has_names(void **state)
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

static void a_worker_that_cannot_start_leaves_offsets(void **state)
{
    struct setup *s = *state, other;
    struct symbolizer_config cfg = { .live = true, .worker_path = "/nonexistent/worker" };
    struct symbolizer_config dying = { .live = true, .worker_path = "/bin/true" };
    struct module *m = make_elf_module(s, "a", &plain_elf);

    start(&other, &cfg);
    assert_int_equal(settled(&other, m, ELF_MAKER_OFFSET + 0x10).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&other, m), "cannot start the symbol worker"));
    stop(&other);
    start(&other, &dying);
    assert_int_equal(settled(&other, m, ELF_MAKER_OFFSET + 0x10).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&other, m), "worker"));
    stop(&other);
    module_put(m);
}

/* A worker that neither answers nor dies: `sleep --symbol-worker` would end at once, `cat` waits for ever only on a
 * terminal; a shell script stays. */
static void stopping_does_not_wait_for_a_worker_that_hangs(void **state)
{
    struct setup *s = *state, other;
    struct module *m = make_elf_module(s, "a", &plain_elf);
    char path[128];
    struct symbolizer_config cfg = { .live = true, .worker_path = path };
    uint64_t began;

    write_text(s, "worker", "#!/bin/sh\nexec sleep 600\n", path, sizeof path);
    chmod(path, 0700);
    start(&other, &cfg);
    symbolizer_request(other.sy, m);
    assert_false(symbolizer_settle(other.sy, NS_PER_SEC / 5));
    began = clock_now_ns();
    stop(&other);
    assert_true(clock_now_ns() - began < LONG_ENOUGH);
    module_put(m);
}

static void the_worker_has_no_privileges(void **state)
{
    struct setup *s = *state;
    struct module *m = make_elf_module(s, "a", &plain_elf);
    char path[64], line[256];
    unsigned seen = 0;
    FILE *f;

    settled(s, m, ELF_MAKER_OFFSET + 0x10);
    snprintf(path, sizeof path, "/proc/%d/status", (int)worker_pid());
    if (!find_worker()) {
        module_put(m);
        print_message("this kernel does not tell a thread's children\n");
        skip();
    }
    f = fopen(path, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (!strncmp(line, "NoNewPrivs:", 11))
            seen += strstr(line, "1") != NULL;
#ifdef HAVE_LIBCAP_NG
        if (!strncmp(line, "CapEff:", 7) || !strncmp(line, "CapPrm:", 7))
            seen += strspn(strchr(line, '\t') + 1, "0") == 16;
#else
        seen += !strncmp(line, "CapEff:", 7) || !strncmp(line, "CapPrm:", 7);
#endif
    }
    fclose(f);
    assert_int_equal(seen, 3);
    module_put(m);
}

static enum worker_result ask_worker(struct worker *w, enum worker_kind kind, int fd, const char *payload,
                                     size_t n, struct worker_answer *a, struct error *e)
{
    struct worker_request r = {
        .kind = kind, .fds = { fd, -1 }, .n_fds = fd >= 0, .payload = payload, .payload_n = n
    };

    return worker_ask(w, &r, a, e);
}

static void the_worker_refuses_what_it_does_not_know_and_lives(void **state)
{
    static struct worker_answer a;
    struct worker w = WORKER_INIT;
    struct error e = { 0 };
    int fd = elf_maker_open(&plain_elf);

    (void)state;
    assert_int_equal(ask_worker(&w, 999, -1, NULL, 0, &a, &e), WORKER_REFUSED);
    assert_int_equal(ask_worker(&w, WORKER_ELF, -1, NULL, 0, &a, &e), WORKER_REFUSED);
    assert_int_equal(ask_worker(&w, WORKER_DEMANGLE, -1, "main\0_ZN3foo3barEi\0", 19, &a, &e), WORKER_DONE);
#ifdef HAVE_LIBIBERTY
    assert_int_equal(a.payload_n, 10);
    assert_memory_equal(a.payload, "\0foo::bar", 10);
#endif
    assert_int_equal(ask_worker(&w, WORKER_ELF, fd, NULL, 0, &a, &e), WORKER_DONE);
    assert_non_null(a.blob);
    assert_int_equal(w.starts, 1);
    blob_free(a.blob, a.blob_size);
    close(fd);
    worker_end(&w);
}

/* Each part names the one before three times: the whole would be 3^32 parts long. */
/* f<A<int>, A<x, x, x>, …>: every argument holds the one before it three times. */
static void make_bomb(char *dst)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int i;

    dst += sprintf(dst, "_Z1fI1AIiE");
    for (i = 1; i <= 32; i++)
        dst += sprintf(dst, "S0_IS%c_S%c_S%c_E", digits[i], digits[i], digits[i]);
    sprintf(dst, "Evv");
}

static void a_demangler_bomb_costs_no_other_name(void **state)
{
    static char bomb[900];
    struct elf_maker_symbol symbols[] = { { bomb, ELF_MAKER_VADDR, 0x10, 0 }, mangled };
    struct elf_maker maker = { .symbols = symbols, .n_symbols = 2, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct setup *s = *state;
    struct module *m;
    struct symbol symbol;

    if (SANITIZED) {
        print_message("under a sanitizer the worker's memory has no limit\n");
        skip();
    }
    make_bomb(bomb);
    m = make_elf_module(s, "a", &maker);
    symbolizer_request(s->sy, m);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    symbolizer_lookup(s->sy, m, ELF_MAKER_OFFSET, &symbol);
    symbol = settled(s, m, ELF_MAKER_OFFSET + 0x10);
#ifdef HAVE_LIBIBERTY
    assert_string_equal(symbol.name, "foo::bar");
#endif
    symbol = settled(s, m, ELF_MAKER_OFFSET);
    assert_int_equal(symbol.state, SYMBOL_FOUND);
    assert_string_equal(symbol.name, bomb);
    module_put(m);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        WITH_SETUP(a_function_of_ours_gets_its_name),
        WITH_SETUP(the_generation_moves_when_names_come),
        WITH_SETUP(a_gap_shows_module_and_offset),
        WITH_SETUP(cxx_names_come_demangled),
        WITH_SETUP(escapes_in_names_never_come_out),
        WITH_SETUP(keys_depend_on_names_only),
        WITH_SETUP(pseudo_modules_have_fixed_names),
        WITH_SETUP(a_stripped_file_says_what_is_missing),
        WITH_SETUP(the_package_with_the_symbols_is_found_when_asked_for),
        WITH_SETUP(a_debug_file_beside_the_module_is_found),
        WITH_SETUP(a_file_of_another_build_gives_no_names),
        WITH_SETUP(files_that_are_missing_or_no_elf_say_so),
        WITH_SETUP(names_come_though_the_worker_is_killed),
        WITH_SETUP(a_profile_may_ask_from_many_threads),
        WITH_SETUP(a_trim_forgets_unmarked_modules_and_they_come_back),
        WITH_SETUP(a_trim_while_names_are_under_way_is_survived),
        WITH_SETUP(a_jits_map_is_read_again_when_it_has_grown),
        WITH_SETUP(kernel_names_come_from_kallsyms),
        WITH_SETUP(the_kernels_own_names_are_kept_until_the_next_boot),
        WITH_SETUP(a_kernel_of_another_boot_is_shifted),
        WITH_SETUP(hidden_kernel_addresses_are_noted_with_the_remedy),
        WITH_SETUP(another_machines_kernel_has_no_names_here),
        WITH_SETUP(another_kernels_names_come_from_its_vmlinux),
        WITH_SETUP(a_vmlinux_that_is_named_has_to_be_the_recorded_one),
        WITH_SETUP(of_another_machine_only_files_with_its_build_ids_count),
        WITH_SETUP(a_32_bit_vdso_is_read_from_its_process),
        WITH_SETUP(a_hundred_thousand_modules_take_few_mappings),
        WITH_SETUP(a_huge_file_is_read_within_limits),
        WITH_SETUP(lying_headers_cost_one_line_of_trouble_at_most),
        WITH_SETUP(this_machines_kernel_has_names),
        WITH_SETUP(a_worker_that_cannot_start_leaves_offsets),
        WITH_SETUP(stopping_does_not_wait_for_a_worker_that_hangs),
        WITH_SETUP(the_worker_has_no_privileges),
        WITH_SETUP(the_worker_refuses_what_it_does_not_know_and_lives),
        WITH_SETUP(a_demangler_bomb_costs_no_other_name),
    };

    SYMBOLIZER_TESTS(argc, argv, tests);
}
