// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the threads of a process as JSON. */
#ifndef FLAMETOP_EXPORT_THREADS_JSON_H
#define FLAMETOP_EXPORT_THREADS_JSON_H

#include "base/buf.h"
#include "session/threads_now.h"

/* Appends one object:
 *
 *   {"pid":N, "comm":"…", "stopped":{"threads":N,"longest_ns":N,"total_ns":N}, "notes":["…"],
 *    "rows":[{"state":"S","reason":"futex","kernel":["…"],
 *             "user":[{"address":N,"name":"…","module":"…"}], "user_end":"…",
 *             "threads":[{"tid":N,"comm":"…","since_ns":N,
 *                         "call":{"number":N,"name":"…","arguments":[N,…],"file":"…"}}]}]}
 *
 * Threads with equal stacks are one row, as in text; blocked ones come first. What is not known is absent:
 * since_ns, call, its name and file, reason; address and module of an interpreted function. user_end: why the
 * user stack does not reach its root. */
void threads_json(struct buf *out, const struct threads_now *t);

#endif
