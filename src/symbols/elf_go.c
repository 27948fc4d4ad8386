// SPDX-License-Identifier: GPL-2.0-or-later
/* The function table that every Go program carries for its own tracebacks, stripped or not (.gopclntab, as
 * debug/gosym of Go reads it; Go 1.18 and later). */
#include <elf.h>
#include <string.h>

#include "base/cursor.h"
#include "symbols/elf.h"

#define MAGIC_118     0xfffffff0u
#define MAGIC_120     0xfffffff1u
#define FUNCTIONS_MAX (1u << 22)

struct go_table {
    struct elf_bytes all;
    uint64_t n, text;        /* text: address that entries count from */
    uint64_t names, functab; /* offsets in all */
};

static struct cursor cursor_at(const struct go_table *g, uint64_t offset)
{
    uint64_t at = offset < g->all.n ? offset : g->all.n;

    return cursor_of(g->all.p + at, g->all.n - at, false);
}

/* In a position-independent program the address of the text is filled in when it is loaded. */
static uint64_t text_address(const struct elffile *f, uint64_t told)
{
    struct elf_bytes text;

    return told || !elffile_section(f, ".text", &text, NULL) ? told : text.addr;
}

static bool read_header(const struct elffile *f, struct go_table *g)
{
    struct cursor c = cursor_at(g, 0);
    uint32_t magic = cursor_u32(&c);
    uint8_t quantum, pointer;

    cursor_skip(&c, 2);
    quantum = cursor_u8(&c);
    pointer = cursor_u8(&c);
    if ((magic != MAGIC_118 && magic != MAGIC_120) || pointer != 8 || !quantum)
        return false;
    g->n = cursor_u64(&c);
    cursor_skip(&c, 8); /* files */
    g->text = text_address(f, cursor_u64(&c));
    g->names = cursor_u64(&c);
    cursor_skip(&c, 3 * 8); /* units, files, program counters */
    g->functab = cursor_u64(&c);
    return !c.bad && g->functab < g->all.n && g->n <= FUNCTIONS_MAX && g->n <= (g->all.n - g->functab) / 8;
}

static void add_function(const struct elffile *f, const struct go_table *g, uint32_t entry, uint32_t function,
                         uint32_t end, struct table_builder *b)
{
    struct cursor c = cursor_at(g, g->functab + function);
    uint64_t offset, limit, name_at;
    struct cursor name;

    cursor_skip(&c, 4); /* the entry again */
    name_at = g->names + cursor_u32(&c);
    name = cursor_at(g, name_at);
    if (!c.bad && end > entry && elffile_offset(f, g->text + entry, &offset, &limit))
        table_add(b, offset, end - entry, limit, (const char *)name.p, cursor_left(&name), TABLE_LOCAL);
}

/* Entries are {entry, function}, sorted, and an end behind the last one. */
bool elf_add_go(const struct elffile *f, struct table_builder *b)
{
    struct go_table g = { 0 };
    struct cursor c;
    uint32_t entry, function, end;
    uint64_t i;

    if (!f->wide || f->swapped || !elffile_section(f, ".gopclntab", &g.all, NULL) || !read_header(f, &g))
        return false;
    c = cursor_at(&g, g.functab);
    entry = cursor_u32(&c);
    for (i = 0; i < g.n; i++) {
        function = cursor_u32(&c);
        end = cursor_u32(&c);
        if (c.bad)
            break;
        add_function(f, &g, entry, function, end, b);
        entry = end;
    }
    return i > 0;
}
