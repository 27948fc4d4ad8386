// SPDX-License-Identifier: GPL-2.0-or-later
/* Registers and stack dumps from the rings of the running kernel. */
#include "live_fixture.h"

#include <sched.h>
#include <sys/mman.h>

#include "unwind/arch.h"

#define MAGIC       UINT64_C(0x5ca1ab1e0ddba11)
#define MAGIC_WORDS 512

/* Counts of the child's samples, unless noted. */
static struct {
    uint64_t dumps;        /* with registers and a stack */
    uint64_t magic;        /* dumps with the start of the child's words */
    uint64_t whole, wrong; /* dumps with all of the words; number of wrong words */
    uint64_t in_kernel, chained_kernel, user_chained;
    uint64_t pc_is_ip, user;
    uint64_t bare;        /* samples of any process without a dump */
    uint64_t others_with; /* samples of other processes with a dump */
    uint64_t largest;
} dumps;

/* Returns where the child's words begin, by the first two words in sequence. */
static size_t find_magic(const uint8_t *stack, size_t bytes)
{
    for (size_t at = 0; at + 16 <= bytes; at += 8)
        if (record_u64(stack + at, 0, false) == MAGIC && record_u64(stack + at, 1, false) == (MAGIC ^ 1))
            return at;
    return bytes;
}

static void check_words(const struct record_sample *s)
{
    size_t at = find_magic(s->stack, s->stack_dyn_size), i = 0;
    if (at == s->stack_dyn_size)
        return;
    dumps.magic++;
    for (; i < MAGIC_WORDS && at + 8 * i + 8 <= s->stack_dyn_size; i++)
        dumps.wrong += record_u64((const uint8_t *)s->stack + at, (uint32_t)i, false) != (MAGIC ^ i);
    dumps.whole += i == MAGIC_WORDS;
}

static bool has_user_part(const struct record *r)
{
    for (uint32_t i = 0; i < r->sample.chain_n; i++)
        if (record_u64(r->sample.chain, i, false) == PERF_CONTEXT_USER)
            return true;
    return false;
}

static void check_dump(const struct record *r)
{
    const struct record_sample *s = &r->sample;
    if (r->type != PERF_RECORD_SAMPLE)
        return;
    bool with = s->user_regs && s->stack_dyn_size;
    dumps.bare += !s->user_regs && !s->stack_size;
    dumps.others_with += with && r->id.pid != seen.pid;
    if (s->stack_size > dumps.largest)
        dumps.largest = s->stack_size;
    if (!with || r->id.pid != seen.pid)
        return;
    struct unwind_regs regs;
    enum unwind_arch arch = unwind_arch_native();
    dumps.dumps++;
    dumps.user_chained += has_user_part(r);
    assert_int_equal(s->user_abi, PERF_SAMPLE_REGS_ABI_64);
    assert_true(unwind_arch_take_regs(arch, s->user_regs, cfg.regs_user_mask, false, &regs));
    if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER) {
        dumps.user++;
        dumps.pc_is_ip += regs.pc == s->ip;
    } else {
        dumps.in_kernel++;
        dumps.chained_kernel += s->chain_n >= 2 && record_u64(s->chain, 0, false) == PERF_CONTEXT_KERNEL;
    }
    check_words(s);
}

static int setup_dumps(void **state)
{
    memset(&dumps, 0, sizeof dumps);
    int failed = setup(state);
    closer = check_dump;
    cfg.callchain = CALLCHAIN_DWARF;
    cfg.regs_user_mask = unwind_arch_regs_mask(unwind_arch_native());
    return failed;
}

#define FIXTURE_TEST(name) TEST_WITH(name, setup_dumps, teardown)

static void need_dumps(void)
{
    if (cfg.regs_user_mask)
        return;
    print_message("skipped: no register layout for this architecture\n");
    skip();
}

static void open_dumps(void)
{
    need_dumps();
    open_or_skip();
    assert_int_equal(live_config_of(live)->callchain, CALLCHAIN_DWARF);
}

