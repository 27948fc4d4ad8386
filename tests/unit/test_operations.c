// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations become samples. The records are synthetic: two tracepoints of a made tracefs, in a session that
 * is built by hand around an empty world. */
#include "operations_fixture.h"

#include "perf/pair_command.h"
#include "profile/operation_data.h"
#include "session/operation_rows.h"
#include "session/query/select.h"

enum { BEGIN, END, LATENCY, EVENTS };
static struct pair_rows rows;

static void put(const char *event, const char *file, const char *text)
{
    put_event("io", event, file, text);
}

/* What both events have. */
struct io {
    uint32_t dev, bytes;
    uint64_t sector;
    char rwbs[8];
};

static void make_tracefs(void)
{
    static const char format[] = "\tfield:u32 dev;\toffset:0;\tsize:4;\tsigned:0;\n"
                                 "\tfield:u32 bytes;\toffset:4;\tsize:4;\tsigned:0;\n"
                                 "\tfield:u64 sector;\toffset:8;\tsize:8;\tsigned:0;\n"
                                 "\tfield:char rwbs[8];\toffset:16;\tsize:8;\tsigned:0;\n";
    put("begin", "id", "11\n");
    put("begin", "format", format);
    put("end", "id", "12\n");
    put("end", "format", format);
}

static int begin_test(void **state)
{
    operations_set_up(state, make_tracefs, EVENTS);
    return 0;
}

static int end_test(void **state)
{
    int result = operations_tear_down(state);
    pair_rows_done(&rows);
    return result;
}

#define FIXTURE_TEST(name) TEST_WITH(name, begin_test, end_test)

/* Measures the operations of a row of a latency file. */
static void use_row(const char *text)
{
    struct error e = { 0 };
    struct event latency = { .name = "latency:x", .latency = true }, parts[PAIR_PARTS];
    if (!pair_rows_read_text(&rows, "mine", text, &e))
        fail_msg("%s", e.text);
    latency.pair = &rows.items[0];
    if (!event_latency_parts(&latency, parts, &e))
        fail_msg("%s", e.text);
    s->store.events[BEGIN].event = parts[PAIR_BEGIN];
    s->store.events[END].event = parts[PAIR_END];
    s->store.events[LATENCY].event = latency;
    operations_start(LATENCY);
}

static void feed_at(uint32_t source, uint64_t time_ns, uint32_t tid, uint64_t sector, const char *rwbs)
{
    struct io io = { .dev = 254 << 20 | 3, .bytes = 4096, .sector = sector };
    struct record r = record(PERF_RECORD_SAMPLE, tid);
    snprintf(io.rwbs, sizeof io.rwbs, "%s", rwbs);
    r.id.time_ns = now_ns = time_ns;
    r.source = source;
    r.sample.raw = &io;
    r.sample.raw_size = sizeof io;
    feed_record(&r);
}

static void feed(uint32_t source, uint64_t after_ns, uint32_t tid, uint64_t sector, const char *rwbs)
{
    feed_at(source, now_ns + after_ns, tid, sector, rwbs);
}

static const struct pairs_counts *counts(void)
{
    return &s->collect.operations.rows.items[0].pairs.counts;
}

static const struct sample *sample(uint64_t number)
{
    const struct sample *found = history_sample(s->store.history, number);
    assert_non_null(found);
    return found;
}

/* Checks the name of a sample's leaf, its duration and its thread. */
static void expect(uint64_t number, const char *name, uint64_t ns, uint32_t tid)
{
    const struct sample *got = sample(number);
    uint32_t frame = stacks_frames(s->store.stacks)[got->stack];
    struct symbol sym;
    assert_int_equal(stacks_frame_modules(s->store.stacks)[frame], MODULE_ID_OPERATION);
    symbolizer_lookup(s->store.symbolizer, world_module(s->store.world, MODULE_ID_OPERATION),
                      stacks_frame_offsets(s->store.stacks)[frame], &sym);
    assert_string_equal(sym.name, name);
    assert_int_equal(got->weight, ns);
    assert_int_equal(got->event, LATENCY);
    assert_int_equal(world_thread(s->store.world, got->thread)->tid, tid);
}

