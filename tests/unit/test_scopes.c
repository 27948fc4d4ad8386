// SPDX-License-Identifier: GPL-2.0-or-later
/* Inlined C++ functions without a linkage name, for every way in which compilers write their scopes. */

#include "base/clock.h"
#include "lines_fixture.h"
#include "symbols/lines.h"
#include "unit_test.h"

#define FIXTURE_TEST(name) TEST_WITH(name, lines_set_up, lines_tear_down)

#define LONG_ENOUGH (60 * NS_PER_SEC)
#define NAMES_MAX   64

static const char source[] =
    "static volatile unsigned sink;\n"
    "#define INLINE inline __attribute__((always_inline))\n"
    "INLINE unsigned spin(unsigned x) { for (unsigned i = 0; i < 9; i++) sink += x * i; return sink ^ x; }\n"
    "static INLINE unsigned plain(unsigned x) { return spin(x + 7); }\n"
    "namespace app { namespace {\n"
    "INLINE unsigned hidden(unsigned x) { return spin(x + 1); }\n"
    "struct Pool { unsigned k;\n"
    "    INLINE unsigned run(unsigned x) {\n"
    "        auto outer = [this](unsigned y) __attribute__((always_inline)) {\n"
    "            auto inner = [](unsigned z) __attribute__((always_inline)) { return spin(z + 2); };\n"
    "            return inner(y) + k; };\n"
    "        { auto other = [](unsigned y) __attribute__((always_inline)) { return spin(y + 3); };\n"
    "            return outer(x) + other(x); } } }; } }\n"
    "extern \"C\" __attribute__((noinline)) unsigned work(unsigned n) {\n"
    "    struct Local { static INLINE unsigned step(unsigned x) { return spin(x + 4); } };\n"
    "    app::Pool pool{ n };\n"
    "    unsigned r = 0; while (n--) r += pool.run(n) + app::hidden(n) + Local::step(n) + plain(n); return r; }\n"
    "int main(int argc, char **) { return (int)work((unsigned)argc); }\n";

static bool compile(const char *dir, const char *options)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/scopes.cpp", dir);
    f = fopen(path, "w");
    if (!f || fputs(source, f) == EOF || fclose(f))
        return false;
    return lines_run(dir, "g++ -O2 -g %s -c -o program.o scopes.cpp && g++ -o program program.o", options);
}

static void note_names(const struct lines_location *place, char names[][256], unsigned *n)
{
    uint32_t i;
    unsigned k;

    for (i = 0; i < place->n; i++) {
        const char *name = place->inlined[i].name;
        assert_non_null(name);
        for (k = 0; k < *n && strcmp(names[k], name) != 0; k++)
            ;
        assert_true(k < NAMES_MAX);
        if (k == *n)
            snprintf(names[(*n)++], sizeof names[0], "%s", name);
    }
}

/* The names of all functions inlined into `work`. */
static unsigned read_names(const char *dir, char names[][256])
{
    struct lines_files files = { .fd = lines_open_file(dir, "program"), .debug_fd = -1, .alt_fd = -1 };
    struct lines_want want;
    struct lines_location place;
    struct lines_module *m;
    uint64_t start, size, at, id;
    unsigned n = 0;
    int fd;

    assert_true(lines_find_work(files.fd, &start, &size));
    assert_int_equal(lines_open(&files, clock_now_ns() + LONG_ENOUGH, &m, &want, NULL), LINES_OPEN_READY);
    for (at = start; at < start + size; at++) {
        while (lines_find(m, at, true, clock_now_ns() + LONG_ENOUGH, &place, &want) ==
               LINES_FIND_WANTS_SPLIT) {
            memcpy(&id, want.id, sizeof id);
            fd = lines_open_file(dir, want.path);
            lines_give_split(m, id, fd);
            close(fd);
        }
        note_names(&place, names, &n);
    }
    lines_close(m);
    close(files.fd);
    return n;
}

static void check(const char *dir)
{
    static const char *const expected[] = {
        "_Z4spinj",
        "plain",
        "work::Local::step",
        "app::(anonymous namespace)::hidden",
        "app::(anonymous namespace)::Pool::run",
        "app::(anonymous namespace)::Pool::run::{lambda#1}::operator()",
        "app::(anonymous namespace)::Pool::run::{lambda#1}::operator()::{lambda#1}::operator()",
        "app::(anonymous namespace)::Pool::run::{lambda#2}::operator()",
    };
    char names[NAMES_MAX][256];
    unsigned n = read_names(dir, names), i, k;

    for (i = 0; i < sizeof expected / sizeof *expected; i++) {
        for (k = 0; k < n && strcmp(names[k], expected[i]) != 0; k++)
            ;
        if (k == n)
            fail_msg("no function is named %s", expected[i]);
    }
    assert_int_equal(n, sizeof expected / sizeof *expected);
}

FIXTURE_TEST(functions_without_a_linkage_name_are_named_with_their_scopes)
{
    static const char *const options[] = { "", "-gdwarf-4", "-gdwarf-5 -gsplit-dwarf",
                                           "-gdwarf-4 -fdebug-types-section", "-flto -gdwarf-5" };
    size_t i;

    if (!compile(*state, ""))
        skip();
    for (i = 0; i < sizeof options / sizeof *options; i++)
        if (compile(*state, options[i]))
            check(*state);
}

FIXTURE_TEST(entries_that_dwz_moved_keep_their_scopes)
{
    if (!compile(*state, "") ||
        !lines_run(*state, "cp scopes.cpp two.cpp && sed -i 's/work/more/; s/main/rest/' two.cpp &&"
                           "g++ -O2 -g -c two.cpp && g++ -o program program.o two.o && dwz program"))
        skip();
    check(*state);
}

TEST_MAIN(NULL, NULL)
