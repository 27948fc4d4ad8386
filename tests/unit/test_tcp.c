// SPDX-License-Identifier: GPL-2.0-or-later
/* TCP sessions, from the states of sockets: one tracepoint is begin, end and what tells the process, sampled
 * by an event for begins and another one for ends. The records are synthetic, in a session that is built by
 * hand around an empty world. */
#include "operations_fixture.h"

#include <arpa/inet.h>
#include <errno.h>

#include "base/clock.h"

enum { STATE_BEGINS, STATE_ENDS, RETRANSMIT, ERROR, LATENCY, EVENTS };
enum { ESTABLISHED = 1, SYN_SENT, SYN_RECV, FIN_WAIT1, FIN_WAIT2, CLOSE = 7, CLOSE_WAIT, LAST_ACK, LISTEN };
enum { SOFTIRQ = 0x10 };

static void put(const char *file, const char *text)
{
    put_event("sock", "inet_sock_set_state", file, text);
}

/* As the kernel's formats have them. */
struct retransmit {
    uint64_t common, skbaddr, skaddr;
};
struct socket_error {
    uint64_t common;
    int32_t error;
    uint16_t sport, dport;
    uint8_t saddr_v6[16], daddr_v6[16];
};

static void put_more(void)
{
    put_event("tcp", "tcp_retransmit_skb", "id", "12\n");
    put_event("tcp", "tcp_retransmit_skb", "format",
              "\tfield:const void * skbaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
              "\tfield:const void * skaddr;\toffset:16;\tsize:8;\tsigned:0;\n");
    put_event("sock", "inet_sk_error_report", "id", "13\n");
    put_event("sock", "inet_sk_error_report", "format",
              "\tfield:int error;\toffset:8;\tsize:4;\tsigned:1;\n"
              "\tfield:__u16 sport;\toffset:12;\tsize:2;\tsigned:0;\n"
              "\tfield:__u16 dport;\toffset:14;\tsize:2;\tsigned:0;\n"
              "\tfield:__u8 saddr_v6[16];\toffset:16;\tsize:16;\tsigned:0;\n"
              "\tfield:__u8 daddr_v6[16];\toffset:32;\tsize:16;\tsigned:0;\n");
}

/* As the kernel's format has it. */
struct state {
    uint16_t type;
    uint8_t flags, preempt_count;
    int32_t pid;
    uint64_t skaddr;
    int32_t old, new;
    uint16_t sport, dport, family, protocol;
    uint8_t saddr[4], daddr[4], saddr_v6[16], daddr_v6[16];
};

static void make_tracefs(void)
{
    put("id", "11\n");
    put("format", "format:\n"
                  "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                  "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                  "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
                  "\tfield:const void * skaddr;\toffset:8;\tsize:8;\tsigned:0;\n"
                  "\tfield:int oldstate;\toffset:16;\tsize:4;\tsigned:1;\n"
                  "\tfield:int newstate;\toffset:20;\tsize:4;\tsigned:1;\n"
                  "\tfield:__u16 sport;\toffset:24;\tsize:2;\tsigned:0;\n"
                  "\tfield:__u16 dport;\toffset:26;\tsize:2;\tsigned:0;\n"
                  "\tfield:__u16 family;\toffset:28;\tsize:2;\tsigned:0;\n"
                  "\tfield:__u16 protocol;\toffset:30;\tsize:2;\tsigned:0;\n"
                  "\tfield:__u8 saddr[4];\toffset:32;\tsize:4;\tsigned:0;\n"
                  "\tfield:__u8 daddr[4];\toffset:36;\tsize:4;\tsigned:0;\n"
                  "\tfield:__u8 saddr_v6[16];\toffset:40;\tsize:16;\tsigned:0;\n"
                  "\tfield:__u8 daddr_v6[16];\toffset:56;\tsize:16;\tsigned:0;\n\n"
                  "print fmt: \"protocol=%s oldstate=%s newstate=%s\", "
                  "__print_symbolic(REC->protocol, { 6, \"IPPROTO_TCP\" }, { 262, \"IPPROTO_MPTCP\" }), "
                  "__print_symbolic(REC->oldstate, { 1, \"TCP_ESTABLISHED\" }, { 2, \"TCP_SYN_SENT\" }, "
                  "{ 3, \"TCP_SYN_RECV\" }, { 7, \"TCP_CLOSE\" }, { 10, \"TCP_LISTEN\" }), "
                  "__print_symbolic(REC->newstate, { 1, \"TCP_ESTABLISHED\" }, { 2, \"TCP_SYN_SENT\" }, "
                  "{ 3, \"TCP_SYN_RECV\" }, { 7, \"TCP_CLOSE\" }, { 10, \"TCP_LISTEN\" })\n");
    put_more();
    setenv("XDG_CONFIG_HOME", tracefs, 1); /* without rows of the user */
}

