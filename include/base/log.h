// SPDX-License-Identifier: GPL-2.0-or-later
/* Keeps the last few hundred messages in memory (never on stderr, which curses uses). Thread-safe. */
#ifndef FLAMETOP_BASE_LOG_H
#define FLAMETOP_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

void log_add(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* cleaned, one line */
uint64_t log_count(void);                                                 /* messages ever added */
/* Copies message number n (0 is the first ever). False: it has left the ring or does not exist yet. */
bool log_get(uint64_t n, char *text, unsigned cap);

#endif
