// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/elfmemory.h"

#include <elf.h>
#include <string.h>

#define PAGE 4096
/* A linker that leaves a page between segments shifts each of them by one. */
#define PAGES_MAX   32
#define HEADERS_MAX 64
#define DYNAMIC_MAX 256
#define CHAIN_MAX   512 /* symbols of one hash */
#define NAME_MAX_   64

static bool get(const struct elfmemory *e, uint64_t address, void *to, size_t n)
{
    return e->m->read(e->m->ctx, address, to, n);
}

static bool is_elf(const Elf64_Ehdr *h)
{
    return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
           (h->e_type == ET_DYN || h->e_type == ET_EXEC) && h->e_phentsize == sizeof(Elf64_Phdr) &&
           h->e_phnum && h->e_phnum <= HEADERS_MAX;
}

static bool find_header(const struct elfmemory *e, uint64_t near, uint64_t *at, Elf64_Ehdr *h)
{
    near &= ~(uint64_t)(PAGE - 1);
    for (unsigned i = 0; i < PAGES_MAX && near > (uint64_t)i * PAGE; i++) {
        *at = near - (uint64_t)i * PAGE;
        if (get(e, *at, h, sizeof *h) && is_elf(h))
            return true;
    }
    return false;
}

/* glibc relocates the addresses in the table; other dynamic linkers leave the file's values. */
static uint64_t located(const struct elfmemory *e, uint64_t value)
{
    return value < e->bias ? value + e->bias : value;
}

static bool read_dynamic(struct elfmemory *e, uint64_t address)
{
    Elf64_Dyn d;

    for (unsigned i = 0;
         i < DYNAMIC_MAX && get(e, address + i * sizeof d, &d, sizeof d) && d.d_tag != DT_NULL; i++) {
        if (d.d_tag == DT_SYMTAB)
            e->symbols = located(e, d.d_un.d_ptr);
        else if (d.d_tag == DT_STRTAB)
            e->strings = located(e, d.d_un.d_ptr);
        else if (d.d_tag == DT_GNU_HASH)
            e->hash = located(e, d.d_un.d_ptr);
    }
    return e->symbols && e->strings && e->hash;
}

bool elfmemory_open(struct elfmemory *e, const struct interpreter_memory *m, uint64_t near)
{
    Elf64_Phdr p[HEADERS_MAX];
    Elf64_Ehdr h;
    uint64_t at, dynamic = 0;
    bool loaded = false;

    *e = (struct elfmemory){ .m = m };
    if (!find_header(e, near, &at, &h) || !get(e, at + h.e_phoff, p, h.e_phnum * sizeof *p))
        return false;
    for (unsigned i = 0; i < h.e_phnum; i++) {
        if (p[i].p_type == PT_LOAD && !loaded) {
            e->bias = at - (p[i].p_vaddr - p[i].p_offset);
            loaded = true;
        }
        if (p[i].p_type == PT_DYNAMIC)
            dynamic = p[i].p_vaddr;
    }
    return loaded && dynamic && read_dynamic(e, e->bias + dynamic);
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t h = 5381;

    for (; *name; name++)
        h = h * 33 + (uint8_t)*name;
    return h;
}

static bool is_symbol(const struct elfmemory *e, uint64_t index, const char *name, uint64_t *address)
{
    char text[NAME_MAX_] = { 0 };
    size_t n = strlen(name) + 1;
    Elf64_Sym s;

    if (n > sizeof text || !get(e, e->symbols + index * sizeof s, &s, sizeof s) || s.st_shndx == SHN_UNDEF ||
        !get(e, e->strings + s.st_name, text, n) || memcmp(text, name, n))
        return false;
    *address = e->bias + s.st_value;
    return true;
}

bool elfmemory_find(const struct elfmemory *e, const char *name, uint64_t *address)
{
    uint32_t head[4], index, link, hash = gnu_hash(name);
    uint64_t buckets, chain;

    if (!get(e, e->hash, head, sizeof head) || !head[0])
        return false;
    buckets = e->hash + sizeof head + (uint64_t)head[2] * 8;
    chain = buckets + (uint64_t)head[0] * 4;
    if (!get(e, buckets + (uint64_t)(hash % head[0]) * 4, &index, sizeof index) || index < head[1])
        return false;
    for (unsigned i = 0; i < CHAIN_MAX; i++, index++) {
        if (!get(e, chain + (uint64_t)(index - head[1]) * 4, &link, sizeof link))
            return false;
        if ((link | 1) == (hash | 1) && is_symbol(e, index, name, address))
            return true;
        if (link & 1)
            return false;
    }
    return false;
}
