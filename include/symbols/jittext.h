// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of JITs' code as they are kept with a profile: "= PID TIME", both hexadecimal, begins the names that the code
 * of a process has from that time (in ns, of the samples' clock) on; the lines behind it are those of a perf map. */
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

/* Takes the next one off the text; false: there is no more. */
bool jittext_next(const char **text, size_t *n, struct jit_epoch *out);

/* In place of a pid: names of frames of interpreted programs (MODULE_SCRIPT), of all processes. Their addresses in chains are no
 * addresses of code. */
#define JITTEXT_SCRIPTS UINT32_MAX
/* Takes the next line off the text of an epoch; false: there is no more. name: n bytes, borrowed. Lines that are none are left
 * out. */
bool jittext_line(struct jit_epoch *epoch, uint64_t *start, const char **name, size_t *n);

void jittext_begin(struct buf *b, uint32_t pid, uint64_t from_ns);
void jittext_add(struct buf *b, uint64_t start, uint64_t size, const char *name);

#endif
