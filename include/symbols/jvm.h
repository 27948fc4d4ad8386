// SPDX-License-Identifier: GPL-2.0-or-later
/* Request a Java VM's names of its compiled code, as `jcmd PID Compiler.perfmap` does (JDK 17 and later).
 * The protocol is that of HotSpot's attachListener_posix.cpp. */
#ifndef FLAMETOP_SYMBOLS_JVM_H
#define FLAMETOP_SYMBOLS_JVM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

/* Whether this process is a HotSpot Java VM that takes requests. e says why not. Changes nothing. */
bool jvm_can_ask(uint32_t pid, struct error *e);
/* Make the VM write /tmp/perf-PID.map in its own mount namespace. Blocks, up to a little more than
 * JVM_ALL_NS.
 * A child process does it with the rights of the VM's owner. If need be it starts the VM's attach listener (a
 * file .attach_pidPID in its /tmp, then SIGQUIT; the VM then listens). It sends the request to the VM's
 * socket .java_pidPID and waits for the reply. One call at a time. */
bool jvm_ask_map(uint32_t pid, struct error *e);

#define JVM_ALL_NS (10 * NS_PER_SEC) /* for everything, the VM's own steps included */

/* The child's side: flametop JVM_ASK_ARG PID, which writes a struct jvm_report to JVM_REPORT_FD. */
#define JVM_ASK_ARG   "--ask-jvm"
#define JVM_REPORT_FD 3
#define JVM_MAGIC     0x4a535446u /* FTSJ */
struct jvm_report {
    uint32_t magic, class; /* enum error_class; ERROR_NONE: the map is written */
    char text[400];
};
void jvm_ask_main(const char *pid) __attribute__((noreturn));

#endif
