// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>

#include "perfdata/input.h"
#include "perfdata_fixture.h"
#include "unit_test.h"

#define FILE_BYTES (UINT64_C(80) << 20)

/* Each word of the file is its own offset. */
static void make_file(const char *path)
{
    enum { WORDS = 1 << 17 };
    uint64_t *words = malloc(WORDS * sizeof *words);
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    for (uint64_t at = 0; at < FILE_BYTES; at += WORDS * sizeof *words) {
        for (uint64_t i = 0; i < WORDS; i++)
            words[i] = at + i * sizeof *words;
        assert_int_equal(fwrite(words, sizeof *words, WORDS, f), WORDS);
    }
    assert_int_equal(fclose(f), 0);
    free(words);
}

static int windows, held;

/* Opens the file as the test requires: in windows, or held as a whole. */
static struct input *open_file(void **state)
{
    static struct input in;
    struct error e = { 0 };

    make_file(fixture_path("words"));
    assert_true(input_open(&in, open(fixture_path("words"), O_RDONLY | O_CLOEXEC), "words", &e));
    assert_int_equal(in.size_bytes, FILE_BYTES);
    if (*state == &held)
        input_hold(&in);
    assert_int_equal(in.held, *state == &held && in.maps);
    return &in;
}

static uint64_t word(const void *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

static void reads_at_any_offset_return_the_files_bytes(void **state)
{
    struct input *in = open_file(state);
    uint64_t random = 1;

    for (int i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t at = random % FILE_BYTES / 8 * 8;
        size_t n = (random >> 32) % (INPUT_GET_MAX / 8) * 8 + 8;
        const uint8_t *p = input_get(in, at, n);
        if (at + n > FILE_BYTES) {
            assert_null(p);
            continue;
        }
        assert_non_null(p);
        assert_int_equal(word(p), at);
        assert_int_equal(word(p + n - 8), at + n - 8);
    }
    assert_false(input_shrank(in));
    input_close(in);
}

static void reads_outside_the_file_or_over_the_limit_fail(void **state)
{
    struct input *in = open_file(state);

    assert_null(input_get(in, 0, 0));
    assert_null(input_get(in, 0, INPUT_GET_MAX + 1));
    assert_null(input_get(in, FILE_BYTES, 1));
    assert_null(input_get(in, FILE_BYTES - 7, 8));
    assert_null(input_get(in, UINT64_MAX, 8));
    assert_null(input_get(in, UINT64_MAX - 6, 8));
    assert_non_null(input_get(in, FILE_BYTES - 8, 8));
    assert_false(input_shrank(in));
    input_close(in);
}

static void a_file_truncated_while_it_is_read_ends_there(void **state)
{
    struct input *in = open_file(state);
    const uint8_t *held = input_get(in, FILE_BYTES - INPUT_GET_MAX, INPUT_GET_MAX);
    const uint64_t kept = 100000;

    assert_non_null(held);
    assert_int_equal(truncate(fixture_path("words"), (off_t)kept), 0);
    for (size_t i = 0; i < INPUT_GET_MAX; i += 8)
        assert_int_equal(word(held + i), 0); /* and no signal ends the process */
    assert_null(input_get(in, FILE_BYTES - INPUT_GET_MAX, INPUT_GET_MAX));
    assert_null(input_get(in, kept, 8));
    assert_int_equal(word(input_get(in, 1024, 8)), 1024);
    assert_true(input_shrank(in));
    input_close(in);
}

static void a_file_truncated_before_it_is_read_ends_there(void **state)
{
    struct input *in = open_file(state);

    assert_int_equal(truncate(fixture_path("words"), 4096), 0);
    assert_null(input_get(in, FILE_BYTES / 2, 8));
    assert_null(input_get(in, 4096, 8));
    assert_non_null(input_get(in, 4088, 8));
    assert_true(input_shrank(in));
    input_close(in);
}

static void several_open_files_do_not_interfere(void **state)
{
    struct input *first = open_file(state), second;
    struct error e = { 0 };

    make_file(fixture_path("other"));
    assert_true(input_open(&second, open(fixture_path("other"), O_RDONLY | O_CLOEXEC), "other", &e));
    const uint8_t *held = input_get(first, FILE_BYTES - 8, 8), *other = input_get(&second, FILE_BYTES - 8, 8);
    assert_int_equal(truncate(fixture_path("other"), 0), 0);
    assert_int_equal(word(other), 0);
    assert_int_equal(word(held), FILE_BYTES - 8);
    assert_true(input_shrank(&second));
    assert_false(input_shrank(first));
    input_close(&second);
    assert_int_equal(word(input_get(first, 8, 8)), 8);
    input_close(first);
}

#define BOTH(test)                                                                                           \
    cmocka_unit_test_prestate(test, &windows),                                                               \
    {                                                                                                        \
#test "_held", test, NULL, NULL, &held                                                               \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(reads_at_any_offset_return_the_files_bytes),
        BOTH(reads_outside_the_file_or_over_the_limit_fail),
        BOTH(a_file_truncated_while_it_is_read_ends_there),
        BOTH(a_file_truncated_before_it_is_read_ends_there),
        BOTH(several_open_files_do_not_interfere),
    };
    return cmocka_run_group_tests(tests, fixture_setup, fixture_teardown);
}
