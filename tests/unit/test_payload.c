// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracepoint payloads printed by formats from files, which may contain anything. */

#include <string.h>

#include "base/mem.h"
#include "perf/payload.h"
#include "unit_test.h"

static const char sched[] = "name: sched_wakeup\nID: 315\nformat:\n"
                            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                            "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                            "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"
                            "\tfield:pid_t pid;\toffset:16;\tsize:4;\tsigned:1;\n"
                            "\tfield:__data_loc char[] file;\toffset:20;\tsize:4;\tsigned:0;\n"
                            "\tfield:const void * where;\toffset:24;\tsize:8;\tsigned:0;\n"
                            "\tfield:u8 bytes[2];\toffset:32;\tsize:2;\tsigned:0;\n"
                            "\nprint fmt: \"comm=%s\", read_comm(REC->comm)\n"; /* printed by field */

/* 34 bytes, followed by "x.c" */
static void make_payload(uint8_t raw[40])
{
    uint64_t where = 0xffff0000;
    int32_t pid = -7;
    uint32_t file = 4 << 16 | 34;
    memset(raw, 0, 40);
    memcpy(raw + 8, "cat", 4);
    memcpy(raw + 16, &pid, 4);
    memcpy(raw + 20, &file, 4);
    memcpy(raw + 24, &where, 8);
    memcpy(raw + 32, "\x01\xfe", 2);
    memcpy(raw + 34, "x.c", 4);
}

static void check_printed(const char *format, bool swap, const void *raw, uint32_t size, const char *wanted)
{
    struct buf out = { 0 };
    struct payload_format *f = payload_format_new(format, strlen(format), swap);
    payload_print(&(struct payload){ f, raw, size, NULL, NULL }, &out);
    assert_string_equal(buf_str(&out), wanted);
    buf_done(&out);
    payload_format_free(f);
}

TEST(fields_are_printed_with_names_and_values)
{
    uint8_t raw[40];
    make_payload(raw);
    check_printed(sched, false, raw, 38, "comm=cat pid=-7 file=x.c where=0xffff0000 bytes=01fe");
}

TEST(fields_of_all_tracepoints_are_read_but_not_printed)
{
    uint8_t raw[40];
    make_payload(raw);
    raw[4] = 9;
    struct payload_format *f = payload_format_new(sched, strlen(sched), false);
    struct payload p = { .format = f, .raw = raw, .size = sizeof raw };
    assert_int_equal(payload_number(&p, payload_field_find(f, "common_pid")), 9);
    payload_format_free(f);
}

TEST(a_short_payload_gives_its_complete_fields)
{
    uint8_t raw[40];
    make_payload(raw);
    check_printed(sched, false, raw, 30, "comm=cat pid=-7 file=");
    check_printed(sched, false, raw, 4, "");
    check_printed(sched, false, raw, 0, "");
}

TEST(numbers_in_the_other_byte_order_are_read)
{
    static const uint8_t raw[] = { 0, 0, 1, 2, 0xff, 0xfe };
    check_printed(
        "\tfield:u32 a;\toffset:0;\tsize:4;\tsigned:0;\n\tfield:s16 b;\toffset:4;\tsize:2;\tsigned:1;\n",
        true, raw, sizeof raw, "a=258 b=-2");
}

TEST(offsets_in_a_format_are_checked_against_the_payload)
{
    static const uint8_t raw[8] = { 0xff, 0xff, 0xff, 0xff, 'a', 0x1b, '\n', 0xff };
    check_printed("\tfield:u64 a;\toffset:4294967295;\tsize:8;\tsigned:0;\n", false, raw, 8, "");
    check_printed("\tfield:u64 a;\toffset:4;\tsize:4294967295;\tsigned:0;\n", false, raw, 8, "");
    check_printed("\tfield:__data_loc char[] a;\toffset:0;\tsize:4;\tsigned:0;\n", false, raw, 8, "a=");
    check_printed("\tfield:__rel_loc char[] a;\toffset:0;\tsize:4;\tsigned:0;\n", false, raw, 8, "a=");
    check_printed("\tfield:char a[4];\toffset:4;\tsize:4;\tsigned:0;\n", false, raw, 8, "a=a???");
    check_printed("\tfield:char a(4];\toffset:4;\tsize:4;\tsigned:0;\n", false, raw, 8, "");
    check_printed("\tfield:char a];\toffset:4;\tsize:4;\tsigned:0;\n", false, raw, 8, "");
    check_printed("\tfield:u24 a;\toffset:0;\tsize:3;\tsigned:0;\n", false, raw, 8, "a=0");
    check_printed("\tfield:;\toffset:0;\tsize:3;\tsigned:0;\nfield:[", false, raw, 8, "");
    check_printed("", false, raw, 8, "");
}

TEST(devices_are_printed_as_major_and_minor)
{
    static const char format[] = "\tfield:dev_t dev;\toffset:0;\tsize:4;\tsigned:0;\n"
                                 "\tfield:int tail;\toffset:4;\tsize:4;\tsigned:0;\n";
    uint32_t raw = 259 << 20 | 3;
    struct payload_format *f = payload_format_new(format, strlen(format), false);
    struct payload p = { f, &raw, sizeof raw, NULL, NULL };
    struct buf out = { 0 };
    assert_true(payload_put_field(&p, payload_field_find(f, "dev"), &out));
    assert_string_equal(buf_str(&out), "259,3");
    assert_false(payload_put_field(&p, payload_field_find(f, "tail"), &out)); /* beyond the payload */
    assert_false(payload_put_field(&p, payload_field_find(f, "none"), &out));
    assert_string_equal(payload_field_name(f, 1), "tail");
    assert_null(payload_field_name(f, 2));
    buf_done(&out);
    payload_format_free(f);
}

TEST_MAIN(NULL, NULL)
