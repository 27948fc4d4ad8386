// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/mem.h"
#include "elf_maker.h"
#include "symbols/elf.h"
#include "symbols/minidebug.h"
#include "unit_test.h"

#ifdef HAVE_LZMA
#include <lzma.h>

static size_t compress(const void *bytes, size_t n, uint8_t *dst, size_t cap)
{
    size_t at = 0;

    assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, bytes, n, dst, &at, cap), LZMA_OK);
    return at;
}

TEST(compressed_data_is_restored)
{
    uint8_t bytes[5000], packed[6000];
    struct error e = { 0 };
    size_t n, out_n, i;
    void *out;

    for (i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i >> 3);
    n = compress(bytes, sizeof bytes, packed, sizeof packed);
    assert_true(xz_unpack(packed, n, &out, &out_n, &e));
    assert_int_equal(out_n, sizeof bytes);
    assert_memory_equal(out, bytes, out_n);
    mem_free(out);
}

TEST(truncated_or_damaged_data_is_refused)
{
    uint8_t bytes[500] = { 1, 2, 3 }, packed[1000];
    size_t n, out_n, i;
    void *out;

    n = compress(bytes, sizeof bytes, packed, sizeof packed);
    for (i = 0; i < n; i++) {
        assert_false(xz_unpack(packed, i, &out, &out_n, NULL));
        packed[i] ^= 0x55;
        if (xz_unpack(packed, n, &out, &out_n, NULL)) /* header padding may have any value */
            mem_free(out);
        packed[i] ^= 0x55;
    }
}

/* 300 MB of zeros in 45 KB. */
TEST(decompression_bombs_are_refused)
{
    static uint8_t packed[1 << 18];
    static const uint8_t zeros[1 << 16];
    lzma_stream s = LZMA_STREAM_INIT;
    struct error e = { 0 };
    size_t out_n;
    void *out;
    int i;

    assert_int_equal(lzma_easy_encoder(&s, 0, LZMA_CHECK_NONE), LZMA_OK);
    s.next_out = packed;
    s.avail_out = sizeof packed;
    for (i = 0; i < 300 * 16; i++) {
        s.next_in = zeros;
        s.avail_in = sizeof zeros;
        while (s.avail_in)
            assert_int_equal(lzma_code(&s, LZMA_RUN), LZMA_OK);
    }
    assert_int_equal(lzma_code(&s, LZMA_FINISH), LZMA_STREAM_END);
    assert_false(xz_unpack(packed, (size_t)s.total_out, &out, &out_n, &e));
    assert_int_equal(e.class, ERROR_LIMIT);
    lzma_end(&s);
}

static const struct elf_maker_symbol exported = { "exported", ELF_MAKER_VADDR + 0x40, 0x10, 0 };
static const struct elf_maker_symbol hidden = { "hidden", ELF_MAKER_VADDR + 0x80, 0x10,
                                                ELF64_ST_INFO(STB_LOCAL, STT_FUNC) };

static void read_table(const struct elf_maker *m, void **blob, struct table *t)
{
    struct table_builder b = { 0 };
    int fd = elf_maker_open(m);
    size_t size;

    assert_true(fd >= 0 && elf_read(fd, &b, NULL));
    assert_true(table_build(&b, TABLE_NESTED, blob, &size, NULL) && table_view(t, *blob, size, NULL));
    table_builder_done(&b);
    close(fd);
}

TEST(mini_debug_info_adds_local_functions)
{
    static struct elf_maker_file inner;
    static uint8_t packed[4096];
    struct elf_maker mini = { .symbols = &hidden, .n_symbols = 1, .symtab_type = SHT_SYMTAB };
    struct elf_maker m = { .symbols = &exported, .n_symbols = 1, .symtab_type = SHT_DYNSYM, .id = 3 };
    struct table_entry entry;
    struct table t;
    void *blob;

    elf_maker_fill(&inner, &mini);
    m.extras[0] = (struct elf_maker_extra){ .name = ".gnu_debugdata",
                                            .bytes = packed,
                                            .n = compress(&inner, sizeof inner, packed, sizeof packed) };
    read_table(&m, &blob, &t);
    assert_true(t.header->flags & TABLE_FULL);
    assert_true(table_find(&t, ELF_MAKER_OFFSET + 0x80, &entry));
    assert_string_equal(entry.name, "hidden");
    assert_true(table_find(&t, ELF_MAKER_OFFSET + 0x40, &entry));
    assert_string_equal(entry.name, "exported");
    mem_free(blob);
    packed[m.extras[0].n / 2] ^= 1;
    read_table(&m, &blob, &t);
    assert_int_equal(t.header->flags & (TABLE_FULL | TABLE_PACKED), TABLE_PACKED);
    assert_true(table_find(&t, ELF_MAKER_OFFSET + 0x40, &entry));
    mem_free(blob);
}
#else
TEST(missing_liblzma_is_reported)
{
    struct error e = { 0 };
    size_t out_n;
    void *out;

    assert_false(xz_unpack("", 0, &out, &out_n, &e));
    assert_int_equal(e.class, ERROR_UNSUPPORTED);
}
#endif

TEST_MAIN(NULL, NULL)
