// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdlib.h>
#include <string.h>

#include "perf/record.h"
#include "unit_test.h"

/* A record built by hand, in either byte order. */
struct bytes {
    uint8_t data[2048];
    size_t n;
    bool swap;
};

static void put16(struct bytes *b, uint16_t v)
{
    v = b->swap ? __builtin_bswap16(v) : v;
    memcpy(b->data + b->n, &v, sizeof v);
    b->n += sizeof v;
}

static void put32(struct bytes *b, uint32_t v)
{
    v = b->swap ? __builtin_bswap32(v) : v;
    memcpy(b->data + b->n, &v, sizeof v);
    b->n += sizeof v;
}

static void put64(struct bytes *b, uint64_t v)
{
    v = b->swap ? __builtin_bswap64(v) : v;
    memcpy(b->data + b->n, &v, sizeof v);
    b->n += sizeof v;
}

/* Padded to 8 bytes with NULs, at least one. */
static void put_str(struct bytes *b, const char *s)
{
    size_t n = strlen(s) / 8 * 8 + 8;
    memset(b->data + b->n, 0, n);
    memcpy(b->data + b->n, s, strlen(s));
    b->n += n;
}

static void begin_record(struct bytes *b, bool swap, uint32_t type, uint16_t misc)
{
    b->n = 0;
    b->swap = swap;
    put32(b, type);
    put16(b, misc);
    put16(b, 0);
}

static void set_size(struct bytes *b, size_t size)
{
    size_t n = b->n;
    b->n = 6;
    put16(b, (uint16_t)size);
    b->n = n;
}

static const struct record_layout usual = {
    .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN,
    .id_all = true,
};

/* The sample_id of `usual`. */
static void put_id(struct bytes *b)
{
    put32(b, 71);
    put32(b, 72);
    put64(b, 5000000001);
    put32(b, 3);
    put32(b, 0);
    put64(b, 99);
    set_size(b, b->n);
}

static void check_id(const struct record *r)
{
    assert_int_equal(r->id.pid, 71);
    assert_int_equal(r->id.tid, 72);
    assert_int_equal(r->id.time_ns, 5000000001);
    assert_int_equal(r->id.cpu, 3);
    assert_int_equal(r->id.id, 99);
}

/* Every shorter length is refused, and every shorter size in the header read without a step beyond it. The
 * copies are of exact length, so that a sanitizer sees a byte too many. */
static void check_cuts(const struct bytes *b, const struct record_layout *l)
{
    struct record r;
    struct error e;
    uint64_t v;
    for (size_t n = 0; n < b->n; n++) {
        uint8_t *cut = malloc(n ? n : 1);
        memcpy(cut, b->data, n);
        assert_false(record_parse(cut, n, l, &r, &e));
        assert_int_equal(e.class, ERROR_FORMAT);
        assert_false(record_time(cut, n, l, &v));
        if (n >= 8) {
            uint16_t size = b->swap ? __builtin_bswap16((uint16_t)n) : (uint16_t)n;
            memcpy(cut + 6, &size, sizeof size);
            record_parse(cut, n, l, &r, NULL);
            record_time(cut, n, l, &v);
        }
        free(cut);
    }
}

static void parse_bytes(const struct bytes *b, struct record *r)
{
    struct record_layout l = usual;
    struct error e = { 0 };
    uint64_t v;
    l.swap = b->swap;
    check_cuts(b, &l);
    assert_true(record_parse(b->data, b->n, &l, r, &e));
    assert_int_equal(r->size, b->n);
    assert_true(record_time(b->data, b->n, &l, &v));
    assert_int_equal(v, r->id.time_ns);
}

#define BOTH_ORDERS(swap) for (int swap = 0; swap < 2; swap++)

