// SPDX-License-Identifier: GPL-2.0-or-later
#include <byteswap.h>
#include <sys/stat.h>

#include "perfdata_fixture.h"
#include "unit_test.h"

#ifdef HAVE_ZSTD
#define WITH_ZSTD true
#else
#define WITH_ZSTD false
#endif

/* The fixture's bytes and the location of its records. */
static struct buf whole;
static uint64_t data_start, data_size;

static void load_fixture(void)
{
    struct error e = { 0 };
    assert_true(fixture_write(fixture_path("whole"), NULL, &e));
    assert_true(file_read(fixture_path("whole"), 1 << 20, &whole, &e));
    memcpy(&data_start, whole.data + offsetof(struct format_header, data), 8);
    memcpy(&data_size, whole.data + offsetof(struct format_header, data) + 8, 8);
}

static uint16_t size_at(const struct buf *b, uint64_t offset)
{
    uint16_t size;
    memcpy(&size, b->data + offset + 6, sizeof size);
    return size;
}

/* Returns the offset of the n-th record of a type. */
static uint64_t find_record(uint32_t type, unsigned n)
{
    for (uint64_t at = data_start; at < data_start + data_size; at += size_at(&whole, at)) {
        uint32_t t;
        memcpy(&t, whole.data + at, sizeof t);
        if (t == type && n-- == 0)
            return at;
    }
    fail();
    return 0;
}

static struct seen read_bytes(const void *bytes, size_t n, bool check, struct buf *damage)
{
    struct seen s = { .check = check };
    struct error e = { 0 };
    fixture_save(fixture_path("bytes"), bytes, n);
    buf_clear(damage);
    if (!fixture_read(fixture_path("bytes"), &s, damage, &e))
        buf_printf(damage, "error: %s", e.text);
    return s;
}

TEST(other_files_are_refused_with_a_reason)
{
    static const struct {
        const char *bytes;
        size_t n;
        const char *says;
    } cases[] = {
        { "", 0, "empty" },
        { "x", 1, "too few" },
        { "PERFILE2", 8, "too few" },
        { "this is some other file", 23, "no perf.data" },
        { "\x1f\x8b\x08 some gzip in a file", 24, "gzip" },
        { "PERFILE2\x68\0\0\0\0\0\0\0", 16, "truncated" },
        { "PERFILE2\x10\0\0\0\0\0\0\0", 16, "no events" },
    };
    struct buf damage = { 0 };
    struct error e = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_bytes(cases[i].bytes, cases[i].n, false, &damage);
        if (!strstr(buf_str(&damage), cases[i].says))
            print_message("%s\n", buf_str(&damage));
        assert_non_null(strstr(buf_str(&damage), cases[i].says));
    }
    assert_null(perfdata_open(fixture_path("missing"), &e));
    assert_non_null(strstr(e.text, "No such file"));
    assert_null(perfdata_open(fixture_dir, &e));
    assert_non_null(strstr(e.text, "folder"));
    assert_null(perfdata_open("/dev/zero", &e));
    assert_non_null(strstr(e.text, "device"));
    mkfifo(fixture_path("fifo"), 0600);
    assert_null(perfdata_open(fixture_path("fifo"), &e)); /* and does not wait for a writer */
    assert_non_null(strstr(e.text, "pipe"));
    buf_done(&damage);
}

TEST(a_file_truncated_anywhere_gives_its_complete_records)
{
    struct buf damage = { 0 };
    uint64_t before = 0;
    for (size_t n = data_start; n < data_start + data_size; n += 40) {
        struct seen s = read_bytes(whole.data, n, true, &damage);
        assert_int_equal(s.wrong, 0);
        assert_true(s.samples >= before);
        assert_non_null(strstr(buf_str(&damage), "the file is truncated"));
        before = s.samples;
    }
    assert_int_equal(before, FIXTURE_SAMPLES);
    for (size_t n = 0; n < data_start; n++)
        read_bytes(whole.data, n, false, &damage);
    buf_done(&damage);
}

