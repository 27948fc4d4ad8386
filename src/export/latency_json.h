// SPDX-License-Identifier: GPL-2.0-or-later
/* Latencies of operations as JSON. */
#ifndef FLAMETOP_EXPORT_LATENCY_JSON_H
#define FLAMETOP_EXPORT_LATENCY_JSON_H

#include "base/buf.h"
#include "session/session.h"

/* Appends the members "latency" and "latency_rows" of json.c, of the events latency:ROW that have samples, or
 * of the shown one only. Without such events: nothing. */
bool latency_json(struct session *s, const struct view_query *q, struct buf *out, struct error *e);

#endif
