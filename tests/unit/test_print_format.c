// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "perf/payload.h"
#include "perf/tracepoint.h"
#include "unit_test.h"

/* comm, state, flags, bytes and a text, in 64 bytes */
#define FIELDS                                                                                               \
    "\tfield:char comm[8];\toffset:8;\tsize:8;\tsigned:0;\n"                                                 \
    "\tfield:int pid;\toffset:16;\tsize:4;\tsigned:1;\n"                                                     \
    "\tfield:unsigned long flags;\toffset:24;\tsize:8;\tsigned:0;\n"                                         \
    "\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n"                                      \
    "\tfield:u8 addr[4];\toffset:36;\tsize:4;\tsigned:0;\n"                                                  \
    "\tfield:void * site;\toffset:40;\tsize:8;\tsigned:0;\n\n"

static void make_payload(uint8_t raw[64])
{
    int32_t pid = -7;
    uint64_t flags = 0x1005, site = 0x1234;
    uint32_t name = 4 << 16 | 48;
    memset(raw, 0, 64);
    memcpy(raw + 8, "cat", 3);
    memcpy(raw + 16, &pid, 4);
    memcpy(raw + 24, &flags, 8);
    memcpy(raw + 32, &name, 4);
    memcpy(raw + 36, "\x7f\x00\x00\x01", 4);
    memcpy(raw + 40, &site, 8);
    memcpy(raw + 48, "sda", 3);
}

static const char *name_of(void *ctx, uint64_t address, uint64_t *start)
{
    (void)ctx;
    *start = 0x1230;
    return address == 0x1234 ? "do_it" : NULL;
}

/* The printed payload of this many bytes for "print fmt: " and this text. */
static void check_print_of(uint32_t size, const char *print, const char *wanted)
{
    uint8_t raw[64];
    struct buf format = { 0 }, out = { 0 };
    make_payload(raw);
    buf_printf(&format, "format:\n%sprint fmt: %s\n", FIELDS, print);
    struct payload_format *f = payload_format_new(buf_str(&format), format.len, false);
    payload_print(&(struct payload){ f, raw, size, name_of, NULL }, &out);
    assert_string_equal(buf_str(&out), wanted);
    payload_format_free(f);
    buf_done(&format);
    buf_done(&out);
}

static void check_print(const char *print, const char *wanted)
{
    check_print_of(64, print, wanted);
}

#define BY_FIELDS "comm=cat pid=-7 flags=4101 name=sda addr=7f000001 site=0x1234"

TEST(fields_are_printed_as_the_format_says)
{
    check_print("\"%s/%d %5d|%-5d|%x\", REC->comm, REC->pid, REC->pid, REC->pid, REC->pid",
                "cat/-7    -7|-7   |fffffff9");
    check_print("\"%s %-6s| %.2s\", __get_str(name), REC->comm, REC->comm", "sda cat   | ca");
    check_print("\"%s\", (char *)__get_dynamic_array(name)", "sda");
    check_print("\"%d %u\", __get_dynamic_array_len(name), REC->addr[3]", "4 1");
    check_print("\"%lu %#lx %08llx 100%%\", REC->flags, REC->flags, (unsigned long long)REC->flags",
                "4101 0x1005 00001005 100%");
    check_print("\"[%*d|%.*s]\", 5, REC->pid, 1, REC->comm", "[   -7|c]");
    check_print("\"a\" \"b %c%c\", 'x', REC->pid ? 'y' : 'z'", "ab xy");
}

TEST(expressions_follow_c_with_unsigned_numbers)
{
    check_print("\"%d\", 2 + 3 * 4 - 10 / 3", "11");
    check_print(
        "\"%d,%d\", ((unsigned int) ((REC->flags) >> 12)), ((unsigned int) ((REC->flags) & ((1U << 12) - 1)))",
        "1,5");
    check_print(
        "\"%s%s\", REC->flags & 4 ? \"four\" : \"\", !(REC->flags & 2) && REC->pid != 0 ? \"+\" : \"-\"",
        "four+");
    check_print("\"%lx %d\", ~0UL, (u8)0x1ff", "ffffffffffffffff 255");
    check_print("\"%d %d %d\", 1 / 0, 1 % 0, 1 < 2 == 1", "0 0 1");
    check_print("\"%d\", __builtin_expect(!!(REC->pid), 0) ? sizeof(u32) : 0", "4");
}

TEST(flags_and_symbols_are_printed_by_name)
{
    check_print(
        "\"%s\", __print_flags(REC->flags, \"|\", { 0x1, \"S\" }, { (unsigned long)((( gfp_t)(4))), \"T\" })",
        "S|T|0x1000");
    check_print("\"%s\", __print_flags(REC->flags & 2, \"|\", { 0x1, \"S\" })", "");
    check_print("\"%s\", __print_symbolic((REC->flags >> 12), { 0, \"HI\" }, { 1, \"TIMER\" })", "TIMER");
    check_print(
        "\"%s\", __print_symbolic(REC->flags, { UNKNOWN, \"no\" }, { 2, \"two\" }, { -1, ((void *)0) })",
        "0x1005");
    check_print("\"%s\", __print_flags(REC->flags & 2, \"|\", { NOTHING, \"none\" }, { 1, \"one\" })",
                "none");
}

