// SPDX-License-Identifier: GPL-2.0-or-later
/* How much work the machine has, and how long tasks wait for what it has too little of: load average, run
 * queue, steal time, pressure. Sources: /proc/loadavg and /proc/stat (proc(5)), /proc/pressure
 * (Documentation/accounting/psi.rst). */
#ifndef FLAMETOP_SESSION_MACHINE_LOAD_H
#define FLAMETOP_SESSION_MACHINE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum machine_resource { MACHINE_CPU, MACHINE_MEMORY, MACHINE_IO, MACHINE_RESOURCES };

struct machine_load {
    double average
        [3]; /* runnable and uninterruptible tasks, over 1, 5 and 15 minutes; average[0] < 0: not known */
    uint32_t running, tasks; /* running or runnable now; all */
    uint32_t blocked;        /* waiting for a disk or the like now */
    double steal_percent;    /* of the time of all CPUs, since the last look; < 0: not known yet */
    uint64_t steal, total;   /* ticks, at the last look */
    struct machine_pressure {
        bool there; /* the kernel tells it */
        double some,
            full; /* percent of the last 10 s in which some tasks, or all that could run, waited; full < 0: not told */
    } pressure[MACHINE_RESOURCES];
};
/* What the texts of those files say; a text that says something else changes nothing. */
void machine_load_average(struct machine_load *l, const char *text);
void machine_load_stat(struct machine_load *l, const char *text);
void machine_load_pressure(struct machine_load *l, enum machine_resource resource, const char *text);

/* Reads the files. Begin with a zeroed struct, and keep it from one look to the next. */
void machine_load_read(struct machine_load *l);
/* Line 0: load, run queue and steal time; line 1: pressure. */
#define MACHINE_LOAD_LINES 2
void machine_load_text(const struct machine_load *l, unsigned line, char *dst, size_t cap);

#endif
