// SPDX-License-Identifier: GPL-2.0-or-later
/* The bounded history of samples: chunks in order of arrival.
 *
 * That is the order of time, except for an occasional record that an NMI wrote late. Raw tracepoint
 * payloads are stored with their chunk. */
#ifndef FLAMETOP_PROFILE_HISTORY_H
#define FLAMETOP_PROFILE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sample_flags {
    SAMPLE_KERNEL = 1, /* the CPU was in kernel mode */
    SAMPLE_USER = 2,
    SAMPLE_IDLE = 4,   /* the idle task (pid 0), or an interrupt during idle */
    SAMPLE_BROKEN = 8, /* the callchain ends in garbage */
    SAMPLE_GUEST = 16,
    SAMPLE_PARTLY = 32, /* its counters were multiplexed since the previous sample */
    SAMPLE_FLAGS = 63,
};

struct sample { /* 32 bytes */
    uint64_t time_ns;
    uint64_t weight : 51;  /* period: number of events that the sample represents; sample_weight */
    uint64_t running : 13; /* threads of the scope that ran at this moment, itself included; 0: unknown */
    uint32_t stack;
    uint32_t thread;
    uint32_t raw;      /* 0: none; else a handle for history_raw, set by append */
    uint32_t cpu : 13; /* Linux supports at most 8,192 */
    uint32_t event : 13;
    uint32_t flags : 6; /* sample_flags */
};
#define SAMPLE_CPUS       8192 /* greater numbers are stored modulo this */
#define SAMPLE_EVENTS     8192
#define SAMPLE_RUNNING    8192                        /* running threads are below this, as CPUs are */
#define SAMPLE_WEIGHT_MAX ((UINT64_C(1) << 51) - 1)   /* 26 days in ns */
static inline uint64_t sample_weight(uint64_t weight) /* at most that */
{
    return weight < SAMPLE_WEIGHT_MAX ? weight : SAMPLE_WEIGHT_MAX;
}

struct history; /* not thread-safe */
struct history *history_new(void);
void history_free(struct history *h);
/* Appends a sample and returns its number. Samples are numbered from 0 during the life of the history. */
uint64_t history_append(struct history *h, const struct sample *s, const void *raw, uint32_t raw_size);
/* Returns the sample with this number; NULL: it was dropped. Valid until the next append, shrink or
 * clear. */
const struct sample *history_sample(const struct history *h, uint64_t number);
/* Replaces the event of each sample by event(its event). */
void history_change_events(struct history *h, uint32_t (*event)(void *ctx, uint32_t of), void *ctx);
uint64_t history_next(const struct history *h); /* number of the next sample */
/* Sets the stack of a sample that was unwound later. Does nothing if the sample was dropped. The last
 * HISTORY_CHANGES changes are kept, so that sums can be corrected. */
void history_set_stack(struct history *h, uint64_t number, uint32_t stack, uint8_t flags);
#define HISTORY_CHANGES 1024
struct history_change {
    uint64_t number; /* of the sample */
    uint32_t old_stack, stack;
    uint8_t old_flags, flags;
};
uint64_t history_changes(const struct history *h); /* total number of changes */
/* Returns change i, which must be among the kept ones. Valid until the next change. */
const struct history_change *history_change(const struct history *h, uint64_t i);
/* Sets the stacks of all samples in [from, to] to those that `stack` returns. */
void history_change_stacks(struct history *h, uint64_t from_ns, uint64_t to_ns,
                           uint32_t (*stack)(void *ctx, const struct sample *s), void *ctx);
uint64_t history_count(const struct history *h);    /* samples held */
uint64_t history_dropped(const struct history *h);  /* samples dropped */
uint64_t history_first_ns(const struct history *h); /* 0 when empty */
uint64_t history_last_ns(const struct history *h);
size_t history_bytes(const struct history *h);
/* Drops the oldest chunks until at most max_bytes are held; always keeps the newest chunk. Returns the
 * number of samples dropped. */
uint64_t history_shrink(struct history *h, size_t max_bytes);
/* Keeps the chunks with samples in [from, to] until there is nothing else to drop, so that a frozen
 * moment survives while sampling goes on. to 0: unpin. */
void history_pin(struct history *h, uint64_t from_ns, uint64_t to_ns);
void history_clear(struct history *h); /* resets the counts to 0 */
/* Calls `run` with arrays of samples. They may include samples outside [from, to]: `run` checks. to 0:
 * open. */
void history_scan(struct history *h, uint64_t from_ns, uint64_t to_ns,
                  void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx);
/* Scans all samples except the first `count`, a previous history_count of the same epoch. */
void history_scan_after(struct history *h, uint64_t count,
                        void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx);
/* Scans samples [count, end) in the same way, and only chunks with samples in [from, to]. */
void history_scan_between(struct history *h, uint64_t count, uint64_t end, uint64_t from_ns, uint64_t to_ns,
                          void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx);
/* Returns a number that changes when samples are dropped, or changed by history_change_stacks: sums over
 * them must then be rebuilt. It differs between histories. */
uint64_t history_epoch(const struct history *h);
/* Returns the payload of a sample of the history or of a copy of one, aligned to 8 bytes. NULL (and size
 * 0): none. Valid until the next append, shrink or clear. */
const void *history_raw(const struct history *h, const struct sample *s, uint32_t *size);
/* The same, to change its bytes. */
void *history_raw_of(struct history *h, const struct sample *s, uint32_t *size);

#endif