TEST(addresses_and_bytes_are_printed_like_the_kernels)
{
    check_print("\"%pS %ps %p %pS\", (void *)REC->site, REC->site, REC->site, REC->flags",
                "do_it+0x4 do_it 0x1234 0x1005");
    check_print("\"%pI4\", REC->addr", "127.0.0.1");
    check_print("\"%s %s\", __print_hex(REC->addr, 4), __print_hex_str(REC->addr, 2)", "7f 00 00 01 7f00");
    check_print("\"%s\", __print_array(REC->addr, 4, 1)", "{0x7f,0x0,0x0,0x1}");
}

/* A single field, for "print fmt: " and this text. */
static void check_field(const char *print, const char *field, const char *wanted)
{
    uint8_t raw[64];
    struct buf format = { 0 }, out = { 0 };
    make_payload(raw);
    buf_printf(&format, "format:\n%sprint fmt: %s\n", FIELDS, print);
    struct payload_format *f = payload_format_new(buf_str(&format), format.len, false);
    struct payload p = { f, raw, sizeof raw, name_of, NULL };
    assert_true(payload_put_field(&p, payload_field_find(f, field), &out));
    assert_string_equal(buf_str(&out), wanted);
    payload_format_free(f);
    buf_done(&format);
    buf_done(&out);
}

TEST(single_fields_are_printed_as_in_the_format)
{
    static const char several[] =
        "\"%-6s %d,%d flags=%s%s pid=%d [%s] %ps %d\", REC->comm, REC->flags >> 12, "
        "REC->flags & 4095, REC->flags & 4 ? \"T\" : \"R\", REC->flags & 1 ? \"+\" : "
        "\"\", REC->pid, __print_symbolic(REC->pid & 15, { 9, \"NINE\" }), REC->site, "
        "REC->addr[0]";
    check_field(several, "comm", "cat");
    check_field(several, "flags", "T+"); /* not "1,5": the text says more */
    check_field(several, "pid", "NINE");
    check_field(several, "site", "do_it");
    check_field(several, "name", "sda");      /* not in the format */
    check_field(several, "addr", "7f000001"); /* only one element is */
    check_field("\"%d,%d\", REC->flags >> 12, REC->flags & 4095", "flags", "1,5");
    check_field("\"%s\", REC->pid > REC->flags ? \"a\" : \"b\"", "pid", "-7"); /* of two fields */
    check_field("\"%*d\", REC->pid, REC->flags", "flags", "4101");
    check_field("no format", "pid", "-7");
    check_field("no format", "site", "0x1234");
}

/* sockaddr_in and sockaddr_in6 in 28 bytes, as in the kernel's tracepoints */
static void check_socket_print(const uint8_t address[28], const char *print, const char *wanted)
{
    static const char fields[] = "\tfield:__u8 addr[28];\toffset:8;\tsize:28;\tsigned:0;\n\n";
    struct buf format = { 0 }, out = { 0 };
    uint8_t raw[36] = { 0 };
    memcpy(raw + 8, address, 28);
    buf_printf(&format, "format:\n%sprint fmt: %s\n", fields, print);
    struct payload_format *f = payload_format_new(buf_str(&format), format.len, false);
    payload_print(&(struct payload){ f, raw, sizeof raw, name_of, NULL }, &out);
    assert_string_equal(buf_str(&out), wanted);
    payload_format_free(f);
    buf_done(&format);
    buf_done(&out);
}

TEST(socket_addresses_are_printed_with_their_port)
{
    uint8_t ip4[28] = { 0, 0, 0x1f, 0x90, 127, 0, 0, 1 }, ip6[28] = { 0, 0, 0, 80 }, none[28] = { 1 };
    uint16_t family4 = 2, family6 = 10;
    memcpy(ip4, &family4, 2);
    memcpy(ip6, &family6, 2);
    ip6[8] = 0xfe;
    ip6[9] = 0x80;
    ip6[23] = 1;
    check_socket_print(ip4, "\"%pISpc %pIS\", REC->addr, REC->addr", "127.0.0.1:8080 127.0.0.1");
    check_socket_print(ip6, "\"%pISpc %pISc\", REC->addr, REC->addr", "[fe80::1]:80 fe80::1");
    check_socket_print(ip6, "\"%pISp\", REC->addr", "[fe80:0000:0000:0000:0000:0000:0000:0001]:80");
    check_socket_print(none, "\"a%pISpc b\", REC->addr", "a b");
    check_print("\"%pISpc.\", REC->addr", "."); /* four bytes are no such address */
}

