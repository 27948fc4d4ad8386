// SPDX-License-Identifier: GPL-2.0-or-later
#include <limits.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "lines_fixture.h"
#include "symbols/lines.h"
#include "unit_test.h"

#define FIXTURE_TEST(name) TEST_WITH(name, lines_set_up, lines_tear_down)

#define LONG_ENOUGH (60 * NS_PER_SEC)

static struct lines_module *open_module(int fd, int debug_fd, int alt_fd)
{
    struct lines_files files = { .fd = fd, .debug_fd = debug_fd, .alt_fd = alt_fd };
    struct lines_want want;
    struct lines_module *m = NULL;
    struct error e = { 0 };
    enum lines_open_result result = lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, &e);

    if (result != LINES_OPEN_READY)
        fail_msg("lines_open returned %d: %s", result, e.text);
    return m;
}

/* Finds an address and provides the files of split units. */
static void find_location(const char *dir, struct lines_module *m, uint64_t offset,
                          struct lines_location *place)
{
    struct lines_want want;
    enum lines_find_result result;
    uint64_t id;
    int fd;

    while ((result = lines_find(m, offset, false, clock_now_ns() + LONG_ENOUGH, place, &want)) ==
           LINES_FIND_WANTS_SPLIT) {
        assert_string_equal(want.folder, dir);
        assert_int_equal(want.id_size, sizeof id);
        memcpy(&id, want.id, sizeof id);
        fd = lines_open_file(dir, want.path);
        assert_true(fd >= 0);
        lines_give_split(m, id, fd);
        close(fd);
    }
    assert_int_equal(result, LINES_FIND_DONE);
}

static void check_place(const char *dir, const struct lines_location *place)
{
    uint32_t i;

    for (i = 0; i < place->n; i++) {
        const struct lines_inlined *in = &place->inlined[i];
        const char *caller = i + 1 < place->n ? place->inlined[i + 1].name : "work";
        char path[PATH_MAX];
        assert_non_null(in->name);
        assert_non_null(in->file);
        snprintf(path, sizeof path, "%s%s%s", in->file[0] == '/' ? "" : in->folder,
                 in->file[0] == '/' ? "" : "/", in->file);
        assert_int_equal(in->line, lines_call_line(in->name, caller));
        assert_true(!strncmp(path, dir, strlen(dir)) && !strcmp(strrchr(path, '/'), "/inlines.c"));
    }
}

/* Checks all of `work`: each inlined chain exists in the source, and the deepest ones are found. */
static void check_work(const char *dir, int fd, struct lines_module *m)
{
    unsigned seen[4] = { 0 };
    uint64_t start, size, at;
    struct lines_location place;

    assert_true(lines_find_work(fd, &start, &size));
    for (at = start; at < start + size; at++) {
        find_location(dir, m, at, &place);
        assert_non_null(place.file);
        assert_in_range(place.n, 0, 3);
        check_place(dir, &place);
        seen[place.n]++;
    }
    assert_true(seen[0] && seen[2] && seen[3]);
}

static void check_variant(const char *dir, const char *compiler, const char *options)
{
    struct lines_module *m;
    int fd;

    if (!lines_compile(dir, compiler, options, "program"))
        return;
    fd = lines_open_file(dir, "program");
    m = open_module(fd, -1, -1);
    check_work(dir, fd, m);
    lines_close(m);
    close(fd);
}

FIXTURE_TEST(inlined_chains_match_the_source)
{
    if (!lines_compile(*state, "cc", "", "program"))
        skip();
    check_variant(*state, "cc", "");
}

/* Compiles f0 … f(n - 1), each inlined into the next and the last into `work`. Returns false if the
 * compiler does not inline them. */