/* A separate function, so that the words are above the stack pointer: a leaf function may use the red zone
 * below it. Writes from the last word to the first, so that a sample taken during the loop does not find
 * the start. */
__attribute__((noinline)) static void fill(volatile uint64_t *words)
{
    for (uint64_t i = MAGIC_WORDS; i-- > 0;)
        words[i] = MAGIC ^ i;
}

/* Loops over MAGIC_WORDS known words on the stack. AddressSanitizer would place them elsewhere. */
__attribute__((no_sanitize("address"))) static void spin_over_words(void)
{
    volatile uint64_t words[MAGIC_WORDS];
    for (fill(words);;)
        (void)words[0];
}

/* Spends nearly all time in the kernel. Forking would not work: when parent and child alternate on a CPU,
 * the kernel swaps their events with the counted time, and the child exits before a sample is due. */
static void read_zeros(void)
{
    static char zeros[1 << 20];
    int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    while (read(fd, zeros, sizeof zeros) > 0)
        ;
}

__attribute__((no_sanitize("address"))) static void reads_over_words(void)
{
    volatile uint64_t words[MAGIC_WORDS];
    fill(words);
    read_zeros();
    fill(words);
}

FIXTURE_TEST(samples_contain_registers_and_the_stack_bytes)
{
    scope_to(child(spin_over_words));
    open_dumps();
    RUN_UNTIL(dumps.whole >= 100);
    assert_int_equal(dumps.wrong, 0);
    assert_int_equal(dumps.largest, LIVE_STACK_BYTES);
    assert_true(dumps.user >= 50);
    assert_int_equal(dumps.pc_is_ip, dumps.user);
    assert_int_equal(dumps.user_chained, dumps.dumps); /* frame pointers continue where stacks change */
    assert_int_equal(live_config_of(live)->stack_bytes, LIVE_STACK_BYTES);
}

FIXTURE_TEST(live_lasts_estimates_ring_space_from_the_rate)
{
    scope_to(child(spin_over_words));
    cfg.freq_hz = 99;
    open_dumps();
    assert_false(live_lasts(live, clock_now_ns())); /* the rate is unknown yet */
    RUN_UNTIL(dumps.whole >= 10);
    usleep(300000);
    uint64_t now_ns = clock_now_ns();
    assert_true(live_lasts(live, now_ns));
    assert_false(live_lasts(live, now_ns + 1000 * NS_PER_SEC));
    RUN_UNTIL(dumps.whole >= 20); /* the ring was drained */
    assert_true(live_lasts(live, clock_now_ns()));
    assert_false(live_is_even(live, clock_now_ns())); /* the target may end */
}

FIXTURE_TEST(rings_need_no_draining_until_they_could_be_full)
{
    (void)child(spin_over_words);
    cfg.freq_hz = 99;
    open_dumps();
    RUN_UNTIL(dumps.whole >= 10);
    assert_true(live_is_even(live, clock_now_ns() + NS_PER_SEC / 2));
    assert_false(live_is_even(live, clock_now_ns() + 2 * NS_PER_SEC));
    live_close(live);
    cfg.freq_hz = 0;
    cfg.period = 10000000;
    open_dumps();
    run(200);
    run(200);
    assert_false(live_is_even(live, clock_now_ns()));
}

FIXTURE_TEST(kernel_samples_have_the_kernel_chain_and_user_registers)
{
    scope_to(child(reads_over_words));
    open_dumps();
    RUN_UNTIL(dumps.chained_kernel >= 20 && dumps.whole >= 20);
    assert_int_equal(dumps.wrong, 0);
    assert_int_equal(dumps.user_chained, dumps.dumps); /* frame pointers continue where stacks change */
}

FIXTURE_TEST(idle_and_kernel_threads_have_no_dumps)
{
    child(spin_over_words);
    need_dumps();
    open_all_or_skip();
    RUN_UNTIL(dumps.whole >= 20);
    kill(children[0], SIGKILL);
    waitpid(children[0], NULL, 0);
    n_children = 0;
    RUN_UNTIL(dumps.bare > 0);
}

