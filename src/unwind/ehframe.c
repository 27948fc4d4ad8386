// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats: elf(5); .eh_frame_hdr in the Linux Standard Base, "Exception Frames". */
#include "unwind/ehframe.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define HEADERS_MAX 64
#define HEADERS_END 65536u /* program headers are near the beginning of the file */
/* version 1; pointer relative to itself, count, table relative to the section: 32-bit numbers */
static const uint8_t usual[] = { 1, 0x1b, 0x03, 0x3b };

struct hdr {
    uint8_t encodings[4];
    int32_t frames;
    uint32_t entries;
};

static bool is_ours(const ElfW(Ehdr) * e)
{
    const unsigned char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    return !memcmp(e->e_ident, ELFMAG, SELFMAG) && e->e_ident[EI_CLASS] == class &&
           e->e_phentsize == sizeof(ElfW(Phdr)) && e->e_phnum <= HEADERS_MAX && e->e_phoff <= HEADERS_END;
}

bool ehframe_find(ehframe_read read, void *ctx, uint64_t start, struct ehframe *out)
{
    ElfW(Ehdr) e;
    ElfW(Phdr) headers[HEADERS_MAX];
    const ElfW(Phdr) *load = NULL, *frames = NULL;
    struct hdr hdr;
    if (!read(ctx, start, &e, sizeof e) || !is_ours(&e) ||
        !read(ctx, start + e.e_phoff, headers, e.e_phnum * sizeof *headers))
        return false;
    for (unsigned i = 0; i < e.e_phnum; i++) {
        if (headers[i].p_type == PT_LOAD && !load)
            load = &headers[i];
        if (headers[i].p_type == PT_GNU_EH_FRAME)
            frames = &headers[i];
    }
    if (!load || !frames)
        return false;
    out->header = start + (frames->p_vaddr - (load->p_vaddr - load->p_offset));
    out->table = out->header + sizeof hdr;
    if (frames->p_memsz < sizeof hdr || !read(ctx, out->header, &hdr, sizeof hdr) ||
        memcmp(hdr.encodings, usual, sizeof usual))
        return false;
    out->entries = hdr.entries;
    return hdr.entries && hdr.entries <= (frames->p_memsz - sizeof hdr) / 8;
}