static bool compile_deep(const char *dir, unsigned n)
{
    char path[PATH_MAX];
    FILE *f;
    unsigned i;

    snprintf(path, sizeof path, "%s/deep.c", dir);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("volatile unsigned sink;\n#define INLINE static inline __attribute__((always_inline)) void\n"
          "INLINE f0(void) { sink++; }\n",
          f);
    for (i = 1; i < n; i++)
        fprintf(f, "INLINE f%u(void) { f%u(); }\n", i, i - 1);
    fprintf(f, "__attribute__((noinline)) void work(void) { f%u(); }\nint main(void) { work(); }\n", n - 1);
    assert_int_equal(fclose(f), 0);
    return lines_run(dir, "cc -O1 -g -c deep.c && cc -o deep deep.o");
}

/* Checks the address with the most inlined functions. */
static void check_deep(const char *dir, unsigned n, unsigned expected, const char *outermost)
{
    uint64_t start, size, at;
    struct lines_location place = { 0 }, deepest = { 0 };
    struct lines_module *m;
    int fd;

    if (!compile_deep(dir, n))
        skip();
    fd = lines_open_file(dir, "deep");
    assert_true(lines_find_work(fd, &start, &size));
    m = open_module(fd, -1, -1);
    for (at = start; at < start + size; at++) {
        find_location(dir, m, at, &place);
        deepest = place.n > deepest.n ? place : deepest;
    }
    assert_int_equal(deepest.n, expected);
    assert_string_equal(deepest.inlined[0].name, "f0");
    assert_string_equal(deepest.inlined[expected - 1].name, outermost);
    lines_close(m);
    close(fd);
}

FIXTURE_TEST(deep_inlining_is_complete_or_marked_as_truncated)
{
    char outermost[32];

    snprintf(outermost, sizeof outermost, "f%u", LINES_DEPTH_MAX - 1);
    check_deep(*state, LINES_DEPTH_MAX, LINES_DEPTH_MAX, outermost);
    check_deep(*state, LINES_DEPTH_MAX + 1, LINES_DEPTH_MAX, LINES_MORE);
}

FIXTURE_TEST(every_dwarf_form_gives_the_same_lines)
{
    static const char *const compilers[] = { "gcc", "clang" };
    static const char *const options[] = { "-gdwarf-4",
                                           "-gdwarf-5",
                                           "-gdwarf-3",
                                           "-gz -gdwarf-5",
                                           "-gdwarf-4 -gsplit-dwarf",
                                           "-gdwarf-5 -gsplit-dwarf",
                                           "-gdwarf-5 -ffunction-sections -fPIC",
                                           "-gdwarf-4 -fdebug-types-section",
                                           "-gdwarf-5 -flto" };
    size_t i, k;

    for (i = 0; i < sizeof compilers / sizeof *compilers; i++)
        for (k = 0; k < sizeof options / sizeof *options; k++)
            check_variant(*state, compilers[i], options[k]);
}

FIXTURE_TEST(a_separate_debug_file_is_used)
{
    const char *dir = *state;
    struct lines_module *m;
    int fd, debug_fd;

    if (!lines_compile(dir, "cc", "", "program") ||
        !lines_run(dir,
                   "objcopy --only-keep-debug program program.debug && cp program plain && strip -g plain"))
        skip();
    fd = lines_open_file(dir, "plain");
    debug_fd = lines_open_file(dir, "program.debug");
    m = open_module(fd, debug_fd, -1);
    close(debug_fd);
    check_work(dir, fd, m);
    lines_close(m);
    close(fd);
}

FIXTURE_TEST(a_debug_file_of_another_build_is_refused)
{
    const char *dir = *state;
    struct lines_files files = { .alt_fd = -1 };
    struct lines_module *m;
    struct lines_want want;

    if (!lines_compile(dir, "cc", "-Wl,--build-id=0x1111", "program") ||
        !lines_run(dir, "cc -Wl,--build-id=0x11111111 -o program program.o && "
                        "cc -Wl,--build-id=0x22222222 -o other program.o"))
        skip();
    files.fd = lines_open_file(dir, "program");
    files.debug_fd = lines_open_file(dir, "other");
    assert_int_equal(lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, NULL),
                     LINES_OPEN_OTHER_BUILD);
    close(files.fd);
    close(files.debug_fd);
}

