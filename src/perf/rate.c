// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/rate.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "perf/count_target.h"

#define COUNT_TARGETS_MAX 256  /* of tasks */
#define FDS_MAX           2048 /* open at the same time */
#define SLICE_NS          (20 * NS_PER_MS)

static void open_counter(struct counter *c, const struct counter_setup *setup,
                         const struct count_targets *targets, struct error *why)
{
    int sys = 0;
    pid_t refused = -1;
    for (uint32_t i = 0; i < targets->n; i++) {
        int fd = counter_open_at(setup, targets->items[i], -1);
        if (fd < 0 && fd != COUNTER_ELSEWHERE && !sys) {
            sys = errno;
            refused = targets->tasks ? targets->items[i].pid : -1;
        }
        counter_add(c, fd);
    }
    if (!c->open)
        event_explain(setup->ev->name, &setup->attr, refused, sys ? sys : ENODEV, why);
}

static void read_rate(const struct counter *c, uint64_t start_ns, bool scales, struct rate *out)
{
    double sum = 0;
    struct count_raw r;
    for (size_t i = 0; i < c->fds.n; i++)
        if (counter_read(c, i, &r) && r.running_ns)
            sum += scales ? count_scale(r.value, r.enabled_ns, r.running_ns).value : (double)r.value;
    uint64_t passed_ns = clock_now_ns() - start_ns;
    out->counted = c->open;
    out->per_second = passed_ns ? sum * NS_PER_SEC / (double)passed_ns : 0;
}

static bool is_over(const atomic_bool *stop)
{
    return stop && *stop;
}

static void wait_ns(uint64_t ns, const atomic_bool *stop)
{
    for (uint64_t end = clock_now_ns() + ns; clock_now_ns() < end && !is_over(stop);)
        nanosleep(&(struct timespec){ .tv_nsec = SLICE_NS }, NULL);
}

static void count_batch(const struct event *events, uint32_t n, const struct scope *scope,
                        const struct count_targets *targets, uint64_t ns, const atomic_bool *stop,
                        struct rate *out)
{
    struct counter *counters = mem_array(n, sizeof *counters);
    uint64_t *start_ns = mem_array(n, sizeof *start_ns);
    for (uint32_t i = 0; i < n && !is_over(stop); i++) {
        struct counter_setup setup = counter_setup_of(&events[i], scope, targets);
        open_counter(&counters[i], &setup, targets, &out[i].why);
    }
    for (uint32_t i = 0; i < n; i++) {
        start_ns[i] = clock_now_ns();
        counter_start(&counters[i]);
    }
    wait_ns(ns, stop);
    for (uint32_t i = 0; i < n; i++)
        read_rate(&counters[i], start_ns[i], !targets->split, &out[i]);
    for (uint32_t i = 0; i < n; i++)
        counter_close(&counters[i]);
    mem_free(start_ns);
    mem_free(counters);
}

/* Number of events counted at once. Half of the limit of open files is left to the rest of the program. */
static uint32_t batch_size(uint32_t n_targets)
{
    struct rlimit lim;
    uint64_t fds = FDS_MAX;
    if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur / 2 < fds)
        fds = lim.rlim_cur / 2;
    return fds / n_targets ? (uint32_t)(fds / n_targets) : 1;
}

void rate_count(const struct event *events, uint32_t n, const struct scope *scope, uint64_t ns,
                const atomic_bool *stop, struct rate *out)
{
    struct count_targets targets;
    struct error e = { 0 };
    memset(out, 0, n * sizeof *out);
    bool ok = count_targets_of(&targets, scope, COUNT_TARGETS_SPLIT, &e);
    if (targets.tasks && targets.n > COUNT_TARGETS_MAX)
        targets.n = COUNT_TARGETS_MAX;
    uint32_t most = ok ? batch_size(targets.n) : 1;
    for (uint32_t i = 0; ok && i < n && !is_over(stop); i += most)
        count_batch(events + i, n - i < most ? n - i : most, scope, &targets, ns, stop, out + i);
    for (uint32_t i = 0; !ok && i < n; i++)
        out[i].why = e;
    count_targets_done(&targets);
}

/* --- cost --- */

uint64_t rate_sample_cost_ns(enum callchain_mode mode)
{
    /* As measured by tests/bench/sample_cost.py, rounded: the time lost by the sampled task, plus
     * flametop's own. */
    switch (mode) {
    case CALLCHAIN_NONE:
        return 10000;
    case CALLCHAIN_FP:
    case CALLCHAIN_LBR:
        return 15000;
    default:
        return 20000;
    }
}

double rate_cost_percent(double samples_per_second, enum callchain_mode mode, uint32_t n_cpus)
{
    return samples_per_second * (double)rate_sample_cost_ns(mode) / (double)NS_PER_SEC * 100 /
           (n_cpus ? n_cpus : 1);
}

double rate_budget(enum callchain_mode mode, uint32_t n_cpus, double percent)
{
    return (n_cpus ? n_cpus : 1) * percent / 100.0 * NS_PER_SEC / (double)rate_sample_cost_ns(mode);
}

/* --- waits --- */

/* Rounded, as measured by tests/bench/waits_cost.py: 0.8 and 1.7 us where two threads wake each other, 3.5
 * and 4 us with 400 processes, where caches are cold. No interrupt takes these samples, and equal stacks are
 * merged, so they cost less than others. */