TEST(sample_gives_its_fields_and_chain)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_record(&b, swap, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
        put64(&b, 99);
        put64(&b, 0xffffffff81000010);
        put32(&b, 71);
        put32(&b, 72);
        put64(&b, 5000000001);
        put32(&b, 3);
        put32(&b, 0);
        put64(&b, 10101010);
        put64(&b, 3);
        put64(&b, (uint64_t)PERF_CONTEXT_USER);
        put64(&b, 0x401000);
        put64(&b, 0x402000);
        set_size(&b, b.n);
        parse_bytes(&b, &r);
        check_id(&r);
        assert_int_equal(r.sample.ip, 0xffffffff81000010);
        assert_int_equal(r.sample.period, 10101010);
        assert_int_equal(r.sample.chain_n, 3);
        assert_int_equal(record_u64(r.sample.chain, 0, r.swap), (uint64_t)PERF_CONTEXT_USER);
        assert_int_equal(record_u64(r.sample.chain, 2, r.swap), 0x402000);
    }
}

TEST(a_chain_longer_than_its_record_is_refused)
{
    struct bytes b;
    struct record r;
    static const uint64_t lengths[] = { 2, 1 << 20, UINT64_C(1) << 61, UINT64_MAX };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        begin_record(&b, false, PERF_RECORD_SAMPLE, 0);
        for (int k = 0; k < 6; k++)
            put64(&b, 1);
        put64(&b, lengths[i]);
        put64(&b, 0x401000);
        set_size(&b, b.n);
        assert_false(record_parse(b.data, b.n, &usual, &r, NULL));
    }
}

/* All fields of a sample that can occur together, in the kernel's order. */
static const struct record_layout everything = {
    .sample_type = (PERF_SAMPLE_MAX - 1) & ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT,
    .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID | PERF_FORMAT_LOST,
    .branch_type = PERF_SAMPLE_BRANCH_HW_INDEX,
    .regs_user = 0x8003,
    .regs_intr = 1,
    .id_all = true,
};

static void put_full_head(struct bytes *b)
{
    put64(b, 99);
    put64(b, 0x1111);
    put32(b, 71);
    put32(b, 72);
    put64(b, 5000000001);
    put64(b, 0xaddd);
    put64(b, 98); /* id: the identifier counts */
    put64(b, 97);
    put32(b, 3);
    put32(b, 0);
    put64(b, 12);
    put64(b, 2); /* read: two counters of three values */
    put64(b, 1000);
    for (int i = 0; i < 6; i++)
        put64(b, i);
    put64(b, 1);
    put64(b, 0x2222);
    put32(b, 4);
    put32(b, 0xfeedbeef);
}

static void put_full_tail(struct bytes *b)
{
    put64(b, 1);
    put64(b, UINT64_MAX);
    put64(b, 0xf0);
    put64(b, 0xf1);
    put64(b, 0);
    put64(b, PERF_SAMPLE_REGS_ABI_64);
    put64(b, 0xa0);
    put64(b, 0xa1);
    put64(b, 0xaf);
    put64(b, 16);
    put64(b, 0x57ac);
    put64(b, 0x57ad);
    put64(b, 8);
    put64(b, 55); /* weight */
    put64(b, 56); /* data_src */
    put64(b, 57); /* transaction */
    put64(b, PERF_SAMPLE_REGS_ABI_64);
    put64(b, 0xbb);
    put64(b, 58); /* phys_addr */
    put64(b, 59); /* cgroup */
    put64(b, 4096);
    put64(b, 2097152);
    put64(b, 8); /* aux */
    put64(b, 0);
}

TEST(sample_with_every_field_is_read_in_the_kernels_order)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        struct record_layout l = everything;
        l.swap = swap;
        begin_record(&b, swap, PERF_RECORD_SAMPLE, 0);
        put_full_head(&b);
        put_full_tail(&b);
        set_size(&b, b.n);
        check_cuts(&b, &l);
        assert_true(record_parse(b.data, b.n, &l, &r, NULL));
        check_id(&r);
        const struct record_sample *s = &r.sample;
        assert_int_equal(r.id.stream_id, 97);
        assert_int_equal(s->addr, 0xaddd);
        assert_int_equal(s->period, 12);
        assert_int_equal(s->read_size, 64);
        assert_int_equal(record_u64(s->read, 7, swap), 5);
        assert_int_equal(s->chain_n, 1);
        assert_int_equal(s->raw_size, 4);
        assert_int_equal(s->branch_n, 1);
        assert_int_equal(record_u64(s->branch, 1, swap), 0xf1);
        assert_int_equal(s->user_abi, PERF_SAMPLE_REGS_ABI_64);
        assert_int_equal(record_u64(s->user_regs, 2, swap), 0xaf);
        assert_int_equal(s->stack_size, 16);
        assert_int_equal(s->stack_dyn_size, 8);
        assert_int_equal(record_u64(s->stack, 0, swap), 0x57ac);
        assert_int_equal(s->weight, 55);
        assert_int_equal(s->intr_abi, PERF_SAMPLE_REGS_ABI_64);
        assert_int_equal(record_u64(s->intr_regs, 0, swap), 0xbb);
        assert_int_equal(s->data_src, 56);
        assert_int_equal(s->transaction, 57);
        assert_int_equal(s->phys_addr, 58);
        assert_int_equal(s->cgroup, 59);
        assert_int_equal(s->data_page_size, 4096);
        assert_int_equal(s->code_page_size, 2097152);
    }
}

