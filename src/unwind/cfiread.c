// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/cfiread.h"

#include <string.h>

#include "unwind/dwarfread.h"

#define SECTION_MAX      INT32_MAX
#define AUGMENTATION_MAX 16

struct head { /* the head of a CIE or FDE */
    bool wide;
    size_t id_at, end; /* offsets in the section */
    uint64_t id;
};

static struct cursor from_to(const struct cfi_reader *r, size_t from, size_t to)
{
    return cursor_of((const uint8_t *)r->section->bytes + from, to - from, false);
}

static size_t position(const struct cfi_reader *r, const struct cursor *c)
{
    return (size_t)(c->p - (const uint8_t *)r->section->bytes);
}

/* Returns the size of the id: the 64-bit format widens it only in .debug_frame. */
static size_t id_bytes(const struct cfi_reader *r, const struct head *h)
{
    return h->wide && r->debug ? 8 : 4;
}

static bool read_head(const struct cfi_reader *r, size_t at, struct head *h)
{
    size_t size = r->section->size < SECTION_MAX ? r->section->size : SECTION_MAX;
    struct cursor c = from_to(r, at, size);
    uint64_t length = cursor_u32(&c);

    h->wide = length == UINT32_MAX;
    if (h->wide)
        length = cursor_u64(&c);
    if (c.bad || length > cursor_left(&c))
        return false;
    h->id_at = position(r, &c);
    h->end = h->id_at + (size_t)length;
    c = from_to(r, h->id_at, h->end);
    h->id = id_bytes(r, h) == 8 ? cursor_u64(&c) : cursor_u32(&c);
    return true;
}

/* Returns true if there are bytes after the id. An empty entry has not even an id; a damaged one may not
 * either. */
static bool has_body(const struct cfi_reader *r, const struct head *h)
{
    return h->end - h->id_at > id_bytes(r, h);
}

static bool is_cie(const struct cfi_reader *r, const struct head *h)
{
    if (!r->debug)
        return h->id == 0;
    return h->id == (h->wide ? UINT64_MAX : UINT32_MAX);
}

static uint64_t read_value(const struct cfi_reader *r, struct cursor *c, uint8_t encoding)
{
    switch (encoding & 0xf) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_signed:
        return r->in->arch == UNWIND_ARCH_I386 ? cursor_u32(c) : cursor_u64(c);
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        return cursor_u64(c);
    case DW_EH_PE_uleb128:
        return dwarf_uleb(c);
    case DW_EH_PE_sleb128:
        return (uint64_t)dwarf_sleb(c);
    case DW_EH_PE_udata2:
        return cursor_u16(c);
    case DW_EH_PE_sdata2:
        return (uint64_t)(int16_t)cursor_u16(c);
    case DW_EH_PE_udata4:
        return cursor_u32(c);
    case DW_EH_PE_sdata4:
        return (uint64_t)(int32_t)cursor_u32(c);
    default:
        c->bad = true;
        return 0;
    }
}

/* Reads a pointer. Returns false if its address cannot be computed; the cursor is then after the pointer
 * nevertheless. */
static bool read_pointer(const struct cfi_reader *r, struct cursor *c, uint8_t encoding, uint64_t function,
                         uint64_t *value)
{
    uint64_t here = r->section->addr + position(r, c), base = 0;

    if (encoding == DW_EH_PE_aligned) {
        cursor_skip(c, (size_t)(-here & (r->in->arch == UNWIND_ARCH_I386 ? 3 : 7)));
        *value = read_value(r, c, DW_EH_PE_absptr);
        return !c->bad;
    }
    switch (encoding & 0x70) {
    case DW_EH_PE_absptr:
        break;
    case DW_EH_PE_pcrel:
        base = here;
        break;
    case DW_EH_PE_textrel:
        base = r->in->text_addr;
        break;
    case DW_EH_PE_datarel:
        base = r->in->data_addr;
        break;
    case DW_EH_PE_funcrel:
        base = function;
        break;
    default:
        c->bad = true;
    }
    *value = base + read_value(r, c, encoding);
    return !c->bad && !(encoding & DW_EH_PE_indirect);
}

/* Reads the data of the letters after "z". Stops at an unknown letter; the length of the data leads past
 * it. */
static void read_augmentation(const struct cfi_reader *r, struct cfi_cie *cie, const char *letters,
                              struct cursor *c)
{
    uint64_t ignored;

    for (; *letters; letters++) {
        switch (*letters) {
        case 'R':
            cie->pointer_encoding = cursor_u8(c);
            break;
        case 'L':
            cursor_u8(c);
            break;
        case 'P':
            read_pointer(r, c, cursor_u8(c), 0, &ignored);
            break;
        case 'S':
            cie->signal = true;
            break;
        case 'B': /* arm64: which key signs */
        case 'G': /* arm64: tagged memory */
            break;
        default:
            return;
        }
    }
}

static bool read_sized_augmentation(const struct cfi_reader *r, struct cfi_cie *cie, const char *letters,
                                    struct cursor *c)
{
    uint64_t size = dwarf_uleb(c);
    struct cursor data;

    if (c->bad || size > cursor_left(c))
        return false;
    data = cursor_of(c->p, (size_t)size, false);
    cursor_skip(c, (size_t)size);
    read_augmentation(r, cie, letters, &data);
    cie->sized = true;
    return !data.bad;
}

/* Returns true for a supported version. Version 4 has sizes of addresses and segments: only 8 and 0 are
 * supported. */
static bool version_fits(uint8_t version, struct cursor *c)
{
    if (version == 4)
        return cursor_u8(c) == 8 && cursor_u8(c) == 0;
    return version == 1 || version == 3;
}

