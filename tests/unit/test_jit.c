// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of JIT-compiled code from perf maps and jitdumps written by this test. */
#include "jitdump_maker.h"
#include "symbolizer_fixture.h"

#include <sys/mman.h>

#include "symbols/jitdump.h"
#include "symbols/symbolizer_state.h"

static const char *map_path(void)
{
    static char path[64];

    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    return path;
}

static void write_map(const char *text)
{
    int fd = open(map_path(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static int start_setup(void **state)
{
    unlink(map_path());
    return set_up(state);
}

static int stop_setup(void **state)
{
    unlink(map_path());
    return tear_down(state);
}

#define MAP_TEST(name) TEST_WITH(name, start_setup, stop_setup)

static struct module *make_jit(void)
{
    return make_module(MODULE_JIT, "//anon", "[JIT]");
}

static void refresh_names(struct setup *s, struct module *m)
{
    symbolizer_refresh(s->sy, m, true);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
}

static const char *name_of(struct setup *s, struct module *m, uint64_t address)
{
    struct symbol symbol;

    symbolizer_lookup(s->sy, m, address, &symbol);
    return symbol.name;
}

MAP_TEST(names_from_perf_maps_are_shown_as_the_runtime_wrote_them)
{
    struct setup *s = *state;
    struct module *m = make_jit();

    write_map("7f0010000000 40 JS:*hot /srv/app.js:1:13\n"
              "7f0010000040 40 JS:~cold node:internal/main/run_main_module:1:1\n"
              "0x00007f0010000080 0x0000000000000040 void java.lang.Object.<init>()\n"
              "7f00100000c0 b py::work:/srv/x.py\n"
              "7f0010000100 40 _ZN3foo3barEi\n");
    assert_string_equal(settled(s, m, 0x7f0010000000).name, "JS:*hot /srv/app.js:1:13");
    assert_string_equal(name_of(s, m, 0x7f0010000040), "JS:~cold node:internal/main/run_main_module:1:1");
    assert_string_equal(name_of(s, m, 0x7f00100000bf), "void java.lang.Object.<init>()");
    assert_string_equal(name_of(s, m, 0x7f00100000c5), "py::work:/srv/x.py");
    /* names from a runtime are not demangled */
    assert_string_equal(name_of(s, m, 0x7f0010000100), "_ZN3foo3barEi");
    assert_int_equal(settled(s, m, 0x7f0010000000).class, SYMBOL_CLASS_JIT);
    module_put(m);
}

MAP_TEST(new_symbols_appear_as_the_map_grows)
{
    struct setup *s = *state;
    struct module *m = make_jit();
    uint32_t id;

    write_map("1000 10 first\n");
    assert_string_equal(settled(s, m, 0x1000).name, "first");
    write_map("1000 10 first\n2000 10 second\n");
    refresh_names(s, m);
    assert_string_equal(name_of(s, m, 0x1000), "first");
    assert_string_equal(name_of(s, m, 0x2000), "second");
    assert_int_equal(symbolizer_renamed(s->sy, &id, 1), 0);
    module_put(m);
}

MAP_TEST(replaced_code_keeps_its_name_for_earlier_samples)
{
    static const uint64_t sampled[] = { 0x1008, 0x2000, 0x3000 };
    struct setup *s = *state;
    struct module *m = make_jit(), *next = make_jit();
    uint32_t id = 0;

    write_map("1000 10 before\n2000 10 same\n");
    assert_string_equal(settled(s, m, 0x1008).name, "before");
    write_map("1000 10 before\n2000 10 same\n1000 8 after\n1008 8 later\n3000 10 new\n");
    refresh_names(s, m);
    assert_int_equal(symbolizer_renamed(s->sy, &id, 1), 1);
    assert_int_equal(id, m->id);
    assert_string_equal(name_of(s, m, 0x1008), "before");
    assert_true(symbolizer_differs(s->sy, m, sampled, 3));
    symbolizer_renew(s->sy, m, next, sampled, 3);
    assert_int_equal(symbolizer_renamed(s->sy, &id, 1), 0);
    assert_string_equal(name_of(s, m, 0x1008), "before");
    assert_string_equal(name_of(s, m, 0x2000), "same");
    assert_string_equal(name_of(s, m, 0x3000), "new");
    assert_string_equal(name_of(s, next, 0x1000), "after");
    assert_string_equal(name_of(s, next, 0x1008), "later");
    assert_string_equal(name_of(s, next, 0x2000), "same");
    write_map("1000 10 last\n");
    refresh_names(s, m); /* m was renewed: it no longer changes */
    refresh_names(s, next);
    assert_string_equal(name_of(s, m, 0x1008), "before");
    assert_int_equal(symbolizer_renamed(s->sy, &id, 1), 1);
    assert_int_equal(id, next->id);
    symbolizer_renew(s->sy, next, NULL, sampled, 3);
    assert_string_equal(name_of(s, next, 0x1008), "later");
    module_put(next);
    module_put(m);
}

MAP_TEST(replaced_code_without_samples_gets_the_new_name)
{
    static const uint64_t sampled[] = { 0x2000 };
    struct setup *s = *state;
    struct module *m = make_jit();
    uint32_t id = 0;

    write_map("1000 10 before\n2000 10 same\n");
    assert_string_equal(settled(s, m, 0x1000).name, "before");
    write_map("1000 10 after\n2000 10 same\n");
    refresh_names(s, m);
    assert_int_equal(symbolizer_renamed(s->sy, &id, 1), 1);
    assert_false(symbolizer_differs(s->sy, m, sampled, 1));
    assert_int_equal(symbolizer_renamed(s->sy, &id, 1), 0);
    assert_string_equal(name_of(s, m, 0x1000), "after");
    module_put(m);
}

MAP_TEST(modules_can_be_dropped_at_any_time)
{
    struct setup *s = *state;
    struct module *m = make_jit();
    uint32_t id = 0;

    write_map("1000 10 before\n");
    assert_string_equal(settled(s, m, 0x1000).name, "before");
    write_map("1000 10 after\n");
    refresh_names(s, m);
    symbolizer_trim(s->sy, NULL, 0);
    assert_int_equal(symbolizer_renamed(s->sy, &id, 1), 0);
    assert_false(symbolizer_differs(s->sy, m, NULL, 0));
    symbolizer_renew(s->sy, m, NULL, NULL, 0);
    assert_string_equal(settled(s, m, 0x1000).name, "after");
    module_put(m);
}

/* ---- dumps ---- */

static void *map_dump(const struct setup *s, const struct jitdump_maker *d, char path[128])
{
    void *page;
    int fd;

    snprintf(path, 128, "%s/jit-%d.dump", s->dir, (int)getpid());
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, d->b.data, d->b.len), (ssize_t)d->b.len);
    page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    assert_true(page != MAP_FAILED);
    close(fd);
    return page;
}

MAP_TEST(a_jitdump_takes_precedence_over_a_map)
{
    struct setup *s = *state;
    struct jitdump_maker d = { 0 };
    struct module *m = make_jit();
    char path[128];
    void *page;

    maker_header(&d, 1);
    maker_load(&d, 0x1000, 0x10, 1, "of_the_dump", 0x10);
    page = map_dump(s, &d, path);
    assert_string_equal(settled(s, m, 0x1000).name, "of_the_dump");
    assert_string_equal(trouble(s, m), "");
    write_map("1000 10 of_the_map\n2000 10 both\n");
    refresh_names(s, m);
    assert_string_equal(name_of(s, m, 0x1000), "of_the_dump");
    assert_string_equal(name_of(s, m, 0x2000), "both");
    munmap(page, 4096);
    buf_done(&d.b);
    module_put(m);
}

/* As with node: the last names are in the file only after it has exited. */
MAP_TEST(the_last_records_of_a_jitdump_are_read)
{
    struct setup *s = *state;
    struct jitdump_maker d = { 0 };
    struct module *m = make_jit();
    char path[128];
    void *page;
    int fd;

    maker_header(&d, 1);
    page = map_dump(s, &d, path);
    settled(s, m, 0x1000);
    munmap(page, 4096);
    maker_load(&d, 0x1000, 0x10, 1, "written_late", 0x10);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(write(fd, d.b.data, d.b.len), (ssize_t)d.b.len);
    close(fd);
    refresh_names(s, m);
    assert_string_equal(name_of(s, m, 0x1000), "written_late");
    buf_done(&d.b);
    module_put(m);
}

MAP_TEST(a_damaged_jitdump_is_reported)
{
    struct setup *s = *state;
    struct jitdump_maker d = { 0 };
    struct module *m = make_jit();
    char path[128];
    void *page;

    maker_header(&d, 1);
    maker_load(&d, 0x1000, 0x10, 1, "good", 0x10);
    maker_other(&d, 3, 0);
    maker_size(&d, 3);
    page = map_dump(s, &d, path);
    assert_string_equal(settled(s, m, 0x1000).name, "good");
    assert_non_null(strstr(trouble(s, m), "damaged"));
    munmap(page, 4096);
    buf_done(&d.b);
    module_put(m);
}

/* ---- hostile files ---- */

MAP_TEST(files_that_are_not_perf_maps_are_reported_and_give_no_names)
{
    struct setup *s = *state;
    struct module *fifo = make_jit(), *link = make_jit();

    assert_int_equal(mkfifo(map_path(), 0600), 0);
    assert_int_equal(settled(s, fifo, 0x1000).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(s, fifo), "no regular file"));
    unlink(map_path());
    assert_int_equal(symlink("/etc/shadow", map_path()), 0);
    assert_int_equal(settled(s, link, 0x1000).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(s, link), "no regular file"));
    module_put(fifo);
    module_put(link);
}

