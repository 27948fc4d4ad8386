// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the function table of a Go program (unwind/gotable.h), stripped or not, and read its names, lines and
 * inlined functions. */
#include <elf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbols/elf.h"

#define TABLE_ALIGN     8
#define RELOCATIONS_MAX (1u << 22)
#define TAGS_MAX        256
#define CHECKED         64 /* functions that are checked before a table is accepted */
#define CANDIDATES_MAX  16 /* addresses that may be the moduledata */
/* runtime.moduledata (runtime/symtab.go of Go 1.18 to 1.25) begins with pointers to the table and to its
 * names. */
#define NAMES_AT      8
#define TEXT_AT       176
#define GOFUNC_AT_118 304
#define GOFUNC_AT_120 320

static bool read_u64(const struct elffile *f, uint64_t addr, uint64_t out[], unsigned n)
{
    struct elf_bytes bytes;

    if (!elffile_loaded(f, addr, &bytes) || bytes.n < n * sizeof *out)
        return false;
    memcpy(out, bytes.p, n * sizeof *out);
    return true;
}

/* Find the program's load-time relocations, from its dynamic section. */
static bool find_relocations(const struct elffile *f, struct elf_bytes *out)
{
    uint64_t tag[2], addr = 0, size = 0;

    for (unsigned i = 0;
         i < TAGS_MAX && read_u64(f, f->dynamic + i * sizeof tag, tag, 2) && tag[0] != DT_NULL; i++) {
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

/* Return the value that relocation puts at an address, as an address of the file; 0: none. */
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

/* Return the address of the code. In a position-independent program it is filled in at load time. */
static uint64_t find_text(const struct elffile *f, uint64_t table_addr)
{
    uint64_t addr = find_relocated(f, table_addr + GOTABLE_TEXT_AT);
    struct elf_bytes text;

    return addr || !elffile_section(f, ".text", &text, NULL) ? addr : text.addr;
}

/* Whether the first functions are in order, in executable code, and have names. */
static bool is_sane(const struct elffile *f, const struct gotable *t)
{
    struct gotable_function function;
    uint64_t offset, limit;

    for (uint64_t i = 0; i < t->n && i < CHECKED; i++)
        if (!gotable_function(t, i, &function) || !function.name_n ||
            !elffile_offset(f, function.entry, &offset, &limit))
            return false;
    return true;
}

/* Open a table. *addr: its virtual address. */
static bool open_table(const struct elffile *f, const struct elf_bytes *bytes, struct gotable *out,
                       uint64_t *addr)
{
    if (!gotable_open(out, bytes->p, bytes->n))
        return false;
    *addr = bytes->addr;
    if (out->counts_text && !out->text)
        out->text = find_text(f, bytes->addr);
    return true;
}

static bool search_segment(const struct elffile *f, const struct elf_segment *s, struct gotable *out,
                           uint64_t *addr)
{
    struct elf_bytes all, from;

    if (!elffile_loaded(f, s->addr, &all))
        return false;
    for (size_t at = -s->addr % TABLE_ALIGN; at < all.n && all.n - at >= GOTABLE_HEADER_MIN;
         at += TABLE_ALIGN) {
        from = (struct elf_bytes){ all.p + at, all.n - at, all.addr + at };
        if (gotable_is_header(from.p) && open_table(f, &from, out, addr) && is_sane(f, out))
            return true;
    }
    return false;
}

/* Search all segments: linkers put the table among other data (-buildmode=pie with cgo), and there may be no
 * sections. */
static bool search(const struct elffile *f, struct gotable *out, uint64_t *addr)
{
    for (unsigned i = 0; i < f->n_segments; i++)
        if (search_segment(f, &f->segments[i], out, addr))
            return true;
    return false;
}

static bool find_table(const struct elffile *f, struct gotable *out, uint64_t *addr)
{
    struct elf_bytes bytes;

    if (!f->wide || f->swapped)
        return false;
    if ((elffile_section(f, ".gopclntab", &bytes, NULL) ||
         elffile_section(f, ".data.rel.ro.gopclntab", &bytes, NULL)) &&
        open_table(f, &bytes, out, addr))
        return true;
    return f->go && search(f, out, addr);
}

bool elf_go_table(const struct elffile *f, struct gotable *out)
{
    uint64_t addr;

    return find_table(f, out, &addr);
}

/* Return the word at an address as of load time, without the load bias; 0: none. */
static uint64_t word_at(const struct elffile *f, uint64_t addr)
{
    uint64_t word = find_relocated(f, addr);

    return word || read_u64(f, addr, &word, 1) ? word : 0;
}

struct moduledata_search {
    const struct elffile *f;
    uint64_t table; /* its address */
    struct golines *g;
    unsigned candidates; /* number of candidates checked */
};

/* Read the start of the inlined calls from a possible moduledata. False: it is not the moduledata. */
static bool read_moduledata(struct moduledata_search *s, uint64_t addr)
{
    const struct gotable *t = &s->g->table;
    unsigned gofunc_at = t->has_start ? GOFUNC_AT_120 : GOFUNC_AT_118;
    struct elf_bytes calls;

    s->candidates++;
    if (word_at(s->f, addr) != s->table || word_at(s->f, addr + NAMES_AT) != s->table + t->names ||
        word_at(s->f, addr + TEXT_AT) != t->text ||
        !elffile_loaded(s->f, word_at(s->f, addr + gofunc_at), &calls))
        return false;
    s->g->calls = calls.p;
    s->g->calls_n = calls.n;
    return true;
}

static bool search_words(struct moduledata_search *s, uint64_t segment)
{
    const uint64_t begin[2] = { s->table, s->table + s->g->table.names };
    struct elf_bytes all;

    if (!elffile_loaded(s->f, segment, &all))
        return false;
    for (size_t at = -segment % TABLE_ALIGN; at < all.n && all.n - at >= sizeof begin; at += TABLE_ALIGN)
        if (!memcmp(all.p + at, begin, sizeof begin) && s->candidates < CANDIDATES_MAX &&
            read_moduledata(s, segment + at))
            return true;
    return false;
}

/* Search the relocations: in a position-independent program they fill in the moduledata's pointers. */
static bool search_relocations(struct moduledata_search *s)
{
    struct elf_bytes all;
    Elf64_Rela r;

    if (!s->f->dynamic || !find_relocations(s->f, &all))
        return false;
    for (size_t i = 0; i < all.n / sizeof r && i < RELOCATIONS_MAX && s->candidates < CANDIDATES_MAX; i++) {
        memcpy(&r, all.p + i * sizeof r, sizeof r);
        if ((uint64_t)r.r_addend == s->table && read_moduledata(s, r.r_offset))
            return true;
    }
    return false;
}

static void find_calls(const struct elffile *f, uint64_t table, struct golines *g)
{
    struct moduledata_search s = { .f = f, .table = table, .g = g };
    bool found = search_relocations(&s);

    for (unsigned i = 0; i < f->n_segments && !found; i++)
        found = search_words(&s, f->segments[i].addr);
}

bool elf_go_lines(const struct elffile *f, struct golines *out)
{
    uint64_t table;

    *out = (struct golines){ 0 };
    if (!find_table(f, &out->table, &table) || !out->table.has_lines)
        return false;
    find_calls(f, table, out);
    return true;
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
