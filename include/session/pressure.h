// SPDX-License-Identifier: GPL-2.0-or-later
/* Pressure stall information (PSI): the share of time in which threads waited for a CPU, I/O, memory or
 * interrupts, of the system and of cgroups. Sources: /proc/pressure and the .pressure files of cgroup v2
 * (Documentation/accounting/psi.rst). */
#ifndef FLAMETOP_SESSION_PRESSURE_H
#define FLAMETOP_SESSION_PRESSURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "session/measured.h"

enum pressure_resource { PRESSURE_CPU, PRESSURE_IO, PRESSURE_MEMORY, PRESSURE_IRQ, PRESSURE_RESOURCES };
enum pressure_kind {
    PRESSURE_SOME, /* at least one thread waited */
    PRESSURE_FULL, /* all threads that were not idle waited */
    PRESSURE_KINDS,
};
extern const char *const pressure_resource_names[PRESSURE_RESOURCES]; /* as the kernel names the files */
extern const char *const pressure_kind_names[PRESSURE_KINDS];

struct pressure_line {
    bool there;        /* the file has this line */
    double average[3]; /* the kernel's averages of 10, 60 and 300 s, in percent */
    uint64_t total_us; /* time waited since boot, or since the cgroup was made */
};
struct pressure { /* zero-initialised: not read yet */
    struct pressure_line lines[PRESSURE_KINDS];
    struct measured share[PRESSURE_KINDS]; /* percent of the time since the previous read */
    uint64_t read_ns;                      /* 0: the next read begins an interval */
    struct error why_not;                  /* why it could not be read */
};
struct pressure_place {
    char cgroup[512]; /* path as in struct scope; "": the system */
    struct pressure of[PRESSURE_RESOURCES];
    struct error why_not; /* why there is no pressure of this place at all */
};

/* Parses the text of such a file. A line that is missing or malformed is not there. False: no line is. */
bool pressure_parse(struct pressure_line lines[PRESSURE_KINDS], const char *text);
/* Takes the lines read at now_ns of the monotonic clock. */
void pressure_update(struct pressure *p, const struct pressure_line lines[PRESSURE_KINDS], uint64_t now_ns);
/* Reads all files of the place. folder: of the cgroup; not used for the system. */
void pressure_read(struct pressure_place *place, int folder);
/* Makes the next read the begin of an interval. Trends are kept. */
void pressure_restart(struct pressure_place *place);
/* True if the line has a meaning: "full" of all CPUs is always 0. */
bool pressure_has(const struct pressure_place *place, enum pressure_resource r, enum pressure_kind kind);

#endif
