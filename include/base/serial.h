// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers by which two states are told apart, of whatever object: one may lie where a freed one lay. */
#ifndef FLAMETOP_BASE_SERIAL_H
#define FLAMETOP_BASE_SERIAL_H

#include <stdint.h>

uint64_t serial_next(void); /* from 1 on, never twice; from any thread */

#endif
