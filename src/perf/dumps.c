// SPDX-License-Identifier: GPL-2.0-or-later
/* Stack dumps: registers and the top of the user stack with each sample. Sets their size and that of the
 * rings. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "perf/open.h"

#define MIB (UINT64_C(1) << 20)

/* Limits of auto per CPU, and for a large machine, in bytes per second. A full dump of 24 KiB costs its CPU
 * 10 us (measured), as much as the rest of the sample; most are shorter. 16 MiB/s are 682 dumps, 0.7 % of a
 * CPU's time, and half a second of them fills a ring of 8 MiB; the usual 99 Hz use a seventh. */
#define BUDGET_CPU_BYTES    (16 * MIB)
#define BUDGET_SYSTEM_BYTES (512 * MIB)

#define RING_PLAIN_BYTES (512 * 1024)
#define RING_MIN_PAGES   8
#define RING_RECORDS_MIN 4           /* dumps that a ring must hold in any case */
#define RINGS_BYTES      (128 * MIB) /* of all rings, unless 0.2 s each need more */
#define RINGS_BYTES_MAX  (512 * MIB)
#define GOOD_MS          500  /* of dumps that a ring should hold */
#define BEST_MS          1400 /* if that needs at most BEST_BYTES: one drain per second, one of them late */
#define BEST_BYTES       (4 * MIB)
#define LEAST_MS         200        /* two drains, one of them late */
#define RECORD_BYTES     2048       /* of a sample with a callchain, without its dump */
#define STORM_DUMP_BYTES (64 * MIB) /* for the first 25 ms of a storm of dumps: then it has none */
#define STORM_SHARE      16         /* of the free memory, for all such rings */
#define STORM_MARK_BYTES MIB        /* after which the collector looks at a ring that may storm */
#define STORM_PERIOD     10         /* longest period of a software event that may storm */
#define RATE_GUESS_HZ    99         /* of an event with a period, until its rate was seen */
#define UNSTEADY         2          /* factor by which the rate of such an event may exceed the rate seen */

/* Sizes of auto, descending. Those above the default are used if it truncates too many stacks. */
static const uint32_t sizes[] = { LIVE_STACK_BYTES_MAX, 48 * 1024, 32 * 1024,
                                  LIVE_STACK_BYTES,     16 * 1024, 8 * 1024 };
#define N_SIZES (sizeof sizes / sizeof *sizes)
#define BURST   4 /* times the rate that fits: these dumps cost 50 ms of a CPU until they are given up */

/* Truncated dumps that justify larger ones: this number, and this share of all. */
#define SHORT_MIN     20
#define SHORT_PERCENT 5

uint32_t live_smaller_dumps(uint32_t bytes)
{
    for (unsigned i = 0; i < N_SIZES; i++)
        if (sizes[i] < bytes)
            return sizes[i];
    return 0;
}

static uint32_t larger(uint32_t bytes)
{
    for (unsigned i = N_SIZES; i-- > 0;)
        if (sizes[i] > bytes)
            return sizes[i];
    return 0;
}

bool dumps_are_short(uint64_t dumped, uint64_t truncated)
{
    return truncated >= SHORT_MIN && truncated * 100 > dumped * SHORT_PERCENT;
}

bool dumps_run(const struct plan *p)
{
    return p->cfg.callchain == CALLCHAIN_DWARF;
}

uint64_t dumps_link_mask(const struct plan *p)
{
    return p->cfg.callchain == CALLCHAIN_FP && !plan_leaves_user_out(p) ? p->cfg.regs_link_mask : 0;
}

uint64_t dumps_budget(uint32_t n_cpus)
{
    uint64_t bytes = n_cpus * BUDGET_CPU_BYTES;
    return bytes < BUDGET_SYSTEM_BYTES ? bytes : BUDGET_SYSTEM_BYTES;
}

uint32_t dumps_fit(double per_second, uint32_t n_cpus)
{
    for (unsigned i = 0; i < N_SIZES; i++)
        if (sizes[i] <= LIVE_STACK_BYTES && per_second * sizes[i] <= (double)dumps_budget(n_cpus))
            return sizes[i];
    return 0;
}

uint64_t dumps_first_hz(double per_second, uint32_t n_cpus)
{
    uint64_t hz = (uint64_t)(per_second / n_cpus), most = dumps_budget(n_cpus) / n_cpus / sizes[N_SIZES - 1];
    if (dumps_fit(per_second, n_cpus) == LIVE_STACK_BYTES)
        return 0;
    return hz > most && hz <= BURST * most ? most : hz;
}

