// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes JSON values (RFC 8259). */
#ifndef FLAMETOP_EXPORT_JSON_H
#define FLAMETOP_EXPORT_JSON_H

#include <stdint.h>

#include "session/log_groups.h"

/* Appends "key": before a value, with a comma if one is needed. That depends on the end of `out`, so `out`
 * must not be emptied after a value. */
void json_key(struct buf *out, const char *key);
void json_number(struct buf *out, const char *key, uint64_t value);
void json_id(struct buf *out, const char *key, uint64_t id); /* a pid, tid, …; WORLD_ENDED: null */
/* Texts are valid UTF-8: invalid bytes become U+FFFD. */
void json_text(struct buf *out, const char *key, const char *value);
void json_item(struct buf *out, const char *text); /* of an array; NULL: null */
/* Appends an opening bracket; an object starts a new line. */
void json_open(struct buf *out, char bracket);
void json_open_key(struct buf *out, const char *key, char bracket);

/* Parts of json.c's object, each with its own members. False: not enough memory, or see the part. */
/* "latency", "latency_groups" and "latency_rows" of the events latency:ROW that have samples, or of the shown
 * one only. Without such events: nothing. */
bool latency_json(struct session *s, const struct view_query *q, struct buf *out, struct error *e);
/* "log" and "log_older", if an event has fields. With by->n instead "log_groups": all groups. False also if
 * no event has such a field. */
bool log_json(struct session *s, const struct view_query *q, const struct log_by *by, struct buf *out,
              struct error *e);
/* "waits", a row of each table of the waits view after the other, of the shown event. Nothing if it has no
 * waits. */
bool waits_json(struct session *s, const struct view_query *q, struct buf *out, struct error *e);

#endif