MAP_TEST(binary_garbage_gives_no_names)
{
    struct setup *s = *state;
    struct module *m = make_jit();
    uint32_t noise[16384], seed = 1;
    int fd = open(map_path(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    for (int round = 0; round < 64; round++) {
        for (size_t i = 0; i < 16384; i++)
            noise[i] = seed = seed * 1664525 + 1013904223;
        assert_int_equal(write(fd, noise, sizeof noise), sizeof noise);
    }
    close(fd);
    assert_int_equal(settled(s, m, 0x1000).state, SYMBOL_NONE);
    module_put(m);
}

MAP_TEST(a_huge_map_is_read_in_part)
{
    struct setup *s = *state;
    struct module *m = make_jit();

    write_map("1000 10 first\n");
    assert_int_equal(truncate(map_path(), (off_t)2 << 30), 0);
    assert_string_equal(settled(s, m, 0x1000).name, "first");
    assert_non_null(strstr(trouble(s, m), "only a part"));
    module_put(m);
}

/* ---- recordings ---- */

static struct module *make_recorded_module(uint32_t epoch)
{
    static uint32_t next_id = 9000;
    struct module like = {
        .id = next_id++, .kind = MODULE_JIT, .path = "//anon", .pid = (uint32_t)getpid(), .epoch = epoch
    };

    return module_new(&like);
}

static uint64_t boot_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
}

MAP_TEST(a_recording_of_a_running_process_uses_its_current_map)
{
    struct setup s = { 0 };
    struct symbolizer_config cfg = { .recorded_ns = boot_ns() + NS_PER_SEC };
    struct symbolizer_stats stats;
    struct module *m = make_recorded_module(0);

    write_map("1000 10 still_there\n");
    start(&s, &cfg);
    assert_string_equal(settled(&s, m, 0x1000).name, "still_there");
    symbolizer_stats(s.sy, &stats);
    assert_true(stats.jit_of_now);
    stop(&s);
    module_put(m);
}

MAP_TEST(a_recording_of_an_earlier_process_ignores_the_current_map)
{
    struct setup s = { 0 };
    struct symbolizer_config cfg = { .recorded_ns = 1 }, elsewhere = { 0 };
    struct module *m = make_recorded_module(0);

    write_map("1000 10 not_its\n");
    start(&s, &cfg);
    assert_int_equal(settled(&s, m, 0x1000).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&s, m), "another process"));
    stop(&s);
    start(&s, &elsewhere);
    assert_int_equal(settled(&s, m, 0x1000).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&s, m), "while its process runs"));
    stop(&s);
    module_put(m);
}