/* Dumps per second and CPU, of all sampling events; 0: unknown. */
static uint64_t rate_of(const struct plan *p)
{
    uint64_t sum = 0, freq_hz, period;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        plan_rate(p, member, &freq_hz, &period);
        if (!freq_hz)
            return p->cfg.seen_hz;
        sum += plan_is_silent(p, member) ? 0 : freq_hz;
    }
    return sum;
}

static uint64_t bytes_per_second(const struct plan *p, uint32_t stack_bytes)
{
    return p->n_cpus * rate_of(p) * stack_bytes;
}

static uint64_t ring_of_ms(const struct plan *p, unsigned ms)
{
    uint64_t rate = rate_of(p) ? rate_of(p) : RATE_GUESS_HZ;
    return rate * p->cfg.stack_bytes * ms / 1000;
}

uint32_t dumps_larger(const struct plan *p, uint64_t seen_hz)
{
    uint32_t bytes = larger(p->cfg.stack_bytes);
    uint64_t hz = rate_of(p) ? rate_of(p) : seen_hz * UNSTEADY;
    bool automatic = p->callchain_asked == CALLCHAIN_AUTO && dumps_run(p) && p->dumps_less == DUMPS_FULL;
    bool fits = hz * bytes * LEAST_MS / 1000 <= p->ring_bytes;
    return automatic && fits && p->n_cpus * hz * bytes <= dumps_budget(p->n_cpus) ? bytes : 0;
}

/* Lost samples had dumps too. */
uint64_t dumps_over_budget(const struct plan *p, struct dumps_look *last, const struct dumps_look *now)
{
    uint64_t bytes = now->bytes - last->bytes + (now->lost - last->lost) * p->cfg.stack_bytes;
    uint64_t time_ns = now->time_ns - last->time_ns;
    if (p->callchain_asked != CALLCHAIN_AUTO || !dumps_run(p) || plan_is_frequency(p))
        return 0;
    if (bytes <= dumps_budget(p->n_cpus) && time_ns < NS_PER_SEC)
        return 0;
    *last = *now;
    double per_second = (double)bytes * NS_PER_SEC / (double)(time_ns + 1);
    if (per_second <= (double)dumps_budget(p->n_cpus))
        return 0;
    return (uint64_t)(per_second / p->cfg.stack_bytes / p->n_cpus) + 1;
}

static void no_dumps(struct plan *p)
{
    p->cfg.callchain = CALLCHAIN_FP;
    p->cfg.stack_bytes = 0;
}

/* Reduce to the next smaller dump size, or none. Reducing a size above the default is not reported: it was
 * not requested. */
static void less(struct plan *p, enum dumps_less why)
{
    bool above = p->callchain_asked == CALLCHAIN_AUTO && p->cfg.stack_bytes > LIVE_STACK_BYTES;
    p->dumps_less = above ? p->dumps_less : why;
    p->cfg.stack_bytes = live_smaller_dumps(p->cfg.stack_bytes);
    if (above)
        p->stack_bytes_asked = p->cfg.stack_bytes;
    if (!p->cfg.stack_bytes)
        no_dumps(p);
}

static void choose_dumps(struct plan *p)
{
    bool automatic = p->callchain_asked == CALLCHAIN_AUTO;
    p->dumps_less = DUMPS_FULL;
    p->cfg.stack_bytes = 0;
    if (p->callchain_asked == CALLCHAIN_NONE || p->callchain_asked == CALLCHAIN_FP)
        return;
    if (plan_leaves_user_out(p)) {
        p->cfg.callchain = CALLCHAIN_FP;
        return;
    }
    if (p->callchain_asked == CALLCHAIN_LBR)
        return;
    p->cfg.callchain = CALLCHAIN_DWARF;
    p->cfg.stack_bytes = p->stack_bytes_asked;
    if (!p->cfg.regs_user_mask)
        dumps_step_refused(p);
    while (automatic && dumps_run(p) && bytes_per_second(p, p->cfg.stack_bytes) > dumps_budget(p->n_cpus))
        less(p, DUMPS_BUDGET);
}

static uint32_t round_ring(uint64_t bytes)
{
    uint32_t n = (uint32_t)sysconf(_SC_PAGESIZE);
    while (n < bytes && n < UINT32_C(1) << 30)
        n *= 2;
    return n;
}

