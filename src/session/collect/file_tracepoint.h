// SPDX-License-Identifier: GPL-2.0-or-later
/* The tracepoints of a recorded file, from whose samples others are made (offcpu_file.h,
 * operations_file.h). */
#ifndef FLAMETOP_SESSION_COLLECT_FILE_TRACEPOINT_H
#define FLAMETOP_SESSION_COLLECT_FILE_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct payload_format;
struct session;

/* True if the event is the tracepoint with the n bytes of this name, "sched:sched_switch", also with
 * modifiers. */
bool file_tracepoint_is(const struct session *s, uint32_t event, const char *name, size_t n);
/* Finds such an event. */
bool file_tracepoint_find(const struct session *s, const char *name, size_t n, uint32_t *event);
/* NULL: the file does not have it. The caller frees it. */
struct payload_format *file_tracepoint_format(struct session *s, uint32_t event);

#endif
