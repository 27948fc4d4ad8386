// SPDX-License-Identifier: GPL-2.0-or-later
/* The frames of interpreted programs in the process that stops threads: copied while a thread is stopped, and
 * named after all threads run on and all rights are dropped. Private to livestacks. */
#ifndef FLAMETOP_SYMBOLS_LIVESCRIPTS_H
#define FLAMETOP_SYMBOLS_LIVESCRIPTS_H

#include "base/buf.h"
#include "unwind/remote.h"

struct livescripts;
/* Looks for an interpreter. `maps`: text of /proc/PID/maps, which is changed; a byte behind it is writable.
 * memory: descriptor of /proc/PID/mem, borrowed. NULL: the process runs none that is known. It lives as long
 * as this process. */
struct livescripts *livescripts_new(char *maps, size_t n, int memory);

struct stackprobe_sample;
/* The frames of a stopped thread; owned. NULL: it runs none. s may be NULL. */
struct stackprobe_sample *livescripts_copy(const struct livescripts *s, bool is_main,
                                           const struct remote_stack *stack);
/* Appends the copied frames to the report, see livestacks_report.h. Returns the number of their groups. */
uint32_t livescripts_report(const struct livescripts *s, const struct stackprobe_sample *t, struct buf *out);

#endif