FIXTURE_TEST(the_dwz_supplementary_file_is_requested_and_used)
{
    const char *dir = *state;
    struct lines_files files = { .alt_fd = -1 };
    struct lines_module *m;
    struct lines_want want;

    if (!lines_compile(dir, "cc", "-gdwarf-4", "program") ||
        !lines_run(dir,
                   "objcopy --only-keep-debug program a.debug && cp a.debug b.debug && "
                   "dwz -m %s/common -M %s/common a.debug b.debug && strip -g program",
                   dir, dir))
        skip();
    files.fd = lines_open_file(dir, "program");
    files.debug_fd = lines_open_file(dir, "a.debug");
    assert_int_equal(lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, NULL), LINES_OPEN_WANTS_ALT);
    assert_true(!strncmp(want.path, dir, strlen(dir)) && want.id_size == 20);
    files.alt_fd = files.debug_fd;
    assert_int_equal(lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, NULL),
                     LINES_OPEN_OTHER_BUILD);
    files.alt_fd = lines_open_file(dir, "common");
    m = open_module(files.fd, files.debug_fd, files.alt_fd);
    check_work(dir, files.fd, m);
    lines_close(m);
    files.without_alt = true;
    assert_int_equal(lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, NULL), LINES_OPEN_READY);
    lines_close(m);
    close(files.fd);
    close(files.debug_fd);
    close(files.alt_fd);
}

FIXTURE_TEST(a_unit_without_its_dwo_file_gives_lines_only)
{
    const char *dir = *state;
    uint64_t start, size, id;
    struct lines_location place;
    struct lines_want want;
    struct lines_module *m;
    int fd;

    if (!lines_compile(dir, "cc", "-gsplit-dwarf", "program"))
        skip();
    fd = lines_open_file(dir, "program");
    m = open_module(fd, -1, -1);
    assert_true(lines_find_work(fd, &start, &size));
    assert_int_equal(lines_find(m, start, false, clock_now_ns() + LONG_ENOUGH, &place, &want),
                     LINES_FIND_WANTS_SPLIT);
    memcpy(&id, want.id, sizeof id);
    lines_give_split(m, id, -1);
    assert_int_equal(lines_find(m, start, false, clock_now_ns() + LONG_ENOUGH, &place, &want),
                     LINES_FIND_DONE);
    assert_non_null(place.file);
    assert_in_range(place.line, 11, 14);
    assert_int_equal(place.n, 0);
    lines_close(m);
    close(fd);
}

/* A build without zstd reports it. */
static void check_compressed(const char *dir, const char *name, const char *debug_name)
{
    int fd = lines_open_file(dir, name), debug_fd = debug_name ? lines_open_file(dir, debug_name) : -1;
#ifdef HAVE_ZSTD
    struct lines_module *m = open_module(fd, debug_fd, -1);

    check_work(dir, fd, m);
    lines_close(m);
#else
    struct lines_files files = { .fd = fd, .debug_fd = debug_fd, .alt_fd = -1 };
    struct lines_module *m;
    struct lines_want want;
    struct error e = { 0 };

    assert_int_equal(lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, &e), LINES_OPEN_FAILED);
    assert_non_null(strstr(e.text, "without libzstd"));
#endif
    close(fd);
    if (debug_fd >= 0)
        close(debug_fd);
}

