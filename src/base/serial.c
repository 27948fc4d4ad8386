// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/serial.h"

#include <stdatomic.h>

uint64_t serial_next(void)
{
    static _Atomic uint64_t last;

    return ++last;
}
