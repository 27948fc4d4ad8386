// SPDX-License-Identifier: GPL-2.0-or-later
/* The waits view in the JSON of a session. */
#ifndef FLAMETOP_EXPORT_WAITS_JSON_H
#define FLAMETOP_EXPORT_WAITS_JSON_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"

struct session;
struct view_query;

/* Appends "waits":[…], a row of each table of the waits view after the other, of the shown event. Nothing if
 * it has no waits. False: not enough memory. */
bool waits_json(struct session *s, const struct view_query *q, struct buf *out, struct error *e);

#endif
