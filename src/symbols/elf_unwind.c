// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the call-frame information of an ELF file, which unwind/cfi.h compiles. */
#include <elf.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "symbols/elf.h"
#include "unwind/cfi.h"

#define EXECUTABLE_MAX 64

/* Of a pointer's encoding in .eh_frame_hdr (Linux Standard Base, 10.6.1). */
enum {
    ENC_UDATA4 = 0x03,
    ENC_SDATA4 = 0x0b,
    ENC_SDATA8 = 0x0c,
    ENC_UDATA8 = 0x04,
    ENC_ABS = 0,
    ENC_PCREL = 0x10,
    ENC_DATAREL = 0x30
};

static enum unwind_arch arch_of(const struct elffile *f)
{
    if (!f->wide || f->swapped)
        return UNWIND_ARCH_NONE;
    return f->machine == EM_X86_64    ? UNWIND_ARCH_X86_64
           : f->machine == EM_AARCH64 ? UNWIND_ARCH_ARM64
                                      : UNWIND_ARCH_NONE;
}

/* A file without section headers: .eh_frame_hdr, which the unwinder of the program itself goes by, points there. */
static bool find_by_header(const struct elffile *f, struct elf_bytes *out)
{
    struct elf_bytes hdr;
    struct cursor c;
    uint8_t version, encoding;
    uint64_t v, at;

    if (!f->eh_frame_hdr || !elffile_loaded(f, f->eh_frame_hdr, &hdr))
        return false;
    c = cursor_of(hdr.p, hdr.n, false);
    version = cursor_u8(&c);
    encoding = cursor_u8(&c);
    cursor_skip(&c, 2);
    switch (encoding & 0x0f) {
    case ENC_SDATA4:
        v = (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
        break;
    case ENC_UDATA4:
        v = cursor_u32(&c);
        break;
    case ENC_ABS:
    case ENC_UDATA8:
    case ENC_SDATA8:
        v = cursor_u64(&c);
        break;
    default:
        return false;
    }
    at = (encoding & 0x70) == ENC_PCREL ? hdr.addr + 4 : (encoding & 0x70) == ENC_DATAREL ? hdr.addr : 0;
    return version == 1 && !c.bad && elffile_loaded(f, at + v, out);
}

static struct cfi_section section_of(const struct elf_bytes *b)
{
    return (struct cfi_section){ b->p, b->n, b->addr };
}

static size_t list_executable(const struct elffile *f, struct cfi_segment *list)
{
    size_t n = 0;
    unsigned i;

    for (i = 0; i < f->n_segments && n < EXECUTABLE_MAX; i++)
        if (f->segments[i].executable)
            list[n++] =
                (struct cfi_segment){ f->segments[i].addr, f->segments[i].offset, f->segments[i].size };
    return n;
}

/* Linkers give a library without an entry point the beginning of its code as one. */
static uint64_t entry_of(const struct elffile *f, uint64_t text)
{
    return f->moves && f->entry == text ? 0 : f->entry;
}

/* debug: NULL, or where .debug_frame has to be. */
static bool compile(const struct elffile *f, const struct elffile *debug, void **blob, size_t *size,
                    struct error *e)
{
    struct cfi_segment segments[EXECUTABLE_MAX];
    struct elf_bytes eh, frame, text, got;
    struct cfi_input in = { .arch = arch_of(f),
                            .segments = segments,
                            .n_segments = list_executable(f, segments),
                            .build_id = f->build_id,
                            .build_id_size = f->build_id_size };
    struct error why = { 0 };

    if (in.arch == UNWIND_ARCH_NONE)
        return error_set(e, ERROR_UNSUPPORTED,
                         "stacks of this machine's code (ELF machine %u, %d bits) are not unwound by tables",
                         f->machine, f->wide ? 64 : 32);
    if (elffile_section(f, ".eh_frame", &eh, &why) || find_by_header(f, &eh))
        in.eh_frame = section_of(&eh);
    if (elffile_section(debug ? debug : f, ".debug_frame", &frame, &why))
        in.debug_frame = section_of(&frame);
    if (elffile_section(f, ".text", &text, NULL))
        in.text_addr = text.addr, in.code = section_of(&text);
    in.entry = entry_of(f, in.text_addr);
    if (elffile_section(f, ".got", &got, NULL))
        in.data_addr = got.addr;
    if (debug && !in.debug_frame.bytes)
        return error_set(e, ERROR_MISSING, "%s",
                         why.text[0] ? why.text : "no .debug_frame in the debug file");
    if (!in.eh_frame.bytes && !in.debug_frame.bytes)
        return error_set(e, ERROR_MISSING, "%s", why.text[0] ? why.text : "it has no call-frame information");
    return cfi_compile(&in, blob, size, e);
}

bool elf_read_unwind(int fd, int debug_fd, void **blob, size_t *size, char link[ELF_LINK_MAX],
                     struct error *e)
{
    struct elffile f, debug;
    bool ok;

    if (!elffile_open(&f, fd, e))
        return false;
    memcpy(link, f.link, ELF_LINK_MAX);
    if (debug_fd < 0) {
        ok = compile(&f, NULL, blob, size, e);
    } else if ((ok = elffile_open(&debug, debug_fd, e))) {
        ok = elf_is_debug_of(&f, &debug) ? compile(&f, &debug, blob, size, e)
                                         : error_set(e, ERROR_FORMAT, "the debug file is of another build");
        elffile_close(&debug);
    }
    elffile_close(&f);
    return ok;
}