TEST(a_sample_without_registers_and_stack_is_short)
{
    struct record_layout l = { .sample_type =
                                   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT_STRUCT,
                               .regs_user = 0xff };
    struct bytes b;
    struct record r;
    begin_record(&b, false, PERF_RECORD_SAMPLE, 0);
    put64(&b, PERF_SAMPLE_REGS_ABI_NONE);
    put64(&b, 0);
    put64(&b, UINT64_C(0x0003000200000007));
    set_size(&b, b.n);
    assert_true(record_parse(b.data, b.n, &l, &r, NULL));
    assert_null(r.sample.user_regs);
    assert_null(r.sample.stack);
    assert_int_equal(r.sample.weight, 7);
    assert_int_equal(r.sample.ins_lat, 2);
}

TEST(mmap_is_executable_unless_marked_as_data)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    for (int data = 0; data < 2; data++) {
        begin_record(&b, swap, PERF_RECORD_MMAP, data ? PERF_RECORD_MISC_MMAP_DATA : 0);
        put32(&b, 5);
        put32(&b, 6);
        put64(&b, 0x7f0000000000);
        put64(&b, 0x1000);
        put64(&b, 0x2000);
        put_str(&b, "/usr/lib/libx.so");
        put_id(&b);
        parse_bytes(&b, &r);
        check_id(&r);
        assert_int_equal(r.mmap.pid, 5);
        assert_int_equal(r.mmap.addr, 0x7f0000000000);
        assert_int_equal(r.mmap.len, 0x1000);
        assert_int_equal(r.mmap.pgoff, 0x2000);
        assert_int_equal(r.mmap.prot, data ? 0 : 4);
        assert_string_equal(r.mmap.path, "/usr/lib/libx.so");
    }
}

static void begin_mmap2(struct bytes *b, bool swap, uint16_t misc)
{
    begin_record(b, swap, PERF_RECORD_MMAP2, misc);
    put32(b, 5);
    put32(b, 6);
    put64(b, 0x400000);
    put64(b, 0x1000);
    put64(b, 0);
}

TEST(mmap2_gives_device_and_inode)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_mmap2(&b, swap, 0);
        put32(&b, 8);
        put32(&b, 1);
        put64(&b, 123456789012);
        put64(&b, 42);
        put32(&b, 5);
        put32(&b, 2);
        put_str(&b, "/bin/x");
        put_id(&b);
        parse_bytes(&b, &r);
        check_id(&r);
        assert_int_equal(r.mmap.maj, 8);
        assert_int_equal(r.mmap.min, 1);
        assert_int_equal(r.mmap.ino, 123456789012);
        assert_int_equal(r.mmap.ino_generation, 42);
        assert_int_equal(r.mmap.prot, 5);
        assert_int_equal(r.mmap.flags, 2);
        assert_int_equal(r.mmap.build_id_size, 0);
        assert_string_equal(r.mmap.path, "/bin/x");
    }
}

TEST(mmap2_gives_a_build_id_of_at_most_20_bytes)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_mmap2(&b, swap, PERF_RECORD_MISC_MMAP_BUILD_ID);
        b.data[b.n] = 200;
        memset(b.data + b.n + 1, 0, 3);
        memset(b.data + b.n + 4, 0xab, 20);
        b.n += 24;
        put32(&b, 5);
        put32(&b, 2);
        put_str(&b, "/bin/x");
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.mmap.build_id_size, 20);
        assert_int_equal(r.mmap.build_id[19], 0xab);
        assert_int_equal(r.mmap.ino, 0);
        assert_int_equal(r.mmap.prot, 5);
        assert_string_equal(r.mmap.path, "/bin/x");
    }
}