static void remove_event(const char *name)
{
    char command[160];
    snprintf(command, sizeof command, "rm -r '%s/events/%s'", tracefs, name);
    assert_int_equal(system(command), 0);
}

static int begin_test(void **state)
{
    operations_set_up(state, make_tracefs, EVENTS);
    return 0;
}

#define FIXTURE_TEST(name) TEST_WITH(name, begin_test, operations_tear_down)

/* Measures a built-in row, whose begin and end are one event here. */
static void use_row(const char *name)
{
    struct error e = { 0 };
    struct event latency = { .name = "latency:tcp", .latency = true }, parts[PAIR_PARTS];
    bool failed = !strcmp(name, "tcp-failed");
    latency.pair = pair_row_find(name, &e);
    if (!latency.pair || !event_latency_parts(&latency, parts, &e))
        fail_msg("%s", e.text);
    assert_string_equal(parts[PAIR_BEGIN].tracepoint, parts[PAIR_END].tracepoint);
    assert_true(parts[PAIR_BEGIN].everywhere == !failed && parts[PAIR_END].everywhere);
    assert_true(!parts[PAIR_BEGIN].no_stack && parts[PAIR_END].no_stack == failed);
    assert_true(failed || !*parts[PAIR_END].filter); /* any event may tell the process */
    for (int side = PAIR_MORE; side <= (failed ? PAIR_ERROR : PAIR_MORE); side++) {
        if (!*parts[side].tracepoint)
            continue;
        assert_true(parts[side].everywhere && parts[side].no_stack);
        s->store.events[side == PAIR_MORE ? RETRANSMIT : ERROR].event = parts[side];
    }
    s->store.events[STATE_BEGINS].event = parts[PAIR_BEGIN];
    s->store.events[STATE_ENDS].event = parts[PAIR_END];
    s->store.events[LATENCY].event = latency;
    operations_start(LATENCY);
}

static struct state socket_of(uint64_t skaddr, const char *local, int sport, const char *peer, int dport)
{
    struct state t = { .skaddr = skaddr, .sport = (uint16_t)sport, .dport = (uint16_t)dport, .protocol = 6 };
    assert_int_equal(inet_pton(AF_INET6, local, t.saddr_v6), 1);
    assert_int_equal(inet_pton(AF_INET6, peer, t.daddr_v6), 1);
    return t;
}

static struct state client(void)
{
    return socket_of(0x1000, "::ffff:10.0.0.1", 0, "::ffff:10.0.0.5", 443);
}

static struct state server(void)
{
    return socket_of(0x2000, "::ffff:10.0.0.5", 443, "::ffff:10.0.0.1", 40000);
}

static void change(struct state *t, int old, int new, uint32_t tid, bool softirq, bool foreign)
{
    struct record r = record(PERF_RECORD_SAMPLE, tid);
    t->old = old;
    t->new = new;
    t->flags = softirq ? SOFTIRQ : 0;
    r.id.time_ns = now_ns += 9;
    r.foreign = foreign;
    r.sample.raw = t;
    r.sample.raw_size = sizeof *t;
    for (r.source = STATE_BEGINS; r.source <= STATE_ENDS; r.source++)
        feed_record(&r);
}

static void in_process(struct state *t, int old, int new, uint32_t tid)
{
    change(t, old, new, tid, false, false);
}

/* In a thread that has nothing to do with it. */
static void in_softirq(struct state *t, int old, int new)
{
    change(t, old, new, 777, true, false);
}

static const struct pairs *pairs(void)
{
    return &s->collect.operations.rows.items[0].pairs;
}

static void expect(uint64_t number, const char *name, uint64_t ns, uint32_t tid)
{
    const struct sample *got = history_sample(s->store.history, number);
    assert_non_null(got);
    uint32_t frame = stacks_frames(s->store.stacks)[got->stack];
    struct symbol sym;
    symbolizer_lookup(s->store.symbolizer, world_module(s->store.world, MODULE_ID_OPERATION),
                      stacks_frame_offsets(s->store.stacks)[frame], &sym);
    assert_string_equal(sym.name, name);
    assert_int_equal(got->weight, ns);
    assert_int_equal(world_thread(s->store.world, got->thread)->tid, tid);
}