/* Dumps of 64 KiB do not divide the ring evenly: many wrap. */
FIXTURE_TEST(the_largest_dumps_stay_intact_when_they_wrap)
{
    cfg.stack_bytes = LIVE_STACK_BYTES_MAX;
    cfg.ring_bytes = 512 * 1024;
    scope_to(child(spin_over_words));
    open_dumps();
    RUN_UNTIL(dumps.whole >= 200);
    struct live_stats stats;
    live_stats(live, &stats);
    assert_int_equal(dumps.wrong, 0);
    assert_int_equal(stats.malformed, 0);
    assert_true(dumps.largest > 60 * 1024); /* the rest of the record counts towards the 64 KiB */
}

FIXTURE_TEST(dumps_that_do_not_fit_are_counted_as_lost_and_resume)
{
    cfg.ring_bytes = 128 * 1024;
    scope_to(child(spin_over_words));
    open_dumps();
    struct live_stats stats = { 0 };
    for (int i = 0; i < 200 && stats.lost <= 10; i++) {
        usleep(50000);
        run(20);
        live_stats(live, &stats);
    }
    assert_true(stats.lost > 10);
    assert_int_equal(stats.malformed, 0);
    uint64_t before = dumps.whole;
    RUN_UNTIL(dumps.whole >= before + 50);
    assert_int_equal(dumps.wrong, 0);
}

FIXTURE_TEST(kernel_only_sampling_has_no_dumps)
{
    const struct live_note *notes;
    cfg.scope.no_user = true;
    scope_to(child(read_zeros));
    need_dumps();
    open_or_skip();
    RUN_UNTIL(seen.kernel >= 50);
    assert_int_equal(dumps.dumps + dumps.others_with, 0);
    assert_int_equal(dumps.largest, 0);
    assert_int_equal(live_attr(live)->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER), 0);
    assert_int_equal(live_notes(live, &notes), 0);
}

/* The budget is per CPU: sample one CPU with the child on it. */
static void spin_over_words_on_cpu_0(void)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof first, &first);
    spin_over_words();
}

static void open_at(uint64_t freq_hz)
{
    child(spin_over_words_on_cpu_0);
    cfg.callchain = CALLCHAIN_AUTO;
    cfg.freq_hz = freq_hz;
    assert_true(scope_set_cpus(&cfg.scope, "0", &error));
    need_dumps();
    open_or_skip();
    if (live_config_of(live)->freq_hz == freq_hz)
        return;
    print_message("skipped: the kernel has lowered its limit to %llu samples a second\n",
                  (unsigned long long)live_config_of(live)->freq_hz);
    skip();
}

FIXTURE_TEST(auto_uses_full_dumps_at_the_default_rate)
{
    const struct live_note *notes;
    open_at(99);
    assert_int_equal(live_attr(live)->sample_stack_user, LIVE_STACK_BYTES);
    assert_int_equal(live_notes(live, &notes), 0);
    RUN_UNTIL(dumps.whole >= 10);
}

FIXTURE_TEST(auto_shrinks_dumps_at_a_high_rate)
{
    const struct live_note *notes;
    open_at(1999);
    assert_int_equal(live_config_of(live)->stack_bytes, 8192);
    assert_int_equal(live_notes(live, &notes), 1);
    assert_non_null(strstr(notes[0].what, "1,999 Hz: stacks of 8 KB"));
    RUN_UNTIL(dumps.dumps >= 50);
    assert_int_equal(dumps.largest, 8192);
}

FIXTURE_TEST(auto_uses_frame_pointers_at_a_very_high_rate)
{
    const struct live_note *notes;
    open_at(4999);
    assert_int_equal(live_config_of(live)->callchain, CALLCHAIN_FP);
    assert_int_equal(live_notes(live, &notes), 1);
    assert_non_null(strstr(notes[0].what, "4,999 Hz: stacks by frame pointers"));
    assert_non_null(strstr(notes[0].fix, "dwarf to force"));
    RUN_UNTIL(seen.mine >= 50);
    assert_int_equal(dumps.dumps + dumps.others_with, 0);
}