#define BY_SECTOR "x io:begin io:end dev,sector device(dev)+io(rwbs) bytes begin I/O\n"
#define BY_THREAD "x io:begin io:end thread - - begin calls\n"

FIXTURE_TEST(an_operation_is_a_sample)
{
    struct operation_data data;
    char name[OPERATION_NAME_MAX];
    uint32_t size;
    use_row(BY_SECTOR);
    feed(BEGIN, 10, 500, 8, "WS");
    feed(BEGIN, 10, 501, 16, "RA");
    feed(END, 10, 777, 16, "RA"); /* another thread sees the end */
    feed(END, 10, 777, 8, "WS");
    assert_int_equal(history_count(s->store.history), 2);
    expect(0, "[x: 254:3 read]", 10, 501);
    expect(1, "[x: 254:3 write]", 30, 500);
    assert_int_equal(sample(1)->time_ns, now_ns);
    const void *raw = history_raw(s->store.history, sample(1), &size);
    assert_true(operation_data_read(raw, size, &data, name));
    assert_int_equal(data.size, 4096);
    assert_int_equal(counts()->ended, 2);
}

FIXTURE_TEST(kinds_of_io_have_names)
{
    static const char *const cases[][2] = { { "R", "read" },     { "W", "write" }, { "FWFS", "write" },
                                            { "FF", "flush" },   { "F", "flush" }, { "FWS", "write" },
                                            { "D", "discard" },  { "N", "other" }, { "", "other" },
                                            { "RAHS\n", "read" } };
    use_row(BY_SECTOR);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64];
        feed(BEGIN, 5, 500, i, cases[i][0]);
        feed(END, 5, 500, i, "");
        snprintf(name, sizeof name, "[x: 254:3 %s]", cases[i][1]);
        expect(i, name, 5, 500);
    }
}

/* The kernel says sector 0 when a flush is issued, and -1 at its end. */
FIXTURE_TEST(a_flush_ends)
{
    use_row(BY_SECTOR);
    feed(BEGIN, 5, 500, 0, "FF");
    feed(END, 7, 500, UINT64_MAX, "FF");
    expect(0, "[x: 254:3 flush]", 7, 500);
}

FIXTURE_TEST(operations_on_futexes_have_names)
{
    static const char *const cases[][2] = { { "0", "wait" }, { "1", "wake" }, { "9", "wait_bitset" } };
    use_row("x io:begin io:end sector futex(sector) - begin futexes\n");
    for (uint64_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64];
        uint64_t op = (uint64_t)atoi(cases[i][0]) | 128 | (i ? 256 : 0);
        feed(BEGIN, 5, 500, op, "");
        feed(END, 5, 500, op, "");
        snprintf(name, sizeof name, "[x: %s]", cases[i][1]);
        expect(i, name, 5, 500);
    }
    feed(BEGIN, 5, 500, 77, "");
    feed(END, 5, 500, 77, "");
    expect(3, "[x: futex 77]", 5, 500);
}

FIXTURE_TEST(hostile_text_is_cleaned_and_bounded)
{
    use_row("x io:begin io:end sector rwbs+sector - begin texts\n");
    feed(BEGIN, 5, 500, 7, "\033[2J");
    feed(END, 5, 500, 7, "");
    uint32_t frame = stacks_frames(s->store.stacks)[sample(0)->stack];
    struct symbol sym;
    symbolizer_lookup(s->store.symbolizer, world_module(s->store.world, MODULE_ID_OPERATION),
                      stacks_frame_offsets(s->store.stacks)[frame], &sym);
    assert_null(strchr(sym.name, '\033'));
    assert_non_null(strstr(sym.name, "sector 7]"));
    for (uint64_t i = 0; i < 10000; i++) { /* a name each */
        feed(BEGIN, 5, 500, 1000 + i, "W");
        feed(END, 5, 500, 1000 + i, "");
    }
    assert_int_equal(counts()->ended, 10001);
    assert_true(s->collect.operations.rows.items[0].names.n <= 4096);
    expect(10000, "[x: other]", 5, 500);
}

