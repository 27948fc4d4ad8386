// SPDX-License-Identifier: GPL-2.0-or-later
/* Inlined functions are cached on disk between starts. */

#include "base/buf.h"
#include "symbolizer_lines_fixture.h"
#include "unit_test.h"

/* Starts a new symbolizer, which finds the cache of the previous one in the test's folder. */
static void start_again(struct setup *s)
{
    struct symbolizer_config cfg = { .live = true, .keep_tables = true };

    symbolizer_stop(s->sy);
    pthread_join(s->thread, NULL);
    symbolizer_free(s->sy);
    s->sy = symbolizer_new(&cfg, NULL);
    assert_non_null(s->sy);
    assert_int_equal(pthread_create(&s->thread, NULL, run, s->sy), 0);
}

/* Returns a text of the inlined functions at all addresses of `work`. The caller frees it. */
static char *all_inlined(struct setup *s)
{
    struct symbol_lines inlined;
    struct buf text = { 0 };

    symbolizer_inlined(s->sy, s->module, s->start + s->size / 2, &inlined);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    for (uint64_t at = s->start; at < s->start + s->size; at++) {
        assert_int_not_equal(symbolizer_inlined(s->sy, s->module, at, &inlined), SYMBOL_PENDING);
        for (uint32_t i = 0; i < inlined.n_inlines; i++)
            buf_printf(&text, "%s ", inlined.inlines[i].name);
        buf_puts(&text, "\n");
    }
    return buf_take(&text);
}

static unsigned count_worker_starts(struct setup *s)
{
    struct symbolizer_stats stats;

    symbolizer_stats(s->sy, &stats);
    return stats.worker_starts;
}

static int set_up_kept(void **state)
{
    if (set_up(state))
        return -1;
    setenv("XDG_CACHE_HOME", ((struct setup *)*state)->dir, 1);
    return 0;
}

static int tear_down_kept(void **state)
{
    unsetenv("XDG_CACHE_HOME");
    return tear_down(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up_kept, tear_down_kept)

/* The second start reads the first start's results from the disk, unless the file has changed. */
static void check_kept(struct setup *s)
{
    char *first, *second, *third;

    start_again(s);
    first = all_inlined(s);
    assert_non_null(strstr(first, "third second first"));
    assert_true(count_worker_starts(s) > 0);
    start_again(s);
    second = all_inlined(s);
    assert_string_equal(second, first);
    assert_int_equal(count_worker_starts(s), 0);
    assert_int_equal(utimensat(AT_FDCWD, s->module->path, NULL, 0), 0);
    start_again(s);
    third = all_inlined(s);
    assert_string_equal(third, first);
    assert_true(count_worker_starts(s) > 0);
    mem_free(first);
    mem_free(second);
    mem_free(third);
}

#define HAS_BUILD_ID "readelf -n program | grep -q 'Build ID'" /* without it nothing is cached */

FIXTURE_TEST(inlined_functions_are_cached_for_the_next_start)
{
    struct setup *s = *state;

    if (!make(s, "", HAS_BUILD_ID))
        skip();
    check_kept(s);
}

/* A cached empty result could not be told apart from one after a failure. */
FIXTURE_TEST(empty_results_are_never_cached)
{
    struct setup *s = *state;

    if (!make(s, "-g0", HAS_BUILD_ID))
        skip();
    for (int i = 0; i < 2; i++) {
        char *inlined;

        start_again(s);
        inlined = all_inlined(s);
        assert_null(strstr(inlined, "third"));
        assert_true(count_worker_starts(s) > 0);
        mem_free(inlined);
    }
}

FIXTURE_TEST(a_dwo_file_installed_later_is_read)
{
    struct setup *s = *state;
    char *without, *with;

    if (!make(s, "-gsplit-dwarf", HAS_BUILD_ID " && mkdir away && mv *.dwo away"))
        skip();
    start_again(s);
    without = all_inlined(s);
    assert_null(strstr(without, "third"));
    assert_true(lines_run(s->dir, "mv away/* ."));
    start_again(s);
    with = all_inlined(s);
    assert_non_null(strstr(with, "third second first"));
    mem_free(without);
    mem_free(with);
}

/* The cache key contains the file's stamp: debug packages may be installed, removed and updated. */
FIXTURE_TEST(a_debug_file_installed_later_is_read)
{
    struct setup *s = *state;
    char *without, *with;

    if (!make(s, "",
              HAS_BUILD_ID " && objcopy --only-keep-debug program program.later && strip -g program && "
                           "objcopy --add-gnu-debuglink=program.later program && "
                           "mv program.later elsewhere"))
        skip();
    start_again(s);
    without = all_inlined(s);
    assert_null(strstr(without, "third"));
    assert_true(lines_run(s->dir, "mv elsewhere program.later"));
    start_again(s);
    with = all_inlined(s);
    assert_non_null(strstr(with, "third second first"));
    mem_free(without);
    mem_free(with);
}

WORKER_TEST_MAIN(NULL, NULL)
