// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer_fixture.h"

struct asker {
    struct setup *s;
    struct module *m;
    unsigned found;
};

static void *look_up_often(void *arg)
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

FIXTURE_TEST(many_threads_may_look_up_names)
{
    struct setup *s = *state;
    struct elf_maker maker = {
        .symbols = &mangled_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9
    };
    struct module *m = make_elf_module(s, "a", &maker);
    struct asker askers[3] = { { s, m, 0 }, { s, m, 0 }, { s, m, 0 } };
    pthread_t threads[3];
    int i;

    for (i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up_often, &askers[i]), 0);
    for (i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    settled(s, m, ELF_MAKER_OFFSET + 0x10);
    look_up_often(&askers[0]);
    assert_true(askers[0].found >= 20000 / 0x40 * 0x10);
    module_put(m);
}

FIXTURE_TEST(trimmed_modules_are_read_again_when_needed)
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

FIXTURE_TEST(a_trim_while_names_are_pending_does_no_harm)
{
    struct setup *s = *state;
    struct elf_maker maker = {
        .symbols = &mangled_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9
    };
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

static bool write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
    return pwrite(fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

/* 4 GB, nearly all of it a hole, with 2 million overlapping symbols. */
FIXTURE_TEST(a_huge_file_is_read_within_limits)
{
    enum { MANY = SANITIZED ? 500000 : 2000000, NAME_BYTES = 9 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB };
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
        print_message("no disk space for a file with a hole of 4 GB\n");
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

/* No two of them share a table, because the file has no build-id. A process may have 65,530 mappings. */
FIXTURE_TEST(thousands_of_modules_need_few_mappings)
{
    enum { MANY = SANITIZED ? 10000 : 20000 };
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB };
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

/* Overlapping sections, sections that claim the whole file, and impossible counts. */
FIXTURE_TEST(wrong_headers_cost_at_most_one_line_of_trouble)
{
    struct setup *s = *state;
    struct elf_maker maker = { .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 5 };
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

#define STRANGER 61000u

/* A module with a 40 GB debug file, nearly all of it a hole, identified by its checksum alone: two minutes
 * of work. */
static struct module *make_long_work(const struct setup *s, unsigned i, uid_t uid, uint32_t symtab_type)
{
    char name[16], link[16], path[128];
    struct elf_maker maker = {
        .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = symtab_type, .link = link
    };
    struct module *m;

    snprintf(name, sizeof name, "long%u", i);
    snprintf(link, sizeof link, "long%u.debug", i);
    m = make_elf_module(s, name, &maker);
    snprintf(path, sizeof path, "%s/%s", s->dir, link);
    maker.link = NULL;
    maker.symtab_type = SHT_SYMTAB;
    module_put(make_elf_module(s, link, &maker));
    assert_int_equal(truncate(path, (off_t)40 << 30), 0);
    assert_int_equal(chown(path, uid, uid), 0);
    assert_int_equal(chown(m->path, uid, uid), 0);
    return m;
}

static void wait_for_name(struct setup *s, struct module *m)
{
    uint64_t end = clock_now_ns() + LONG_ENOUGH;
    struct symbol symbol;

    do {
        symbolizer_lookup(s->sy, m, ELF_MAKER_OFFSET + 0x10, &symbol);
        usleep(1000);
    } while (symbol.state == SYMBOL_PENDING && clock_now_ns() < end);
    assert_int_equal(symbol.state, SYMBOL_FOUND);
}

/* One owner's files take minutes; others' files get their names meanwhile, and the slow files are given
 * up. */
FIXTURE_TEST(slow_files_of_one_owner_do_not_delay_others)
{
    enum { HOSTILE = 3 };
    struct setup *s = *state;
    struct module *hostile[HOSTILE], *others[4];
    struct symbolizer_stats stats;
    uint64_t began = clock_now_ns();
    char name[16];
    unsigned i;

    if (geteuid()) {
        print_message("only root can give files to others\n");
        skip();
    }
    for (i = 0; i < HOSTILE; i++) {
        hostile[i] = make_long_work(s, i, STRANGER, SHT_DYNSYM);
        symbolizer_request(s->sy, hostile[i]);
    }
    for (i = 0; i < 4; i++) {
        struct elf_maker maker = {
            .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = (unsigned char)(i + 1)
        };
        snprintf(name, sizeof name, "plain%u", i);
        others[i] = make_elf_module(s, name, &maker);
        if (i % 2)
            assert_int_equal(chown(others[i]->path, STRANGER + i, STRANGER + i), 0);
        symbolizer_request(s->sy, others[i]);
    }
    for (i = 0; i < 4; i++)
        wait_for_name(s, others[i]);
    symbolizer_stats(s->sy, &stats);
    print_message("names of 4 others after %.1f s, with %u tasks left\n",
                  (double)(clock_now_ns() - began) / 1e9, stats.pending);
    assert_true(stats.pending >= HOSTILE);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    print_message("all after %.1f s: %s\n", (double)(clock_now_ns() - began) / 1e9, trouble(s, hostile[0]));
    for (i = 0; i < HOSTILE; i++) {
        assert_non_null(strstr(trouble(s, hostile[i]), "given up: reading it took more than"));
        assert_non_null(strstr(trouble(s, hostile[i]), "the file is of user 61000"));
        module_put(hostile[i]);
    }
    for (i = 0; i < 4; i++)
        module_put(others[i]);
}

/* All names are in the file itself, but its unwind table is searched in a debug file that takes minutes. */
FIXTURE_TEST(names_do_not_wait_for_the_slow_unwind_table_of_their_file)
{
    struct setup *s = *state;
    struct module *slow = make_long_work(s, 0, geteuid(), SHT_SYMTAB);
    struct module *other = make_elf_module(s, "other", &plain_elf);
    const struct unwind_rows *rows;

    assert_int_equal(symbolizer_unwind(s->sy, slow, &rows), SYMBOL_PENDING);
    wait_for_name(s, other); /* by now the table is in the slow lane */
    wait_for_name(s, slow);
    assert_int_equal(symbolizer_unwind(s->sy, slow, &rows), SYMBOL_PENDING);
    module_put(slow);
    module_put(other);
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
