// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracepoints through tracefs and libtraceevent, which is used only here. */
#ifndef FLAMETOP_PERF_TRACEPOINT_H
#define FLAMETOP_PERF_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "perf/namelist.h"
#include "perf/payload.h"

/* Mount point of tracefs (/sys/kernel/tracing, /sys/kernel/debug/tracing, or from /proc/mounts). If it is not
 * mounted, root gets a mount that no other process sees. NULL: none. It may still be unreadable. Valid until
 * the thread's next call. */
const char *tracepoint_root(void);
bool tracepoint_exists(const char *system, const char *name);
/* Read a tracepoint's id. False: without tracefs or permission e says how to get it; else e names the
 * nearest tracepoint, and points into "system:name". */
bool tracepoint_id(const char *system, const char *name, uint64_t *id, struct error *e);
bool tracepoint_systems(struct namelist *out, struct error *e); /* adds; sorted */
bool tracepoint_names(const char *system, struct namelist *out, struct error *e);

/* Guess the full name: "sched:sched_switch" for "sched_switch", "sched:*" for "sched". */
bool tracepoint_meant(const char *name, char *dst, size_t cap);

/* Its fields in one line, "prev_comm, prev_pid, prev_prio"; for a probe in tracefs, its location: "uprobe
 * /bin/bash:0x4a2f0". False: unreadable. */
bool tracepoint_fields(const char *system, const char *name, char *dst, size_t cap);
/* Explain why the kernel refuses a filter, with its own message and the location in the filter. The kernel
 * gives the message only for filters set as text; that is tried in a private tracing instance, independent
 * of other tracers. errnum: the error of the filter, reported if the instance is unavailable. Returns
 * false. */
bool tracepoint_explain_filter(const char *system, const char *name, const char *filter, int errnum,
                               struct error *e);

/* Print a raw payload by the kernel's format, cleaned: "prev_comm=bash prev_pid=12 …". False: the payload
 * is too short for the format. Offsets in it may be arbitrary. */
struct tracepoint_format;
/* For single fields of it (perf/payload.h); NULL: unreadable. */
struct payload_format *tracepoint_payload(const char *system, const char *name);
struct tracepoint_format *tracepoint_format_open(const char *system, const char *name, struct error *e);
/* True if that text (n bytes) equals this kernel's format. */
bool tracepoint_format_is(const char *system, const char *name, const char *text, size_t n);
void tracepoint_format_close(struct tracepoint_format *f);
/* The name of a kernel address for "%pS" and "%ps", and the start of its function; NULL: unknown. The name
 * is borrowed until the next call. Without this callback addresses are printed. */
typedef const char *tracepoint_name_fn(void *ctx, uint64_t address, uint64_t *start);
void tracepoint_format_names(struct tracepoint_format *f, tracepoint_name_fn *name, void *ctx);
bool tracepoint_print(struct tracepoint_format *f, const void *raw, uint32_t size, uint32_t cpu,
                      struct buf *out);

/* For tests: replace tracefs; "": none; NULL: restore the system's. */
void tracepoint_set_root(const char *dir);

#endif
