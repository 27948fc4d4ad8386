// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats the payloads of a session's tracepoint samples. */
#ifndef FLAMETOP_SESSION_TRACE_H
#define FLAMETOP_SESSION_TRACE_H

#include "base/buf.h"
#include "perf/payload.h"
#include "session/session.h"

struct session_trace;
/* Never NULL. Over a file, its own formats are used; where this kernel has the same formats, with the
 * kernel's symbolic names. */
struct session_trace *session_trace_new(struct session *s);
void session_trace_free(struct session_trace *t);
/* Appends the payload of an event's sample as text, cleaned. Nothing if the format is unknown. */
void session_trace_put(struct session_trace *t, uint32_t event, const void *raw, uint32_t size, uint32_t cpu,
                       struct buf *out);
/* Index of a field of such a payload, and its name; -1 and NULL: there is none. */
int32_t session_trace_find_field(const struct session_trace *t, uint32_t event, const char *name);
const char *session_trace_field_name(const struct session_trace *t, uint32_t event, int32_t field);
/* True if its values are numbers. False: they are texts, or there is no such field. */
bool session_trace_field_is_number(const struct session_trace *t, uint32_t event, int32_t field);
/* A field of such a payload (perf/payload.h); PAYLOAD_VALUE_NONE: it has none. */
enum payload_value session_trace_value(struct session_trace *t, uint32_t event, int32_t field,
                                       const void *raw, uint32_t size, uint64_t *number, bool *is_negative,
                                       struct buf *text);
/* The name of the block device that a field has as a number, "vda", cleaned; field -1: the first such field.
 * NULL: none, or the file is of another machine. Valid as long as the session_trace. */
const char *session_trace_device(struct session_trace *t, uint32_t event, int32_t field, const void *raw,
                                 uint32_t size);
/* Appends a field as the event's text has it (payload_put_field). False: it has none. */
bool session_trace_put_field(struct session_trace *t, uint32_t event, int32_t field, const void *raw,
                             uint32_t size, struct buf *out);

#endif
