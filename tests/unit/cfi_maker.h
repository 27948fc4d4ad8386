// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds call-frame information byte by byte and compiles it. The code is at CODE, file offset 0x1000. */
#ifndef FLAMETOP_TESTS_CFI_MAKER_H
#define FLAMETOP_TESTS_CFI_MAKER_H

#include <string.h>

#include "base/mem.h"
#include "unwind/cfi.h"
#include "unwind/dwarfread.h"
#include "unwind/rows.h"

#define CODE      UINT64_C(0x401000)
#define CODE_SIZE UINT64_C(0x10000)
#define FRAME_AT  UINT64_C(0x500000)
#define OFFSET    UINT64_C(0x1000)

struct cfi_maker {
    uint8_t bytes[8192];
    size_t n;
    size_t cie, entry; /* where the last CIE and the open entry begin */
    bool debug, sized;
    enum unwind_arch arch;
    uint8_t encoding;
    uint64_t begins;  /* the program's entry point; 0: unknown */
    const void *code; /* CODE_SIZE bytes; NULL: unknown */
    void *blob;
    size_t size;
    struct unwind_rows rows;
    struct error error;
};

static inline void cfi_u8(struct cfi_maker *m, unsigned v)
{
    m->bytes[m->n++] = (uint8_t)v;
}

static inline void cfi_int(struct cfi_maker *m, uint64_t v, unsigned bytes)
{
    memcpy(m->bytes + m->n, &v, bytes);
    m->n += bytes;
}

static inline void cfi_bytes(struct cfi_maker *m, const void *p, size_t n)
{
    memcpy(m->bytes + m->n, p, n);
    m->n += n;
}
#define CFI(m, ...) cfi_bytes((m), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static inline void cfi_close(struct cfi_maker *m)
{
    uint32_t length;

    while (m->n % 8)
        cfi_u8(m, DW_CFA_nop);
    length = (uint32_t)(m->n - m->entry - 4);
    memcpy(m->bytes + m->entry, &length, 4);
}

/* Begins an entry; the instructions follow, then cfi_close(). */
static inline void cfi_cie(struct cfi_maker *m, unsigned version, const char *augmentation)
{
    unsigned ra = m->arch == UNWIND_ARCH_ARM64 ? 30 : m->arch == UNWIND_ARCH_I386 ? 8 : 16;
    uint8_t alignment = m->arch == UNWIND_ARCH_I386 ? 0x7c : 0x78; /* data alignment: -4, -8 */

    m->cie = m->entry = m->n;
    cfi_int(m, 0, 4);
    cfi_int(m, m->debug ? UINT32_MAX : 0, 4);
    cfi_u8(m, version);
    cfi_bytes(m, augmentation, strlen(augmentation) + 1);
    if (version == 4)
        CFI(m, 8, 0);
    CFI(m, 1, alignment, (uint8_t)ra); /* code alignment 1 */
    m->sized = *augmentation == 'z';
    m->encoding = DW_EH_PE_absptr;
    if (!strcmp(augmentation, "zR") || !strcmp(augmentation, "zRS")) {
        m->encoding = DW_EH_PE_pcrel | DW_EH_PE_sdata4;
        CFI(m, 1, m->encoding);
    }
}

static inline void cfi_pointer(struct cfi_maker *m, uint64_t addr)
{
    uint64_t here = FRAME_AT + m->n;
    uint64_t base = (m->encoding & 0x70) == DW_EH_PE_pcrel ? here : 0;

    switch (m->encoding & 0xf) {
    case DW_EH_PE_udata2:
    case DW_EH_PE_sdata2:
        cfi_int(m, addr - base, 2);
        break;
    case DW_EH_PE_udata4:
    case DW_EH_PE_sdata4:
        cfi_int(m, addr - base, 4);
        break;
    default:
        cfi_int(m, addr - base, m->arch == UNWIND_ARCH_I386 ? 4 : 8);
    }
}

static inline void cfi_fde(struct cfi_maker *m, uint64_t begin, uint64_t size)
{
    uint8_t encoding = m->encoding;

    m->entry = m->n;
    cfi_int(m, 0, 4);
    cfi_int(m, m->debug ? m->cie : m->n - m->cie, 4);
    cfi_pointer(m, begin);
    m->encoding &= 0xf;
    cfi_pointer(m, size);
    m->encoding = encoding;
    if (m->sized)
        cfi_u8(m, 0);
}

static inline bool cfi_make(struct cfi_maker *m)
{
    struct cfi_segment segment = { .addr = CODE, .offset = OFFSET, .size = CODE_SIZE };
    static const uint8_t id[20] = "build-id of the test";
    struct cfi_section section = { m->bytes, m->n, FRAME_AT };
    struct cfi_input in = {
        .arch = m->arch,
        .segments = &segment,
        .n_segments = 1,
        .build_id = id,
        .build_id_size = 20,
        .text_addr = CODE,
        .data_addr = FRAME_AT,
        .entry = m->begins,
    };

    if (m->code)
        in.code = (struct cfi_section){ m->code, CODE_SIZE, CODE };
    *(m->debug ? &in.debug_frame : &in.eh_frame) = section;
    return cfi_compile(&in, &m->blob, &m->size, &m->error) &&
           unwind_rows_view(&m->rows, m->blob, m->size, &m->error);
}

/* The initial rules of every x86-64 compiler: CFA = rsp + 8, return address below it. */
static inline void cfi_x86_64(struct cfi_maker *m, const char *augmentation)
{
    memset(m, 0, sizeof *m);
    m->arch = UNWIND_ARCH_X86_64;
    cfi_cie(m, 1, augmentation);
    CFI(m, DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1);
    cfi_close(m);
}

/* The initial rules of every i386 compiler: CFA = esp + 4. */
static inline void cfi_i386(struct cfi_maker *m, const char *augmentation)
{
    memset(m, 0, sizeof *m);
    m->arch = UNWIND_ARCH_I386;
    cfi_cie(m, 1, augmentation);
    CFI(m, DW_CFA_def_cfa, 4, 4, DW_CFA_offset | 8, 1);
    cfi_close(m);
}

static inline void cfi_done(struct cfi_maker *m)
{
    mem_free(m->blob);
}

#endif
