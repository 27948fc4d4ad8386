// SPDX-License-Identifier: GPL-2.0-or-later
/* Format of WORKER_CODE requests and replies: a range of code, and its instructions.
 * The reply is a blob in host byte order that is not trusted: header, rows, texts, the code itself. Offsets
 * are the module's (process/module.h), as in the request. */
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

/* What the file descriptor of the request is. */
enum code_source {
    CODE_ELF, /* an ELF file; the code is at offset `start` */
    /* A vmlinux; the code is at address `start` if the kernel's text begins at `reference` (0: as linked). */
    CODE_VMLINUX,
    /* A jitdump; the last code that the JIT loaded or moved to address `start`. */
    CODE_JITDUMP,
    CODE_MEMORY, /* nothing but the bytes, for `machine` (EM_…) */
};
struct code_ask { /* payload of the request */
    uint64_t start, size, reference;
    uint32_t source;
    uint16_t machine;
    uint16_t intel; /* x86: not 0: Intel syntax, else AT&T */
};

enum code_kind {
    CODE_PLAIN,
    CODE_JUMP, /* also conditional */
    CODE_CALL,
    CODE_RETURN,
    /* Not an instruction: data, or bytes that this machine does not know. */
    CODE_BAD,
    CODE_KINDS
};
#define CODE_NO_TARGET UINT64_MAX
struct code_row {
    uint64_t offset;
    /* Target of a jump or call, in the module's offsets. The text then ends before it. */
    uint64_t target;
    /* A string: "movl   %eax, (%rdi)", "jne    ". */
    uint32_t text;
    uint8_t size, kind, zero[2];
};
struct code_header {
    uint32_t magic, n_rows, strings_n, bytes_n;
    uint64_t start;   /* offset of the first byte */
    uint64_t bias;    /* added to an offset: the address as linked */
    uint16_t machine; /* EM_… */
    /* There are bytes, but no disassembler for them. The first string says why. */
    uint8_t no_disassembler;
    uint8_t zero[5];
};

/* Checked; the blob must stay mapped and unchanged. Zero-initialised has no rows. */
struct code_view {
    struct code_header header;
    const struct code_row *rows; /* by offset, contiguous */
    const char *strings;
    const uint8_t *bytes;
};
bool code_view(struct code_view *v, const void *blob, size_t size, struct error *e);
/* Return the row whose instruction covers `offset`; -1: none. */
int64_t code_find(const struct code_view *v, uint64_t offset);

struct code_builder { /* zero-initialised is empty */
    struct code_header header;
    struct buf rows, strings;
    struct map by_text; /* hash → string */
};
/* Add a row. False: too many rows, nothing was added. */
bool code_build_row(struct code_builder *b, const struct code_row *row, const char *text);
void code_build(struct code_builder *b, const uint8_t *bytes, size_t n, struct buf *blob);
void code_builder_done(struct code_builder *b);

/* Serve a request's payload. fds: the descriptors that came with it. */
bool code_serve(const void *payload, size_t n, const int *fds, unsigned n_fds, struct buf *blob,
                struct error *e);

#endif
