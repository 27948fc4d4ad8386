// SPDX-License-Identifier: GPL-2.0-or-later
/* JIT code whose name changes while it is sampled. */
#include "session_fixture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "jitdump_maker.h"
#include "session/doctor.h"
#include "session/session_state.h"
#include "symbols/symbolizer_state.h"

#if defined(__x86_64__)
static const unsigned char endless[] = { 0xeb, 0xfe };
#elif defined(__aarch64__)
static const uint32_t endless[] = { 0x14000000 };
#else
static const unsigned char endless[] = { 0 };
#define NO_CODE
#endif

static void *page;
static char map_path[64], data_path[64];

/* A function on its own page, which the child runs forever. */
static void run_page(void)
{
    void (*code)(void);

    memcpy(&code, &page, sizeof code);
    code();
}

static void add_to_map(const char *name)
{
    char line[96];
    int fd = open(map_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    snprintf(line, sizeof line, "%llx 10 %s\n", (unsigned long long)(uintptr_t)page, name);
    assert_int_equal(write(fd, line, strlen(line)), (ssize_t)strlen(line));
    close(fd);
}

static int setup(void **state)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -1;
    memcpy(page, endless, sizeof endless);
    __builtin___clear_cache(page, (char *)page + sizeof endless);
    snprintf(data_path, sizeof data_path, "/tmp/flametop-test-%d.data", (int)getpid());
    return set_up(state);
}

static int teardown(void **state)
{
    unlink(map_path);
    unlink(data_path);
    munmap(page, 4096);
    return tear_down(state);
}

static pid_t start_page(void)
{
#ifdef NO_CODE
    skip();
#endif
    pid_t child = start_child(run_page);

    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", (int)child);
    unlink(map_path);
    return child;
}

static void open_on_page(void)
{
    pid_t child = start_page();

    add_to_map("before");
    scope_to(&cfg.scope, child);
    open_or_skip();
}

static uint64_t samples_in(const char *name)
{
    uint32_t func = function_named(name);
    uint64_t samples = 0;

    for (uint32_t i = 0; i < view.result.n_entries && func; i++)
        if (passes_function(&view.result.entries[i], func))
            samples += view.result.entries[i].count;
    return samples;
}

static uint64_t query_samples_in(const char *name)
{
    run_query();
    return samples_in(name);
}

static void sample_under_both_names(uint64_t *before)
{
    open_on_page();
    WAIT_UNTIL(query_samples_in("before") > 50);
    add_to_map("after");
    WAIT_UNTIL(query_samples_in("after") > 50);
    *before = samples_in("before");
    assert_true(*before > 50);
}

TEST_WITH(samples_keep_the_name_valid_at_their_time, setup, teardown)
{
    uint64_t before, after;

    sample_under_both_names(&before);
    after = samples_in("after");
    WAIT_UNTIL(query_samples_in("after") > after + 100);
    assert_int_equal(samples_in("before"), before);
}

/* Returns the number of JIT modules with names: a changed name adds a module. *next_ns: earliest time of the
 * next reading of their names; each reading increases it. */
static unsigned named_jit_modules(uint64_t *next_ns)
{
    struct symbolizer *sy = session->store.symbolizer;
    uint64_t value;
    unsigned n = 0;

    *next_ns = 0;
    pthread_mutex_lock(&sy->lock);
    for (size_t pos = 0; map_next(&sy->mods, &pos, NULL, &value);) {
        const struct symbol_module *mod = (struct symbol_module *)(uintptr_t)value;
        if (mod->module->kind != MODULE_JIT || !mod->table)
            continue;
        n++;
        *next_ns = mod->next_try_ns > *next_ns ? mod->next_try_ns : *next_ns;
    }
    pthread_mutex_unlock(&sy->lock);
    return n;
}

static void wait_for_reading(void)
{
    uint64_t before_ns, next_ns;

    named_jit_modules(&before_ns);
    WAIT_UNTIL((named_jit_modules(&next_ns), next_ns > before_ns));
}

static void wait_for_samples(uint64_t more)
{
    session_get_status(session, &status);
    more += status.samples;
    for (int i = 0; i < 2400 && status.samples < more; i++) {
        pause_ms(50);
        session_get_status(session, &status);
    }
    assert_true(status.samples >= more);
}

