// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports the log as members of json.c's object. */
#ifndef FLAMETOP_EXPORT_LOG_JSON_H
#define FLAMETOP_EXPORT_LOG_JSON_H

#include "base/error.h"
#include "session/log_groups.h"

/* Appends the members "log" and "log_older", if an event has fields. With by->n instead "log_groups": all
 * groups. False: not enough memory, or no event has such a field. */
bool log_json(struct session *s, const struct view_query *q, const struct log_by *by, struct buf *out,
              struct error *e);

#endif
