// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer_fixture.h"
#include "symbols/blob.h"

/* When the worker ends, its unanswered requests are sent again. */
FIXTURE_TEST(names_arrive_even_if_the_worker_is_killed)
{
    struct setup *s = *state;
    struct module *modules[40];
    struct symbolizer_stats stats;
    char name[16];
    unsigned i, kills = 0;

    for (i = 0; i < 40; i++) {
        struct elf_maker maker = { .symbols = &mangled_symbol,
                                   .n_symbols = 1,
                                   .symtab_type = SHT_SYMTAB,
                                   .id = (unsigned char)(i + 1) };
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
        print_message("this kernel does not list a thread's children\n");
        skip();
    }
    assert_true(stats.worker_starts > 1);
}

FIXTURE_TEST(without_a_worker_offsets_are_shown)
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

/* A worker that neither replies nor exits: `sleep --symbol-worker` would exit at once, and `cat` waits
 * forever only on a terminal; a shell script stays. */
FIXTURE_TEST(stopping_does_not_wait_for_a_hung_worker)
{
    struct setup *s = *state, other;
    struct module *m = make_elf_module(s, "a", &plain_elf);
    char path[128];
    struct symbolizer_config cfg = { .live = true, .worker_path = path };
    uint64_t began;

    write_named(s, "worker", "#!/bin/sh\nexec sleep 600\n", path, sizeof path);
    chmod(path, 0700);
    start(&other, &cfg);
    symbolizer_request(other.sy, m);
    assert_false(symbolizer_settle(other.sy, NS_PER_SEC / 5));
    began = clock_now_ns();
    stop(&other);
    assert_true(clock_now_ns() - began < LONG_ENOUGH);
    module_put(m);
}

FIXTURE_TEST(the_worker_has_no_privileges)
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
        print_message("this kernel does not list a thread's children\n");
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
                                     size_t n, struct worker_reply *a, struct error *e)
{
    struct worker_request r = {
        .kind = kind, .fds = { fd, -1 }, .n_fds = fd >= 0, .payload = payload, .payload_n = n
    };

    return worker_ask(w, &r, a, e);
}

FIXTURE_TEST(the_worker_refuses_unknown_requests_and_lives)
{
    static struct worker_reply a;
    struct worker w = WORKER_INIT;
    struct error e = { 0 };
    int fd = elf_maker_open(&plain_elf);

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

/* Each part contains the previous one three times: the whole would have 3^32 parts. */
/* f<A<int>, A<x, x, x>, …>: every argument contains the previous one three times. */
static void make_bomb(char *dst, unsigned number)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int i;

    dst += sprintf(dst, "_Z3f%02uI1AIiE", number);
    for (i = 1; i <= 32; i++)
        dst += sprintf(dst, "S0_IS%c_S%c_S%c_E", digits[i], digits[i], digits[i]);
    sprintf(dst, "Evv");
}

FIXTURE_TEST(a_demangler_bomb_loses_no_other_name)
{
    static char bomb[900];
    struct elf_maker_symbol symbols[] = { { bomb, ELF_MAKER_VADDR, 0x10, 0 }, mangled_symbol };
    struct elf_maker maker = { .symbols = symbols, .n_symbols = 2, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct setup *s = *state;
    struct module *m;
    struct symbol symbol;

    if (SANITIZED) {
        print_message("under a sanitizer the worker's memory has no limit\n");
        skip();
    }
    make_bomb(bomb, 0);
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

#define BOMBS      20 /* more than are tried for one owner */
#define A_STRANGER 4321

static void settle_tables(struct setup *s, struct module *m)
{
    symbolizer_request(s->sy, m);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
}

static void need_strangers(void)
{
    if (!SANITIZED && !geteuid())
        return;
    print_message("needs root, to give files to others, and a worker with a memory limit\n");
    skip();
}

static struct module *make_strangers(struct setup *s, const char *name, const struct elf_maker *maker)
{
    struct module *m = make_elf_module(s, name, maker);
    char path[96];

    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    assert_int_equal(chown(path, A_STRANGER, A_STRANGER), 0);
    return m;
}

static struct module *make_bomb_file(struct setup *s, unsigned number)
{
    char bomb[900], name[16];
    struct elf_maker_symbol symbol = { bomb, ELF_MAKER_VADDR + 0x10, 0x10, 0 };
    struct elf_maker maker = {
        .symbols = &symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = (unsigned char)(number + 10)
    };

    make_bomb(bomb, number);
    snprintf(name, sizeof name, "bomb%u", number);
    struct module *m = make_strangers(s, name, &maker);
    settle_tables(s, m);
    return m;
}

static void wait_for_all(struct setup *s)
{
    while (!symbolizer_settle(s->sy, LONG_ENOUGH))
        ;
}

/* All names wait at the same time: those of other owners' files arrive while bombs are still to be tried,
 * and after that no more bombs are. */
FIXTURE_TEST(bombs_of_one_owner_lose_no_name_of_another)
{
    struct setup *s = *state;
    const struct elf_maker_symbol later = { "_ZN3foo5laterEi", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
    const struct elf_maker of_a = {
        .symbols = &mangled_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 8
    };
    const struct elf_maker of_b = { .symbols = &later, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9 };
    struct module *bombs[BOMBS], *a, *b;
    struct symbolizer_stats stats;
    struct symbol symbol;

    need_strangers();
#ifndef HAVE_LIBIBERTY
    print_message("built without libiberty: names are not demangled\n");
    skip();
#endif
    for (unsigned i = 0; i < BOMBS; i++)
        bombs[i] = make_bomb_file(s, i);
    a = make_elf_module(s, "a", &of_a);
    settle_tables(s, a);
    for (unsigned i = 0; i < BOMBS; i++)
        symbolizer_lookup(s->sy, bombs[i], ELF_MAKER_OFFSET + 0x10, &symbol);
    do {
        symbolizer_settle(s->sy, NS_PER_SEC / 20);
        symbolizer_lookup(s->sy, a, ELF_MAKER_OFFSET + 0x10, &symbol);
    } while (symbol.mangled);
    symbolizer_stats(s->sy, &stats);
    assert_string_equal(symbol.name, "foo::bar");
    assert_true(stats.mangled + stats.pending > 0);
    wait_for_all(s);
    b = make_elf_module(s, "b", &of_b);
    assert_string_equal(settled(s, b, ELF_MAKER_OFFSET + 0x10).name, "foo::later");
    for (unsigned i = 0; i < BOMBS; i++)
        module_put(bombs[i]);
    module_put(a);
    module_put(b);
}

/* Any user can give a file the build-id of another one. */
FIXTURE_TEST(a_build_id_copied_by_a_stranger_names_no_other_file)
{
    struct setup *s = *state;
    const struct elf_maker_symbol wrong = { "wrong_name", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
    const struct elf_maker of_stranger = {
        .symbols = &wrong, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9
    };

    need_strangers();
    struct module *copied = make_strangers(s, "copied", &of_stranger),
                  *ours = make_elf_module(s, "ours", &plain_elf),
                  *again = make_strangers(s, "again", &of_stranger);
    assert_string_equal(settled(s, copied, ELF_MAKER_OFFSET + 0x10).name, "wrong_name");
    assert_string_equal(settled(s, ours, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    assert_string_equal(settled(s, copied, ELF_MAKER_OFFSET + 0x10).name, "wrong_name");
    /* a trusted file names the others of its build */
    assert_string_equal(settled(s, again, ELF_MAKER_OFFSET + 0x10).name, "plain_function");
    module_put(copied);
    module_put(ours);
    module_put(again);
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