TEST(a_killed_recording_is_read_to_its_end)
{
    struct buf copy = { 0 }, damage = { 0 };
    uint64_t zero = 0;
    buf_add(&copy, whole.data, data_start + data_size);
    memcpy(copy.data + offsetof(struct format_header, data) + 8, &zero, 8);
    struct seen s = read_bytes(copy.data, copy.len, true, &damage);
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.wrong, 0);
    assert_non_null(strstr(buf_str(&damage), "is not finished"));
    assert_null(strstr(buf_str(&damage), "skipped"));
    buf_done(&copy);
    buf_done(&damage);
}

TEST(zeroed_pages_are_skipped)
{
    struct buf copy = { 0 }, damage = { 0 };
    buf_add(&copy, whole.data, whole.len);
    uint64_t from = find_record(PERF_RECORD_SAMPLE, 50) + 20, to = from + 4096;
    memset(copy.data + from, 0, 4096);
    struct seen s = read_bytes(copy.data, copy.len, false, &damage);
    unsigned lost = 0;
    for (unsigned i = 0; i < FIXTURE_SAMPLES; i++) {
        uint64_t at = find_record(PERF_RECORD_SAMPLE, i);
        lost += at + size_at(&whole, at) > from && at < to;
    }
    /* The first of them is complete except for its content. */
    assert_true(s.samples >= FIXTURE_SAMPLES - lost && s.samples <= FIXTURE_SAMPLES - lost + 1);
    assert_non_null(strstr(buf_str(&damage), "zero bytes"));
    buf_done(&copy);
    buf_done(&damage);
}

TEST(text_between_and_after_records_is_skipped)
{
    static const char text[] = "Hello, World!\n";
    struct buf copy = { 0 }, damage = { 0 };
    uint64_t middle = find_record(PERF_RECORD_SAMPLE, 100), zero = 0;
    buf_add(&copy, whole.data, middle);
    buf_puts(&copy, text);
    buf_add(&copy, whole.data + middle, data_start + data_size - middle);
    buf_puts(&copy, text);
    memcpy(copy.data + offsetof(struct format_header, data) + 8, &zero, 8);
    struct seen s = read_bytes(copy.data, copy.len, true, &damage);
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.wrong, 0);
    assert_non_null(strstr(buf_str(&damage), "28 bytes that are no records"));
    buf_done(&copy);
    buf_done(&damage);
}

TEST(unknown_records_are_skipped_and_counted)
{
    static const struct perf_event_header future = { .type = 39, .size = 64 },
                                          far = { .type = 5000, .size = 32 };
    struct buf copy = { 0 }, damage = { 0 };
    uint64_t middle = find_record(PERF_RECORD_SAMPLE, 100), size = data_size + 96;
    buf_add(&copy, whole.data, middle);
    buf_add(&copy, &future, sizeof future);
    buf_add(&copy, "012345678901234567890123", 24);
    buf_add(&copy, whole.data + middle - 32, 32); /* part of its sample_id: any time is accepted */
    buf_add(&copy, &far, sizeof far);
    buf_add(&copy, "012345678901234567890123", 24);
    buf_add(&copy, whole.data + middle, data_start + data_size - middle);
    memcpy(copy.data + offsetof(struct format_header, data) + 8, &size, 8);
    memset(copy.data + offsetof(struct format_header, features), 0, 32);
    struct seen s = read_bytes(copy.data, copy.len, true, &damage);
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.wrong, 0);
    assert_string_equal(buf_str(&damage), "2 records of types that are not known here were skipped\n");
    buf_done(&copy);
    buf_done(&damage);
}