/* True if tens of thousands of samples per second are possible, which fill a plain ring in some 10 ms: of
 * waits, operations, or each event of a tracepoint; or one in a few page faults, say. */
static bool may_storm(const struct plan *p)
{
    uint64_t freq_hz, period;
    for (uint32_t member = plan_first(p); member < EVENT_SET_MAX; member = plan_next_member(p, member)) {
        const struct event *ev = plan_event(p, member);
        plan_rate(p, member, &freq_hz, &period);
        uint64_t most = ev->attr.type == PERF_TYPE_TRACEPOINT ? 1
                        : ev->attr.type == PERF_TYPE_SOFTWARE ? STORM_PERIOD
                                                              : 0;
        if (event_has_waits(ev) || ev->of_pair || (period && period <= most))
            return true;
    }
    return false;
}

/* Where the rate is unknown, it may be as high as the budget allows, or higher until that is noticed. */
static bool storm_is_ahead(const struct plan *p)
{
    return p->callchain_asked == CALLCHAIN_AUTO && dumps_run(p) && !rate_of(p) && may_storm(p);
}

/* Size of a ring for the begin of a command, whose rate cannot be counted before. */
static uint64_t storm_ring(const struct plan *p)
{
    long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t most = pages > 0 ? (uint64_t)pages * (uint64_t)page / STORM_SHARE / p->n_cpus : 0;
    uint64_t ring = STORM_DUMP_BYTES;
    while (ring > most && ring > BUDGET_CPU_BYTES * GOOD_MS / 1000)
        ring /= 2;
    return ring;
}

/* Size of a ring. An event whose rate is unknown may come as often as the budget allows, all at once. */
static uint64_t good_ring(const struct plan *p)
{
    if (storm_is_ahead(p) && p->cfg.enable_on_exec)
        return storm_ring(p);
    if (p->callchain_asked == CALLCHAIN_AUTO && !rate_of(p))
        return BUDGET_CPU_BYTES * GOOD_MS / 1000;
    uint64_t good = ring_of_ms(p, GOOD_MS), best = ring_of_ms(p, BEST_MS);
    return best <= BEST_BYTES ? best : good > BEST_BYTES ? good : BEST_BYTES;
}

static uint32_t choose_ring(const struct plan *p)
{
    uint64_t good = dumps_run(p) ? good_ring(p) : may_storm(p) ? BEST_BYTES : 0;
    uint64_t n = round_ring(good > RING_PLAIN_BYTES ? good : RING_PLAIN_BYTES);
    while (n > RING_PLAIN_BYTES &&
           n * p->n_cpus > (n / 2 >= ring_of_ms(p, LEAST_MS) ? RINGS_BYTES : RINGS_BYTES_MAX))
        n /= 2;
    return (uint32_t)n;
}

void dumps_start(struct plan *p)
{
    struct cpus list;
    open_cpu_list(p, &list);
    p->n_cpus = 0;
    for (uint32_t i = 0; i < list.n; i++)
        p->n_cpus += list.in[i];
    if (p->n_cpus == 0) /* will be refused */
        p->n_cpus = 1;
    cpus_done(&list);
    choose_dumps(p);
    p->ring_bytes = p->ring_bytes_asked = p->ring_asked ? round_ring(p->ring_asked) : choose_ring(p);
}

/* An early wakeup leaves time for a late drain. If less than three quarters of a ring suffice for that,
 * fewer wakeups do. */
uint32_t dumps_watermark(const struct plan *p)
{
    if (storm_is_ahead(p) && p->ring_bytes / 4 > STORM_MARK_BYTES)
        return STORM_MARK_BYTES;
    uint64_t late = dumps_run(p) && rate_of(p) ? ring_of_ms(p, DUMPS_LATE_MS) : p->ring_bytes;
    uint64_t least = p->ring_bytes / 4, most = p->ring_bytes - least;
    uint64_t mark = late < p->ring_bytes ? p->ring_bytes - late : 0;
    return (uint32_t)(mark < least ? least : mark > most ? most : mark);
}

uint64_t dumps_bytes_in(const struct plan *p, uint64_t time_ns)
{
    if (!plan_is_frequency(p) || p->cfg.switches)
        return UINT64_MAX;
    return rate_of(p) * (p->cfg.stack_bytes + RECORD_BYTES) * (time_ns / NS_PER_MS) / 1000;
}

