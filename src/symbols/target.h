// SPDX-License-Identifier: GPL-2.0-or-later
/* What /proc says about a process: the owner of its files, or the target of a request. */
#ifndef FLAMETOP_SYMBOLS_TARGET_H
#define FLAMETOP_SYMBOLS_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct target {
    uint32_t uid, inner_pid; /* effective user; pid inside its own pid namespace */
    uint64_t caught;         /* signals that it handles: bit n - 1 for signal n */
    uint64_t start_ns;       /* CLOCK_BOOTTIME; 0: not known */
};
bool target_read(uint32_t pid, struct target *out, struct error *e);

#endif