FIXTURE_TEST(a_short_payload_is_ignored)
{
    struct record r;
    use_row(BY_SECTOR);
    for (uint32_t size = 0; size < sizeof(struct io); size++) {
        struct io io = { .dev = 1, .sector = 2 };
        r = record(PERF_RECORD_SAMPLE, 500);
        r.source = size % 2 ? BEGIN : END;
        r.sample.raw = &io;
        r.sample.raw_size = size;
        feed_record(&r);
    }
    assert_true(history_count(s->store.history) <= 4);
}

FIXTURE_TEST(the_end_of_a_thread_ends_its_operation)
{
    use_row(BY_THREAD);
    feed(BEGIN, 5, 500, 0, "");
    feed(BEGIN, 5, 501, 0, "");
    do_exit(500);
    feed(END, 5, 500, 0, ""); /* a new thread with its number */
    feed(END, 5, 501, 0, "");
    assert_int_equal(counts()->gone, 1);
    assert_int_equal(counts()->unbegun, 1);
    expect(0, "[x]", 11, 501); /* the exit is a record of its own, 1 ns later */
    feed(BEGIN, 5, 0, 0, "");  /* idle tasks of all CPUs have this number */
    feed(END, 5, 0, 0, "");
    assert_int_equal(history_count(s->store.history), 1);
}

#define BY_PROCESS "x io:begin io:end process,successive rwbs - begin programs\n"

FIXTURE_TEST(a_begin_may_end_the_operation_before)
{
    use_row(BY_PROCESS);
    do_fork(500, 1);
    do_comm(500, "first", true);
    feed(BEGIN, 5, 500, 0, "first");
    feed(BEGIN, 5, 501, 0, "other");
    do_comm(500, "second", true);
    feed(BEGIN, 5, 500, 0, "second");
    assert_int_equal(history_count(s->store.history), 1);
    expect(0, "[x: first]", 11, 500);
    assert_string_equal(world_thread(s->store.world, sample(0)->thread)->comm, "first");
    bounds_forget_all(s); /* open operations keep their threads */
    feed(END, 5, 500, 0, "");
    expect(1, "[x: second]", 5, 500);
    assert_string_equal(world_thread(s->store.world, sample(1)->thread)->comm, "second");
    assert_int_equal(world_thread(s->store.world, sample(1)->thread)->ppid, 1);
    assert_int_equal(counts()->ended, 2);
    assert_int_equal(counts()->replaced + counts()->unbegun + counts()->lost, 0);
}

FIXTURE_TEST(a_process_that_executes_nothing_lacks_no_begin)
{
    use_row(BY_PROCESS);
    do_fork(500, 1);
    feed(END, 5, 500, 0, "");
    assert_int_equal(counts()->unbegun, 0);
    do_fork(501, 1);
    do_comm(501, "program", true);
    feed(END, 5, 501, 0, ""); /* its begin is missing */
    assert_int_equal(counts()->unbegun, 1);
    feed(END, 5, 502, 0, ""); /* it was there before */
    assert_int_equal(counts()->unbegun, 2);
    assert_int_equal(history_count(s->store.history), 0);
}

/* The probe at a program's start: argc, where each word is, and the addresses. */
struct start {
    uint64_t argc;
    uint32_t words[PAIR_COMMAND_WORDS];
    uint64_t at[PAIR_COMMAND_WORDS + 2];
    char text[32];
};

/* As if the probe could be defined: its event is the last one. */
static void use_command(void)
{
    struct operations_row *row = &s->collect.operations.rows.items[0];
    struct buf format = { 0 };
    buf_puts(&format, "\tfield:u64 argc;\toffset:0;\tsize:8;\tsigned:0;\n");
    for (size_t i = 0; i < PAIR_COMMAND_WORDS; i++)
        buf_printf(&format, "\tfield:__data_loc char[] word%zu;\toffset:%zu;\tsize:4;\tsigned:1;\n", i,
                   offsetof(struct start, words) + 4 * i);
    for (size_t i = 0; i < PAIR_COMMAND_WORDS + 2; i++)
        buf_printf(&format, "\tfield:u64 at%zu;\toffset:%zu;\tsize:8;\tsigned:0;\n", i,
                   offsetof(struct start, at) + 8 * i);
    row->parts[PAIR_MORE] = s->store.n_events;
    *session_add_event(s) = (struct session_event){ .event = { .of_pair = true } };
    row->fields.formats[PAIR_MORE] = payload_format_new(buf_str(&format), format.len, false);
    assert_true(pair_command_find(row->fields.formats[PAIR_MORE], &row->fields.command));
    buf_done(&format);
}

