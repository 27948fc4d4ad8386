// SPDX-License-Identifier: GPL-2.0-or-later
/* System load and contention: load average, run queue, steal time, pressure of the system and of the scope's
 * cgroups. Sources: /proc/loadavg and /proc/stat (proc(5)), session/pressure.h. */
#ifndef FLAMETOP_SESSION_MACHINE_LOAD_H
#define FLAMETOP_SESSION_MACHINE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/mem.h"
#include "perf/scope.h"
#include "session/measured.h"
#include "session/pressure.h"

enum load_row_kind {
    LOAD_HEADING, /* name: "system", "cgroup /system.slice" */
    LOAD_VALUE,
    LOAD_REASON, /* detail says why there is no value */
};
/* A line of the screen or of the text output. */
struct load_row {
    enum load_row_kind kind;
    uint64_t key; /* stable between reads */
    char name[sizeof((struct scope *)NULL)->cgroup + 8];
    char value[16];
    char detail[sizeof((struct error *)NULL)->text];
    char help[640];                  /* a sentence: how the value is read */
    const struct measured *measured; /* of a value */
    bool percent;
};

struct machine_load { /* zero-initialised, then machine_load_open */
    /* Threads that run, are runnable or uninterruptible; averages of 1, 5 and 15 minutes. */
    struct measured average;
    double average_5, average_15;
    uint32_t running, threads;      /* of /proc/loadavg: running or runnable now; all */
    struct measured queue, blocked; /* threads now: running or runnable; waiting for I/O */
    struct measured steal;          /* percent of all CPUs' time since the previous read */
    uint64_t steal_ticks, total_ticks;
    struct error no_average, no_stat; /* why a file could not be read */
    struct {
        VEC(struct pressure_place);
    } places; /* the system, then the scope's cgroups */
    struct {
        VEC(struct load_row);
    } rows; /* of the last read */
    uint64_t read_ns;
};
/* Parse the texts of these files. False: malformed, and nothing is changed. */
bool machine_load_average(struct machine_load *l, const char *text);
bool machine_load_stat(struct machine_load *l, const char *text);

/* Begins a new interval, for these cgroups. Trends of the same cgroups are kept. */
void machine_load_open(struct machine_load *l, const struct scope *scope);
void machine_load_read(struct machine_load *l);
void machine_load_done(struct machine_load *l);
/* Makes the rows; machine_load_read does it. */
void machine_load_make_rows(struct machine_load *l);

/* Appends the rows as lines of text, with an empty line before each heading. */
void machine_load_print(const struct machine_load *l, struct buf *out);
/* The system in two lines. Line 0: load, run queue and steal time; line 1: pressure. */
#define MACHINE_LOAD_LINES 2
void machine_load_text(const struct machine_load *l, unsigned line, char *dst, size_t cap);

#endif