/* Each state is 10 ns after the one before. */
FIXTURE_TEST(both_sides_have_a_session_of_their_process)
{
    struct state c = client(), v = server();
    use_row("tcp");
    in_process(&c, CLOSE, SYN_SENT, 500);
    c.sport = 40000;
    in_softirq(&c, SYN_SENT, ESTABLISHED);
    in_softirq(&v, LISTEN, SYN_RECV);
    in_softirq(&v, SYN_RECV, ESTABLISHED);
    in_process(&c, ESTABLISHED, FIN_WAIT1, 501); /* another thread closes it */
    in_softirq(&v, ESTABLISHED, CLOSE_WAIT);
    in_softirq(&c, FIN_WAIT1, FIN_WAIT2);
    in_process(&v, CLOSE_WAIT, LAST_ACK, 600);
    in_softirq(&c, FIN_WAIT2, CLOSE);
    in_softirq(&v, LAST_ACK, CLOSE);
    assert_int_equal(history_count(s->store.history), 2);
    expect(0, "[tcp: 10.0.0.1 to 10.0.0.5:443]", 80, 500);
    expect(1, "[tcp: 10.0.0.5:443 from 10.0.0.1]", 70, 600);
    assert_int_equal(pairs()->counts.unbegun + pairs()->counts.replaced + pairs()->n_open, 0);
}

FIXTURE_TEST(addresses_of_ipv6_are_in_brackets_before_a_port)
{
    struct state c = socket_of(1, "fe80::1", 0, "2001:db8::5", 80), v = socket_of(2, "::1", 80, "::1", 9);
    use_row("tcp");
    in_process(&c, CLOSE, SYN_SENT, 500);
    in_process(&c, ESTABLISHED, CLOSE, 500);
    in_softirq(&v, LISTEN, SYN_RECV);
    in_process(&v, ESTABLISHED, CLOSE, 600); /* with data that was not read: at once */
    expect(0, "[tcp: fe80::1 to [2001:db8::5]:80]", 10, 500);
    expect(1, "[tcp: [::1]:80 from ::1]", 10, 600);
}

FIXTURE_TEST(the_process_of_a_session_that_the_peer_resets_is_unknown)
{
    struct state v = server();
    use_row("tcp");
    in_softirq(&v, LISTEN, SYN_RECV);
    in_softirq(&v, SYN_RECV, ESTABLISHED);
    in_process(&v, ESTABLISHED, ESTABLISHED, 0); /* the idle task is no process */
    in_softirq(&v, ESTABLISHED, CLOSE);
    expect(0, "[tcp: 10.0.0.5:443 from 10.0.0.1]", 30, WORLD_NO_PID);
    assert_string_equal(world_thread(s->store.world, history_sample(s->store.history, 0)->thread)->comm,
                        ":-1");
    in_softirq(&v, LISTEN, SYN_RECV);
    s->source.scope.kind = SCOPE_PIDS; /* then it may be any */
    in_softirq(&v, ESTABLISHED, CLOSE);
    assert_int_equal(history_count(s->store.history), 1);
    s->source.scope.kind = SCOPE_ALL;
}

FIXTURE_TEST(sessions_outside_the_scope_do_not_count)
{
    struct state c = client(), v = server();
    use_row("tcp");
    s->source.scope.kind = SCOPE_PIDS;
    change(&c, CLOSE, SYN_SENT, 500, false, true);
    in_softirq(&v, LISTEN, SYN_RECV);
    assert_int_equal(operations_count_open(s, &s->collect.operations.rows.items[0]), 0);
    in_process(&v, ESTABLISHED, FIN_WAIT1, 600);
    assert_int_equal(operations_count_open(s, &s->collect.operations.rows.items[0]), 1);
    in_softirq(&v, FIN_WAIT2, CLOSE);
    in_softirq(&c, ESTABLISHED, CLOSE);
    assert_int_equal(history_count(s->store.history), 1);
    expect(0, "[tcp: 10.0.0.5:443 from 10.0.0.1]", 20, 600);
    s->source.scope.kind = SCOPE_ALL;
}