TEST(an_unterminated_name_is_refused)
{
    struct bytes b;
    struct record r;
    begin_record(&b, false, PERF_RECORD_COMM, 0);
    put32(&b, 1);
    put32(&b, 1);
    put64(&b, 0x4141414141414141);
    put_id(&b);
    assert_false(record_parse(b.data, b.n, &usual, &r, NULL));
}

TEST(comm_says_whether_it_was_an_exec)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    for (int exec = 0; exec < 2; exec++) {
        begin_record(&b, swap, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
        put32(&b, 11);
        put32(&b, 12);
        put_str(&b, "bash");
        put_id(&b);
        parse_bytes(&b, &r);
        check_id(&r);
        assert_int_equal(r.comm.pid, 11);
        assert_int_equal(r.comm.tid, 12);
        assert_int_equal(r.comm.exec, exec);
        assert_string_equal(r.comm.comm, "bash");
    }
}

TEST(fork_and_exit_give_parents)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    for (int i = 0; i < 2; i++) {
        begin_record(&b, swap, i ? PERF_RECORD_EXIT : PERF_RECORD_FORK, 0);
        put32(&b, 21);
        put32(&b, 22);
        put32(&b, 23);
        put32(&b, 24);
        put64(&b, 77);
        put_id(&b);
        parse_bytes(&b, &r);
        assert_true(r.known);
        assert_int_equal(r.task.pid, 21);
        assert_int_equal(r.task.ppid, 22);
        assert_int_equal(r.task.tid, 23);
        assert_int_equal(r.task.ptid, 24);
        assert_int_equal(r.task.time_ns, 77);
    }
}

TEST(lost_samples_are_counted_in_both_records)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_record(&b, swap, PERF_RECORD_LOST, 0);
        put64(&b, 9);
        put64(&b, 1234);
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.lost.id, 9);
        assert_int_equal(r.lost.lost, 1234);
        begin_record(&b, swap, PERF_RECORD_LOST_SAMPLES, 0);
        put64(&b, 4321);
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.lost.id, 0);
        assert_int_equal(r.lost.lost, 4321);
    }
}

TEST(throttle_and_unthrottle_give_the_event)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    for (int i = 0; i < 2; i++) {
        begin_record(&b, swap, i ? PERF_RECORD_THROTTLE : PERF_RECORD_UNTHROTTLE, 0);
        put64(&b, 1);
        put64(&b, 2);
        put64(&b, 3);
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.throttle.time_ns, 1);
        assert_int_equal(r.throttle.id, 2);
        assert_int_equal(r.throttle.stream_id, 3);
    }
}

TEST(ksymbol_gives_address_and_name)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_record(&b, swap, PERF_RECORD_KSYMBOL, 0);
        put64(&b, 0xffffffffc0000000);
        put32(&b, 300);
        put16(&b, 1);
        put16(&b, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
        put_str(&b, "bpf_prog_x");
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.ksymbol.addr, 0xffffffffc0000000);
        assert_int_equal(r.ksymbol.len, 300);
        assert_int_equal(r.ksymbol.ksym_type, 1);
        assert_int_equal(r.ksymbol.flags, 1);
        assert_string_equal(r.ksymbol.name, "bpf_prog_x");
    }
}

/* The kernel adds the size of a sample_id for each earlier listener, and does not write these bytes. */
TEST(records_of_bpf_programs_may_end_in_unwritten_bytes)
{
    struct bytes b;
    struct record r;
    for (uint32_t type = PERF_RECORD_KSYMBOL; type <= PERF_RECORD_BPF_EVENT; type++)
        for (size_t unwritten = 0; unwritten <= 80; unwritten += 8)
            BOTH_ORDERS(swap)
            {
                uint64_t time_ns;
                struct error e;
                begin_record(&b, swap, type, 0);
                put64(&b, 0xffffffffc0000000);
                put64(&b, 0x1234);
                if (type == PERF_RECORD_KSYMBOL)
                    put_str(&b, "bpf_prog_x");
                put_id(&b);
                size_t written = b.n;
                for (size_t i = 0; i < unwritten; i += 8)
                    put64(&b, 0x676e752d78756e69);
                set_size(&b, b.n);
                struct record_layout l = usual;
                l.swap = swap;
                assert_true(record_parse(b.data, b.n, &l, &r, &e));
                assert_int_equal(r.size, written);
                check_id(&r);
                assert_true(record_time(b.data, b.n, &l, &time_ns) && time_ns == 5000000001);
            }
}

