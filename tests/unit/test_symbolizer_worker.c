// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbolizer_fixture.h"
#include "symbols/blob.h"

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
            .symbols = &mangled_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = (unsigned char)(i + 1)
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
    struct elf_maker_symbol symbols[] = { { bomb, ELF_MAKER_VADDR, 0x10, 0 }, mangled_symbol };
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
        WITH_SETUP(names_come_though_the_worker_is_killed),
        WITH_SETUP(a_worker_that_cannot_start_leaves_offsets),
        WITH_SETUP(stopping_does_not_wait_for_a_worker_that_hangs),
        WITH_SETUP(the_worker_has_no_privileges),
        WITH_SETUP(the_worker_refuses_what_it_does_not_know_and_lives),
        WITH_SETUP(a_demangler_bomb_costs_no_other_name),
    };

    SYMBOLIZER_TESTS(argc, argv, tests);
}