FIXTURE_TEST(only_connections_become_sessions)
{
    struct state c = client(), listening = server(), subflow = server();
    use_row("tcp");
    in_process(&c, CLOSE, SYN_SENT, 500); /* refused */
    in_softirq(&c, SYN_SENT, CLOSE);
    in_process(&listening, CLOSE, LISTEN, 600);
    in_process(&listening, LISTEN, CLOSE, 600);
    in_process(&listening, CLOSE, CLOSE, 600);
    subflow.protocol = 262; /* a socket of MPTCP, which has TCP sockets */
    in_process(&subflow, CLOSE, SYN_SENT, 600);
    in_process(&subflow, ESTABLISHED, CLOSE, 600);
    assert_int_equal(history_count(s->store.history), 0);
    assert_int_equal(pairs()->n_open, 0);
    assert_int_equal(pairs()->counts.unbegun, 0);
    in_softirq(&listening, ESTABLISHED, CLOSE); /* opened before */
    assert_int_equal(pairs()->counts.unbegun, 1);
}

/* The kernel may leave out the events of a socket that ends while a process closes it. */
FIXTURE_TEST(a_socket_at_the_same_address_is_another_session)
{
    struct state c = client(), v = server();
    use_row("tcp");
    v.skaddr = c.skaddr;
    in_softirq(&v, LISTEN, SYN_RECV);
    in_process(&v, ESTABLISHED, FIN_WAIT1, 600);
    in_process(&c, CLOSE, SYN_SENT, 500);
    in_softirq(&c, LAST_ACK, CLOSE);
    expect(0, "[tcp: 10.0.0.1 to 10.0.0.5:443]", 10, 500);
    assert_int_equal(history_count(s->store.history), 1);
    assert_int_equal(pairs()->counts.replaced, 1);
}

static void retransmit(const struct state *t, uint32_t tid)
{
    struct record r = record(PERF_RECORD_SAMPLE, tid);
    struct retransmit raw = { .skaddr = t->skaddr };
    r.id.time_ns = now_ns += 9;
    r.source = RETRANSMIT;
    r.sample.raw = &raw;
    r.sample.raw_size = sizeof raw;
    feed_record(&r);
}

static void report_error(const struct state *t, int error, uint64_t after_ns)
{
    struct record r = record(PERF_RECORD_SAMPLE, 777);
    struct socket_error raw = { .error = error, .sport = t->sport, .dport = t->dport };
    memcpy(raw.saddr_v6, t->saddr_v6, sizeof raw.saddr_v6);
    memcpy(raw.daddr_v6, t->daddr_v6, sizeof raw.daddr_v6);
    r.id.time_ns = now_ns += after_ns;
    r.source = ERROR;
    r.sample.raw = &raw;
    r.sample.raw_size = sizeof raw;
    feed_record(&r);
}

/* Any thread may be interrupted by the timer. */
FIXTURE_TEST(retransmits_are_those_of_the_session)
{
    struct state c = client(), v = server();
    use_row("tcp");
    retransmit(&c, 777); /* it is not open yet */
    in_process(&c, CLOSE, SYN_SENT, 500);
    retransmit(&c, 777);
    in_softirq(&c, SYN_SENT, ESTABLISHED);
    in_softirq(&v, LISTEN, SYN_RECV);
    retransmit(&c, 778);
    retransmit(&c, 0);
    in_process(&v, ESTABLISHED, CLOSE, 600);
    in_softirq(&c, ESTABLISHED, CLOSE);
    expect(0, "[tcp: 10.0.0.5:443 from 10.0.0.1]", 30, 600);
    expect(1, "[tcp: 10.0.0.1 to 10.0.0.5:443, 3 retransmits]", 70, 500);
    in_process(&c, CLOSE, SYN_SENT, 500);
    retransmit(&c, 777);
    in_softirq(&c, ESTABLISHED, CLOSE);
    expect(2, "[tcp: 10.0.0.1 to 10.0.0.5:443, 1 retransmit]", 20, 500);
}

static void connect_in_vain(struct state *c, bool softirq)
{
    c->sport = 0;
    in_process(c, CLOSE, SYN_SENT, 500);
    c->sport = 40000;
    change(c, SYN_SENT, CLOSE, softirq ? 777 : 500, softirq, false);
}