/* As perf writes rings: the records of one CPU after those of another. */
TEST(records_are_delivered_in_time_order)
{
    struct buf copy = { 0 }, damage = { 0 };
    buf_add(&copy, whole.data, find_record(PERF_RECORD_SAMPLE, 0));
    for (unsigned round = 0; round < FIXTURE_SAMPLES; round += 50)
        for (unsigned cpu = 0; cpu < 5; cpu++)
            for (unsigned i = cpu; i < 50; i += 5) {
                uint64_t at = find_record(PERF_RECORD_SAMPLE, round + 49 - (i + cpu) % 50);
                buf_add(&copy, whole.data + at, size_at(&whole, at));
            }
    uint64_t rest = find_record(PERF_RECORD_SAMPLE, FIXTURE_SAMPLES - 1);
    rest += size_at(&whole, rest);
    buf_add(&copy, whole.data + rest, whole.len - rest);
    assert_int_equal(copy.len, whole.len);
    struct seen s = read_bytes(copy.data, copy.len, false, &damage);
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.out_of_order, 0);
    assert_string_equal(buf_str(&damage), "");
    buf_done(&copy);
    buf_done(&damage);
}

/* Feature sections and attrs as records, as in `perf record -o -`. */
static void add_record(struct buf *b, uint32_t type, const void *head, size_t head_n, const void *body,
                       size_t body_n)
{
    struct perf_event_header h = { .type = type, .size = (uint16_t)(sizeof h + head_n + body_n) };
    buf_add(b, &h, sizeof h);
    buf_add(b, head, head_n);
    buf_add(b, body, body_n);
}

static void make_pipe(struct buf *out)
{
    struct format_header h;
    uint64_t entry, table, size = FORMAT_PIPE_BYTES, ids[] = { 1, 2 };
    memcpy(&h, whole.data, sizeof h);
    entry = h.attr_size;
    buf_add(out, FORMAT_MAGIC_V2, 8);
    buf_add(out, &size, 8);
    for (uint64_t i = 0; i < 2; i++)
        add_record(out, FORMAT_RECORD_ATTR, whole.data + h.attrs.offset + i * entry, entry - 16, &ids[i], 8);
    table = data_start + data_size;
    for (uint64_t f = 0; f < FORMAT_FEATURES; f++) {
        struct format_section s;
        if (!(h.features[f / 64] >> f % 64 & 1))
            continue;
        memcpy(&s, whole.data + table, sizeof s);
        table += sizeof s;
        if (f != FORMAT_BUILD_ID)
            add_record(out, FORMAT_RECORD_FEATURE, &f, 8, whole.data + s.offset, s.size);
        else
            buf_add(out, whole.data + s.offset, s.size);
    }
    uint64_t name[] = { FORMAT_EVENT_UPDATE_NAME, 2 };
    add_record(out, FORMAT_RECORD_EVENT_UPDATE, name, 16, "my own name\0\0\0\0", 16);
    uint32_t tracing = 6; /* padded to 8; its record has 12 */
    add_record(out, FORMAT_RECORD_TRACING_DATA, &tracing, 4, NULL, 0);
    buf_add(out, "\1\2\3\4\5\6\7\1", 8);
    uint64_t aux[5] = { 100 };
    add_record(out, FORMAT_RECORD_AUXTRACE, aux, sizeof aux, NULL, 0);
    for (int i = 0; i < 100; i++)
        buf_putc(out, (char)i);
    buf_add(out, whole.data + data_start, data_size);
}

TEST(a_file_written_to_a_pipe_is_read)
{
    const struct perfdata_event *events;
    const struct perfdata_build_id *ids;
    struct buf pipe = { 0 }, damage = { 0 };
    struct error e = { 0 };
    make_pipe(&pipe);
    struct seen s = read_bytes(pipe.data, pipe.len, true, &damage);
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.wrong, 0);
    assert_string_equal(buf_str(&damage), "100 bytes of hardware trace (AUX area) were skipped\n");
    struct perfdata *p = perfdata_open(fixture_path("bytes"), &e);
    assert_non_null(p);
    assert_int_equal(perfdata_events(p, &events), 2);
    assert_string_equal(events[0].name, "cpu-clock");
    assert_string_equal(events[1].name, "my own name");
    assert_int_equal(perfdata_build_ids(p, &ids), 2);
    assert_string_equal(ids[1].path, "/usr/bin/parent");
    assert_true(perfdata_info(p)->cpus_online >= 1);
    assert_true(*perfdata_info(p)->hostname);
    perfdata_close(p);
    buf_done(&pipe);
    buf_done(&damage);
}

