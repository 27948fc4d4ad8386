// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "unit_test.h"

TEST(messages_can_be_read_back)
{
    uint64_t n = log_count();
    char text[100];

    log_add("lost %d samples", 3);
    assert_int_equal(log_count(), n + 1);
    assert_true(log_get(n, text, sizeof text));
    assert_string_equal(text, "lost 3 samples");
    assert_false(log_get(n + 1, text, sizeof text));
}

TEST(each_message_is_a_single_clean_line)
{
    uint64_t n = log_count();
    char text[100];

    log_add("comm %s", "a\n\033[31mb");
    assert_true(log_get(n, text, sizeof text));
    assert_string_equal(text, "comm a??[31mb");
}

TEST(a_small_buffer_gets_the_beginning_of_the_message)
{
    uint64_t n = log_count();
    char text[4];

    log_add("abcdef");
    assert_true(log_get(n, text, sizeof text));
    assert_string_equal(text, "abc");
}

TEST(the_oldest_messages_are_dropped_from_the_ring)
{
    uint64_t start = log_count(), last, n;
    char text[100], expected[100];

    for (n = 0; n < 1000; n++)
        log_add("message %d", (int)n);
    last = log_count() - 1;
    assert_int_equal(last, start + 999);
    assert_false(log_get(0, text, sizeof text));
    assert_false(log_get(last - 256, text, sizeof text));
    for (n = last - 255; n <= last; n++) {
        assert_true(log_get(n, text, sizeof text));
        snprintf(expected, sizeof expected, "message %d", (int)(n - start));
        assert_string_equal(text, expected);
    }
}

static void *add_many(void *arg)
{
    int i;

    for (i = 0; i < 1000; i++)
        log_add("thread %s says %s", (const char *)arg, (const char *)arg);
    return NULL;
}

TEST(messages_of_several_threads_do_not_mix)
{
    uint64_t n = log_count();
    pthread_t a, b;
    char text[100];

    assert_int_equal(pthread_create(&a, NULL, add_many, "aaaa"), 0);
    assert_int_equal(pthread_create(&b, NULL, add_many, "bbbb"), 0);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    assert_int_equal(log_count(), n + 2000);
    for (n += 2000 - 256; n < log_count(); n++) {
        assert_true(log_get(n, text, sizeof text));
        if (strcmp(text, "thread aaaa says aaaa") != 0)
            assert_string_equal(text, "thread bbbb says bbbb");
    }
}

TEST_MAIN(NULL, NULL)
