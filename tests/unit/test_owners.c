// SPDX-License-Identifier: GPL-2.0-or-later
/* The order in which files of different owners are read, with given costs. */

#include <unistd.h>

#include "base/clock.h"
#include "symbols/symbolizer_state.h"
#include "unit_test.h"

#define TASKS 64

struct bench {
    struct owners o;
    struct symbol_module mods[TASKS];
    unsigned n;
};

static struct symbol_task *put_in(struct bench *b, enum lane_kind lane, unsigned owner, enum task_kind kind)
{
    struct symbol_module *mod = &b->mods[b->n++];
    struct symbol_task *task = &mod->tasks[kind];

    assert_true(b->n <= TASKS);
    task->mod = mod;
    mod->owner = owner;
    owners_put(&b->o, lane, owner, task, false);
    return task;
}

static struct symbol_task *put_task(struct bench *b, unsigned owner, enum task_kind kind)
{
    return put_in(b, LANE_QUICK, owner, kind);
}

static unsigned take_task(struct bench *b)
{
    struct symbol_task *task = owners_take(&b->o, LANE_QUICK);

    assert_non_null(task);
    return task->mod->owner;
}

static struct bench *bench_new(void)
{
    struct bench *b = mem_zalloc(sizeof *b);

    owners_init(&b->o);
    return b;
}

static uint32_t stranger(uint32_t i)
{
    return 100000 + i;
}

TEST(owners_without_cost_are_served_by_urgency_then_in_order)
{
    struct bench *b = bench_new();
    unsigned a = owners_number(&b->o, stranger(1)), c = owners_number(&b->o, stranger(2));
    struct symbol_task *names = put_task(b, a, TASK_NAMES), *unwind = put_task(b, c, TASK_UNWIND),
                       *later = put_task(b, a, TASK_UNWIND);

    assert_true(a != c && owners_number(&b->o, stranger(1)) == a);
    assert_int_equal(owners_number(&b->o, 0), OWNER_TRUSTED);
    assert_int_equal(owners_number(&b->o, geteuid()), OWNER_TRUSTED);
    assert_ptr_equal(owners_take(&b->o, LANE_QUICK), unwind);
    assert_ptr_equal(owners_take(&b->o, LANE_QUICK), later);
    assert_ptr_equal(owners_take(&b->o, LANE_QUICK), names);
    assert_null(owners_take(&b->o, LANE_QUICK));
    assert_false(owners_have(&b->o, LANE_QUICK));
    mem_free(b);
}

TEST(names_do_not_wait_for_slow_unwind_tables)
{
    struct bench *b = bench_new();
    unsigned a = owners_number(&b->o, stranger(1));
    struct symbol_task *unwind = put_in(b, LANE_SLOW, a, TASK_UNWIND),
                       *calls = put_in(b, LANE_SLOW, a, TASK_CALLS),
                       *lines = put_in(b, LANE_SLOW, a, TASK_LINES),
                       *names = put_in(b, LANE_SLOW, a, TASK_NAMES);

    assert_ptr_equal(owners_take(&b->o, LANE_SLOW), names);
    assert_ptr_equal(owners_take(&b->o, LANE_SLOW), unwind);
    assert_ptr_equal(owners_take(&b->o, LANE_SLOW), calls);
    assert_ptr_equal(owners_take(&b->o, LANE_SLOW), lines);
    assert_null(owners_take(&b->o, LANE_SLOW));
    mem_free(b);
}

/* Fifteen files of one owner that take a second each, and two of another owner queued after them. */
TEST(an_owner_waits_for_at_most_one_request_of_another)
{
    struct bench *b = bench_new();
    unsigned hostile = owners_number(&b->o, stranger(1)), other = owners_number(&b->o, stranger(2)), i;

    for (i = 0; i < 15; i++)
        put_task(b, hostile, TASK_UNWIND);
    assert_int_equal(take_task(b), hostile);
    put_task(b, other, TASK_NAMES);
    put_task(b, other, TASK_LINES);
    put_task(b, OWNER_TRUSTED, TASK_NAMES);
    put_task(b, OWNER_UNKNOWN, TASK_NAMES);
    owners_spend(&b->o, LANE_QUICK, hostile, NS_PER_SEC);
    assert_true(owners_must_wait(&b->o, LANE_QUICK, hostile));
    assert_false(owners_must_wait(&b->o, LANE_QUICK, OWNER_TRUSTED));
    assert_int_equal(take_task(b), OWNER_TRUSTED);
    assert_int_equal(take_task(b), OWNER_UNKNOWN);
    assert_int_equal(take_task(b), other);
    assert_int_equal(take_task(b), other);
    for (i = 1; i < 15; i++) {
        assert_int_equal(take_task(b), hostile);
        owners_spend(&b->o, LANE_QUICK, hostile, NS_PER_SEC);
    }
    /* An owner that was idle gets no credit for it … */
    put_task(b, other, TASK_NAMES);
    put_task(b, other, TASK_NAMES);
    put_task(b, hostile, TASK_NAMES);
    put_task(b, hostile, TASK_NAMES);
    assert_int_equal(take_task(b), other);
    owners_spend(&b->o, LANE_QUICK, other, 3 * NS_PER_SEC);
    /* … and waits once it costs more. */
    assert_int_equal(take_task(b), hostile);
    mem_free(b);
}