TEST(unsupported_formats_are_printed_field_by_field)
{
    static const char *const prints[] = {
        "",
        "\"",
        "\"%d\"",
        "\"%d\", REC->nothing",
        "\"%d\", REC->pid, REC->pid",
        "\"%q\", REC->pid",
        "\"%n\", REC->pid",
        "\"%s\", __get_bitmask(name)",
        "\"%s\", f(REC->pid)",
        "\"%d\", REC->pid +",
        "\"%d\", (REC->pid",
        "\"%d\", (\"a",
        "\"%d\", 1 ? 2",
        "\"%s\", __print_flags(REC->pid, \"|\", { 1, \"a\" }",
        "\"%pISpx\", REC->addr",
    };
    struct buf deep = { 0 };
    for (size_t i = 0; i < sizeof prints / sizeof *prints; i++)
        check_print(prints[i], BY_FIELDS);
    buf_puts(&deep, "\"%d\", ");
    for (int i = 0; i < 5000; i++)
        buf_puts(&deep, "(");
    check_print(buf_str(&deep), BY_FIELDS);
    for (int i = 0; i < 5000; i++)
        buf_puts(&deep, "-");
    check_print(buf_str(&deep), BY_FIELDS);
    buf_done(&deep);
}

TEST(fields_beyond_a_short_payload_are_empty)
{
    check_print_of(20, "\"%s %d %lu [%s] %pI4\", REC->comm, REC->pid, REC->flags, __get_str(name), REC->addr",
                   "cat -7 0 [] ");
    check_print_of(40, "\"[%s]\", __get_str(name)", "[]");
}

/* --- the kernel's own formats, compared with libtraceevent --- */

/* Small numbers, texts, and offsets that point to a text. */
static void make_random(uint8_t raw[512], const char *format)
{
    for (int i = 0; i < 512; i++)
        raw[i] = (uint8_t)(rand() % 3 ? 0 : rand() % 40);
    for (const char *line = strstr(format, "field:"); line; line = strstr(line + 1, "field:")) {
        unsigned offset, size, where = 8u << 16 | 400;
        const char *at = strstr(line, "offset:");
        if (!at || sscanf(at, "offset:%u; size:%u;", &offset, &size) != 2 || offset + size > 380)
            continue;
        if (!strncmp(line, "field:__data_loc", 16))
            memcpy(raw + offset, &where, 4);
        else if (!strncmp(line, "field:char ", 11) && size > 1)
            memcpy(raw + offset, "ab\0", 3);
    }
    memcpy(raw + 400, "abcdefg", 8);
}

static void compare_with_libtraceevent(const char *system, const char *name)
{
    char path[256];
    struct buf text = { 0 }, ours = { 0 }, theirs = { 0 };
    uint8_t raw[512];
    snprintf(path, sizeof path, "%s/events/%s/%s/format", tracepoint_root(), system, name);
    struct tracepoint_format *own = tracepoint_format_open(system, name, NULL);
    if (own && file_read(path, 1 << 20, &text, NULL)) {
        struct payload_format *read = payload_format_new(buf_str(&text), text.len, false);
        for (int i = 0; i < 50; i++) {
            make_random(raw, buf_str(&text));
            ours.len = theirs.len = 0;
            payload_print(&(struct payload){ read, raw, sizeof raw, NULL, NULL }, &ours);
            assert_true(tracepoint_print(own, raw, sizeof raw, 0, &theirs));
            assert_string_equal(buf_str(&ours), buf_str(&theirs));
        }
        payload_format_free(read);
    }
    tracepoint_format_close(own);
    buf_done(&text);
    buf_done(&ours);
    buf_done(&theirs);
}

TEST(kernel_formats_are_printed_like_libtraceevents)
{
    static const char *const events[][2] = {
        { "sched", "sched_switch" },
        { "sched", "sched_waking" },
        { "sched", "sched_process_exec" },
        { "block", "block_rq_issue" },
        { "block", "block_bio_queue" },
        { "kmem", "kmalloc" },
        { "kmem", "mm_page_alloc" },
        { "irq", "softirq_entry" },
        { "irq", "irq_handler_entry" },
        { "signal", "signal_generate" },
        { "timer", "hrtimer_start" },
        { "net", "netif_receive_skb" },
        { "raw_syscalls", "sys_enter" },
        { "syscalls", "sys_enter_openat" },
        { "syscalls", "sys_exit_read" },
        { "task", "task_newtask" },
        { "writeback", "writeback_start" },
        { "power", "cpu_frequency" },
        { "workqueue", "workqueue_execute_start" },
        { "vmscan", "mm_vmscan_lru_shrink_inactive" },
        { "filemap", "mm_filemap_add_to_page_cache" },
    };
    srand(7);
    if (!tracepoint_root() || !tracepoint_exists("sched", "sched_switch"))
        skip();
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        compare_with_libtraceevent(events[i][0], events[i][1]);
}

TEST_MAIN(NULL, NULL)
