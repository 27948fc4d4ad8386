// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side of WORKER_CODE: finds the requested bytes in the file and disassembles them. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "symbols/codeformat.h"
#include "symbols/disasm.h"
#include "symbols/elffile.h"
#include "symbols/jitdump.h"

#define PAGE_MASK_BITS 4095u

struct found {
    struct disasm_code code;
    struct buf copy; /* of the bytes, unless they are in the file */
    struct elffile elf;
    bool has_elf;
};

static bool read_memory(int fd, size_t n, struct buf *out, struct error *e)
{
    uint8_t *bytes = mem_try_array(n, 1);
    size_t have;

    if (!bytes)
        return error_set(e, ERROR_LIMIT, "no memory for the code");
    have = file_read_from(fd, bytes, n, 0);
    buf_add(out, bytes, have);
    mem_free(bytes);
    return have || error_set(e, ERROR_FORMAT, "it is empty");
}

static bool take_copy(const struct code_ask *q, uint16_t machine, bool swapped, struct found *f)
{
    f->code.bytes = (const uint8_t *)f->copy.data;
    f->code.n = f->copy.len;
    f->code.addr = q->start;
    f->code.machine = machine;
    f->code.swapped = swapped;
    return true;
}

static bool take_loaded(const struct code_ask *q, uint64_t addr, struct found *f, struct error *e)
{
    struct elf_bytes bytes;

    if (!elffile_loaded(&f->elf, addr, &bytes) || !bytes.n)
        return error_set(e, ERROR_FORMAT, "the file has no code there");
    f->code.bytes = bytes.p;
    f->code.n = bytes.n < q->size ? bytes.n : (size_t)q->size;
    f->code.addr = addr;
    f->code.bias = addr - q->start;
    f->code.machine = f->elf.machine;
    f->code.swapped = f->elf.swapped;
    return true;
}

static bool find_in_elf(const struct code_ask *q, struct found *f, struct error *e)
{
    unsigned i;

    for (i = 0; i < f->elf.n_segments; i++) {
        const struct elf_segment *s = &f->elf.segments[i];
        if (s->executable && q->start >= s->offset && q->start - s->offset < s->size)
            return take_loaded(q, s->addr + (q->start - s->offset), f, e);
    }
    return error_set(e, ERROR_FORMAT, "the file has no code there");
}

/* Find code in a vmlinux. At boot, the kernel was moved by whole pages. */
static bool find_in_vmlinux(const struct code_ask *q, struct found *f, struct error *e)
{
    uint64_t moved = 0;
    unsigned i;

    for (i = 0; i < f->elf.n_segments && q->reference; i++) {
        if (!f->elf.segments[i].executable)
            continue;
        moved = q->reference - f->elf.segments[i].addr;
        break;
    }
    return take_loaded(q, moved & PAGE_MASK_BITS ? q->start : q->start - moved, f, e);
}

static bool find_code(const struct code_ask *q, int fd, struct found *f, struct error *e)
{
    uint16_t machine = q->machine;
    bool swapped = false;

    switch (q->source) {
    case CODE_ELF:
    case CODE_VMLINUX:
        f->has_elf = elffile_open(&f->elf, fd, e);
        return f->has_elf && (q->source == CODE_ELF ? find_in_elf(q, f, e) : find_in_vmlinux(q, f, e));
    case CODE_JITDUMP:
        return jitdump_find_code(fd, q->start, q->size, &f->copy, &machine, &swapped, e) &&
               take_copy(q, machine, swapped, f);
    case CODE_MEMORY:
        return read_memory(fd, (size_t)q->size, &f->copy, e) && take_copy(q, machine, swapped, f);
    default:
        return error_set(e, ERROR_UNSUPPORTED, "the symbol worker cannot read code from this source");
    }
}

/* Build the reply. Without a disassembler it says so, and has only the bytes. */
static void build(const struct found *f, const struct code_ask *q, struct buf *blob)
{
    struct code_builder b = { .header = {
                                  .start = q->start, .bias = f->code.bias, .machine = f->code.machine } };
    struct error why = { 0 };

    if (!disasm_run(&f->code, &b, &why)) {
        buf_add(&b.strings, why.text, strlen(why.text) + 1);
        b.header.no_disassembler = 1;
    }
    code_build(&b, f->code.bytes, f->code.n, blob);
    code_builder_done(&b);
}

bool code_serve(const void *payload, size_t n, const int *fds, unsigned n_fds, struct buf *blob,
                struct error *e)
{
    struct found f = { .has_elf = false };
    struct code_ask q;
    bool ok;

    if (n != sizeof q || n_fds != 1)
        return error_set(e, ERROR_FORMAT, "the request for code is malformed");
    memcpy(&q, payload, sizeof q);
    if (!q.size || q.size > CODE_BYTES_MAX || q.start + q.size < q.start)
        return error_set(e, ERROR_FORMAT, "the request is for no code, or for too much");
    f.code.intel = q.intel;
    ok = find_code(&q, fds[0], &f, e);
    if (ok)
        build(&f, &q, blob);
    if (f.has_elf)
        elffile_close(&f.elf);
    buf_done(&f.copy);
    return ok;
}