MAP_TEST(names_stored_in_a_recording_are_valid_for_their_time)
{
    static const char text[] =
        "nonsense\n= 7b 10\n1000 10 early\n= 7b 20\n1000 10 late\n2000 10 more\n= x\n3000 1 y\n";
    const char *at = text;
    size_t left = sizeof text - 1;
    struct jit_epoch epochs[3];
    struct setup s = { 0 };
    struct symbolizer_config cfg = { .epochs = epochs, .n_epochs = 2 };
    struct module *first = make_recorded_module(1), *second = make_recorded_module(2),
                  *beyond = make_recorded_module(3);

    assert_true(jittext_next(&at, &left, &epochs[0]));
    assert_true(jittext_next(&at, &left, &epochs[1]));
    assert_false(jittext_next(&at, &left, &epochs[2]));
    assert_int_equal(epochs[0].pid, 123);
    assert_int_equal(epochs[1].from_ns, 0x20);
    start(&s, &cfg);
    assert_string_equal(settled(&s, first, 0x1008).name, "early");
    assert_string_equal(settled(&s, second, 0x1008).name, "late");
    assert_string_equal(settled(&s, second, 0x2000).name, "more");
    assert_int_equal(settled(&s, beyond, 0x1008).state, SYMBOL_NONE);
    stop(&s);
    module_put(first);
    module_put(second);
    module_put(beyond);
}

