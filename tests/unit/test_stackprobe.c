// SPDX-License-Identifier: GPL-2.0-or-later
/* The BPF program that copies an interpreter's frames, tested on made frames in this process's own memory. */

#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "perf/stackprobe.h"
#include "perf/task_thread.h"
#include "perf/tracepoint.h"
#include "unit_test.h"

struct fake_code {
    uint64_t ident;
};
struct fake_frame {
    struct fake_frame *back;
    struct fake_code *code;
    uint64_t instr, flags;
};
struct fake_record {
    uint64_t unused;
    struct fake_frame *frame;
};
struct fake_state {
    uint64_t thread;
    void *top;
    struct fake_state *next;
};

static struct fake_code codes[] = { { 11 }, { 22 } };
static struct fake_frame frames[STACKPROBE_FRAMES_MAX + 8];
static struct fake_record outer = { 0, frames };
static struct fake_state state_of_thread = { 77, frames, NULL }, other_state = { 88, &outer, NULL };
static struct fake_state *current = &state_of_thread;

static struct stackprobe_layout layout_of(uint32_t indirect)
{
    return (struct stackprobe_layout){
        .current = (uintptr_t)&current,
        .thread = offsetof(struct fake_state, thread),
        .top = offsetof(struct fake_state, top),
        .indirect = indirect,
        .code = offsetof(struct fake_frame, code),
        .instr = offsetof(struct fake_frame, instr),
        .flags = offsetof(struct fake_frame, flags),
        .back = offsetof(struct fake_frame, back),
        .ident = offsetof(struct fake_code, ident),
        .tag = 5,
    };
}

static void make_frames(unsigned n)
{
    memset(frames, 0, sizeof frames);
    for (unsigned i = 0; i < n; i++)
        frames[i] = (struct fake_frame){ i + 1 < n ? &frames[i + 1] : NULL, &codes[i % 2], 100 + i, 200 + i };
}

static struct stackprobe_sample taken;
static unsigned n_taken;

static void keep_sample(void *ctx, const struct stackprobe_sample *s)
{
    (void)ctx;
    memcpy(&taken, s, offsetof(struct stackprobe_sample, frames) + s->n * sizeof *s->frames);
    n_taken++;
}

