// SPDX-License-Identifier: GPL-2.0-or-later
/* Names are those of Linux 4.19 to 6.18 on x86-64 and arm64. */
#include "process/waker.h"

#include <stdbool.h>
#include <string.h>

#include "process/name_pattern.h"

/* The innermost function that is in this table tells the kind of an interrupt. */
static const struct {
    const char *pattern;
    enum waker waker;
} kinds[] = {
    { "hrtimer_wakeup", WAKER_TIMER },
    { "process_timeout", WAKER_TIMER },
    { "timerfd_*", WAKER_TIMER },
    { "posix_timer_*", WAKER_TIMER },
    { "it_real_fn", WAKER_TIMER },
    { "alarmtimer_*", WAKER_TIMER },
    { "call_timer_fn", WAKER_TIMER },
    { "__hrtimer_run_queues", WAKER_TIMER },
    { "blk_*", WAKER_DISK },
    { "bio_endio", WAKER_DISK },
    { "end_bio_*", WAKER_DISK },
    { "virtblk_*", WAKER_DISK },
    { "nvme_*", WAKER_DISK },
    { "scsi_*", WAKER_DISK },
    { "ata_*", WAKER_DISK },
    { "mmc_*", WAKER_DISK },
    { "net_rx_action", WAKER_NETWORK },
    { "__napi_poll", WAKER_NETWORK },
    { "napi_*", WAKER_NETWORK },
    { "net_tx_action", WAKER_NETWORK },
};

/* How the kernel enters interrupts, and runs what they deferred (softirqs). */
static const char *const entries[] = {
    "asm_sysvec_*",
    "asm_common_interrupt",
    "sysvec_*",
    "common_interrupt",
    "handle_softirqs",
    "__do_softirq",
    "____do_softirq",
    "do_softirq*",
    "call_on_irq_stack",
    "__irq_exit_rcu",
    "irq_exit*",
    "el0_interrupt",
    "el1_interrupt",
    "el0t_64_irq*",
    "el1h_64_irq*",
    "el0t_32_irq*",
    "__el1_irq",
    "__el0_irq*",
    "do_interrupt_handler",
};

static bool is_entry(const char *function)
{
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (name_matches_function(entries[i], function))
            return true;
    return false;
}

static enum waker kind_of(const char *function)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (name_matches_function(kinds[i].pattern, function))
            return kinds[i].waker;
    return WAKER_INTERRUPT;
}

enum waker waker_of(const char *const *function, size_t n, size_t *own)
{
    size_t at = 0, entry = 0;
    while (entry < n && !is_entry(function[entry]))
        entry++;
    if ((*own = entry) == n)
        return WAKER_THREAD;
    while (*own < n && is_entry(function[*own]))
        ++*own;
    while (at < entry && kind_of(function[at]) == WAKER_INTERRUPT)
        at++;
    return at < entry ? kind_of(function[at]) : WAKER_INTERRUPT;
}

bool waker_is_interrupt(enum waker w)
{
    return w >= WAKER_TIMER && w <= WAKER_INTERRUPT;
}

const char *waker_name(enum waker w)
{
    static const char *const names[WAKERS] = {
        [WAKER_TIMER] = "a timer",
        [WAKER_DISK] = "a disk interrupt",
        [WAKER_NETWORK] = "a network interrupt",
        [WAKER_INTERRUPT] = "an interrupt",
    };
    return w < WAKERS && names[w] ? names[w] : "";
}
