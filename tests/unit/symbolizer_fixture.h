// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs a symbolizer with its thread and a temporary folder, for tests whose main() is also the worker. */
#ifndef FLAMETOP_TESTS_SYMBOLIZER_FIXTURE_H
#define FLAMETOP_TESTS_SYMBOLIZER_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/sanitized.h"
#include "elf_maker.h"
#include "files.h"
#include "symbols/jvm.h"
#include "symbols/symbolizer.h"
#include "symbols/worker.h"
#include "worker_test.h"

#define LONG_ENOUGH (60 * NS_PER_SEC)

static const struct elf_maker_symbol plain_symbol = { "plain_function", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
static const struct elf_maker_symbol mangled_symbol = { "_ZN3foo3barEi", ELF_MAKER_VADDR + 0x10, 0x10, 0 };
static const struct elf_maker plain_elf = {
    .symbols = &plain_symbol, .n_symbols = 1, .symtab_type = SHT_SYMTAB, .id = 9
};

struct setup {
    struct symbolizer *sy;
    pthread_t thread;
    char dir[64];
};

static inline void *run(void *sy)
{
    symbolizer_run(sy);
    return NULL;
}

static inline void start(struct setup *s, const struct symbolizer_config *cfg)
{
    struct error e = { 0 };

    s->sy = symbolizer_new(cfg, &e);
    if (!s->sy)
        fail_msg("%s", e.text);
    assert_int_equal(pthread_create(&s->thread, NULL, run, s->sy), 0);
}

static inline void stop(struct setup *s)
{
    symbolizer_stop(s->sy);
    pthread_join(s->thread, NULL);
    symbolizer_free(s->sy);
}

static inline int set_up(void **state)
{
    struct setup *s = mem_zalloc(sizeof *s);
    struct symbolizer_config cfg = { .live = true };

    strcpy(s->dir, "/tmp/flametop-test-XXXXXX");
    if (!mkdtemp(s->dir))
        return -1;
    start(s, &cfg);
    *state = s;
    return 0;
}

static inline int tear_down(void **state)
{
    struct setup *s = *state;

    stop(s);
    int failed = remove_tree(s->dir);
    mem_free(s);
    return failed;
}

static inline struct module *make_module(enum module_kind kind, const char *path, const char *name)
{
    static uint32_t next_id = MODULE_ID_FIRST;
    struct module like = { .id = next_id++, .kind = kind, .path = path, .name = name, .live = true };

    if (kind == MODULE_KERNEL)
        like.id = MODULE_ID_KERNEL;
    if (kind == MODULE_BROKEN)
        like.id = MODULE_ID_BROKEN;
    if (kind == MODULE_UNKNOWN)
        like.id = MODULE_ID_UNKNOWN;
    like.pid = kind == MODULE_JIT ? (uint32_t)getpid() : 0;
    return module_new(&like);
}

static inline struct module *make_file_module(const struct setup *s, const char *name, const void *bytes,
                                              size_t n)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", s->dir, name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), (ssize_t)n);
    close(fd);
    return make_module(MODULE_FILE, path, name);
}

static inline void write_named(const struct setup *s, const char *name, const char *text, char *path,
                               size_t cap)
{
    snprintf(path, cap, "%s/%s", s->dir, name);
    write_text(path, text);
}

static inline struct module *make_elf_module(const struct setup *s, const char *name,
                                             const struct elf_maker *m)
{
    struct elf_maker_file f;

    elf_maker_fill(&f, m);
    return make_file_module(s, name, &f, sizeof f);
}

static inline struct symbol settled(struct setup *s, struct module *m, uint64_t offset)
{
    struct symbol symbol;

    symbolizer_lookup(s->sy, m, offset, &symbol);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    symbolizer_lookup(s->sy, m, offset, &symbol);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    symbolizer_lookup(s->sy, m, offset, &symbol);
    return symbol;
}

static inline const char *trouble(struct setup *s, const struct module *m)
{
    static char text[512];

    symbolizer_trouble(s->sy, m, text, sizeof text);
    return text;
}

static inline struct module *own_module(const void *p, uint64_t *offset)
{
    unsigned long long start, end, pgoff;
    char line[4096], path[2048] = "", found[2048] = "";
    FILE *maps = fopen("/proc/self/maps", "r");

    assert_non_null(maps);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %2047s", &start, &end, &pgoff, path) == 4 &&
            (uintptr_t)p >= start && (uintptr_t)p < end) {
            *offset = (uintptr_t)p - start + pgoff;
            strcpy(found, path);
        }
    fclose(maps);
    return make_module(MODULE_FILE, found, "self");
}

/* Returns the pid of a child of one of the test's threads; 0: none. */
static inline pid_t find_worker(void)
{
    char path[64], text[64] = "";
    struct dirent *d;
    DIR *tasks = opendir("/proc/self/task");

    while (tasks && (d = readdir(tasks)) && !text[0]) {
        FILE *f;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/children", d->d_name);
        f = fopen(path, "r");
        if (f && !fgets(text, sizeof text, f))
            text[0] = '\0';
        if (f)
            fclose(f);
    }
    if (tasks)
        closedir(tasks);
    return (pid_t)atol(text);
}

/* Waits briefly for the worker to start and returns its pid. */
static inline pid_t worker_pid(void)
{
    uint64_t end = clock_now_ns() + 5 * NS_PER_SEC;
    pid_t pid;

    while (!(pid = find_worker()) && clock_now_ns() < end)
        usleep(500);
    return pid;
}

/* Becomes the worker, or another child of the symbolizer, if the arguments say so. */
static inline void be_child(int argc, char **argv)
{
    be_worker(argc, argv);
    if (argc == 3 && !strcmp(argv[1], JVM_ASK_ARG))
        jvm_ask_main(argv[2]);
    if (argc == 3 && !strcmp(argv[1], SYMBOL_FETCH_ARG))
        symbol_fetch_main(argv[2]);
}
#define SYMBOLIZER_TEST_MAIN(setup, teardown)                                                                \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        be_child(argc, argv);                                                                                \
        return run_listed_tests(setup, teardown);                                                            \
    }
#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

#endif