/* zstd with uncompressed blocks, so that the test needs no compressor: one frame that never ends, with its
 * blocks in separate records, split at arbitrary places as by the ring. */
static void make_compressed(struct buf *out, uint32_t type, size_t piece)
{
    static const uint8_t frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58 };
    for (size_t at = 0; at < data_size; at += piece) {
        size_t n = data_size - at < piece ? data_size - at : piece;
        uint8_t block[3] = { (uint8_t)(n << 3), (uint8_t)(n >> 5), (uint8_t)(n >> 13) };
        struct buf body = { 0 };
        if (!at)
            buf_add(&body, frame, sizeof frame);
        buf_add(&body, block, sizeof block);
        buf_add(&body, whole.data + data_start + at, n);
        uint64_t size = body.len;
        while (type == FORMAT_RECORD_COMPRESSED2 && body.len % 8)
            buf_putc(&body, '\0');
        add_record(out, type, &size, type == FORMAT_RECORD_COMPRESSED2 ? 8 : 0, body.data, body.len);
        struct perf_event_header round = { .type = FORMAT_RECORD_FINISHED_ROUND, .size = 8 };
        buf_add(out, &round, sizeof round);
        buf_done(&body);
    }
}

TEST(compressed_records_are_one_stream)
{
    struct buf copy = { 0 }, damage = { 0 };
    for (int two = 0; two < 2; two++) {
        uint64_t size;
        buf_clear(&copy);
        buf_add(&copy, whole.data, data_start);
        make_compressed(&copy, two ? FORMAT_RECORD_COMPRESSED2 : FORMAT_RECORD_COMPRESSED, 1001);
        size = copy.len - data_start;
        memcpy(copy.data + offsetof(struct format_header, data) + 8, &size, 8);
        memset(copy.data + offsetof(struct format_header, features), 0, 32);
        struct seen s = read_bytes(copy.data, copy.len, true, &damage);
        if (!WITH_ZSTD) {
            assert_non_null(strstr(buf_str(&damage), "without zstd"));
            continue;
        }
        assert_int_equal(s.samples, FIXTURE_SAMPLES);
        assert_int_equal(s.wrong, 0);
        assert_string_equal(buf_str(&damage), "");
        /* Truncated in its middle it yields the samples before. */
        s = read_bytes(copy.data, data_start + size / 2, true, &damage);
        assert_true(s.samples > FIXTURE_SAMPLES * 45 / 100 && s.samples < FIXTURE_SAMPLES * 55 / 100);
        assert_int_equal(s.wrong, 0);
        /* Damaged, too. */
        uint64_t at = data_start + size / 2;
        memset(copy.data + at, 0xff, 2000);
        s = read_bytes(copy.data, copy.len, true, &damage);
        assert_true(s.samples > FIXTURE_SAMPLES * 2 / 5 && s.samples < FIXTURE_SAMPLES);
        assert_true(*buf_str(&damage));
    }
    buf_done(&copy);
    buf_done(&damage);
}

/* ---- the other byte order ---- */

static void swap32(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t v;
        memcpy(&v, p + 4 * i, 4);
        v = bswap_32(v);
        memcpy(p + 4 * i, &v, 4);
    }
}

static void swap64(char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v;
        memcpy(&v, p + 8 * i, 8);
        v = bswap_64(v);
        memcpy(p + 8 * i, &v, 8);
    }
}