static int go_pipe[2];

static void fork_child_over_words(void)
{
    char go;
    if (read(go_pipe[0], &go, 1) == 1 && fork() == 0) {
        alarm(10);
        spin_over_words();
    }
    for (;;)
        pause();
}

FIXTURE_TEST(children_of_a_task_have_their_own_dumps)
{
    assert_int_equal(pipe(go_pipe), 0);
    scope_to(child(fork_child_over_words));
    open_dumps();
    assert_int_equal(write(go_pipe[1], "g", 1), 1);
    RUN_UNTIL(seen.forks == 1);
    seen.pid = seen.last_fork_pid;
    RUN_UNTIL(dumps.whole >= 20);
    assert_int_equal(dumps.wrong, 0);
    kill((pid_t)seen.pid, SIGKILL);
    close(go_pipe[0]);
    close(go_pipe[1]);
}

static void *words_thread(void *arg)
{
    spin_over_words();
    return arg;
}

static void threads_of_words(void)
{
    pthread_t t;
    for (int i = 0; i < 3; i++)
        pthread_create(&t, NULL, words_thread, NULL);
    for (;;)
        pause();
}

/* A thread's stack ends at the end of its mapping, and so does its dump. */
FIXTURE_TEST(threads_have_dumps_of_their_own_stacks)
{
    cfg.stack_bytes = LIVE_STACK_BYTES_MAX;
    scope_to(child(threads_of_words));
    open_dumps();
    RUN_UNTIL(dumps.whole >= 50);
    assert_int_equal(dumps.wrong, 0);
}

FIXTURE_TEST(cgroup_samples_have_dumps)
{
    char path[512], file[600], pid_text[16];
    need_dumps();
    if (!make_cgroup(path, sizeof path, "flametop-test-dumps")) {
        print_message("skipped: cannot create a cgroup on this system\n");
        skip();
    }
    snprintf(pid_text, sizeof pid_text, "%d", child(spin_over_words));
    snprintf(file, sizeof file, "%s/cgroup.procs", path);
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    bool moved = fd >= 0 && write(fd, pid_text, strlen(pid_text)) > 0;
    close(fd);
    bool set = scope_set_cgroup(&cfg.scope, path, &error);
    live = live_open(&cfg, &error);
    for (int i = 0; live && i < 200 && dumps.whole < 50; i++)
        run(50);
    kill(children[0], SIGKILL);
    waitpid(children[0], NULL, 0);
    n_children = 0;
    rmdir(path);
    assert_true(moved && set);
    if (!live && (error.class == ERROR_PERMISSION || error.class == ERROR_UNSUPPORTED)) {
        print_message("skipped: %s\n", error.text);
        skip();
    }
    assert_true(dumps.whole >= 50);
    assert_int_equal(dumps.wrong, 0);
    assert_int_equal(dumps.others_with, 0);
}

static int teardown_cpu(void **state)
{
    if (access(HOTPLUG, W_OK) == 0)
        switch_cpu(true);
    return teardown(state);
}

TEST_WITH(a_cpu_back_online_has_dumps, setup_dumps, teardown_cpu)
{
    uint64_t online = 0;
    for (int i = 0; i < 3; i++)
        child(spin_over_words);
    if (access(HOTPLUG, W_OK) != 0 || !file_read_u64(HOTPLUG, &online) || online != 1) {
        print_message("skipped: cannot take CPU 1 offline\n");
        skip();
    }
    need_dumps();
    open_all_or_skip();
    RUN_UNTIL(seen.on_cpu[1] >= 20);
    if (!switch_cpu(false)) {
        print_message("skipped: the kernel keeps CPU 1 online\n");
        skip();
    }
    live_check_cpus(live);
    run(100);
    assert_true(switch_cpu(true));
    live_check_cpus(live);
    memset(seen.on_cpu, 0, sizeof seen.on_cpu);
    memset(&dumps, 0, sizeof dumps);
    RUN_UNTIL(seen.on_cpu[1] >= 20 && dumps.whole >= 20);
    assert_int_equal(dumps.wrong, 0);
}