#define SWITCH_COST_NS      1000
#define WAIT_COST_NS        5000
#define WAIT_COST_DWARF_NS  20000
#define WAIT_COST_NO_STACKS 2500

/* Odd, as each is near to a period that must not be even (thin.c). */
static const uint32_t steps[] = { 1, 3, 7, 15, 31, 63, 125, 251, 501, 999 };
#define N_STEPS (sizeof steps / sizeof *steps)

static double stack_cost_ns(enum callchain_mode mode, bool by_fp)
{
    if (mode == CALLCHAIN_NONE)
        return WAIT_COST_NO_STACKS;
    return by_fp || mode == CALLCHAIN_FP || mode == CALLCHAIN_LBR ? WAIT_COST_NS : WAIT_COST_DWARF_NS;
}

/* kind: 0: of off-cpu; 1: of wakers. */
static double stacks_cost(const struct rate_waits *r, enum callchain_mode mode, int kind, uint32_t one_in)
{
    double n = one_in == LIVE_NO_STACKS ? 0 : r->stacks[kind] / (one_in ? one_in : 1);
    return n * stack_cost_ns(mode, kind && r->wakers_by_fp) / NS_PER_SEC;
}

static double switches_cost(const struct rate_waits *r)
{
    return r->switches * SWITCH_COST_NS / NS_PER_SEC;
}

double rate_waits_cost(const struct rate_waits *r, enum callchain_mode mode, const uint32_t one_in[2])
{
    return switches_cost(r) + stacks_cost(r, mode, 0, one_in[0]) + stacks_cost(r, mode, 1, one_in[1]);
}

void rate_waits_fit(const struct rate_waits *r, enum callchain_mode mode, uint32_t n_cpus, double percent,
                    uint32_t one_in[2])
{
    double left = (n_cpus ? n_cpus : 1) * percent / 100 - switches_cost(r);
    for (int kind = 0; kind < 2; kind++) {
        double rest = left - stacks_cost(r, mode, !kind, 1), most = rest > left / 2 ? rest : left / 2;
        one_in[kind] = LIVE_NO_STACKS;
        for (size_t i = N_STEPS; i-- > 0 && stacks_cost(r, mode, kind, steps[i]) <= most;)
            one_in[kind] = steps[i];
    }
}

uint32_t rate_waits_fewer(uint32_t one_in)
{
    for (size_t i = 0; i < N_STEPS; i++)
        if (steps[i] > one_in)
            return steps[i];
    return LIVE_NO_STACKS;
}

/* --- operations --- */

/* Rounded, as measured with tests/live/storm.c, of both events of an operation: the time that they cost
 * its thread, and 0.2 us here. */
#define OPERATION_COST_NO_STACKS 2000
#define OPERATION_COST_NS        4000
#define OPERATION_COST_DWARF_NS  20000
/* factor: all begins are counted, and ends of the selection before are seen */
#define SELECTED_COST 2

static double operation_cost_ns(enum callchain_mode mode)
{
    return mode == CALLCHAIN_NONE                          ? OPERATION_COST_NO_STACKS
           : mode == CALLCHAIN_FP || mode == CALLCHAIN_LBR ? OPERATION_COST_NS
                                                           : OPERATION_COST_DWARF_NS;
}

double rate_operations_cost(const struct rate_operations *rows, uint32_t n, enum callchain_mode mode,
                            const uint32_t *one_in)
{
    double per_second = 0;
    for (uint32_t i = 0; i < n; i++)
        per_second += rows[i].per_second / one_in[i] * (one_in[i] > 1 ? SELECTED_COST : 1);
    return per_second * operation_cost_ns(mode) / NS_PER_SEC;
}

/* True if all rows of the group may be sampled less. */
static bool may_halve(const struct rate_operations *rows, uint32_t n, const uint32_t *one_in, uint32_t group)
{
    for (uint32_t i = 0; i < n; i++)
        if (rows[i].group == group && 2 * one_in[i] > rows[i].most)
            return false;
    return true;
}

/* The most expensive row that may be sampled less; n: none. */
static uint32_t largest(const struct rate_operations *rows, uint32_t n, const uint32_t *one_in)
{
    uint32_t found = n;
    for (uint32_t i = 0; i < n; i++)
        if (may_halve(rows, n, one_in, rows[i].group) &&
            (found == n || rows[i].per_second / one_in[i] > rows[found].per_second / one_in[found]))
            found = i;
    return found;
}

void rate_operations_fit(const struct rate_operations *rows, uint32_t n, enum callchain_mode mode,
                         uint32_t n_cpus, double percent, uint32_t *one_in)
{
    double most = (n_cpus ? n_cpus : 1) * percent / 100;
    for (uint32_t i = 0; i < n; i++)
        one_in[i] = 1;
    for (uint32_t row;
         rate_operations_cost(rows, n, mode, one_in) > most && (row = largest(rows, n, one_in)) < n;)
        for (uint32_t i = 0; i < n; i++)
            one_in[i] *= rows[i].group == rows[row].group ? 2 : 1;
}

uint64_t rate_period_for(double events_per_second, double most)
{
    uint64_t period = 1;
    for (int step = 0; events_per_second / (double)period > most && step < 54; step++)
        period = step % 3 == 1 ? period / 2 * 5 : period * 2;
    return period;
}