FIXTURE_TEST(a_connection_that_fails_has_the_error_that_follows)
{
    static const struct {
        int error;
        const char *name;
    } cases[] = {
        { ECONNREFUSED, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443, refused]" },
        { ETIMEDOUT, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443, timed out]" },
        { EHOSTUNREACH, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443, host unreachable]" },
        { ENETUNREACH, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443, network unreachable]" },
        { EPROTO, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443, error 71]" },
    };
    struct state c = client(), other = client();
    other.sport = 40001;
    use_row("tcp-failed");
    for (uint32_t i = 0; i < 5; i++) {
        connect_in_vain(&c, true);
        report_error(&other, ECONNRESET, 1);
        assert_int_equal(history_count(s->store.history), i);
        report_error(&c, cases[i].error, 1);
        expect(i, cases[i].name, 10, 500);
        assert_int_equal(pairs()->n_open, 0);
        report_error(&c, ETIMEDOUT, 1); /* nothing waits for it */
    }
    assert_int_equal(history_count(s->store.history), 5);
    connect_in_vain(&c, true);
    in_process(&c, CLOSE, SYN_SENT, 500); /* at the same address: no error follows */
    expect(5, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443]", 10, 500);
    retransmit(&c, 777);
    retransmit(&c, 777);
    in_softirq(&c, SYN_SENT, CLOSE);
    report_error(&c, ETIMEDOUT, 1);
    expect(6, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443, timed out, 2 retransmits]", 30, 500);
}

FIXTURE_TEST(a_connection_is_given_up_if_no_error_follows)
{
    struct state c = client();
    use_row("tcp-failed");
    connect_in_vain(&c, false);
    report_error(&c, 0, 100 * NS_PER_MS + 1); /* too late */
    expect(0, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443, given up]", 10, 500);
    connect_in_vain(&c, true); /* by no program */
    operations_settle_ends(s, now_ns);
    assert_int_equal(history_count(s->store.history), 1);
    operations_settle_ends(s, UINT64_MAX);
    expect(1, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443]", 10, 500);
    connect_in_vain(&c, false);
    s->collect.operations.rows.items[0].one_in = 2; /* without errors from now on */
    operations_settle_ends(s, UINT64_MAX);
    expect(2, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443]", 10, 500);
    assert_int_equal(pairs()->n_open, 0);
    in_process(&c, CLOSE, SYN_SENT, 500); /* succeeds: at once */
    in_softirq(&c, SYN_SENT, ESTABLISHED);
    assert_int_equal(history_count(s->store.history), 3);
    assert_int_equal(pairs()->n_open + pairs()->counts.unbegun, 0);
}

FIXTURE_TEST(a_kept_end_is_lost_with_its_records)
{
    struct state c = client();
    struct record lost = record(PERF_RECORD_LOST, 1);
    use_row("tcp-failed");
    connect_in_vain(&c, true);
    feed_record(&lost);
    report_error(&c, ETIMEDOUT, 1);
    assert_int_equal(history_count(s->store.history), 0);
    assert_int_equal(pairs()->n_open, 0);
    assert_int_equal(pairs()->counts.lost, 1);
}

/* They have no tracepoints for errors or for retransmits. */
FIXTURE_TEST(older_kernels_tell_less)
{
    struct state c = client();
    remove_event("sock/inet_sk_error_report");
    remove_event("tcp");
    use_row("tcp-failed");
    const struct operations_row *row = &s->collect.operations.rows.items[0];
    assert_true(row->parts[PAIR_MORE] == UINT32_MAX && row->parts[PAIR_ERROR] == UINT32_MAX);
    connect_in_vain(&c, true);
    expect(0, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443]", 10, 500);
    connect_in_vain(&c, false);
    expect(1, "[tcp-failed: 10.0.0.1 to 10.0.0.5:443]", 10, 500);
}

FIXTURE_TEST(short_payloads_are_ignored)
{
    struct state c = client();
    use_row("tcp");
    for (uint32_t size = 0; size < sizeof c; size++)
        for (int k = 0; k < 2; k++) {
            struct record r = record(PERF_RECORD_SAMPLE, 500);
            c.old = k ? ESTABLISHED : CLOSE;
            c.new = k ? CLOSE : SYN_SENT;
            r.source = k ? STATE_ENDS : STATE_BEGINS;
            r.sample.raw = &c;
            r.sample.raw_size = size;
            feed_record(&r);
        }
    assert_true(history_count(s->store.history) <= sizeof c);
}

TEST_MAIN(NULL, NULL)
