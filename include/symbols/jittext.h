// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of JIT code, as text kept with a profile.
 * "= PID TIME", both hexadecimal, begins the names of a process's code from that time on (ns, the samples'
 * clock); the lines after it have the format of a perf map. */
#ifndef FLAMETOP_SYMBOLS_JITTEXT_H
#define FLAMETOP_SYMBOLS_JITTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct jit_epoch {
    uint32_t pid;
    uint64_t from_ns;
    const char *text; /* borrowed: the lines of a perf map */
    size_t n;
};

/* Consume the next epoch of the text. False: no more. */
bool jittext_next(const char **text, size_t *n, struct jit_epoch *out);

/* Instead of a pid: names of interpreted frames (MODULE_SCRIPT), of all processes. Their addresses in
 * callchains are not addresses of code. */
#define JITTEXT_SCRIPTS UINT32_MAX
/* Consume the next line of an epoch. False: no more. name: n bytes, borrowed. Malformed lines are skipped. */
bool jittext_line(struct jit_epoch *epoch, uint64_t *start, const char **name, size_t *n);

void jittext_begin(struct buf *b, uint32_t pid, uint64_t from_ns);
void jittext_add(struct buf *b, uint64_t start, uint64_t size, const char *name);

#endif