static bool read_cie(const struct cfi_reader *r, const struct head *h, struct cfi_cie *cie)
{
    struct cursor c = from_to(r, h->id_at + id_bytes(r, h), h->end);
    uint8_t version = cursor_u8(&c);
    size_t n = cursor_left(&c) < AUGMENTATION_MAX ? cursor_left(&c) : AUGMENTATION_MAX;
    const char *letters = (const char *)c.p;

    if (!n || !memchr(letters, '\0', n))
        return false;
    cursor_skip(&c, strlen(letters) + 1);
    if (!strcmp(letters, "eh"))
        cursor_u64(&c);
    if (!version_fits(version, &c))
        return false;
    cie->code_align = dwarf_uleb(&c);
    cie->data_align = dwarf_sleb(&c);
    cie->ra = (unsigned)(version == 1 ? cursor_u8(&c) : dwarf_uleb(&c));
    if (*letters == 'z' ? !read_sized_augmentation(r, cie, letters + 1, &c)
                        : (*letters && strcmp(letters, "eh")))
        return false;
    cie->run = position(r, &c);
    cie->end = h->end;
    return !c.bad && cie->ra == r->abi->ra;
}

/* Returns the CIE at `at`, from the cache if it is there. Most sections have only a few. */
static struct cfi_cie *cie_at(struct cfi_reader *r, uint64_t at)
{
    struct cfi_cie *cie = &r->cies[at / 4 % CFI_CIES_KEPT];
    struct head h;

    if (at >= r->section->size)
        return NULL;
    if (cie->at != at) {
        memset(cie, 0, sizeof *cie);
        cie->at = (size_t)at;
        cie->valid = read_head(r, (size_t)at, &h) && has_body(r, &h) && is_cie(r, &h) && read_cie(r, &h, cie);
    }
    return cie->valid ? cie : NULL;
}

static bool read_fde(struct cfi_reader *r, const struct head *h, struct cfi_fde *out)
{
    struct cursor c = from_to(r, h->id_at + id_bytes(r, h), h->end);
    struct cfi_cie *cie = NULL;
    uint64_t size;

    if (r->debug)
        cie = cie_at(r, h->id);
    else if (h->id <= h->id_at)
        cie = cie_at(r, h->id_at - h->id);
    if (!cie || !read_pointer(r, &c, cie->pointer_encoding, 0, &out->begin))
        return false;
    out->cie = cie;
    out->size = read_value(r, &c, cie->pointer_encoding & 0xf);
    if (cie->sized) {
        size = dwarf_uleb(&c);
        cursor_skip(&c, size < SIZE_MAX ? (size_t)size : SIZE_MAX);
    }
    out->run = position(r, &c);
    out->end = h->end;
    return !c.bad && out->size;
}

void cfi_reader_of(struct cfi_reader *r, const struct cfi_input *in, bool debug)
{
    memset(r, 0, sizeof *r);
    r->in = in;
    r->section = debug ? &in->debug_frame : &in->eh_frame;
    r->debug = debug;
    r->abi = unwind_arch_abi(in->arch);
    /* Enough to run each FDE once, with the few instructions of its CIE. */
    r->budget = (1u << 20) + 16 * (uint64_t)r->section->size;
    for (unsigned i = 0; i < CFI_CIES_KEPT; i++)
        r->cies[i].at = SIZE_MAX;
}

bool cfi_read(struct cfi_reader *r, size_t *at, struct cfi_fde *out, bool *is_fde)
{
    struct head h;

    *is_fde = false;
    if (!r->section->bytes || !r->abi || *at >= r->section->size || !read_head(r, *at, &h))
        return false;
    /* Do not stop at an empty entry: it ends the section for C's start-up files, but linkers leave some
     * in the middle. */
    *at = h.end;
    if (has_body(r, &h) && !is_cie(r, &h))
        *is_fde = read_fde(r, &h, out);
    return true;
}

static bool run_pointer(const struct cfi_run *run, struct cursor *c, uint64_t *value)
{
    return read_pointer(run->reader, c, run->fde->cie->pointer_encoding, run->fde->begin, value);
}

static void run_cie(struct cfi_reader *r, struct cfi_cie *cie, struct cfi_run run)
{
    static const struct cfi_state nothing;
    struct cursor c = from_to(r, cie->run, cie->end);

    run.initial = CFI_NO_STATE;
    run.advance = NULL;
    run.begin = run.size = run.at = 0;
    run.location |= 1;
    run.now = cfi_states_number(&r->states, &nothing);
    cie->valid = run.now != CFI_NO_STATE && cfi_run(&run, &c);
    cie->initial = run.now;
    cie->ran = true;
}

/* Limits the number of states. Expressions at different locations give different states, so there may be
 * many. */
static void forget_states(struct cfi_reader *r)
{
    if (cfi_states_trim(&r->states))
        for (unsigned i = 0; i < CFI_CIES_KEPT; i++)
            r->cies[i].ran = false;
}

bool cfi_run_fde(struct cfi_reader *r, struct cfi_fde *f, struct cfi_run *run)
{
    struct cursor c = from_to(r, f->run, f->end);

    forget_states(r);
    run->states = &r->states;
    run->location = (uint64_t)f->cie->at << 1;
    run->code_align = f->cie->code_align;
    run->data_align = f->cie->data_align;
    run->n_regs = r->abi->pc + 1u;
    run->budget = &r->budget;
    run->begin = f->begin;
    run->size = f->size;
    run->at = 0;
    run->pointer = run_pointer;
    run->reader = r;
    run->fde = f;
    if (!f->cie->ran)
        run_cie(r, f->cie, *run);
    if (!f->cie->valid)
        return false;
    run->initial = run->now = f->cie->initial;
    return cfi_run(run, &c);
}

void cfi_reader_done(struct cfi_reader *r)
{
    cfi_states_done(&r->states);
}
