// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/tar.h"
#include "unit_test.h"

static const char zeros[TAR_END_BYTES];

static void add_member(struct buf *b, const char *name, const char *bytes)
{
    uint8_t head[TAR_BLOCK];
    assert_true(tar_head(name, strlen(bytes), 1000, head));
    buf_add(b, head, sizeof head);
    buf_puts(b, bytes);
    buf_add(b, zeros, tar_pad(strlen(bytes)));
}

/* Records members as "name:size=bytes;". */
static bool on_member(void *ctx, const char *name, uint64_t size)
{
    buf_printf(ctx, ";%s:%llu=", name, (unsigned long long)size);
    return true;
}

static bool on_bytes(void *ctx, const void *bytes, size_t n)
{
    buf_add(ctx, bytes, n);
    return true;
}

static bool read_in(const struct buf *archive, size_t step, struct buf *seen, bool *ended)
{
    struct tar_reader t = { .member = on_member, .bytes = on_bytes, .ctx = seen };
    bool ok = true;
    buf_clear(seen);
    for (size_t at = 0; at < archive->len && ok; at += step)
        ok = tar_read(&t, (const uint8_t *)archive->data + at,
                      archive->len - at < step ? archive->len - at : step);
    *ended = t.ended;
    return ok;
}

TEST(written_archives_are_read_in_pieces_of_any_size)
{
    struct buf archive = { 0 }, seen = { 0 };
    bool ended;
    add_member(&archive, "d/one", "1");
    add_member(&archive, "d/none", "");
    add_member(&archive, "d/two", "two");
    buf_add(&archive, zeros, sizeof zeros);
    assert_true(tar_is_head((const uint8_t *)archive.data));
    for (size_t step = 1; step <= archive.len; step += step < 20 ? 1 : 97) {
        assert_true(read_in(&archive, step, &seen, &ended));
        assert_true(ended);
        assert_string_equal(buf_str(&seen), ";d/one:1=1;d/none:0=;d/two:3=two");
    }
    buf_done(&archive);
    buf_done(&seen);
}

TEST(links_and_folders_are_skipped)
{
    struct buf archive = { 0 }, seen = { 0 };
    bool ended;
    for (const char *type = "12345xgLK"; *type; type++) {
        size_t at = archive.len;
        uint8_t head[TAR_BLOCK];
        add_member(&archive, "evil", "/etc/passwd");
        memcpy(head, archive.data + at, sizeof head);
        head[156] = (uint8_t)*type;
        unsigned sum = 0;
        memset(head + 148, ' ', 8);
        for (size_t i = 0; i < sizeof head; i++)
            sum += head[i];
        for (int i = 0; i < 6; i++, sum >>= 3)
            head[148 + 5 - i] = (uint8_t)('0' + (sum & 7));
        head[154] = '\0';
        memcpy(archive.data + at, head, sizeof head);
    }
    add_member(&archive, "good", "x");
    assert_true(read_in(&archive, 100, &seen, &ended));
    assert_false(ended);
    assert_string_equal(buf_str(&seen), ";good:1=x");
    buf_done(&archive);
    buf_done(&seen);
}

TEST(a_damaged_header_is_refused)
{
    struct buf archive = { 0 }, seen = { 0 };
    bool ended;
    add_member(&archive, "name", "x");
    for (size_t i = 0; i < 300; i++) {
        if (i >= 148 && i < 156)
            continue; /* the checksum has several forms */
        archive.data[i] ^= 1;
        assert_false(read_in(&archive, archive.len, &seen, &ended));
        assert_string_equal(buf_str(&seen), "");
        archive.data[i] ^= 1;
    }
    assert_true(read_in(&archive, archive.len, &seen, &ended));
    buf_done(&archive);
    buf_done(&seen);
}

TEST(members_that_do_not_fit_the_format_are_not_written)
{
    uint8_t head[TAR_BLOCK];
    char name[TAR_NAME_MAX + 2];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(tar_head(name, 0, 0, head));
    assert_true(tar_head(name + 1, TAR_SIZE_MAX, 0, head));
    assert_false(tar_head("x", TAR_SIZE_MAX + 1, 0, head));
}

TEST_MAIN(NULL, NULL)