static void start_program(uint32_t pid, unsigned number)
{
    struct start start = { .argc = 2 };
    struct record r = record(PERF_RECORD_SAMPLE, pid);
    int n = snprintf(start.text + 3, sizeof start.text - 3, "%u", number) + 1;
    memcpy(start.text, "io", 3);
    start.words[0] = 3 << 16 | offsetof(struct start, text);
    start.words[1] = (uint32_t)n << 16 | (offsetof(struct start, text) + 3);
    r.source = s->collect.operations.rows.items[0].parts[PAIR_MORE];
    r.sample.raw = &start;
    r.sample.raw_size = sizeof start;
    feed_record(&r);
}

FIXTURE_TEST(arguments_are_added_to_the_name)
{
    use_row("x io:begin io:end process,successive command(rwbs) - begin programs\n");
    const struct operations_row *row = &s->collect.operations.rows.items[0];
    assert_true(row->parts[PAIR_MORE] == UINT32_MAX && row->fields.no_command.class);
    use_command();
    row = &s->collect.operations.rows.items[0];
    feed(BEGIN, 5, 500, 0, "io");
    start_program(500, 7);
    start_program(501, 8); /* it began before */
    feed(END, 5, 500, 0, "");
    expect(0, "[x: io 7]", 7, 500);
    feed(BEGIN, 5, 500, 0, "io"); /* static */
    feed(END, 5, 500, 0, "");
    expect(1, "[x: io]", 5, 500);
    assert_int_equal(row->incomplete, 1);
    for (unsigned i = 0; i < 100000; i++) { /* a name each */
        feed(BEGIN, 5, 500, 0, "io");
        start_program(500, i);
        feed(END, 5, 500, 0, "");
    }
    assert_int_equal(counts()->ended, 100002);
    assert_true(row->completed.n <= 16384 && row->names.n == 1);
    expect(100001, "[x: io]", 6, 500);
    assert_int_equal(row->incomplete, 1 + 100000 - row->completed.n);
}

static void lose_on(uint32_t cpu)
{
    struct record r = record(PERF_RECORD_LOST, 0);
    r.id.cpu = cpu;
    feed_record(&r);
}

FIXTURE_TEST(lost_records_make_operations_doubtful)
{
    use_row(BY_THREAD);
    feed(BEGIN, 5, 500, 0, "");
    lose_on(7);
    feed(END, 5, 500, 0, "");
    assert_int_equal(history_count(s->store.history), 0);
    assert_int_equal(counts()->lost, 1);
    assert_int_equal(counts()->unbegun, 0);
    feed(BEGIN, 5, 500, 0, "");
    feed(END, 5, 500, 0, "");
    assert_int_equal(history_count(s->store.history), 1);
}

/* The records of the fixture are of CPU 0. */
FIXTURE_TEST(an_operation_of_a_cpu_is_lost_on_its_cpu_only)
{
    use_row("x io:begin io:end cpu,sector - - begin interrupts\n");
    feed(BEGIN, 5, 500, 1, "");
    lose_on(7);
    feed(END, 5, 500, 1, "");
    assert_int_equal(history_count(s->store.history), 1);
    feed(BEGIN, 5, 500, 1, "");
    lose_on(0);
    feed(END, 5, 500, 1, "");
    assert_int_equal(history_count(s->store.history), 1);
    assert_int_equal(counts()->lost, 1);
}

FIXTURE_TEST(flametops_own_operations_are_left_out)
{
    uint32_t self = (uint32_t)getpid();
    use_row(BY_THREAD);
    feed(BEGIN, 5, self, 0, "");
    feed(END, 5, self, 0, "");
    assert_int_equal(history_count(s->store.history), 0);
    assert_int_equal(counts()->ended + counts()->unbegun, 0);
}

