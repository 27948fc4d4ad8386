// SPDX-License-Identifier: GPL-2.0-or-later
/* The bounded history of samples: chunks in order of arrival (which is order of time, but for the odd
 * record that an NMI put a little late). Raw tracepoint payloads live beside their chunk. */
#ifndef FLAMETOP_PROFILE_HISTORY_H
#define FLAMETOP_PROFILE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sample_flags {
    SAMPLE_KERNEL = 1, /* the CPU was in kernel mode */
    SAMPLE_USER = 2,
    SAMPLE_IDLE = 4,   /* the idle task (pid 0): idle, or an interrupt that came while idle */
    SAMPLE_BROKEN = 8, /* its callchain ends in garbage */
    SAMPLE_GUEST = 16,
    SAMPLE_PARTLY = 32, /* its counters have shared the PMU with others since the sample before */
    SAMPLE_FLAGS = 63,
};

struct sample { /* 32 bytes */
    uint64_t time_ns;
    uint64_t weight; /* period: events that this sample stands for */
    uint32_t stack;
    uint32_t thread;
    uint32_t raw;      /* 0: none; else handle for history_raw: append sets it */
    uint32_t cpu : 13; /* Linux knows 8,192 at most */
    uint32_t event : 13;
    uint32_t flags : 6; /* sample_flags */
};
#define SAMPLE_CPUS   8192 /* greater numbers are taken modulo this */
#define SAMPLE_EVENTS 8192

struct history; /* not thread-safe */
struct history *history_new(void);
void history_free(struct history *h);
/* Returns the sample's number: samples are numbered from 0 as long as the history lives. */
uint64_t history_append(struct history *h, const struct sample *s, const void *raw, uint32_t raw_size);
/* The sample of that number; NULL: it has left. Valid until the next append, shrink or clear. */
const struct sample *history_sample(const struct history *h, uint64_t number);
/* Samples get the event that `event` returns for theirs. */
void history_change_events(struct history *h, uint32_t (*event)(void *ctx, uint32_t of), void *ctx);
uint64_t history_next(const struct history *h); /* the number of the next one */
/* A stack that became known later. Nothing happens if the sample has left. Of such changes the last HISTORY_CHANGES are kept,
 * for those who have summed up what was there before. */
void history_set_stack(struct history *h, uint64_t number, uint32_t stack, uint8_t flags);
#define HISTORY_CHANGES 1024
struct history_change {
    uint64_t number; /* of the sample */
    uint32_t old_stack, stack;
    uint8_t old_flags, flags;
};
uint64_t history_changes(const struct history *h); /* how many there were, ever */
/* The i-th of them, one of those that are kept. Valid until the next one. */
const struct history_change *history_change(const struct history *h, uint64_t i);
/* The same for all samples in [from, to] for which `stack` tells another one than they have. */
void history_change_stacks(struct history *h, uint64_t from_ns, uint64_t to_ns,
                           uint32_t (*stack)(void *ctx, const struct sample *s), void *ctx);
uint64_t history_count(const struct history *h);    /* samples held */
uint64_t history_dropped(const struct history *h);  /* samples that left */
uint64_t history_first_ns(const struct history *h); /* 0 when empty */
uint64_t history_last_ns(const struct history *h);
size_t history_bytes(const struct history *h);
/* Drops oldest chunks until at most max_bytes are held (always keeps the newest chunk). Returns samples
 * dropped. */
uint64_t history_shrink(struct history *h, size_t max_bytes);
/* Chunks with samples in [from, to] are dropped only when nothing else is left to drop (a frozen moment is
 * kept while sampling goes on behind it). to 0: no pin. */
void history_pin(struct history *h, uint64_t from_ns, uint64_t to_ns);
void history_clear(struct history *h); /* as new: counts are 0 again */
/* Calls back with runs of samples; runs may hold some outside [from, to] (to 0: open): the callee checks. */
void history_scan(struct history *h, uint64_t from_ns, uint64_t to_ns,
                  void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx);
/* The same for all samples but the first `count` (a history_count of before, of the same epoch). */
void history_scan_after(struct history *h, uint64_t count,
                        void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx);
/* Of those, only the ones below `end`, in the same way, and only chunks with some in [from, to]. */
void history_scan_between(struct history *h, uint64_t count, uint64_t end, uint64_t from_ns, uint64_t to_ns,
                          void (*run)(void *ctx, struct sample *samples, size_t n), void *ctx);
/* Changes when samples leave, or are changed by history_change_stacks: what was summed up over them is to be made anew. No
 * two histories have the same one. */
uint64_t history_epoch(const struct history *h);
/* The payload of a sample of the history, or of a copy of one; aligned to 8; NULL (and size 0): it has none.
 * Valid until the next append, shrink or clear. */
const void *history_raw(const struct history *h, const struct sample *s, uint32_t *size);

#endif