/* A container's user can use 65,536 user ids. */
TEST(trusted_files_wait_for_many_users_as_for_one)
{
    struct bench *b = bench_new();
    unsigned i, owner;

    for (i = 0; i < 40; i++)
        put_task(b, owners_number(&b->o, stranger(i)), TASK_UNWIND);
    for (i = 0; i < 10; i++) {
        owner = take_task(b);
        assert_true(owner >= OWNER_FIRST);
        owners_spend(&b->o, LANE_QUICK, owner, NS_PER_SEC);
        put_task(b, OWNER_TRUSTED, TASK_NAMES);
        assert_int_equal(take_task(b), OWNER_TRUSTED);
        owners_spend(&b->o, LANE_QUICK, OWNER_TRUSTED, NS_PER_MS);
    }
    for (i = 0; i < 1000; i++)
        assert_in_range(owners_number(&b->o, stranger(i)), OWNER_FIRST, OWNERS_MAX - 1);
    mem_free(b);
}

TEST(trusted_files_do_not_starve_users)
{
    struct bench *b = bench_new();
    unsigned owner = owners_number(&b->o, stranger(1)), i;

    for (i = 0; i < 20; i++)
        put_task(b, OWNER_TRUSTED, TASK_UNWIND);
    put_task(b, owner, TASK_NAMES);
    for (i = 0; i < 20 && take_task(b) == OWNER_TRUSTED; i++)
        owners_spend(&b->o, LANE_QUICK, OWNER_TRUSTED, NS_PER_SEC / 2);
    assert_in_range(i, 1, 4);
    mem_free(b);
}

TEST(the_owner_with_the_least_cost_is_next)
{
    struct bench *b = bench_new();
    unsigned a = owners_number(&b->o, stranger(1)), c = owners_number(&b->o, stranger(2));
    uint64_t users = UINT64_C(1) << a | UINT64_C(1) << c, all = users | UINT64_C(1) << OWNER_TRUSTED;

    assert_int_equal(owners_fairest(&b->o, LANE_QUICK, all), OWNER_TRUSTED);
    owners_spend(&b->o, LANE_QUICK, a, NS_PER_SEC);
    assert_int_equal(owners_fairest(&b->o, LANE_QUICK, users), c);
    assert_int_equal(owners_fairest(&b->o, LANE_QUICK, UINT64_C(1) << a), a);
    owners_spend(&b->o, LANE_QUICK, OWNER_TRUSTED, 10 * NS_PER_SEC);
    assert_int_equal(owners_fairest(&b->o, LANE_QUICK, all), c);
    assert_int_equal(owners_fairest(&b->o, LANE_QUICK, UINT64_C(1) << OWNER_TRUSTED), OWNER_TRUSTED);
    mem_free(b);
}

TEST(limits_shrink_for_offending_owners)
{
    struct bench *b = bench_new();
    unsigned owner = owners_number(&b->o, stranger(1)), i;
    const uint64_t whole = 10 * NS_PER_SEC;

    assert_int_equal(owners_limit(&b->o, LANE_QUICK, owner, whole), NS_PER_SEC / 2);
    assert_int_equal(owners_limit(&b->o, LANE_SLOW, owner, whole), 6 * NS_PER_SEC);
    owners_offend(&b->o, owner);
    assert_int_equal(owners_limit(&b->o, LANE_SLOW, owner, whole), 3 * NS_PER_SEC);
    assert_true(owners_may_be_slow(&b->o, owner));
    for (i = 1; i < 3; i++)
        owners_offend(&b->o, owner);
    assert_false(owners_may_be_slow(&b->o, owner));
    assert_int_equal(owners_limit(&b->o, LANE_QUICK, owner, whole), NS_PER_SEC / 8);
    for (; i < 16; i++)
        owners_offend(&b->o, owner);
    assert_int_equal(owners_limit(&b->o, LANE_QUICK, owner, whole), 0);
    /* No owner is refused because of another, and root is never refused. */
    assert_int_equal(owners_limit(&b->o, LANE_QUICK, owners_number(&b->o, stranger(2)), whole),
                     NS_PER_SEC / 2);
    for (i = 0; i < 20; i++)
        owners_offend(&b->o, OWNER_TRUSTED);
    assert_int_equal(owners_limit(&b->o, LANE_SLOW, OWNER_TRUSTED, whole), whole);
    /* After ten minutes offences are forgotten. */
    b->o.all[owner].offended_ns = clock_now_ns() - 601 * NS_PER_SEC;
    assert_int_equal(owners_limit(&b->o, LANE_SLOW, owner, whole), 6 * NS_PER_SEC);
    mem_free(b);
}

TEST_MAIN(NULL, NULL)
