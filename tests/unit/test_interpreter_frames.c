// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of an interpreter, copied from this process's own memory, and their groups. */

#include <string.h>

#include "symbols/interpreter_frames.h"
#include "unit_test.h"

struct fake_code {
    uint64_t ident;
};
struct fake_frame {
    struct fake_frame *back;
    struct fake_code *code;
    uint64_t instr, flags; /* flags: enum interpreter_frame */
};
struct fake_record {
    struct fake_frame *frame;
};
struct fake_state {
    uint64_t thread;
    struct fake_record *top;
};

static struct fake_code code = { 11 };
static struct fake_frame frames[STACKPROBE_FRAMES_MAX + 8];
static struct fake_record record = { frames };
static struct fake_state thread_state = { 77, &record };

static bool read_own(void *ctx, uint64_t address, void *to, size_t n)
{
    (void)ctx;
    if (address < 4096)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, n);
    return true;
}

static enum interpreter_frame kind_of(const struct interpreter_process *p, const struct stackprobe_frame *f)
{
    (void)p;
    return (enum interpreter_frame)f->flags;
}

static const struct interpreter fake = { .name = "Fake", .evaluator = "run", .frame = kind_of };
static const struct interpreter_memory MEMORY = { NULL, read_own };
static const struct interpreter_process PROCESS = { .of = &fake,
                                                    .main_thread = 900,
                                                    .layout = {
                                                        .thread = offsetof(struct fake_state, thread),
                                                        .top = offsetof(struct fake_state, top),
                                                        .indirect = offsetof(struct fake_record, frame),
                                                        .code = offsetof(struct fake_frame, code),
                                                        .instr = offsetof(struct fake_frame, instr),
                                                        .flags = offsetof(struct fake_frame, flags),
                                                        .back = offsetof(struct fake_frame, back),
                                                        .ident = offsetof(struct fake_code, ident) } };

static struct stackprobe_sample taken;

/* n frames, innermost first, of these kinds: 'i' inner, 'e' entry, 's' shim; the last one counts for all
 * others. */
static void copy(unsigned n, const char *kinds)
{
    memset(frames, 0, sizeof frames);
    for (unsigned i = 0; i < n; i++) {
        char kind = *kinds && kinds[1] ? *kinds++ : *kinds;
        frames[i] = (struct fake_frame){ i + 1 < n ? &frames[i + 1] : NULL, &code, 100 + i,
                                         kind == 'i'   ? INTERPRETER_FRAME_INNER
                                         : kind == 'e' ? INTERPRETER_FRAME_ENTRY
                                                       : INTERPRETER_FRAME_SHIM };
    }
    interpreter_copy(&MEMORY, &PROCESS, (uintptr_t)&thread_state, &taken);
}

TEST(frames_of_a_stopped_thread_are_copied)
{
    copy(3, "i");
    assert_int_equal(taken.n, 3);
    assert_int_equal(taken.rest, 0);
    assert_int_equal(taken.thread, 77);
    assert_int_equal(taken.outer, (uintptr_t)&record);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(taken.frames[i].address, (uintptr_t)&frames[i]);
        assert_int_equal(taken.frames[i].code, (uintptr_t)&code);
        assert_int_equal(taken.frames[i].instr, 100 + i);
        assert_int_equal(taken.frames[i].ident, 11);
    }
}

TEST(a_copy_of_bad_memory_ends)
{
    copy(2, "i");
    frames[0].code = (struct fake_code *)8;
    frames[1].back = (struct fake_frame *)16;
    interpreter_copy(&MEMORY, &PROCESS, (uintptr_t)&thread_state, &taken);
    assert_int_equal(taken.n, 3); /* the third one has no words */
    assert_int_equal(taken.frames[0].ident, 0);
    assert_int_equal(taken.frames[2].code, 0);
    frames[1].back = &frames[0];
    interpreter_copy(&MEMORY, &PROCESS, (uintptr_t)&thread_state, &taken);
    assert_int_equal(taken.n, STACKPROBE_FRAMES_MAX);
    assert_int_not_equal(taken.rest, 0);
    interpreter_copy(&MEMORY, &PROCESS, 8, &taken);
    assert_int_equal(taken.n, 0);
}