TEST_WITH(a_map_is_read_even_without_queries, setup, teardown)
{
    uint64_t next_ns;

    open_on_page();
    WAIT_UNTIL(named_jit_modules(&next_ns) == 1);
    add_to_map("after");
    WAIT_UNTIL(named_jit_modules(&next_ns) == 2);
    wait_for_samples(50);
    session_settle(session, 60 * NS_PER_SEC);
    assert_true(query_samples_in("before") > 0);
    assert_true(samples_in("after") > 0);
}

static void open_what_was_written(void)
{
    struct session_config from_file = { .input = data_path, .history_bytes = 16 << 20 };

    scope_init(&from_file.scope);
    session = session_open(&from_file, &error);
    if (!session)
        fail_msg("%s", error.text);
    session_wait(session, 60 * NS_PER_SEC, NULL);
    session_settle(session, 60 * NS_PER_SEC);
    run_query();
    session_settle(session, 60 * NS_PER_SEC);
}

TEST_WITH(a_written_profile_keeps_both, setup, teardown)
{
    uint64_t before, after, written;

    sample_under_both_names(&before);
    session_stop(session);
    before = query_samples_in("before");
    after = samples_in("after");
    if (!session_write(session, &query, data_path, &written, &error))
        fail_msg("%s", error.text);
    assert_true(written >= before + after);
    session_close(session);
    end_child(0);
    unlink(map_path);
    open_what_was_written();
    assert_int_equal(query_samples_in("before"), before);
    assert_int_equal(samples_in("after"), after);
}

/* ---- a jitdump, whose records have times ---- */

static char dump_path[64];
static int dump_fd = -1;

/* Adds the maker's records to the dump. */
static void add_to_dump(struct jitdump_maker *m)
{
    assert_int_equal(write(dump_fd, m->b.data, m->b.len), (ssize_t)m->b.len);
    buf_clear(&m->b);
}

static void load_in_dump(uint64_t time_ns, uint64_t at, uint64_t index, const char *name)
{
    struct jitdump_maker m = { .time_ns = time_ns };

    maker_load(&m, at, 0x10, index, name, 0x10);
    add_to_dump(&m);
    buf_done(&m.b);
}

static void run_page_with_dump(void)
{
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump_fd, 0);
    run_page();
}

