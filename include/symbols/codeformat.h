// SPDX-License-Identifier: GPL-2.0-or-later
/* WORKER_CODE: which code is asked for, and its instructions. The answer is a blob in host byte order that is not
 * trusted: header, rows, texts, the code itself. Offsets are the module's (process/module.h), as in the request. */
#ifndef FLAMETOP_SYMBOLS_CODEFORMAT_H
#define FLAMETOP_SYMBOLS_CODEFORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"

#define CODE_MAGIC     0x43535446u /* FTSC */
#define CODE_BYTES_MAX (1u << 20)  /* in one request */
#define CODE_ROWS_MAX  (1u << 18)

enum code_source {           /* what the descriptor of the request is */
                   CODE_ELF, /* a file in which the code lies at `start` */
                   CODE_VMLINUX, /* a kernel in which it lies at the address `start`, if its text began at `reference` (0: as linked) */
                   CODE_JITDUMP, /* of a JIT that has it at the address `start`: what was put there last */
                   CODE_MEMORY,  /* the bytes and nothing else, for `machine` (EM_…) */
};
struct code_ask { /* the payload */
    uint64_t start, size, reference;
    uint32_t source;
    uint16_t machine;
    uint16_t intel; /* x86: not 0: in Intel's syntax, not AT&T's */
};

enum code_kind {
    CODE_PLAIN,
    CODE_JUMP, /* or a conditional one */
    CODE_CALL,
    CODE_RETURN,
    CODE_BAD, /* no instruction: data, or bytes that this machine does not know */
    CODE_KINDS
};
#define CODE_NO_TARGET UINT64_MAX
struct code_row {
    uint64_t offset;
    uint64_t target; /* of a jump or call, in the module's offsets, where the text leaves it out at its end */
    uint32_t text;   /* a string: "movl   %eax, (%rdi)", "jne    " */
    uint8_t size, kind, zero[2];
};
struct code_header {
    uint32_t magic, n_rows, strings_n, bytes_n;
    uint64_t start;          /* offset of the first byte */
    uint64_t bias;           /* what is added to an offset to have the address that the file was linked to */
    uint16_t machine;        /* EM_… */
    uint8_t no_disassembler; /* there are bytes, but nothing that reads them: why is in the first string */
    uint8_t zero[5];
};

struct code_view { /* checked; the blob must stay mapped and unchanged. Zero-initialised has no rows */
    struct code_header header;
    const struct code_row *rows; /* by offset, one after the other */
    const char *strings;
    const uint8_t *bytes;
};
bool code_view(struct code_view *v, const void *blob, size_t size, struct error *e);
/* The row whose instruction has a byte at `offset`; -1: none. */
int64_t code_find(const struct code_view *v, uint64_t offset);

struct code_builder { /* zero-initialised is empty */
    struct code_header header;
    struct buf rows, strings;
    struct map by_text; /* hash → string */
};
/* False: there are too many rows, nothing was added. */
bool code_build_row(struct code_builder *b, const struct code_row *row, const char *text);
void code_build(struct code_builder *b, const uint8_t *bytes, size_t n, struct buf *blob);
void code_builder_done(struct code_builder *b);

/* Answers a payload: fds are those that came with it. */
bool code_serve(const void *payload, size_t n, const int *fds, unsigned n_fds, struct buf *blob,
                struct error *e);

#endif
