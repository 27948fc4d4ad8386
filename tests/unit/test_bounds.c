// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory stays within --history whatever is sampled, and the kept data stays correct. The records are
 * synthetic: a session is built by hand around an empty world. */
#include "collector_fixture.h"

#define DRAIN 256 /* records between two budget checks */
#define DEPTH 12

static uint64_t fed, worst_bytes;
static uint64_t chain[DEPTH + 1];

static int start(void **state)
{
    fed = worst_bytes = 0;
    return set_up(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, start, tear_down)

static uint64_t session_bytes(void)
{
    return history_bytes(s->store.history) + stacks_bytes(s->store.stacks) + world_bytes(s->store.world) +
           s->store.thread_scope.cap * sizeof *s->store.thread_scope.items;
}

static void feed_record(const struct record *r)
{
    collector_record(s, r);
    if (++fed % DRAIN)
        return;
    bounds_enforce(s);
    worst_bytes = session_bytes() > worst_bytes ? session_bytes() : worst_bytes;
}

/* Adds a sample whose leaf is at addr. All samples have the same callers. */
static void do_sample(uint32_t pid, uint64_t addr)
{
    struct record r = record(PERF_RECORD_SAMPLE, pid);
    chain[0] = PERF_CONTEXT_USER;
    chain[1] = addr;
    for (int i = 2; i <= DEPTH; i++)
        chain[i] = TEXT + 0x100u * (unsigned)i + 1;
    r.sample.ip = addr;
    r.sample.period = 1;
    r.sample.chain = chain;
    r.sample.chain_n = DEPTH + 1;
    feed_record(&r);
}

static void exec_process(uint32_t pid, const char *comm)
{
    do_comm(pid, comm, true);
    do_mmap(pid, TEXT, 0x10000, "/usr/bin/storm", 7);
    for (uint32_t i = 0; i < 5; i++) {
        char path[32];
        snprintf(path, sizeof path, "/usr/lib/lib%u.so", i);
        do_mmap(pid, JIT + 0x100000u * i, 0x10000, path, 100 + i);
    }
}

/* ---- checks of the kept data ---- */

struct held {
    uint64_t samples, wrong;
    uint64_t first_ns, last_ns;
};

static uint64_t leaf_offset(const struct sample *sample)
{
    return stacks_frame_offsets(s->store.stacks)[stacks_frames(s->store.stacks)[sample->stack]];
}

static uint32_t depth_of(uint32_t node)
{
    uint32_t n = 0;
    for (; node; node = stacks_parents(s->store.stacks)[node])
        n++;
    return n;
}

/* The sample at time t must have its leaf at leaf_at(t) and the thread name name_at(t). */
static uint64_t (*leaf_at)(uint64_t time_ns);
static void (*name_at)(uint64_t time_ns, char comm[16]);

static void check_run(void *ctx, struct sample *samples, size_t n)
{
    struct held *h = ctx;
    for (size_t i = 0; i < n; i++) {
        const struct world_thread *t = world_thread(s->store.world, samples[i].thread);
        char comm[16];
        name_at(samples[i].time_ns, comm);
        h->wrong += !t || strcmp(t->comm, comm) || leaf_offset(&samples[i]) != leaf_at(samples[i].time_ns) ||
                    depth_of(samples[i].stack) != DEPTH;
        h->samples++;
    }
}

static void check_held(struct held *h)
{
    *h = (struct held){ 0 };
    history_scan(s->store.history, 0, 0, check_run, h);
    assert_int_equal(h->samples, history_count(s->store.history));
    assert_int_equal(h->wrong, 0);
}

static void one_name(uint64_t time_ns, char comm[16])
{
    (void)time_ns;
    snprintf(comm, 16, "java");
}

static uint64_t own_leaf(uint64_t time_ns)
{
    return JIT + time_ns * 16;
}

static void fixed_leaf(uint32_t pid, uint64_t *addr)
{
    *addr = TEXT + 0x10u * (pid % 64);
}

/* ---- the tests ---- */

FIXTURE_TEST(jit_code_that_keeps_changing_stays_within_the_history_budget)
{
    struct held h;
    leaf_at = own_leaf;
    name_at = one_name;
    do_comm(10, "java", true);
    do_mmap(10, TEXT, 0x10000, "/usr/bin/java", 1);
    do_mmap(10, JIT, UINT64_C(1) << 40, "//anon", 0);
    for (int i = 0; i < 1000000; i++)
        do_sample(10, JIT + (now_ns + 1) * 16);
    check_held(&h);
    assert_true(h.samples > BUDGET / 16 / 64);
    assert_true(worst_bytes < BUDGET + BUDGET / 4);
    assert_int_equal(history_count(s->store.history) + history_dropped(s->store.history), 1000000);
}

/* Each process has its own pid, name and memory and lives for one sample. */
#define STORM_RECORDS 10
static uint64_t storm_leaf(uint64_t time_ns)
{
    uint64_t addr;
    fixed_leaf((uint32_t)(time_ns / STORM_RECORDS), &addr);
    return addr - TEXT;
}

static void storm_name(uint64_t time_ns, char comm[16])
{
    snprintf(comm, 16, "p%llu", (unsigned long long)(time_ns / STORM_RECORDS));
}

static void run_storm(uint32_t processes)
{
    do_comm(1, "init", true);
    for (uint32_t i = 0; i < processes; i++) {
        now_ns += STORM_RECORDS - now_ns % STORM_RECORDS - 1;
        uint32_t number = (uint32_t)((now_ns + 1) / STORM_RECORDS), pid = 2 + number % 4000000;
        char comm[16];
        uint64_t addr;
        snprintf(comm, sizeof comm, "p%u", number);
        fixed_leaf(number, &addr);
        do_fork(pid, 1);
        exec_process(pid, comm);
        do_sample(pid, addr);
        do_exit(pid);
    }
}

FIXTURE_TEST(a_fork_storm_stays_within_the_history_budget)
{
    struct held h;
    leaf_at = storm_leaf;
    name_at = storm_name;
    run_storm(100000);
    check_held(&h);
    assert_true(h.samples >= 1024);
    assert_true(worst_bytes < BUDGET + BUDGET / 2);
}

/* Live processes cannot be dropped, and dropping samples would not free their memory. */
FIXTURE_TEST(many_live_processes_leave_room_for_samples)
{
    for (uint32_t pid = 2; pid < 20002; pid++) {
        char comm[16];
        snprintf(comm, sizeof comm, "p%u", pid);
        exec_process(pid, comm);
    }
    for (uint32_t i = 0; i < 400000; i++)
        do_sample(2 + i * 7919 % 20000, TEXT + i % 64 * 16);
    assert_true(world_bytes(s->store.world) > 2 * BUDGET);
    assert_true(history_bytes(s->store.history) + stacks_bytes(s->store.stacks) > BUDGET / 2);
    assert_true(history_bytes(s->store.history) + stacks_bytes(s->store.stacks) <= BUDGET);
}

FIXTURE_TEST(garbage_collections_are_rare)
{
    run_storm(20000);
    uint64_t before = s->store.generation;
    run_storm(20000);
    assert_true(s->store.generation - before < 20000 / 100);
}

struct in_range {
    uint64_t to_ns, n;
};

static void count_run(void *ctx, struct sample *samples, size_t n)
{
    struct in_range *c = ctx;
    for (size_t i = 0; i < n; i++)
        c->n += samples[i].time_ns <= c->to_ns;
}

static uint64_t samples_until(uint64_t to_ns)
{
    struct in_range c = { to_ns, 0 };
    history_scan(s->store.history, 0, 0, count_run, &c);
    return c.n;
}

FIXTURE_TEST(a_frozen_range_survives_later_samples)
{
    do_comm(10, "busy", true);
    do_mmap(10, TEXT, 0x10000, "/usr/bin/busy", 1);
    for (int i = 0; i < 200000; i++)
        do_sample(10, TEXT + (unsigned)i % 64 * 16);
    uint64_t frozen_ns = now_ns, frozen = samples_until(frozen_ns), before = s->store.generation;
    s->store.frozen_ns = frozen_ns;
    history_pin(s->store.history, 1, frozen_ns);
    worst_bytes = 0;
    for (int i = 0; i < 200000; i++)
        do_sample(10, TEXT + (unsigned)i % 64 * 16);
    assert_int_equal(samples_until(frozen_ns), frozen);
    assert_true(samples_until(UINT64_MAX) > frozen);
    assert_true(worst_bytes < BUDGET + BUDGET / 4);
    assert_true(s->store.generation - before < 200);
}

FIXTURE_TEST(threads_keep_the_scope_they_were_sampled_under)
{
    do_comm(1, "init", true);
    do_comm(10, "old", true);
    do_sample(10, TEXT);
    s->store.scope_number = 2;
    do_comm(11, "new", true);
    for (int i = 0; i < 200000; i++) {
        if (i % 1000 == 0) {
            do_fork(100, 1);
            do_sample(100, TEXT);
            do_exit(100);
        }
        do_sample(11, TEXT + (unsigned)i % 64 * 16);
    }
    bounds_forget_all(s);
    uint32_t old = world_thread_of(s->store.world, 10, 10, now_ns, 0),
             new = world_thread_of(s->store.world, 11, 11, now_ns, 0);
    assert_int_equal(s->store.thread_scope.items[old], 1);
    assert_int_equal(s->store.thread_scope.items[new], 2);
}

static void find_waker(void *ctx, struct sample *samples, size_t n)
{
    uint32_t *thread = ctx, size;
    for (size_t i = 0; i < n; i++) {
        const void *raw = history_raw(s->store.history, &samples[i], &size);
        if (raw)
            *thread = wakers_thread(s, &samples[i], raw, size);
    }
}

FIXTURE_TEST(a_waker_keeps_its_thread)
{
    s->store.events[0].event.wakers = true;
    run_storm(3000);
    do_comm(7, "holder", true);
    uint32_t waker = world_thread_of(s->store.world, 7, 7, now_ns, 0), found = 0;
    struct sample sample = { .time_ns = now_ns, .weight = 1, .thread = waker - 1 };
    struct wait_summary summary = { .magic = WAIT_SUMMARY_MAGIC };
    wakers_append(s, &sample, &summary, WAKER_THREAD, waker);
    do_exit(7); /* from now on, only the sample of wakers needs it */
    uint64_t before = history_dropped(s->store.history);
    while (history_dropped(s->store.history) == before)
        run_storm(100);
    history_scan(s->store.history, 0, 0, find_waker, &found);
    const struct world_thread *t = world_thread(s->store.world, found);
    assert_true(t && t->pid == 7);
    assert_string_equal(t->comm, "holder");
    assert_int_not_equal(found, waker);
}

FIXTURE_TEST(clearing_the_session_releases_everything)
{
    uint64_t empty = session_bytes();
    run_storm(3000);
    bounds_forget_all(s);
    assert_int_equal(history_count(s->store.history), 0);
    assert_int_equal(stacks_node_count(s->store.stacks), 1);
    /* zombies, and capacity kept by hash tables */
    assert_true(session_bytes() < empty + MB / 2);
}

TEST_MAIN(NULL, NULL)
