// SPDX-License-Identifier: GPL-2.0-or-later
/* Asking a Java VM for the names of its compiled code, as `jcmd PID Compiler.perfmap` does (JDK 17 and later). The protocol is
 * that of HotSpot's attachListener_posix.cpp. */
#ifndef FLAMETOP_SYMBOLS_JVM_H
#define FLAMETOP_SYMBOLS_JVM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/error.h"

/* Is this process a Java VM of the HotSpot kind that can be asked? e says why not. Changes nothing. */
bool jvm_can_ask(uint32_t pid, struct error *e);
/* Makes it write /tmp/perf-PID.map where it sees it. Blocks, up to JVM_ALL_NS and a little. A child process does it with the
 * rights of the VM's owner: it wakes the VM's attach listener if need be (a file .attach_pidPID in its /tmp, then SIGQUIT,
 * which a VM answers by listening), talks to its socket .java_pidPID and waits for the answer. One call at a time. */
bool jvm_ask_map(uint32_t pid, struct error *e);

#define JVM_ALL_NS (10 * NS_PER_SEC) /* for everything: the VM's own steps, too */

/* The child's side: flametop JVM_ASK_ARG PID, which writes a struct jvm_report into JVM_REPORT_FD. */
#define JVM_ASK_ARG   "--ask-jvm"
#define JVM_REPORT_FD 3
#define JVM_MAGIC     0x4a535446u /* FTSJ */
struct jvm_report {
    uint32_t magic, class; /* enum error_class; ERROR_NONE: the map is written */
    char text[400];
};
void jvm_ask_main(const char *pid) __attribute__((noreturn));

#endif
