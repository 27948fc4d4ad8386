// SPDX-License-Identifier: GPL-2.0-or-later
/* Name the stubs through which one library calls another.
 * Each stub jumps to the target in a slot of the global offset table, and a relocation names the symbol of
 * the slot. The stubs' code is read rather than their order, which differs between linkers and with branch
 * protection (.plt, .plt.sec, .plt.got). */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "symbols/elf.h"

#define SLOTS_MAX (1u << 20)
#define SUFFIX    "@plt"

struct slot {
    uint64_t at;      /* address in the global offset table */
    uint64_t addend;  /* of IRELATIVE: the resolver function */
    uint32_t symbol;  /* in .dynsym; 0: none */
    const char *name; /* name_n bytes; NULL: not known */
    size_t name_n;
};
struct slots {
    VEC(struct slot);
    /* Slots of .rela.plt in its order, before sorting: the numbers that stubs push. */
    size_t lazy;
    uint64_t *lazy_at;
};
struct stub {
    uint64_t at, size, slot;
};

static bool is_slot(uint16_t machine, uint64_t type)
{
    if (machine == EM_X86_64)
        return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_IRELATIVE;
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_IRELATIVE;
}

static bool is_chosen(uint16_t machine, uint64_t type)
{
    return type == (machine == EM_X86_64 ? R_X86_64_IRELATIVE : R_AARCH64_IRELATIVE);
}

static void add_slots(const struct elffile *f, const char *section, struct slots *slots)
{
    struct elf_bytes bytes;
    Elf64_Rela r;
    size_t i;

    if (!elffile_section(f, section, &bytes, NULL))
        return;
    for (i = 0; i < bytes.n / sizeof r && slots->n < SLOTS_MAX; i++) {
        memcpy(&r, bytes.p + i * sizeof r, sizeof r);
        if (!is_slot(f->machine, ELF64_R_TYPE(r.r_info)))
            continue;
        *VEC_PUSH(slots) = (struct slot){
            .at = r.r_offset,
            .addend = is_chosen(f->machine, ELF64_R_TYPE(r.r_info)) ? (uint64_t)r.r_addend : 0,
            .symbol = (uint32_t)ELF64_R_SYM(r.r_info),
        };
    }
}

static void remember_order(struct slots *slots)
{
    size_t i;

    slots->lazy = slots->n;
    slots->lazy_at = mem_array(slots->n, sizeof *slots->lazy_at);
    for (i = 0; i < slots->n; i++)
        slots->lazy_at[i] = slots->items[i].at;
}

static int by_address(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;

    return a->at < b->at ? -1 : a->at > b->at;
}

static int by_addend(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;

    return a->addend < b->addend ? -1 : a->addend > b->addend;
}

static size_t underscores(const char *name, size_t n)
{
    size_t i = 0;

    while (i < n && name[i] == '_')
        i++;
    return i;
}

/* An ifunc resolver has the names of the functions that it resolves. Of aliases, prefer the one with the
 * fewest leading underscores, then the first alphabetically. */
static bool is_better(const struct slot *s, const struct elf_symbol *symbol)
{
    size_t old = s->name ? underscores(s->name, s->name_n) : SIZE_MAX;
    size_t new = underscores(symbol->name, symbol->name_n);
    size_t n = s->name_n < symbol->name_n ? s->name_n : symbol->name_n;

    if (old != new)
        return new < old;
    return memcmp(symbol->name, s->name, n) < 0 ||
           (!memcmp(symbol->name, s->name, n) && symbol->name_n < s->name_n);
}

static void name_chosen(const struct elffile *f, struct slots *slots)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    size_t i, at;

    if (!elffile_symbols(f, f->symtab ? f->symtab : f->dynsym, &symbols))
        return;
    qsort(slots->items, slots->n, sizeof *slots->items, by_addend);
    for (i = 0; i < symbols.n && elffile_symbol(&symbols, i, &symbol); i++) {
        if (!symbol.defined || !symbol.value || !symbol.name_n || symbol.type != STT_GNU_IFUNC)
            continue;
        at = SEARCH_FIRST(k, 0, slots->n, slots->items[k].addend >= symbol.value);
        for (struct slot *s = &slots->items[at]; at < slots->n && s->addend == symbol.value; at++, s++)
            if (is_better(s, &symbol)) {
                s->name = symbol.name;
                s->name_n = symbol.name_n;
            }
    }
}

static void name_slots(const struct elffile *f, struct slots *slots)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    bool have = elffile_symbols(f, f->dynsym, &symbols), chosen = false;
    size_t i;

    for (i = 0; i < slots->n; i++) {
        struct slot *s = &slots->items[i];
        chosen |= s->addend != 0;
        if (!have || !s->symbol || !elffile_symbol(&symbols, s->symbol, &symbol) || !symbol.name_n)
            continue;
        s->name = symbol.name;
        s->name_n = symbol.name_n;
    }
    if (chosen)
        name_chosen(f, slots);
    qsort(slots->items, slots->n, sizeof *slots->items, by_address);
}

