// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads signal frames, which the kernel puts on the stack before it calls a signal handler.
 *
 * Sources: struct rt_sigframe of x86 (arch/x86) and of arm64 (arch/arm64/kernel/signal.c). It has the
 * registers of the interrupted code. */
#ifndef FLAMETOP_UNWIND_SIGNALFRAME_H
#define FLAMETOP_UNWIND_SIGNALFRAME_H

#include "unwind/arch.h"
#include "unwind/expression.h"

/* Gets all registers from the signal frame. sp: its value after the handler has returned to the
 * trampoline. Returns false if the frame is not in the dump. */
bool unwind_signal_take(enum unwind_arch arch, const struct unwind_memory *m, uint64_t sp,
                        struct unwind_regs *out);
/* Returns true if the memory at sp is almost certainly a signal frame. For trampolines without
 * call-frame information. */
bool unwind_signal_is(enum unwind_arch arch, const struct unwind_memory *m, uint64_t sp);

#endif