FIXTURE_TEST(operations_go_on_in_the_next_source)
{
    use_row(BY_THREAD);
    feed(BEGIN, 100, 500, 0, "");
    uint64_t from_ns = now_ns;
    feed_at(BEGIN, from_ns + 10, 501, 0, "");
    feed_at(END, from_ns + 20, 501, 0, "");
    operations_adopt(s);
    feed_at(END, from_ns + 50, 500, 0, "");
    assert_int_equal(history_count(s->store.history), 2);
    expect(0, "[x]", 10, 501);
    expect(1, "[x]", 50, 500);
    assert_int_equal(counts()->ended, 2);
    assert_int_equal(counts()->unbegun + counts()->lost + counts()->replaced, 0);
    feed(BEGIN, 5, 500, 0, "");
    operations_restart(s); /* another scope */
    assert_int_equal(counts()->lost, 1);
}

FIXTURE_TEST(a_missing_part_leaves_the_row_out)
{
    use_row(BY_THREAD);
    s->store.events[END].left_out = true; /* it did not open */
    operations_open(s, 0);
    assert_true(s->store.events[LATENCY].left_out);
    operations_adopt(s);
    assert_int_equal(s->collect.operations.rows.n, 0);
    feed(BEGIN, 5, 500, 0, "");
    assert_int_equal(history_count(s->store.history), 0);
}

FIXTURE_TEST(parts_go_with_their_row)
{
    session_add_event(s);
    use_row(BY_THREAD);
    for (uint32_t i = 0; i <= EVENTS; i++)
        s->store.events[i].leader = i;
    assert_false(operations_event_stays(s, BEGIN, LATENCY));
    assert_false(operations_event_stays(s, END, LATENCY));
    s->store.events[EVENTS].event = s->store.events[LATENCY].event; /* another row of the same tracepoints */
    assert_true(operations_event_stays(s, BEGIN, LATENCY));
    assert_true(operations_event_stays(s, EVENTS, LATENCY));
    assert_false(operations_event_stays(s, EVENTS, EVENTS));
}

/* Stacks of open operations survive a collection of unused ones. */
FIXTURE_TEST(open_operations_keep_their_stacks)
{
    uint64_t chain[] = { PERF_CONTEXT_KERNEL, UINT64_C(0xffffffff81000100), UINT64_C(0xffffffff81000200) };
    struct io io = { .sector = 1 };
    use_row(BY_THREAD);
    struct record r = record(PERF_RECORD_SAMPLE, 500);
    r.misc = PERF_RECORD_MISC_KERNEL;
    r.source = BEGIN;
    r.sample.raw = &io;
    r.sample.raw_size = sizeof io;
    r.sample.chain = chain;
    r.sample.chain_n = sizeof chain / sizeof *chain;
    feed_record(&r);
    bounds_forget_all(s);
    feed(END, 100, 500, 1, "");
    expect(0, "[x]", 100, 500);
    uint32_t depth = 0;
    for (uint32_t node = sample(0)->stack; node; node = stacks_parents(s->store.stacks)[node])
        depth++;
    assert_int_equal(depth, 3);
}

/* Waits of threads for a CPU, as profile/waits.h reports them. */
FIXTURE_TEST(waits_for_a_cpu_are_operations)
{
    struct error e = { 0 };
    struct event *events[EVENTS] = { &s->store.events[0].event, &s->store.events[1].event,
                                     &s->store.events[2].event };
    if (!pair_rows_read_text(&rows, "mine", "x runnable running thread - - begin waits\n", &e))
        fail_msg("%s", e.text);
    *events[0] = (struct event){ .off_cpu = true };
    *events[1] = (struct event){ .wakers = true };
    *events[2] = (struct event){ .name = "latency:x", .latency = true, .pair = &rows.items[0] };
    s->store.events[1].left_out = true;
    operations_open(s, 0);
    assert_true(s->store.events[LATENCY].left_out); /* nobody tells who is woken */
    s->store.events[1].left_out = false;
    operations_open(s, 0);
    assert_false(s->store.events[LATENCY].left_out);
    operations_adopt(s);
    struct waits_part part = { .pid = 500,
                               .tid = 501,
                               .state = THREAD_RUNNABLE,
                               .from_ns = 150,
                               .to_ns = 200,
                               .stack = WAITS_NO_STACK,
                               .ended = true,
                               .whole_ns = 100 };
    runqueue_on_part(s, &part);
    part.state = THREAD_SLEEPING; /* no wait for a CPU */
    runqueue_on_part(s, &part);
    part.state = THREAD_RUNNABLE;
    part.ended = false; /* it goes on */
    runqueue_on_part(s, &part);
    part.ended = true;
    part.pid = part.tid = (uint32_t)getpid();
    runqueue_on_part(s, &part);
    assert_int_equal(history_count(s->store.history), 1);
    assert_int_equal(sample(0)->weight, 100); /* all of it, although a part was reported before */
    assert_int_equal(sample(0)->time_ns, 200);
    assert_int_equal(sample(0)->event, LATENCY);
    assert_int_equal(world_thread(s->store.world, sample(0)->thread)->tid, 501);
}