static uint32_t u32_at(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

/* [endbr64] [bnd] jmp *slot(%rip); or, for lazy binding, endbr64; push $number; jmp … */
static bool read_x86_64(const struct elf_bytes *b, size_t i, size_t step, const struct slots *slots,
                        struct stub *out)
{
    static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
    const uint8_t *p = b->p + i, *end = p + step;
    bool guarded = !memcmp(p, endbr, sizeof endbr);

    p += guarded ? sizeof endbr : 0;
    *out = (struct stub){ .at = b->addr + i, .size = step };
    if (guarded && end - p >= 5 && *p == 0x68) {
        uint32_t number = u32_at(p + 1);
        if (number >= slots->lazy)
            return false;
        out->slot = slots->lazy_at[number];
        return true;
    }
    if (end - p > 6 && *p == 0xf2)
        p++;
    if (end - p < 6 || p[0] != 0xff || p[1] != 0x25)
        return false;
    out->slot = b->addr + (uint64_t)(p + 6 - b->p) + (uint64_t)(int64_t)(int32_t)u32_at(p + 2);
    return true;
}

/* [bti c]; adrp x16, page; ldr x17, [x16, #low]; … */
static bool read_arm64(const struct elf_bytes *b, size_t i, struct stub *out)
{
    uint32_t adrp = u32_at(b->p + i), ldr = i + 8 <= b->n ? u32_at(b->p + i + 4) : 0;
    bool guarded = i >= 4 && u32_at(b->p + i - 4) == 0xd503245f;
    uint64_t number = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    int64_t pages = (int64_t)(number << 43) >> 31; /* 21 bits, signed, times 4096 */

    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
        return false;
    *out = (struct stub){ .at = b->addr + i - (guarded ? 4 : 0),
                          .size = guarded ? 20 : 16,
                          .slot = ((b->addr + i) & ~UINT64_C(0xfff)) + (uint64_t)pages +
                                  (ldr >> 10 & 0xfff) * 8 };
    return true;
}

static void add_stub(const struct elffile *f, const struct slots *slots, const struct stub *stub,
                     struct table_builder *b)
{
    size_t at = SEARCH_FIRST(i, 0, slots->n, slots->items[i].at >= stub->slot);
    const struct slot *s = at < slots->n ? &slots->items[at] : NULL;
    char name[TABLE_NAME_MAX];
    uint64_t offset, limit;

    if (!s || s->at != stub->slot || !s->name || s->name_n > sizeof name - sizeof SUFFIX ||
        !elffile_offset(f, stub->at, &offset, &limit))
        return;
    memcpy(name, s->name, s->name_n);
    memcpy(name + s->name_n, SUFFIX, sizeof SUFFIX);
    table_add(b, offset, stub->size, limit, name, s->name_n + sizeof SUFFIX - 1, TABLE_LOCAL);
}

static void add_stubs(const struct elffile *f, const char *section, const struct slots *slots,
                      struct table_builder *b)
{
    struct elf_bytes bytes;
    struct stub stub;
    uint64_t offset, limit;
    size_t i, step = 4;

    if (!elffile_section(f, section, &bytes, NULL))
        return;
    if (elffile_offset(f, bytes.addr, &offset, &limit)) /* the common head of the stubs */
        table_add(b, offset, bytes.n, limit, section, strlen(section), TABLE_WEAK);
    if (f->machine == EM_X86_64) /* without branch protection, stubs without lazy binding are short */
        step = !strcmp(section, ".plt.got") && bytes.p[0] == 0xff ? 8 : 16;
    for (i = 0; i + step <= bytes.n; i += step)
        if (f->machine == EM_X86_64 ? read_x86_64(&bytes, i, step, slots, &stub)
                                    : read_arm64(&bytes, i, &stub))
            add_stub(f, slots, &stub, b);
}

/* As perf 6.1: the stubs of .plt are assumed to be in the order of the relocations, all others have no
 * name. */
static void add_in_order(const struct elffile *f, struct table_builder *b)
{
    const uint64_t size = 16, head = f->machine == EM_AARCH64 ? 32 : size;
    struct elf_bytes stubs, relocations;
    struct elf_symbols symbols;
    uint64_t offset, limit;

    if (!elffile_section(f, ".plt", &stubs, NULL) || !elffile_section(f, ".rela.plt", &relocations, NULL) ||
        !elffile_symbols(f, f->dynsym, &symbols) || !elffile_offset(f, stubs.addr, &offset, &limit))
        return;
    offset += head;
    for (size_t i = 0; i < relocations.n / sizeof(Elf64_Rela) && i < SLOTS_MAX; i++, offset += size) {
        char name[TABLE_NAME_MAX];
        struct elf_symbol symbol;
        Elf64_Rela r;
        memcpy(&r, relocations.p + i * sizeof r, sizeof r);
        if (!elffile_symbol(&symbols, ELF64_R_SYM(r.r_info), &symbol) ||
            symbol.name_n > sizeof name - sizeof SUFFIX)
            continue;
        memcpy(name, symbol.name, symbol.name_n);
        memcpy(name + symbol.name_n, SUFFIX, sizeof SUFFIX);
        table_add(b, offset, size, limit, name, symbol.name_n + sizeof SUFFIX - 1, TABLE_GLOBAL);
    }
}

void elf_add_plt(const struct elffile *f, struct table_builder *b)
{
    static const char *const sections[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
    struct slots slots = { 0 };
    size_t i;

    if (!f->wide || f->swapped || (f->machine != EM_X86_64 && f->machine != EM_AARCH64))
        return;
    if (b->as_perf) {
        add_in_order(f, b);
        return;
    }
    add_slots(f, ".rela.plt", &slots);
    remember_order(&slots);
    add_slots(f, ".rela.dyn", &slots);
    add_slots(f, ".rela.iplt", &slots);
    if (slots.n)
        name_slots(f, &slots);
    for (i = 0; i < sizeof sections / sizeof *sections && slots.n; i++)
        add_stubs(f, sections[i], &slots, b);
    mem_free(slots.lazy_at);
    mem_free(slots.items);
}
