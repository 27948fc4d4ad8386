// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the disassembler, for any machine, and replies of the worker: all instructions are inside the given
 * bytes. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/codeformat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const struct code_view *v)
{
    for (uint32_t i = 0; i < v->header.n_rows; i++) {
        const struct code_row *r = &v->rows[i];
        if (code_find(v, r->offset) != (int64_t)i || strlen(v->strings + r->text) >= v->header.strings_n ||
            r->offset - v->header.start + r->size > v->header.bytes_n)
            abort();
    }
}

/* The first bytes select the request; the rest is the file. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint16_t machines[] = { EM_X86_64, EM_AARCH64, EM_386,  EM_ARM,
                                         EM_PPC64,  EM_S390,    EM_MIPS, EM_SPARCV9 };
    struct code_ask ask = { .start = UINT64_C(0x401000), .size = 4096, .source = CODE_MEMORY };
    struct code_view v;
    struct buf blob = { 0 };

    if (code_view(&v, data, size, NULL))
        look(&v);
    if (size < 4)
        return 0;
    ask.source = data[0] & 3;
    ask.machine = machines[data[1] % (sizeof machines / sizeof *machines)];
    ask.intel = data[2] & 1;
    if (ask.source != CODE_MEMORY)
        ask.start = (uint64_t)data[3] << 8;
    int fd = memfd_create("code", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data + 4, size - 4) != (ssize_t)(size - 4))
        abort();
    if (code_serve(&ask, sizeof ask, &fd, 1, &blob, NULL)) {
        if (!code_view(&v, blob.data, blob.len, NULL))
            abort();
        look(&v);
    }
    buf_done(&blob);
    close(fd);
    return 0;
}