TEST(frames_are_grouped_by_what_runs_them)
{
    struct interpreter_groups g;
    copy(6, "ieisie");
    interpreter_group(&PROCESS, &taken, &g);
    assert_int_equal(g.n, 3);
    assert_int_equal(g.first[0], 0);
    assert_int_equal(g.end[0], 2);
    assert_int_equal(g.first[1], 2);
    assert_int_equal(g.end[1], 3); /* without the shim */
    assert_int_equal(g.first[2], 4);
    assert_int_equal(g.end[2], 6);
    assert_int_equal(g.shim, (uintptr_t)&frames[3]);
    assert_false(g.last_is_truncated);
}

TEST(the_outermost_group_of_a_deep_recursion_is_truncated)
{
    struct interpreter_groups g;
    copy(STACKPROBE_FRAMES_MAX + 5, "iei");
    interpreter_group(&PROCESS, &taken, &g);
    assert_int_equal(g.n, 2);
    assert_true(g.last_is_truncated);
    assert_int_equal(g.first[1], 2);
    assert_int_equal(g.end[1], STACKPROBE_FRAMES_MAX);
}

TEST(groups_match_the_functions_that_run_them)
{
    int shift;
    assert_true(interpreter_align(3, true, 3, false, &shift));
    assert_int_equal(shift, 0);
    assert_true(interpreter_align(4, true, 3, false, &shift)); /* the innermost one starts, or ends */
    assert_int_equal(shift, -1);
    assert_false(interpreter_align(5, true, 3, false, &shift));
    assert_false(interpreter_align(2, true, 3, false, &shift));
    assert_true(interpreter_align(5, true, 3, true, &shift)); /* groups that were not copied */
    assert_int_equal(shift, 0);
    assert_true(interpreter_align(2, false, 3, false, &shift)); /* functions that were not unwound */
    assert_false(interpreter_align(4, false, 3, false, &shift));
    assert_true(interpreter_align(4, false, 3, true, &shift)); /* both end too early */
}

TEST(a_thread_has_the_nearest_descriptor_above_its_stack)
{
    static const struct interpreter_thread all[] = { { 1, 500, 0 }, { 2, 900, 0 }, { 3, 300, 0 } };
    assert_int_equal(interpreter_state_of(&PROCESS, all, 3, false, 200), 3);
    assert_int_equal(interpreter_state_of(&PROCESS, all, 3, false, 400), 1);
    assert_int_equal(interpreter_state_of(&PROCESS, all, 3, true, 400), 2);
    assert_int_equal(interpreter_state_of(&PROCESS, all, 3, false, 950), 0);
    assert_int_equal(interpreter_state_of(&PROCESS, all, 1, true, 400), 0);
}

struct fake_descriptor {
    uint64_t self;
    uint32_t other, tid;
    uint32_t rest[300];
};

TEST(a_thread_has_the_tid_in_its_descriptor)
{
    static struct fake_descriptor main_thread = { .tid = 70 }, second = { .other = 71, .tid = 72 };
    struct interpreter_process p = PROCESS;
    struct interpreter_thread all[] = { { 1, (uintptr_t)&second, 0 },
                                        { 2, (uintptr_t)&main_thread, 0 },
                                        { 3, 64, 9 } };
    p.main_thread = (uintptr_t)&main_thread;
    interpreter_tids(&MEMORY, &p, 70, all, 3);
    assert_int_equal(all[0].tid, 72);
    assert_int_equal(all[1].tid, 70);
    assert_int_equal(all[2].tid, 0); /* its descriptor cannot be read */
    all[0].tid = 0;
    interpreter_tids(&MEMORY, &p, 75, all, 3);
    assert_int_equal(all[0].tid, 0); /* the process has another number there: it is in a container */
}

TEST(a_frame_is_named_with_its_file_and_line)
{
    struct interpreter_code c = { .name = "serve", .file = "web.py" };
    char text[INTERPRETER_TEXT_MAX];
    interpreter_frame_text(text, sizeof text, &fake, &c, 12);
    assert_string_equal(text, "serve (web.py:12)");
    interpreter_frame_text(text, sizeof text, &fake, NULL, 0);
    assert_string_equal(text, "[Fake frame not read]");
    assert_true(interpreter_evaluates(&fake, "run"));
    assert_true(interpreter_evaluates(&fake, "run.cold"));
    assert_false(interpreter_evaluates(&fake, "runs"));
}

TEST_MAIN(NULL, NULL)
