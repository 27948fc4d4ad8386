// SPDX-License-Identifier: GPL-2.0-or-later
/* Disassemble machine code. For the worker: the bytes may be anything. */
#ifndef FLAMETOP_SYMBOLS_DISASM_H
#define FLAMETOP_SYMBOLS_DISASM_H

#include "symbols/codeformat.h"

struct disasm_code {
    const uint8_t *bytes;
    size_t n;
    /* Address of the first byte, used for targets and texts. */
    uint64_t addr;
    uint64_t bias;    /* subtract it from an address: the module's offset */
    uint16_t machine; /* EM_… */
    bool swapped;     /* byte order differs from this machine's */
    bool intel;
};
/* Load the disassembler, once. Load it before a sandbox forbids to open files. ERROR_UNSUPPORTED: none in
 * this build; ERROR_MISSING: not installed on this machine. */
bool disasm_load(struct error *e);
/* Add a row for each instruction; invalid bytes become rows of CODE_BAD. ERROR_UNSUPPORTED: no disassembler
 * for this machine code; other errors as of disasm_load. */
bool disasm_run(const struct disasm_code *c, struct code_builder *b, struct error *e);

#endif
