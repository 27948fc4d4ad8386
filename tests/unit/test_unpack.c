// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/unpack.h"
#include "unit_test.h"

#define PLAIN_BYTES 300000

static uint8_t plain[PLAIN_BYTES];

static int set_up(void **state)
{
    for (uint32_t i = 0, x = 1; i < PLAIN_BYTES; i++) {
        x = x * 1664525 + 1013904223;
        plain[i] = (uint8_t)(i % 4096 < 3000 ? i / 100 : x >> 24);
    }
    return 0;
}

static bool is_there(const char *program)
{
    char command[64];
    snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    return system(command) == 0;
}

/* Compresses with the tool itself. */
static void compress_bytes(const char *program, const uint8_t *bytes, size_t n, struct buf *out)
{
    char path[] = "/tmp/flametop-unpack-XXXXXX", command[128];
    struct error e = { 0 };
    int fd = mkstemp(path);
    assert_true(fd >= 0 && file_write_all(fd, bytes, n, &e));
    close(fd);
    snprintf(command, sizeof command, "%s -c %s > %s.packed", program, path, path);
    assert_int_equal(system(command), 0);
    unlink(path);
    snprintf(command, sizeof command, "%s.packed", path);
    assert_true(file_read(command, 1 << 20, out, &e));
    unlink(command);
}

/* Supplies input in pieces of `in` bytes and output room of `room` bytes. */
static enum unpack_state decompress(enum unpack_kind kind, const struct buf *packed, size_t in, size_t room,
                                    struct buf *out)
{
    struct unpacker *u = unpacker_new(kind, NULL);
    enum unpack_state state = UNPACK_GOES_ON;
    uint8_t *dst = malloc(room);
    assert_non_null(u);
    for (size_t at = 0; at < packed->len && (state == UNPACK_GOES_ON || state == UNPACK_ENDED);) {
        const uint8_t *src = (const uint8_t *)packed->data + at;
        size_t n = packed->len - at < in ? packed->len - at : in, supplied = n, got = room;
        while ((n || got == room) && (state == UNPACK_GOES_ON || state == UNPACK_ENDED)) {
            enum unpack_state before = state;
            state = unpacker_run(u, &src, &n, dst, room, &got);
            buf_add(out, dst, got);
            if (before == UNPACK_ENDED && state == UNPACK_GOES_ON && !n && !got &&
                at + supplied == packed->len)
                state = UNPACK_ENDED; /* nothing followed */
        }
        at += supplied;
    }
    free(dst);
    unpacker_free(u);
    return state;
}

static void check_kind(enum unpack_kind kind, const char *program)
{
    struct buf packed = { 0 }, out = { 0 };
    struct error e = { 0 };
    struct unpacker *u = unpacker_new(kind, &e);
    unpacker_free(u);
    if (!u || !is_there(program)) {
        print_message("%s\n", u ? "its compressor is not installed" : e.text);
        skip();
    }
    compress_bytes(program, plain, sizeof plain, &packed);
    assert_int_equal(unpack_kind_of(packed.data, packed.len), kind);
    static const size_t sizes[][2] = { { 1 << 20, 1 << 20 }, { 7, 1 << 16 }, { 1 << 16, 13 }, { 1, 1 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        buf_clear(&out);
        assert_int_equal(decompress(kind, &packed, sizes[i][0], sizes[i][1], &out), UNPACK_ENDED);
        assert_int_equal(out.len, sizeof plain);
        assert_memory_equal(out.data, plain, out.len);
    }
    /* two streams, one after the other */
    struct buf twice = { 0 };
    buf_add(&twice, packed.data, packed.len);
    buf_add(&twice, packed.data, packed.len);
    buf_clear(&out);
    assert_int_equal(decompress(kind, &twice, 4096, 4096, &out), UNPACK_ENDED);
    assert_int_equal(out.len, 2 * sizeof plain);
    /* a truncated stream yields what it contains */
    packed.len -= 100;
    buf_clear(&out);
    assert_int_equal(decompress(kind, &packed, 4096, 4096, &out), UNPACK_GOES_ON);
    assert_true(out.len > 0 && out.len <= sizeof plain);
    assert_memory_equal(out.data, plain, out.len);
    /* and so does a damaged one */
    memset(packed.data + packed.len / 2, 0x55, 64);
    buf_clear(&out);
    assert_int_not_equal(decompress(kind, &packed, 4096, 4096, &out), UNPACK_ENDED);
    buf_done(&packed);
    buf_done(&twice);
    buf_done(&out);
}

TEST(gzip_is_decompressed)
{
    check_kind(UNPACK_GZIP, "gzip");
}

TEST(xz_is_decompressed)
{
    check_kind(UNPACK_XZ, "xz");
}

TEST(zstd_is_decompressed)
{
    check_kind(UNPACK_ZSTD, "zstd");
}

TEST(uncompressed_data_has_no_kind)
{
    assert_int_equal(unpack_kind_of("PERFILE2", 8), UNPACK_NONE);
    assert_int_equal(unpack_kind_of("\x1f", 1), UNPACK_NONE);
    assert_int_equal(unpack_kind_of("", 0), UNPACK_NONE);
    assert_string_equal(unpack_name(UNPACK_NONE), "");
    assert_string_equal(unpack_name(UNPACK_XZ), "xz");
}

TEST_MAIN(set_up, NULL)