TEST(cgroup_gives_id_and_path)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_record(&b, swap, PERF_RECORD_CGROUP, 0);
        put64(&b, 4711);
        put_str(&b, "/system.slice");
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.cgroup.id, 4711);
        assert_string_equal(r.cgroup.path, "/system.slice");
    }
}

TEST(namespaces_are_no_more_than_there_are)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_record(&b, swap, PERF_RECORD_NAMESPACES, 0);
        put32(&b, 31);
        put32(&b, 32);
        put64(&b, 2);
        for (int i = 0; i < 4; i++)
            put64(&b, 100 + i);
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.namespaces.pid, 31);
        assert_int_equal(r.namespaces.n, 2);
        assert_int_equal(record_u64(r.namespaces.links, 3, swap), 103);
        b.n = 16;
        put64(&b, UINT64_C(1) << 60);
        struct record_layout l = usual;
        l.swap = swap;
        assert_false(record_parse(b.data, sizeof b.data, &l, &r, NULL));
    }
}

TEST(switches_give_the_other_task)
{
    struct bytes b;
    struct record r;
    BOTH_ORDERS(swap)
    {
        begin_record(&b, swap, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
        put_id(&b);
        parse_bytes(&b, &r);
        assert_true(r.known);
        check_id(&r);
        begin_record(&b, swap, PERF_RECORD_SWITCH_CPU_WIDE, 0);
        put32(&b, 41);
        put32(&b, 42);
        put_id(&b);
        parse_bytes(&b, &r);
        assert_int_equal(r.cpu_switch.next_prev_pid, 41);
        assert_int_equal(r.cpu_switch.next_prev_tid, 42);
    }
}

TEST(unknown_kernel_record_keeps_its_body_and_id)
{
    struct bytes b;
    struct record r;
    begin_record(&b, false, 63, 0);
    put64(&b, 1);
    put_id(&b);
    parse_bytes(&b, &r);
    assert_false(r.known);
    check_id(&r);
    assert_ptr_equal(r.body, b.data + 8);
}

TEST(user_space_record_has_no_id)
{
    struct bytes b;
    struct record r;
    uint64_t v;
    begin_record(&b, false, 68, 0); /* PERF_RECORD_FINISHED_ROUND: a header alone */
    set_size(&b, b.n);
    assert_true(record_parse(b.data, b.n, &usual, &r, NULL));
    assert_false(r.known);
    assert_int_equal(r.id.has, 0);
    assert_false(record_time(b.data, b.n, &usual, &v));
}

TEST(record_without_id_all_has_no_time)
{
    struct record_layout l = usual;
    struct bytes b;
    struct record r;
    uint64_t v;
    l.id_all = false;
    begin_record(&b, false, PERF_RECORD_COMM, 0);
    put32(&b, 1);
    put32(&b, 1);
    put_str(&b, "x");
    set_size(&b, b.n);
    assert_true(record_parse(b.data, b.n, &l, &r, NULL));
    assert_string_equal(r.comm.comm, "x");
    assert_false(record_time(b.data, b.n, &l, &v));
}

TEST(impossible_sizes_are_refused)
{
    struct bytes b;
    struct record r;
    struct error e;
    begin_record(&b, false, PERF_RECORD_SAMPLE, 0);
    put_id(&b);
    for (size_t size = 0; size < 8; size++) {
        set_size(&b, size);
        assert_false(record_parse(b.data, b.n, &usual, &r, &e));
        assert_int_equal(e.class, ERROR_FORMAT);
    }
    set_size(&b, 65535);
    assert_false(record_parse(b.data, b.n, &usual, &r, &e));
}

TEST_MAIN(NULL, NULL)
