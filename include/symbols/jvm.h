// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking a Java VM for the names of its compiled code, as `jcmd PID Compiler.perfmap` does (JDK 17 and later). */
#ifndef FLAMETOP_SYMBOLS_JVM_H
#define FLAMETOP_SYMBOLS_JVM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* Is this process a Java VM of the HotSpot kind that can be asked? e says why not. Changes nothing. */
bool jvm_can_ask(uint32_t pid, struct error *e);
/* Makes it write /tmp/perf-PID.map where it sees it. Blocks, up to about ten seconds: it wakes the VM's attach
 * listener if need be (a file .attach_pidPID in its /tmp, then SIGQUIT, which a VM answers by listening), talks to
 * its socket .java_pidPID and waits for the answer. The protocol is that of HotSpot's attachListener_posix.cpp. */
bool jvm_ask_map(uint32_t pid, struct error *e);

#endif
