// SPDX-License-Identifier: GPL-2.0-or-later
/* System load and contention: load average, run queue, steal time, pressure. Sources: /proc/loadavg and
 * /proc/stat (proc(5)), /proc/pressure (Documentation/accounting/psi.rst). */
#ifndef FLAMETOP_SESSION_MACHINE_LOAD_H
#define FLAMETOP_SESSION_MACHINE_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum machine_resource { MACHINE_CPU, MACHINE_MEMORY, MACHINE_IO, MACHINE_RESOURCES };

struct machine_load {
    /* Runnable and uninterruptible tasks, over 1, 5 and 15 minutes. average[0] < 0: unknown. */
    double average[3];
    uint32_t running, tasks; /* running or runnable now; all */
    uint32_t blocked;        /* waiting for I/O now */
    double steal_percent;    /* of all CPUs' time since the last read; < 0: not known yet */
    uint64_t steal, total;   /* ticks at the last read */
    struct machine_pressure {
        bool there; /* the kernel provides it */
        /* Percent of the last 10 s in which some tasks, or all runnable tasks, waited. full < 0: not
         * provided. */
        double some, full;
    } pressure[MACHINE_RESOURCES];
};
/* Parse the texts of these files. A malformed text changes nothing. */
void machine_load_average(struct machine_load *l, const char *text);
void machine_load_stat(struct machine_load *l, const char *text);
void machine_load_pressure(struct machine_load *l, enum machine_resource resource, const char *text);

/* Reads the files. l: zero-initialised, kept between reads. */
void machine_load_read(struct machine_load *l);
/* Line 0: load, run queue and steal time; line 1: pressure. */
#define MACHINE_LOAD_LINES 2
void machine_load_text(const struct machine_load *l, unsigned line, char *dst, size_t cap);

#endif