/* The durations that a query selects, in order. */
static size_t selected(const struct view_query *q, uint64_t *ns)
{
    uint8_t *pass = mem_array(world_thread_count(s->store.world) + 1, 1);
    struct query scan = select_samples(s, q, pass);
    size_t n = 0;
    for (uint64_t i = 0; i < history_count(s->store.history); i++)
        if (query_passes(&scan, sample(i)))
            ns[n++] = sample(i)->weight;
    mem_free(pass);
    return n;
}

FIXTURE_TEST(a_range_of_durations_selects_operations)
{
    struct view_query q = { .min_ns = 20, .max_ns = 300 };
    uint64_t ns[8];
    use_row(BY_THREAD);
    scope_init(&s->source.scope);
    for (uint64_t took = 10; took <= 1000; took *= 10) {
        feed(BEGIN, 5, 500, 0, "");
        feed(END, took, 500, 0, "");
        feed(BEGIN, 5, 500, 0, "");
        feed(END, 3 * took, 500, 0, "");
    }
    s->store.current_event = LATENCY;
    assert_int_equal(selected(&q, ns), 3); /* 10, 30, 100, 300, 1000, 3000 */
    assert_true(ns[0] == 30 && ns[1] == 100 && ns[2] == 300);
    q.all_events = true; /* still only operations of this event */
    s->store.current_event = BEGIN;
    assert_int_equal(selected(&q, ns), 6); /* no durations: no effect */
    s->store.current_event = LATENCY;
    assert_int_equal(selected(&q, ns), 3);
    q.max_ns = 0;
    assert_int_equal(selected(&q, ns), 6);
}

static bool is_of(const char *name, const char *device)
{
    struct view_query q = { .n_zooms = 1, .zooms = { { .kind = ZOOM_DEVICE } } };
    struct select_trie trie = { 0 };
    snprintf(q.zooms[0].text, sizeof q.zooms[0].text, "%s", device);
    assert_true(select_by_path(&trie, &q) && !select_ignores_names(&q));
    return select_hits(&q, &(struct select_named){ .name = name, .module = "[operation]" }) &
           trie.path_wanted;
}

FIXTURE_TEST(a_device_is_the_first_word_of_a_name)
{
    assert_true(is_of("[block: vda write]", "vda"));
    assert_true(is_of("[fsync: vda]", "vda"));
    assert_true(is_of("[compaction]", "compaction"));
    assert_true(is_of("[locks: rwsem read]", "rwsem read"));
    assert_false(is_of("[block: vda1 write]", "vda"));
    assert_false(is_of("[block: vdb write]", "vda"));
    assert_false(is_of("[block: write]", "vda"));
    assert_false(is_of("[wait: vda]x", "vdax"));
    assert_false(is_of("vda", "vda"));
    assert_false(is_of("", "vda"));
}

FIXTURE_TEST(a_range_of_durations_is_told_with_its_ends)
{
    char text[64];
    operation_range_text(1000000, 39999999, true, text, sizeof text);
    assert_string_equal(text, "1 ms–40 ms");
    operation_range_text(0, 499999, false, text, sizeof text);
    assert_string_equal(text, "0 ns-500 us");
    operation_range_text(10000000, UINT64_MAX, true, text, sizeof text); /* without an upper end */
    assert_string_equal(text, ">=10 ms");
}

TEST_MAIN(NULL, NULL)