/* An explicit dwarf is always obeyed: samples that do not fit are lost, and counted. */
uint32_t dumps_ring_least(const struct plan *p)
{
    uint64_t least = RING_MIN_PAGES * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t dumps = (uint64_t)RING_RECORDS_MIN * p->cfg.stack_bytes;
    if (p->callchain_asked == CALLCHAIN_AUTO && dumps_run(p) && ring_of_ms(p, LEAST_MS) > dumps)
        dumps = ring_of_ms(p, LEAST_MS);
    return (uint32_t)(dumps > least ? dumps : least);
}

bool dumps_rings_are_short(const struct plan *p, const struct plan *before)
{
    return p->ring_bytes < p->ring_bytes_asked && p->ring_bytes < before->ring_bytes;
}

/* The rings shrink first, down to LEAST_MS; then the dumps. */
bool dumps_step_memory(struct plan *p)
{
    if (!dumps_run(p))
        return false;
    while (dumps_run(p) && p->ring_bytes / 2 < dumps_ring_least(p))
        less(p, DUMPS_MEMORY);
    if (p->ring_bytes / 2 < dumps_ring_least(p))
        return false;
    p->ring_bytes /= 2;
    return true;
}

bool dumps_step_refused(struct plan *p)
{
    if (dumps_link_mask(p)) {
        p->cfg.regs_link_mask = 0;
        return true;
    }
    if (!dumps_run(p))
        return false;
    p->dumps_less = DUMPS_REFUSED;
    no_dumps(p);
    return true;
}

static void note_budget(struct plan *p)
{
    char what[160], rate[32], now[48];
    unsigned long long fits = dumps_budget(p->n_cpus) / p->n_cpus / p->stack_bytes_asked;
    unsigned long long full = bytes_per_second(p, p->stack_bytes_asked) / 1000000;
    text_thousands(rate, sizeof rate, rate_of(p));
    if (dumps_run(p))
        snprintf(now, sizeof now, "stacks of %u KB at most, full", p->cfg.stack_bytes / 1024);
    else
        snprintf(now, sizeof now, "stacks by frame pointers,");
    snprintf(what, sizeof what, "%s %s: %s dumps would be %llu MB/s", rate,
             plan_is_frequency(p) ? "Hz" : "samples/s per CPU", now, full);
    if (plan_is_frequency(p))
        plan_note(p, what, "m, dwarf to force them; or -F %llu (f)", fits ? fits : 1);
    else
        plan_note(p, what, "m, dwarf to force them; or fewer: -c N, or a frequency (f)");
}

static void note_memory(struct plan *p)
{
    char what[160];
    if (dumps_run(p))
        snprintf(what, sizeof what, "locked memory is short: stacks of %u KB at most instead of %u",
                 p->cfg.stack_bytes / 1024, p->stack_bytes_asked / 1024);
    else
        snprintf(what, sizeof what, "locked memory is short: stacks by frame pointers");
    plan_note(p, what, "ulimit -l unlimited, or sysctl kernel.perf_event_mlock_kb=%u",
              p->ring_bytes_asked / 1024 + 4);
}

static void note_small_rings(struct plan *p)
{
    char what[160];
    bool enough = dumps_run(p) && p->ring_bytes >= ring_of_ms(p, LEAST_MS);
    if (p->ring_bytes == p->ring_bytes_asked || enough)
        return;
    snprintf(what, sizeof what, "locked memory is short: rings of %u KiB instead of %u", p->ring_bytes / 1024,
             p->ring_bytes_asked / 1024);
    plan_note(p, what, "ulimit -l unlimited, or sysctl kernel.perf_event_mlock_kb=%u",
              p->ring_bytes_asked / 1024 + 4);
}

void dumps_note(struct plan *p)
{
    switch (p->dumps_less) {
    case DUMPS_FULL:
        note_small_rings(p);
        break;
    case DUMPS_BUDGET:
        note_budget(p);
        note_small_rings(p);
        break;
    case DUMPS_MEMORY:
        note_memory(p);
        break;
    case DUMPS_REFUSED:
        plan_note(p, "registers and stacks are not sampled on this machine: stacks by frame pointers",
                  "a kernel with CONFIG_HAVE_PERF_USER_STACK_DUMP, on x86-64 or arm64");
        note_small_rings(p);
        break;
    }
}
