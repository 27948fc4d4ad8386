// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of code that was made at run time (JIT): their names, unwind tables and calls. The data is in
 * unwinding.h. */
#ifndef FLAMETOP_SESSION_COLLECT_JIT_STACKS_H
#define FLAMETOP_SESSION_COLLECT_JIT_STACKS_H

#include "session/collect/unwinding.h"
#include "symbols/symbolizer.h"

struct session;

/* jit_code.c. Under lock, live only: requests new names of sampled code made at run time (now: at once). */
void jit_follow(struct session *s, bool now);
/* Under lock, live only: where code was renamed, assigns later samples to a new module. */
void jit_renew(struct session *s);
/* Over a file: loads the names that it contains, and decides whether names from its processes today may be
 * used. */
void jit_open(struct session *s, struct symbolizer_config *cfg);
void jit_open_scripts(struct session *s); /* names of interpreted frames, once there is a symbolizer */
/* Over a file, under lock: advances to the names that code has at that time. */
void jit_advance(struct session *s, uint64_t time_ns);

/* jitdates.c: under lock. Applies the dates of replaced code from a module's dump. */
void jitdates_apply(struct session *s, struct module *m, const struct symbol_table *dates);
/* jit_code.c */
void jit_forget_frames(struct session *s); /* under lock: frames have been renumbered */
void jit_done(struct session *s);

/* jitframe.c: frames of code that was made at run time and has no unwind table. Live only. */
enum jit_location { JIT_LOCATION_UNKNOWN, JIT_LOCATION_KNOWN, JIT_LOCATION_PENDING };
/* Under lock, never blocks. exact: the frame is an instruction pointer, not a return address. PENDING: its
 * name or code is requested. */
enum jit_location jitframe_location(struct session *s, const struct frame_owner *owner,
                                    const struct module *m, uint32_t frame, bool exact,
                                    struct unwind_location *out);
/* Not under lock: reads what was requested from the memory of the processes. */
void jitframe_read(struct session *s);
/* something is requested; under lock, like the functions below */
bool jitframe_waits(const struct session *s);
void jitframe_forget_frames(struct session *s); /* frames have been renumbered */
void jitframe_forget(struct session *s);        /* modules may be gone */
void jitframe_done(struct session *s);

/* jitcalls.c: checks that a call instruction ends right before a return address in code made at run time.
 * Live only. Under lock, never blocks: the result may be PENDING. back: the return address. frame: the frame
 * of the call. *target: the target of a direct call; 0: unknown. */
enum unwind_call jitcalls_find(struct session *s, const struct module *m, uint32_t frame, uint64_t back,
                               uint64_t *target);
void jitcalls_read(struct session *s);   /* not under lock */
void jitcalls_forget(struct session *s); /* under lock: frames have been renumbered */
void jitcalls_done(struct session *s);

#endif