FIXTURE_TEST(zstd_compressed_sections_are_read)
{
    const char *dir = *state;

    if (!lines_compile(dir, "cc", "", "program") ||
        !lines_run(dir,
                   "objcopy --compress-debug-sections=zstd program packed && readelf -t packed | grep ZSTD"))
        skip();
    check_compressed(dir, "packed", NULL);
    assert_true(lines_run(dir, "objcopy --only-keep-debug packed packed.debug && strip -g packed"));
    check_compressed(dir, "packed", "packed.debug");
    assert_true(lines_compile(dir, "cc", "-gsplit-dwarf", "program"));
    assert_true(lines_run(dir, "for f in program program.dwo; do"
                               " objcopy --compress-debug-sections=zstd $f z && mv z $f || exit; done"));
    check_compressed(dir, "program", NULL);
}

FIXTURE_TEST(a_file_without_dwarf_is_reported)
{
    struct lines_files files = { .debug_fd = -1, .alt_fd = -1 };
    struct lines_module *m;
    struct lines_want want;

    if (!lines_compile(*state, "cc", "-g0", "program"))
        skip();
    files.fd = lines_open_file(*state, "program");
    assert_int_equal(lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, NULL), LINES_OPEN_NO_DWARF);
    close(files.fd);
}

FIXTURE_TEST(searches_past_their_deadline_are_abandoned)
{
    struct lines_location place;
    struct lines_want want;
    struct lines_module *m;
    uint64_t start, size;
    int fd;

    /* A unit with enough entries that the deadline is checked. */
    if (!lines_compile(*state, "cc",
                       "-include stdlib.h -include signal.h -include pthread.h "
                       "-fno-eliminate-unused-debug-types -fno-eliminate-unused-debug-symbols",
                       "program"))
        skip();
    fd = lines_open_file(*state, "program");
    m = open_module(fd, -1, -1);
    assert_true(lines_find_work(fd, &start, &size));
    assert_int_equal(lines_find(m, start, false, 0, &place, &want), LINES_FIND_LATE);
    assert_int_equal(lines_find(m, start, false, clock_now_ns() + LONG_ENOUGH, &place, &want),
                     LINES_FIND_LATE);
    lines_close(m);
    close(fd);
}

/* Any bytes give a result in time. */
static void try_bytes(const char *bytes, size_t n, uint64_t start, uint64_t size)
{
    struct lines_files files = {
        .fd = memfd_create("lines", MFD_CLOEXEC), .debug_fd = -1, .alt_fd = -1, .without_alt = true
    };
    struct lines_module *m = NULL;
    struct lines_location place;
    struct lines_want want;
    uint64_t at;

    assert_int_equal(write(files.fd, bytes, n), (ssize_t)n);
    if (lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, NULL) == LINES_OPEN_READY) {
        for (at = start; at < start + size; at += 7)
            assert_in_range(lines_find(m, at, false, clock_now_ns() + LONG_ENOUGH, &place, &want),
                            LINES_FIND_DONE, LINES_FIND_WANTS_SPLIT);
        lines_close(m);
    }
    close(files.fd);
}

static void damage_and_try(void **state, const char *command)
{
    static char bytes[1 << 20], damaged[1 << 20];
    uint64_t start, size, random = 88172645463325252u;
    size_t n, at;
    int fd, i, k;

    if (!lines_compile(*state, "cc", "", "program") || !lines_run(*state, "%s", command))
        skip();
    fd = lines_open_file(*state, "program");
    assert_true(lines_find_work(fd, &start, &size));
    n = (size_t)pread(fd, bytes, sizeof bytes, 0);
    close(fd);
    for (at = 64; at < n; at += 1009)
        try_bytes(bytes, at, start, size);
    for (i = 0; i < 150; i++) {
        memcpy(damaged, bytes, n);
        for (k = 0; k < 40; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            damaged[64 + (random >> 16) % (n - 64)] = (char)(random >> 8);
        }
        try_bytes(damaged, n, start, size);
    }
}

FIXTURE_TEST(damaged_files_are_handled)
{
    damage_and_try(state, "true");
}

FIXTURE_TEST(damaged_compressed_files_are_handled)
{
    damage_and_try(state, "objcopy --compress-debug-sections=zstd program packed && mv packed program");
}

TEST_MAIN(NULL, NULL)