/* An unprivileged user may lock 516 KiB of ring per CPU, and no more in this test. */
FIXTURE_TEST(little_locked_memory_still_gives_stacks)
{
    int ends[2];
    struct {
        uint64_t opened, seen, class;
    } told = { 0 };
    need_dumps();
    if (geteuid() != 0) {
        print_message("skipped: needs root, to drop privileges\n");
        skip();
    }
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        const struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_MEMLOCK, &none);
        if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
            _exit(1);
        prctl(PR_SET_DUMPABLE, 1);
        cfg.callchain = CALLCHAIN_AUTO;
        cfg.freq_hz = 499;
        scope_to(child(spin_over_words));
        live = live_open(&cfg, &error);
        told.opened = live != NULL;
        told.class = error.class;
        for (int i = 0; live && i < 200 && seen.mine < 50; i++)
            run(50);
        told.seen = seen.mine;
        kill(children[0], SIGKILL);
        _exit(write(ends[1], &told, sizeof told) == sizeof told ? 0 : 1);
    }
    close(ends[1]);
    bool heard = read(ends[0], &told, sizeof told) == sizeof told;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    assert_true(heard);
    if (!told.opened) {
        assert_int_equal(told.class, ERROR_PERMISSION); /* perf_event_paranoid above 2 */
        return;
    }
    assert_true(told.seen >= 50);
}

static void touch_pages(void)
{
    const size_t size = 8 << 20;
    for (;;) {
        volatile char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        for (size_t i = 0; i < size; i += 4096)
            p[i] = 1;
        munmap((void *)(uintptr_t)p, size);
    }
}

FIXTURE_TEST(a_period_of_one_with_dumps_exceeds_the_budget)
{
    uint64_t hz = 0;
    cfg.event = (struct event){ .name = "page-faults", .kind = EVENT_SOFTWARE };
    cfg.event.attr.type = PERF_TYPE_SOFTWARE;
    cfg.event.attr.config = PERF_COUNT_SW_PAGE_FAULTS;
    cfg.freq_hz = 0;
    cfg.period = 1;
    cfg.callchain = CALLCHAIN_AUTO;
    scope_to(child(touch_pages));
    open_dumps();
    assert_int_equal(live_config_of(live)->stack_bytes, LIVE_STACK_BYTES);
    for (int i = 0; i < 60 && !hz; i++) {
        run(500);
        hz = live_over_budget(live);
    }
    assert_true(hz > 0);
    live_close(live);
    cfg.seen_hz = hz;
    open_or_skip();
    assert_true(live_config_of(live)->stack_bytes < LIVE_STACK_BYTES);
}

FIXTURE_TEST(rare_events_with_a_period_keep_their_dumps)
{
    cfg.freq_hz = 0;
    cfg.period = 100 * NS_PER_MS; /* of cpu-clock */
    cfg.callchain = CALLCHAIN_AUTO;
    scope_to(child(spin_over_words));
    open_dumps();
    assert_int_equal(live_over_budget(live), 0);
    RUN_UNTIL(dumps.whole >= 5);
    assert_int_equal(live_over_budget(live), 0);
}

FIXTURE_TEST(branch_records_are_sampled_or_refused_with_a_reason)
{
    cfg.callchain = CALLCHAIN_LBR;
    scope_to(child(spin));
    live = live_open(&cfg, &error); /* of cpu-clock: no machine has them */
    assert_null(live);
    if (error.class == ERROR_PERMISSION)
        return;
    assert_int_equal(error.class, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "cpu-clock: stacks from the CPU's branch records"));
    assert_non_null(strstr(error.text, "choose auto, dwarf or fp"));
}

TEST_MAIN(NULL, NULL)