TEST(a_symbol_name_cannot_start_an_epoch)
{
    struct buf b = { 0 };
    struct jit_epoch epoch;
    const char *at;
    size_t left;

    jittext_begin(&b, 7, 1);
    jittext_add(&b, 0x1000, 0x10, "evil\n= 8 1");
    at = b.data;
    left = b.len;
    assert_true(jittext_next(&at, &left, &epoch));
    assert_int_equal(epoch.n, strlen("1000 10 evil = 8 1\n"));
    assert_false(jittext_next(&at, &left, &epoch));
    buf_done(&b);
}

/* Installs a map of the user's process that counts as this number of bytes. */
static bool install_map_of_user(struct setup *s, uint32_t uid, size_t bytes, struct error *e)
{
    static const struct table_header empty;
    struct symbol_table *t = mem_zalloc(sizeof *t);
    struct module *m = make_jit();
    bool ok;

    m->user = uid + 1;
    t->view.header = &empty;
    t->size = bytes;
    t->users = 1;
    pthread_mutex_lock(&s->sy->lock);
    ok = jit_install(s->sy, mods_get(s->sy, m), t, e);
    pthread_mutex_unlock(&s->sy->lock);
    module_put(m);
    return ok;
}

MAP_TEST(each_user_has_a_separate_memory_share)
{
    struct setup *s = *state;
    struct error e = { 0 };
    const size_t large = (size_t)100 << 20;

    assert_true(install_map_of_user(s, 4321, large, &e));
    assert_false(install_map_of_user(s, 4321, large, &e));
    assert_non_null(strstr(e.text, "this user exceed 128 MB"));
    assert_true(install_map_of_user(s, 4322, large, &e)); /* another user's share is unchanged */
    assert_true(install_map_of_user(s, 4323, large, &e));
    assert_true(install_map_of_user(s, 4324, large, &e));
    assert_true(install_map_of_user(s, 4325, large, &e));
    assert_false(install_map_of_user(s, 4326, large, &e));
    assert_non_null(strstr(e.text, "of other users"));
    for (int i = 0; i < 5; i++)
        assert_true(install_map_of_user(s, 0, large, &e)); /* root's share is counted separately */
    assert_false(install_map_of_user(s, 0, large, &e));
    assert_true(install_map_of_user(s, 4321, 1000, &e));
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
