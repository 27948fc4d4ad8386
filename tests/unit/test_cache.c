// SPDX-License-Identifier: GPL-2.0-or-later
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "symbols/blob.h"
#include "symbols/cache.h"
#include "unit_test.h"

#define MB (UINT64_C(1) << 20)

static char folder[64];
static const uint8_t id_a[20] = { 0xaa, 1 }, id_b[20] = { 0xbb, 2 };

static struct cache_key key_of(enum cache_kind kind, unsigned version, const uint8_t *id)
{
    struct cache_key key = { .kind = kind, .version = version, .id_size = 20, .stamp = 77 };

    memcpy(key.id, id, 20);
    return key;
}

static void put_entry(struct cache *c, enum cache_kind kind, const uint8_t *id, const void *bytes, size_t n)
{
    struct cache_key key = key_of(kind, 1, id);

    cache_put(c, &key, bytes, n, "note");
}

static int set_up(void **state)
{
    strcpy(folder, "/tmp/flametop-cache-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    return remove_tree(folder);
}

#define FIXTURE_TEST(name) TEST_WITH(name, set_up, tear_down)

static struct cache *open_cache(uint64_t max_bytes)
{
    struct error e = { 0 };
    struct cache *c = cache_open(folder, max_bytes, &e);

    assert_string_equal(e.text, "");
    assert_non_null(c);
    return c;
}

static bool is_cached(struct cache *c, enum cache_kind kind, const uint8_t *id, const void *want,
                      size_t want_n)
{
    struct cache_key key = key_of(kind, 1, id);
    const void *p;
    size_t n;
    char note[CACHE_NOTE_MAX];

    if (!cache_get(c, &key, &p, &n, note))
        return false;
    assert_string_equal(note, "note");
    assert_int_equal(n, want_n);
    assert_memory_equal(p, want, n);
    blob_free(p, n);
    return true;
}

static void path_of(char *path, size_t cap, const uint8_t *id, const char *suffix)
{
    int at = snprintf(path, cap, "%s/", folder);

    for (int i = 0; i < 20; i++)
        at += snprintf(path + at, cap - (size_t)at, "%02x", id[i]);
    snprintf(path + at, cap - (size_t)at, "-%016x%s", 77, suffix);
}

FIXTURE_TEST(entries_survive_reopening_the_cache)
{
    struct cache *c = open_cache(MB);

    assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0));
    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    put_entry(c, CACHE_UNWIND, id_a, "rows of a", 9);
    cache_free(c);
    c = open_cache(MB);
    assert_true(is_cached(c, CACHE_NAMES, id_a, "names", 5));
    assert_true(is_cached(c, CACHE_UNWIND, id_a, "rows of a", 9));
    assert_false(is_cached(c, CACHE_NAMES, id_b, "", 0));
    cache_free(c);
}

FIXTURE_TEST(entries_of_another_version_are_ignored)
{
    struct cache *c = open_cache(MB);
    struct cache_key key = key_of(CACHE_NAMES, 2, id_a);
    const void *p;
    size_t n;

    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    assert_false(cache_get(c, &key, &p, &n, NULL));
    cache_free(c);
}

FIXTURE_TEST(files_with_a_changed_byte_are_detected_and_removed)
{
    struct cache *c = open_cache(MB);
    char path[200];
    int fd;

    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    path_of(path, sizeof path, id_a, ".names");
    fd = open(path, O_WRONLY);
    assert_true(fd >= 0 && pwrite(fd, "N", 1, 4096) == 1);
    close(fd);
    assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0));
    assert_int_equal(access(path, F_OK), -1);
    cache_free(c);
}

FIXTURE_TEST(truncated_and_empty_files_are_refused)
{
    static const off_t sizes[] = { 0, 10, 4096, 4098 };
    struct cache *c = open_cache(MB);
    char path[200];

    path_of(path, sizeof path, id_a, ".names");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        put_entry(c, CACHE_NAMES, id_a, "names", 5);
        assert_int_equal(truncate(path, sizes[i]), 0);
        assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0));
    }
    cache_free(c);
}

FIXTURE_TEST(symlinks_fifos_and_files_writable_by_others_are_refused)
{
    struct cache *c = open_cache(MB);
    char path[200], other[200];

    path_of(path, sizeof path, id_a, ".names");
    path_of(other, sizeof other, id_b, ".names");
    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0)); /* and the call does not block */
    unlink(path);
    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    assert_int_equal(chmod(path, 0666), 0);
    assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0));
    cache_free(c);
}

FIXTURE_TEST(a_table_stored_under_another_key_is_refused)
{
    struct cache *c = open_cache(MB);
    char path[200], other[200];

    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    path_of(path, sizeof path, id_a, ".names");
    path_of(other, sizeof other, id_b, ".names");
    assert_int_equal(rename(path, other), 0);
    assert_false(is_cached(c, CACHE_NAMES, id_b, "", 0));
    cache_free(c);
}

FIXTURE_TEST(a_file_with_the_same_build_id_but_another_stamp_is_not_found)
{
    struct cache *c = open_cache(MB);
    struct cache_key key = key_of(CACHE_NAMES, 1, id_a);
    const void *p;
    size_t n;

    put_entry(c, CACHE_NAMES, id_a, "forged", 6);
    key.stamp++;
    assert_false(cache_get(c, &key, &p, &n, NULL));
    cache_free(c);
}

FIXTURE_TEST(a_folder_writable_by_others_is_refused)
{
    struct error e = { 0 };

    assert_int_equal(chmod(folder, 0777), 0);
    assert_null(cache_open(folder, MB, &e));
    assert_non_null(strstr(e.text, "writable by others"));
    assert_int_equal(chmod(folder, 0700), 0);
}

FIXTURE_TEST(eviction_keeps_the_size_limit_and_the_most_recently_used_entries)
{
    struct cache *c = open_cache(MB);
    char *big = calloc(1, 100000);
    uint8_t id[20] = { 0 };
    char command[160];

    put_entry(c, CACHE_NAMES, id_a, "old", 3);
    for (unsigned i = 0; i < 60; i++) {
        id[19] = (uint8_t)i;
        put_entry(c, CACHE_UNWIND, id, big, 100000);
    }
    assert_true(is_cached(c, CACHE_UNWIND, id, big, 100000)); /* the most recently used */
    assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0));     /* the least recently used */
    snprintf(command, sizeof command, "test $(du -sb '%s' | cut -f1) -le %llu", folder,
             (unsigned long long)(MB + MB / 4));
    assert_int_equal(system(command), 0);
    free(big);
    cache_free(c);
}

FIXTURE_TEST(deleting_the_folder_during_use_is_harmless)
{
    struct cache *c = open_cache(MB);
    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    assert_int_equal(remove_tree(folder), 0);
    assert_false(is_cached(c, CACHE_NAMES, id_a, "", 0));
    put_entry(c, CACHE_NAMES, id_a, "names", 5);
    cache_free(c);
}

TEST_MAIN(NULL, NULL)
