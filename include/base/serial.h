// SPDX-License-Identifier: GPL-2.0-or-later
/* Returns unique numbers to distinguish two states of any object. An address cannot: a new object may reuse a
 * freed one's address. */
#ifndef FLAMETOP_BASE_SERIAL_H
#define FLAMETOP_BASE_SERIAL_H

#include <stdint.h>

uint64_t serial_next(void); /* starts at 1, never repeats; thread-safe */

#endif