static void swap_attr(char *p)
{
    swap32(p, 2);
    swap64(p + 8, 4);
    for (int i = 40; i < 48; i++) {
        unsigned b = (unsigned char)p[i], m = 0;
        for (int bit = 0; bit < 8; bit++)
            m |= (b >> bit & 1) << (7 - bit);
        p[i] = (char)m;
    }
    swap32(p + 48, 2);
    swap64(p + 56, 4);
    swap32(p + 88, 2);
}

/* Only samples: their records are 64-bit words except for the pairs of 32 bits. */
static void make_swapped(struct buf *out)
{
    struct format_header h;
    memcpy(&h, whole.data, sizeof h);
    uint64_t from = find_record(PERF_RECORD_SAMPLE, 0),
             to = find_record(PERF_RECORD_SAMPLE, FIXTURE_SAMPLES - 1);
    to += size_at(&whole, to);
    h.data.size = to - from;
    memset(h.features, 0, sizeof h.features);
    buf_add(out, &h, sizeof h);
    buf_add(out, whole.data + sizeof h, data_start - sizeof h);
    buf_add(out, whole.data + from, to - from);
    for (uint64_t i = 0; i < h.attrs.size / h.attr_size; i++) {
        char *entry = out->data + h.attrs.offset + i * h.attr_size;
        swap_attr(entry);
        swap64(entry + h.attr_size - 16, 2);
    }
    swap64(out->data + sizeof h, 2); /* the ids */
    for (uint64_t at = data_start; at < out->len;) {
        uint16_t size = size_at(out, at), misc;
        memcpy(&misc, out->data + at + 4, 2);
        swap32(out->data + at, 1);
        misc = bswap_16(misc);
        memcpy(out->data + at + 4, &misc, 2);
        misc = bswap_16(size);
        memcpy(out->data + at + 6, &misc, 2);
        swap64(out->data + at + 8, 2);
        swap32(out->data + at + 24, 2);
        swap64(out->data + at + 32, 1);
        swap32(out->data + at + 40, 2);
        swap64(out->data + at + 48, (size - 48u) / 8);
        at += size;
    }
    memcpy(out->data, FORMAT_MAGIC_V2_SWAPPED, 8);
    swap64(out->data + 8, (sizeof h - 8) / 8);
}

TEST(files_in_the_other_byte_order_are_read)
{
    struct buf copy = { 0 }, damage = { 0 };
    make_swapped(&copy);
    struct seen s = read_bytes(copy.data, copy.len, true, &damage);
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.wrong, 0);
    assert_string_equal(buf_str(&damage), "");
    buf_done(&copy);
    buf_done(&damage);
}

TEST(attrs_of_any_size_are_read)
{
    static const uint32_t sizes[] = { 64, 72, 96, 136, 200 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct buf copy = { 0 }, damage = { 0 };
        struct format_header h;
        memcpy(&h, whole.data, sizeof h);
        /* Moves the attrs to the end of the file. */
        buf_add(&copy, whole.data, whole.len);
        for (uint64_t n = 0; n < 2; n++) {
            const char *entry = whole.data + h.attrs.offset + n * h.attr_size;
            char attr[256] = "";
            memcpy(attr, entry, sizes[i] < 96 ? sizes[i] : 96);
            memcpy(attr + 4, &sizes[i], 4);
            buf_add(&copy, attr, sizes[i]);
            buf_add(&copy, entry + h.attr_size - 16, 16);
        }
        h.attr_size = sizes[i] + 16;
        h.attrs = (struct format_section){ whole.len, 2 * h.attr_size };
        memcpy(copy.data, &h, sizeof h);
        struct seen s = read_bytes(copy.data, copy.len, true, &damage);
        assert_int_equal(s.samples, FIXTURE_SAMPLES);
        assert_int_equal(s.wrong, 0);
        assert_string_equal(buf_str(&damage), "");
        buf_done(&copy);
        buf_done(&damage);
    }
}

