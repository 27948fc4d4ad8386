// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracepoints through tracefs and libtraceevent (the only door to it). */
#ifndef FLAMETOP_PERF_TRACEPOINT_H
#define FLAMETOP_PERF_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "perf/namelist.h"

/* Where tracefs is mounted (/sys/kernel/tracing, /sys/kernel/debug/tracing, or what /proc/mounts says), or
 * NULL. Whether we may read it is another question. Valid until the thread's next call. */
const char *tracepoint_root(void);
bool tracepoint_exists(const char *system, const char *name);
/* Without a tracefs, or without rights, e says how to get them; else it names the nearest, with the place in
 * "system:name". */
bool tracepoint_id(const char *system, const char *name, uint64_t *id, struct error *e);
bool tracepoint_systems(struct namelist *out, struct error *e); /* adds; sorted */
bool tracepoint_names(const char *system, struct namelist *out, struct error *e);

/* What a name without its system may have meant: "sched:sched_switch" of "sched_switch", "sched:*" of "sched". */
bool tracepoint_meant(const char *name, char *dst, size_t cap);

/* Its fields in one line, "prev_comm, prev_pid, prev_prio"; of a probe that is in tracefs, where it is: "uprobe
 * /bin/bash:0x4a2f0". False: they cannot be read. */
bool tracepoint_fields(const char *system, const char *name, char *dst, size_t cap);
/* Why the kernel does not take a filter, in its own words, which it tells where filters are set by text; with the place in
 * the filter. It is asked in an instance of its own, beside whatever traces. errnum: what it answered to the filter, which
 * is told where it cannot be asked. False. */
bool tracepoint_explain_filter(const char *system, const char *name, const char *filter, int errnum,
                               struct error *e);

/* "prev_comm=bash prev_pid=12 …": a raw payload as the kernel's format prints it, cleaned. A payload too
 * short for the format is refused with false; offsets in it may be anything. */
struct tracepoint_format;
struct tracepoint_format *tracepoint_format_open(const char *system, const char *name, struct error *e);
/* Is that text (n bytes) the format that this kernel has? */
bool tracepoint_format_is(const char *system, const char *name, const char *text, size_t n);
void tracepoint_format_close(struct tracepoint_format *f);
/* What "%pS" and "%ps" of a format call an address of the kernel, and where that function begins; NULL: not known. The
 * name is borrowed until the next question. Without it they stay addresses. */
typedef const char *tracepoint_name_fn(void *ctx, uint64_t address, uint64_t *start);
void tracepoint_format_names(struct tracepoint_format *f, tracepoint_name_fn *name, void *ctx);
bool tracepoint_print(struct tracepoint_format *f, const void *raw, uint32_t size, uint32_t cpu,
                      struct buf *out);

/* For tests: another folder in the place of tracefs; "" for none at all; NULL: the machine's again. */
void tracepoint_set_root(const char *dir);

#endif
