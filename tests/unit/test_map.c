// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/map.h"
#include "unit_test.h"

TEST(an_empty_map_holds_nothing)
{
    struct map m = { 0 };
    size_t pos = 0;

    assert_false(map_get(&m, 0, NULL));
    assert_false(map_del(&m, 0));
    assert_false(map_next(&m, &pos, NULL, NULL));
    assert_int_equal(map_bytes(&m), 0);
    map_clear(&m);
    map_done(&m);
}

TEST(any_key_is_allowed)
{
    static const uint64_t keys[] = { 0, 1, UINT64_MAX, UINT64_C(1) << 63 };
    struct map m = { 0 };
    uint64_t v;
    size_t i;

    for (i = 0; i < 4; i++)
        map_put(&m, keys[i], i + 10);
    for (i = 0; i < 4; i++) {
        assert_true(map_get(&m, keys[i], &v));
        assert_int_equal(v, i + 10);
    }
    assert_int_equal(m.n, 4);
    map_done(&m);
}

TEST(put_replaces_the_value)
{
    struct map m = { 0 };
    uint64_t v;

    map_put(&m, 7, 1);
    map_put(&m, 7, 2);
    assert_int_equal(m.n, 1);
    assert_true(map_get(&m, 7, &v));
    assert_int_equal(v, 2);
    map_done(&m);
}

TEST(map_at_creates_an_entry_once)
{
    struct map m = { 0 };
    bool created;
    uint64_t v;

    *map_at(&m, 5, 100, &created) += 1;
    assert_true(created);
    *map_at(&m, 5, 100, &created) += 1;
    assert_false(created);
    assert_true(map_get(&m, 5, &v));
    assert_int_equal(v, 102);
    map_done(&m);
}

/* Compares random changes, with few keys and many deletions, with a plain array. */
TEST(random_changes_match_a_plain_array)
{
    enum { KEYS = 300, STEPS = 100000 };
    static bool there[KEYS];
    static uint64_t value[KEYS];
    struct map m = { 0 };
    uint64_t random = 1;
    size_t n = 0, i;

    for (i = 0; i < STEPS; i++) {
        size_t k = (size_t)((random = map_mix(random + 1)) % KEYS);
        uint64_t v = 0;

        if (random >> 60 < 8) {
            n += !there[k];
            there[k] = true;
            value[k] = random;
            map_put(&m, k, random);
        } else {
            assert_int_equal(map_del(&m, k), there[k]);
            n -= there[k];
            there[k] = false;
        }
        assert_int_equal(m.n, n);
        k = (k + 1) % KEYS;
        assert_int_equal(map_get(&m, k, &v), there[k]);
        if (there[k])
            assert_true(v == value[k]);
    }
    for (i = 0; i < KEYS; i++)
        assert_int_equal(map_get(&m, i, NULL), there[i]);
    map_done(&m);
}

TEST(the_load_factor_stays_at_most_three_quarters)
{
    struct map m = { 0 };
    uint64_t i;

    for (i = 0; i < 5000; i++) {
        map_put(&m, i << 12, i);
        assert_true(m.n * 4 <= m.cap * 3);
    }
    assert_int_equal(m.cap & (m.cap - 1), 0);
    assert_true(map_bytes(&m) >= m.cap * sizeof(struct map_slot));
    map_done(&m);
}

TEST(iteration_visits_every_entry_once)
{
    struct map m = { 0 };
    bool seen[100] = { false };
    uint64_t key, value;
    size_t pos = 0, n = 0;

    for (key = 0; key < 100; key++)
        map_put(&m, key, key * 3);
    while (map_next(&m, &pos, &key, &value)) {
        assert_true(key < 100 && value == key * 3);
        assert_false(seen[key]);
        seen[key] = true;
        n++;
    }
    assert_int_equal(n, 100);
    map_done(&m);
}

TEST(clearing_a_map_keeps_its_memory)
{
    struct map m = { 0 };
    size_t bytes;

    map_put(&m, 1, 1);
    bytes = map_bytes(&m);
    map_clear(&m);
    assert_int_equal(m.n, 0);
    assert_false(map_get(&m, 1, NULL));
    assert_int_equal(map_bytes(&m), bytes);
    map_put(&m, 2, 2);
    assert_true(map_get(&m, 2, NULL));
    map_done(&m);
}

TEST(the_hash_depends_on_every_byte_and_on_length_and_seed)
{
    unsigned char bytes[40];
    uint64_t whole, i;

    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    whole = map_hash_bytes(bytes, sizeof bytes, 1);
    assert_true(whole == map_hash_bytes(bytes, sizeof bytes, 1));
    assert_true(whole != map_hash_bytes(bytes, sizeof bytes, 2));
    assert_true(whole != map_hash_bytes(bytes, sizeof bytes - 1, 1));
    for (i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        assert_true(whole != map_hash_bytes(bytes, sizeof bytes, 1));
        bytes[i] ^= 1;
    }
    memset(bytes, 0, sizeof bytes);
    assert_true(map_hash_bytes(bytes, 3, 1) != map_hash_bytes(bytes, 4, 1));
}

TEST_MAIN(NULL, NULL)