TEST(events_without_names_are_named_from_their_attrs)
{
    static const struct {
        struct perf_event_attr attr;
        const char *name;
    } cases[] = {
        { { .type = PERF_TYPE_HARDWARE, .exclude_guest = 1 }, "cycles" },
        { { .type = PERF_TYPE_HARDWARE, .config = 4, .exclude_guest = 1, .precise_ip = 2 }, "branches:ppH" },
        { { .type = PERF_TYPE_HARDWARE, .exclude_kernel = 1, .exclude_hv = 1 }, "cycles:u" },
        { { .type = PERF_TYPE_HARDWARE }, "cycles:HG" },
        { { .type = PERF_TYPE_SOFTWARE, .config = 2, .exclude_guest = 1 }, "page-faults" },
        { { .type = PERF_TYPE_HW_CACHE, .config = 0x10000, .exclude_guest = 1 }, "L1-dcache-load-misses" },
        { { .type = PERF_TYPE_RAW, .config = 0x1c2, .exclude_guest = 1 }, "raw 0x1c2" },
        { { .type = PERF_TYPE_TRACEPOINT, .config = 314 }, "tracepoint 0x13a" },
        { { .type = PERF_TYPE_BREAKPOINT, .bp_type = 3, .config1 = 0x1000, .exclude_guest = 1 },
          "mem:0x1000:rw" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct perfdata_write_event event = { .name = "x", .attr = &cases[i].attr };
        const struct perfdata_event *events;
        struct error e = { 0 };
        struct buf bytes = { 0 };
        struct perfdata_writer *w = perfdata_writer_open(fixture_path("n"), &event, 1, false, false, &e);
        assert_non_null(w);
        assert_true(perfdata_writer_commit(w, NULL, &e));
        assert_true(file_read(fixture_path("n"), 1 << 20, &bytes, &e));
        memset(bytes.data + offsetof(struct format_header, features), 0, 32);
        fixture_save(fixture_path("n"), bytes.data, bytes.len);
        struct perfdata *p = perfdata_open(fixture_path("n"), &e);
        assert_non_null(p);
        perfdata_events(p, &events);
        assert_string_equal(events[0].name, cases[i].name);
        perfdata_close(p);
        buf_done(&bytes);
    }
}

static bool stop_at_ten(void *ctx, const struct record *r)
{
    (void)r;
    return ++*(int *)ctx < 10;
}

TEST(reading_stops_on_request_and_restarts)
{
    struct error e = { 0 };
    struct seen s = { .check = true };
    double progress = 0;
    int n = 0;
    struct perfdata *p = perfdata_open(fixture_path("whole"), &e);
    assert_non_null(p);
    assert_false(perfdata_each(p, stop_at_ten, &n, &progress, &e));
    assert_int_equal(n, 10);
    assert_string_equal(e.text, "");
    assert_true(perfdata_each(p, see_record, &s, &progress, &e));
    assert_int_equal(s.samples, FIXTURE_SAMPLES);
    assert_int_equal(s.wrong, 0);
    assert_true(progress == 1);
    perfdata_close(p);
}

TEST(random_damage_does_no_harm)
{
    struct buf copy = { 0 }, damage = { 0 };
    uint64_t random = 88172645463325252u;
    for (int round = 0; round < 300; round++) {
        buf_clear(&copy);
        if (round % 3 == 0)
            make_pipe(&copy);
        else
            buf_add(&copy, whole.data, whole.len);
        for (int i = 0; i < 20; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            size_t at = random % (i < 10 ? data_start + 300 : copy.len);
            if (at >= 16)
                copy.data[at] = (char)(random >> 32);
        }
        struct seen s = read_bytes(copy.data, copy.len, false, &damage);
        assert_true(s.samples <= 4 * FIXTURE_SAMPLES);
    }
    buf_done(&copy);
    buf_done(&damage);
}

static int setup(void **state)
{
    if (fixture_setup(state))
        return -1;
    load_fixture();
    return 0;
}

static int teardown(void **state)
{
    buf_done(&whole);
    return fixture_teardown(state);
}

TEST_MAIN(setup, teardown)