static int open_event(const struct stackprobe *p)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof attr,
                                    .config = PERF_COUNT_SW_CPU_CLOCK,
                                    .sample_period = 1000000 };
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

    if (fd >= 0 && !stackprobe_sample(p, fd)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* A probe that runs at this tracepoint and follows this process, which has three frames; skipped if this
 * machine does not permit it. */
static struct stackprobe *met(enum stackprobe_where where, const char *system, const char *name, uint64_t *id)
{
    struct stackprobe_layout layout = layout_of(STACKPROBE_NONE);
    struct error e = { 0 };
    struct stackprobe *p = stackprobe_open(&e);

    if (!p || !stackprobe_can(p, where) || !tracepoint_id(system, name, id, NULL) ||
        !stackprobe_meet(p, where, *id)) {
        stackprobe_close(p);
        skip();
    }
    make_frames(3);
    stackprobe_follow(p, (uint32_t)getpid(), &layout);
    return p;
}

/* The number of copies of five system calls. */
static unsigned copies_of_calls(struct stackprobe *p)
{
    n_taken = 0;
    for (int i = 0; i < 5; i++)
        getppid();
    stackprobe_read(p, keep_sample, NULL);
    return n_taken;
}

TEST(frames_are_copied_each_time_a_tracepoint_is_met)
{
    uint64_t id;
    struct stackprobe *p = met(STACKPROBE_TRACEPOINTS, "syscalls", "sys_enter_getppid", &id);

    assert_int_equal(copies_of_calls(p), 5);
    assert_int_equal(taken.tid, getpid());
    assert_int_equal(taken.n, 3);
    stackprobe_close(p);
}

TEST(a_tracepoint_has_its_program_until_the_last_user_leaves)
{
    uint64_t id;
    struct stackprobe *p = met(STACKPROBE_TRACEPOINTS, "syscalls", "sys_enter_getppid", &id);

    assert_true(stackprobe_meet(p, STACKPROBE_TRACEPOINTS, id));
    assert_int_equal(copies_of_calls(p), 5); /* once each, for both users */
    stackprobe_leave_tracepoint(p, STACKPROBE_TRACEPOINTS, id);
    assert_int_equal(copies_of_calls(p), 5);
    stackprobe_leave_tracepoint(p, STACKPROBE_TRACEPOINTS, id);
    assert_int_equal(copies_of_calls(p), 0);
    assert_true(stackprobe_meet(p, STACKPROBE_TRACEPOINTS, id));
    assert_int_equal(copies_of_calls(p), 5);
    stackprobe_close(p);
}

TEST(frames_are_copied_when_a_wait_begins)
{
    uint64_t id;
    struct stackprobe *p = met(STACKPROBE_WAITS, "sched", "sched_switch", &id);

    for (int i = 0; i < 5; i++) {
        stackprobe_read(p, keep_sample, NULL); /* of waits before this one */
        n_taken = 0;
        for (uint64_t until_ns = clock_now_ns() + 20 * NS_PER_MS; clock_now_ns() < until_ns;)
            sched_yield(); /* leaves the CPU, and waits for nothing */
        stackprobe_read(p, keep_sample, NULL);
        assert_int_equal(n_taken, 0);
        uint64_t before_ns = clock_now_ns();
        usleep(2000);
        uint64_t after_ns = clock_now_ns();
        stackprobe_read(p, keep_sample, NULL);
        assert_int_equal(n_taken, 1);
        assert_true(before_ns <= taken.time_ns && taken.time_ns <= after_ns);
        assert_int_equal(taken.tid, getpid());
        assert_int_equal(taken.n, 3);
    }
    stackprobe_close(p);
}

/* Runs until a sample arrives; skipped if this machine does not permit it. */
static void sample_once(const struct stackprobe_layout *layout, uint64_t state)
{
    struct error e = { 0 };
    struct stackprobe *p = stackprobe_open(&e);
    uint64_t until_ns = clock_now_ns() + 60 * NS_PER_SEC;
    int fd = p ? open_event(p) : -1;

    n_taken = 0;
    if (fd < 0) {
        stackprobe_close(p);
        skip();
    }
    stackprobe_follow(p, (uint32_t)getpid(), layout);
    stackprobe_set_thread(p, (uint32_t)getpid(), state);
    stackprobe_read(p, keep_sample, NULL); /* samples from before the thread was known */
    for (n_taken = 0; !n_taken && clock_now_ns() < until_ns;)
        stackprobe_read(p, keep_sample, NULL);
    close(fd);
    stackprobe_close(p);
    assert_true(n_taken > 0);
    assert_int_equal(taken.pid, getpid());
    assert_int_equal(taken.tag, 5);
    assert_true(taken.time_ns <= clock_now_ns());
}

TEST(frames_are_copied_with_each_sample)
{
    struct stackprobe_layout layout = layout_of(STACKPROBE_NONE);

    make_frames(3);
    sample_once(&layout, 0);
    assert_int_equal(taken.thread, 77);
    assert_int_equal(taken.state, (uintptr_t)&state_of_thread);
    assert_int_equal(taken.n, 3);
    assert_int_equal(taken.rest, 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(taken.frames[i].address, (uintptr_t)&frames[i]);
        assert_int_equal(taken.frames[i].code, (uintptr_t)&codes[i % 2]);
        assert_int_equal(taken.frames[i].instr, 100 + i);
        assert_int_equal(taken.frames[i].flags, 200 + i);
        assert_int_equal(taken.frames[i].ident, codes[i % 2].ident);
    }
}

TEST(a_thread_has_its_own_state)
{
    struct stackprobe_layout layout = layout_of(offsetof(struct fake_record, frame));

    make_frames(2);
    sample_once(&layout, (uintptr_t)&other_state);
    assert_int_equal(taken.thread, 88);
    assert_int_equal(taken.outer, (uintptr_t)&outer);
    assert_int_equal(taken.n, 2);
}

/* current names another thread, as when this one has released the interpreter's lock. */
TEST(a_thread_is_found_in_the_list)
{
    struct fake_state own = { (uintptr_t)pthread_self(), &outer, &state_of_thread };
    struct fake_state *first = &other_state;
    struct stackprobe_layout layout = layout_of(offsetof(struct fake_record, frame));

    if (!task_thread_offset()) {
        print_message("where the kernel keeps pthread_self is not known here\n");
        skip();
    }
    layout.threads = (uintptr_t)&first;
    layout.next = offsetof(struct fake_state, next);
    make_frames(2);
    other_state.next = &own;
    sample_once(&layout, 0);
    assert_int_equal(taken.state, (uintptr_t)&own);
    assert_int_equal(taken.n, 2);
    sample_once(&layout, (uintptr_t)&other_state); /* set for an ended thread with the same tid */
    assert_int_equal(taken.state, (uintptr_t)&own);

    other_state.next = &other_state; /* without it, and without an end */
    sample_once(&layout, (uintptr_t)&other_state);
    assert_int_equal(taken.state, (uintptr_t)&other_state);
    sample_once(&layout, 0);
    assert_int_equal(taken.state, (uintptr_t)&state_of_thread);
    other_state.next = NULL;
}

TEST(a_cycle_of_frames_ends)
{
    struct stackprobe_layout layout = layout_of(STACKPROBE_NONE);

    make_frames(2);
    frames[1].back = &frames[0];
    sample_once(&layout, 0);
    assert_int_equal(taken.n, STACKPROBE_FRAMES_MAX);
    assert_int_not_equal(taken.rest, 0);
}

TEST(unreadable_memory_is_zero)
{
    struct stackprobe_layout layout = layout_of(STACKPROBE_NONE);

    make_frames(1);
    frames[0].code = (struct fake_code *)8;
    frames[0].back = (struct fake_frame *)16;
    sample_once(&layout, 0);
    assert_int_equal(taken.n, 2);
    assert_int_equal(taken.frames[0].ident, 0);
    assert_int_equal(taken.frames[1].code, 0);
}

TEST_MAIN(NULL, NULL)
