// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the function table of a Go program (unwind/gotable.h), stripped or not, and takes its names. */
#include <elf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbols/elf.h"

#define TABLE_ALIGN     8
#define RELOCATIONS_MAX (1u << 22)
#define TAGS_MAX        256
#define CHECKED         64 /* functions that a table must have in order to be taken for one */

static bool read_u64(const struct elffile *f, uint64_t addr, uint64_t out[], unsigned n)
{
    struct elf_bytes bytes;

    if (!elffile_loaded(f, addr, &bytes) || bytes.n < n * sizeof *out)
        return false;
    memcpy(out, bytes.p, n * sizeof *out);
    return true;
}

/* Where the relocations are that the program is loaded with, as its dynamic section tells. */
static bool find_relocations(const struct elffile *f, struct elf_bytes *out)
{
    uint64_t tag[2], addr = 0, size = 0;

    for (unsigned i = 0; i < TAGS_MAX && read_u64(f, f->dynamic + i * sizeof tag, tag, 2) && tag[0] != DT_NULL; i++) {
        if (tag[0] == DT_RELA)
            addr = tag[1];
        else if (tag[0] == DT_RELASZ)
            size = tag[1];
    }
    if (!addr || !size || !elffile_loaded(f, addr, out))
        return false;
    if (out->n > size)
        out->n = size;
    return true;
}

/* What is put at an address when the program is loaded, as an address of the file; 0: nothing. */
static uint64_t find_relocated(const struct elffile *f, uint64_t addr)
{
    uint32_t relative = f->machine == EM_X86_64 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE;
    struct elf_bytes all;
    Elf64_Rela r;

    if (!f->dynamic || !find_relocations(f, &all))
        return 0;
    for (size_t i = 0; i < all.n / sizeof r && i < RELOCATIONS_MAX; i++) {
        memcpy(&r, all.p + i * sizeof r, sizeof r);
        if (r.r_offset == addr && ELF64_R_TYPE(r.r_info) == relative)
            return (uint64_t)r.r_addend;
    }
    return 0;
}

/* In a position-independent program the address of the code is filled in when it is loaded. */
static uint64_t find_text(const struct elffile *f, uint64_t table_addr)
{
    uint64_t addr = find_relocated(f, table_addr + GOTABLE_TEXT_AT);
    struct elf_bytes text;

    return addr || !elffile_section(f, ".text", &text, NULL) ? addr : text.addr;
}

/* The first functions are in order, in executable code, and have names. */
static bool is_sane(const struct elffile *f, const struct gotable *t)
{
    struct gotable_function function;
    uint64_t offset, limit;

    for (uint64_t i = 0; i < t->n && i < CHECKED; i++)
        if (!gotable_function(t, i, &function) || !function.name_n || !elffile_offset(f, function.entry, &offset, &limit))
            return false;
    return true;
}

static bool open_table(const struct elffile *f, const struct elf_bytes *bytes, struct gotable *out)
{
    if (!gotable_open(out, bytes->p, bytes->n))
        return false;
    if (out->counts_text && !out->text)
        out->text = find_text(f, bytes->addr);
    return true;
}

static bool search_segment(const struct elffile *f, const struct elf_segment *s, struct gotable *out)
{
    struct elf_bytes all, from;

    if (!elffile_loaded(f, s->addr, &all))
        return false;
    for (size_t at = -s->addr % TABLE_ALIGN; at < all.n && all.n - at >= GOTABLE_HEADER_MIN; at += TABLE_ALIGN) {
        from = (struct elf_bytes){ all.p + at, all.n - at, all.addr + at };
        if (gotable_is_header(from.p) && open_table(f, &from, out) && is_sane(f, out))
            return true;
    }
    return false;
}

/* Linkers put it among other data (-buildmode=pie with cgo), and there may be no sections at all. */
static bool search(const struct elffile *f, struct gotable *out)
{
    for (unsigned i = 0; i < f->n_segments; i++)
        if (search_segment(f, &f->segments[i], out))
            return true;
    return false;
}

bool elf_go_table(const struct elffile *f, struct gotable *out)
{
    struct elf_bytes bytes;

    if (!f->wide || f->swapped)
        return false;
    if ((elffile_section(f, ".gopclntab", &bytes, NULL) ||
         elffile_section(f, ".data.rel.ro.gopclntab", &bytes, NULL)) &&
        open_table(f, &bytes, out))
        return true;
    return f->go && search(f, out);
}

static void add_function(const struct elffile *f, const struct gotable_function *g, struct table_builder *b)
{
    uint64_t offset, limit;

    if (elffile_offset(f, g->entry, &offset, &limit))
        table_add(b, offset, g->end - g->entry, limit, g->name, g->name_n, TABLE_LOCAL);
}

bool elf_add_go(const struct elffile *f, struct table_builder *b)
{
    struct gotable t;
    struct gotable_function g;

    if (!elf_go_table(f, &t))
        return false;
    for (uint64_t i = 0; i < t.n; i++)
        if (gotable_function(&t, i, &g))
            add_function(f, &g, b);
    return true;
}