static int setup_dump(void **state)
{
    struct jitdump_maker m = { 0 };

    if (setup(state))
        return -1;
    snprintf(dump_path, sizeof dump_path, "/tmp/jit-%d.dump", (int)getpid());
    unlink(dump_path);
    dump_fd = open(dump_path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (dump_fd < 0)
        return -1;
    maker_header(&m, 1);
    add_to_dump(&m);
    buf_done(&m.b);
    load_in_dump(clock_now_ns(), (uintptr_t)page, 1, "before");
    return 0;
}

static int teardown_dump(void **state)
{
    close(dump_fd);
    unlink(dump_path);
    return teardown(state);
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup_dump, teardown_dump)

static void open_on_dump(void)
{
#ifdef NO_CODE
    skip();
#endif
    scope_to(&cfg.scope, start_child(run_page_with_dump));
    open_or_skip();
    WAIT_UNTIL(query_samples_in("before") > 50);
}

static void run_page_for_a_moment(void)
{
    const struct itimerval moment = { .it_value.tv_usec = 300000 };

    raise(SIGSTOP);
    setitimer(ITIMER_REAL, &moment, NULL);
    run_page_with_dump();
}

FIXTURE_TEST(a_dump_names_code_of_a_process_that_ended_before_the_first_query)
{
    pid_t pid;

#ifdef NO_CODE
    skip();
#endif
    pid = start_child(run_page_for_a_moment);
    assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
    scope_to(&cfg.scope, pid);
    open_or_skip();
    kill(pid, SIGCONT);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    n_children--;
    WAIT_UNTIL(query_samples_in("before") > 0);
}

static uint64_t samples_without_name(void)
{
    char name[64];

    snprintf(name, sizeof name, "[JIT] 0x%llx", (unsigned long long)(uintptr_t)page);
    return samples_in(name);
}

static uint64_t query_samples_between(uint64_t from_ns, uint64_t to_ns, const char *name)
{
    uint64_t n;

    query.from_ns = from_ns;
    query.to_ns = to_ns;
    n = query_samples_in(name);
    query.from_ns = query.to_ns = 0;
    return n;
}

static void check_dated(uint64_t changed_ns)
{
    assert_int_equal(query_samples_between(1, changed_ns - 1, "after"), 0);
    assert_true(samples_in("before") > 0);
    assert_int_equal(samples_without_name(), 0);
    assert_int_equal(query_samples_between(changed_ns, UINT64_MAX, "before"), 0);
    assert_int_equal(samples_without_name(), 0);
    assert_true(samples_in("after") > 0);
}

/* The dump describes it long afterwards, and was read in between. */
static uint64_t change_the_past(void)
{
    uint64_t changed_ns = clock_now_ns();

    wait_for_samples(50);
    wait_for_reading();
    load_in_dump(changed_ns, (uintptr_t)page, 2, "after");
    WAIT_UNTIL(query_samples_in("after") > 0);
    return changed_ns;
}

FIXTURE_TEST(samples_are_named_by_the_times_of_a_dump)
{
    uint64_t changed_ns;

    open_on_dump();
    changed_ns = change_the_past();
    check_dated(changed_ns);
    wait_for_samples(500);
    check_dated(changed_ns);
}

FIXTURE_TEST(code_moved_over_other_code_replaces_it_at_its_time)
{
    struct jitdump_maker m = { .time_ns = clock_now_ns() };

    load_in_dump(m.time_ns, (uintptr_t)page + 0x800, 2, "after");
    open_on_dump();
    m.time_ns = clock_now_ns();
    maker_move(&m, (uintptr_t)page + 0x800, (uintptr_t)page, 0x10, 2);
    wait_for_samples(500);
    add_to_dump(&m);
    buf_done(&m.b);
    WAIT_UNTIL(query_samples_in("after") > 0);
    check_dated(m.time_ns);
}

FIXTURE_TEST(several_changes_between_two_reads_are_distinguished)
{
    static const char *const names[] = { "before", "one", "two", "three", "four" };
    uint64_t since[6] = { 1, 0, 0, 0, 0, UINT64_MAX };
    unsigned i;

    open_on_dump();
    for (i = 1; i < 5; i++) {
        since[i] = clock_now_ns();
        wait_for_samples(100);
    }
    for (i = 1; i < 5; i++)
        load_in_dump(since[i], (uintptr_t)page, i + 1, names[i]);
    WAIT_UNTIL(query_samples_in("four") > 0);
    for (i = 0; i < 5; i++) {
        assert_true(query_samples_between(since[i], since[i + 1] - 1, names[i]) > 0);
        assert_int_equal(samples_without_name(), 0);
        assert_int_equal(samples_in(names[(i + 1) % 5]), 0);
    }
}

FIXTURE_TEST(a_written_profile_keeps_the_times_of_a_dump)
{
    uint64_t changed_ns, before, after, written;

    open_on_dump();
    changed_ns = change_the_past();
    session_stop(session);
    session_settle(session, 60 * NS_PER_SEC);
    check_dated(changed_ns);
    before = query_samples_in("before");
    after = samples_in("after");
    if (!session_write(session, &query, data_path, &written, &error))
        fail_msg("%s", error.text);
    session_close(session);
    end_child(0);
    open_what_was_written();
    assert_int_equal(query_samples_in("before"), before);
    assert_int_equal(samples_in("after"), after);
    check_dated(changed_ns);
}

/* The doctor's text about the names of the page; "": nothing (yet). Callers may be in a library without
 * names. */
static const char *find_cause(struct doctor *d, struct doctor_row *row)
{
    *row = (struct doctor_row){ 0 };
    session_examine(session, &query, d);
    for (uint32_t i = 0; i < d->rows.n; i++)
        if (d->rows.items[i].subject == DOCTOR_NAMES && !strcmp(d->rows.items[i].module, "[JIT]"))
            *row = d->rows.items[i];
    return row->cause;
}

TEST_WITH(the_doctor_says_why_code_has_no_name, setup, teardown)
{
    struct doctor d = { 0 };
    struct doctor_row row;
    pid_t child = start_page();

    scope_to(&cfg.scope, child);
    open_or_skip();
    WAIT_UNTIL(strstr(find_cause(&d, &row), "no map of its names"));
    assert_non_null(strstr(row.fix, "/tmp/perf-PID.map"));
    assert_int_equal(symlink("/etc/shadow", map_path), 0);
    WAIT_UNTIL(strstr(find_cause(&d, &row), "no regular file"));
    assert_non_null(strstr(row.fix, "remove it"));
    unlink(map_path);
    assert_int_equal(mkfifo(map_path, 0600), 0);
    WAIT_UNTIL(strstr(find_cause(&d, &row), "no regular file"));
    unlink(map_path);
    add_to_map("before");
    WAIT_UNTIL(!*find_cause(&d, &row) && query_samples_in("before"));
    doctor_done(&d);
}

WORKER_TEST_MAIN(NULL, NULL)
