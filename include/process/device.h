// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of block devices of this machine. */
#ifndef FLAMETOP_PROCESS_DEVICE_H
#define FLAMETOP_PROCESS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* The parts of a dev_t inside of the kernel, as payloads have it (include/linux/kdev_t.h). */
uint32_t device_major(uint64_t dev);
uint32_t device_minor(uint64_t dev);
/* Appends the name in /dev of a block device, cleaned: "vda1". Reads /sys. False: there is no such device. */
bool device_put_name(uint64_t dev, struct buf *out);

#endif
