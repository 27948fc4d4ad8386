// SPDX-License-Identifier: GPL-2.0-or-later
/* What the kernel puts on the stack before it calls a signal handler: struct rt_sigframe of x86 (arch/x86) and of arm64
 * (arch/arm64/kernel/signal.c), with the registers of what was interrupted. */
#ifndef FLAMETOP_UNWIND_SIGNALFRAME_H
#define FLAMETOP_UNWIND_SIGNALFRAME_H

#include "unwind/arch.h"
#include "unwind/expression.h"

/* sp as it is when the handler has returned to the trampoline. All registers are taken from the frame. False: the
 * dump does not hold it. */
bool unwind_signal_take(enum unwind_arch arch, const struct unwind_memory *m, uint64_t sp,
                        struct unwind_regs *out);
/* Whether what lies at sp can hardly be anything else: for trampolines without call-frame information. */
bool unwind_signal_is(enum unwind_arch arch, const struct unwind_memory *m, uint64_t sp);

#endif
