// SPDX-License-Identifier: GPL-2.0-or-later
/* Machine code → instructions. For the worker: the bytes may be anything. */
#ifndef FLAMETOP_SYMBOLS_DISASM_H
#define FLAMETOP_SYMBOLS_DISASM_H

#include "symbols/codeformat.h"

struct disasm_code {
    const uint8_t *bytes;
    size_t n;
    uint64_t addr;    /* of the first byte, by which targets and texts are made … */
    uint64_t bias;    /* … and what is taken from it to have the module's offset */
    uint16_t machine; /* EM_… */
    bool swapped;     /* of the other byte order than this machine */
    bool intel;
};
/* Loads the disassembler, once: whoever may not open files later does it before. ERROR_UNSUPPORTED: none in this build;
 * ERROR_MISSING: not on this machine. */
bool disasm_load(struct error *e);
/* Adds a row for each instruction; what is none becomes rows of CODE_BAD. ERROR_UNSUPPORTED: no disassembler for it,
 * or see disasm_load. */
bool disasm_run(const struct disasm_code *c, struct code_builder *b, struct error *e);

#endif
