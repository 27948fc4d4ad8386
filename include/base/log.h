// SPDX-License-Identifier: GPL-2.0-or-later
/* The last few hundred messages, kept in memory (never stderr under curses). Thread-safe. */
#ifndef FLAMETOP_BASE_LOG_H
#define FLAMETOP_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

void log_add(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* cleaned, one line */
uint64_t log_count(void);                                                 /* messages ever added */
/* Message number n (0 is the first ever); false when it has left the ring or is not there yet. */
bool log_get(uint64_t n, char *text, unsigned cap, uint64_t *time_ns);

#endif
