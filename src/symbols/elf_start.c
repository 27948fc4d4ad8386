// SPDX-License-Identifier: GPL-2.0-or-later
/* Name _start and main of a program without a symbol table.
 * The entry point of a glibc program is a fixed sequence of instructions that ends with a call of
 * __libc_start_main, whose first argument is main (sysdeps/x86_64/start.S and sysdeps/aarch64/start.S of
 * glibc). Names are only given if the whole sequence matches: nothing is guessed. */
#include <elf.h>
#include <string.h>

#include "symbols/elf.h"

#define RELOCATIONS_MAX (1u << 20)

/* The entry point being read: code[at] is next. */
struct start {
    const struct elffile *f;
    struct elf_bytes code;
    size_t at;
    uint64_t main;
};

static uint32_t u32_at(const uint8_t *p)
{
    uint32_t v;

    memcpy(&v, p, sizeof v);
    return v;
}

static int64_t i32_at(const uint8_t *p)
{
    return (int32_t)u32_at(p);
}

/* ---- value of a slot of the global offset table at run time ---- */

static bool value_of(const struct elffile *f, const Elf64_Rela *r, uint64_t *value)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    bool x86 = f->machine == EM_X86_64;
    struct elf_symbols symbols;
    struct elf_symbol symbol;

    if (type == (x86 ? R_X86_64_RELATIVE : R_AARCH64_RELATIVE)) {
        *value = (uint64_t)r->r_addend;
        return true;
    }
    if (type != (x86 ? R_X86_64_GLOB_DAT : R_AARCH64_GLOB_DAT) || !elffile_symbols(f, f->dynsym, &symbols) ||
        !elffile_symbol(&symbols, ELF64_R_SYM(r->r_info), &symbol) || !symbol.defined)
        return false;
    *value = symbol.value + (uint64_t)r->r_addend;
    return true;
}

/* Read a slot's relocation or, if addresses are fixed, its bytes. */
static bool read_slot(const struct elffile *f, uint64_t slot, uint64_t *value)
{
    struct elf_bytes bytes;
    Elf64_Rela r;

    if (elffile_section(f, ".rela.dyn", &bytes, NULL))
        for (size_t i = 0; i < bytes.n / sizeof r && i < RELOCATIONS_MAX; i++) {
            memcpy(&r, bytes.p + i * sizeof r, sizeof r);
            if (r.r_offset == slot)
                return value_of(f, &r, value);
        }
    if (f->moves || !elffile_loaded(f, slot, &bytes) || bytes.n < sizeof *value)
        return false;
    memcpy(value, bytes.p, sizeof *value);
    return true;
}

/* ---- the sequences ---- */

static bool is_next(struct start *s, const void *bytes, size_t n)
{
    if (s->code.n - s->at < n || memcmp(s->code.p + s->at, bytes, n))
        return false;
    s->at += n;
    return true;
}

/* Match the opcode, then read 4 bytes into *value. */
static bool is_next_with(struct start *s, const char *opcode, size_t n, int64_t *value)
{
    if (s->code.n - s->at < n + 4 || !is_next(s, opcode, n))
        return false;
    *value = i32_at(s->code.p + s->at);
    s->at += 4;
    return true;
}

static uint64_t here(const struct start *s)
{
    return s->code.addr + s->at;
}

/* Skip an argument for finalisers and constructors, which glibc before 2.34 had. */
static void skip_old_argument(struct start *s, const char *by_address, const char *by_value)
{
    int64_t value;

    if (!is_next_with(s, by_address, 3, &value))
        (void)is_next_with(s, by_value, 3, &value);
}

static bool take_x86_main(struct start *s)
{
    int64_t value;

    if (is_next_with(s, "\x48\x8d\x3d", 3, &value)) { /* lea main(%rip), %rdi */
        s->main = here(s) + (uint64_t)value;
        return true;
    }
    if (is_next_with(s, "\x48\xc7\xc7", 3, &value) ||
        is_next_with(s, "\xbf", 1, &value)) { /* mov $main, %rdi */
        s->main = (uint64_t)value;
        return true;
    }
    return is_next_with(s, "\x48\x8b\x3d", 3, &value) && /* mov slot(%rip), %rdi */
           read_slot(s->f, here(s) + (uint64_t)value, &s->main);
}

/* xor %ebp, %ebp; mov %rdx, %r9; pop %rsi; mov %rsp, %rdx; and $-16, %rsp; push %rax; push %rsp; …; main to
 * %rdi; call __libc_start_main; hlt */
static bool read_x86_64(struct start *s)
{
    static const char begin[] = "\x31\xed\x49\x89\xd1\x5e\x48\x89\xe2\x48\x83\xe4\xf0\x50\x54";
    int64_t value;

    (void)is_next(s, "\xf3\x0f\x1e\xfa", 4); /* endbr64 */
    if (!is_next(s, begin, sizeof begin - 1))
        return false;
    if (!is_next(s, "\x45\x31\xc0\x31\xc9", 5)) { /* xor %r8d, %r8d; xor %ecx, %ecx */
        skip_old_argument(s, "\x4c\x8d\x05", "\x49\xc7\xc0");
        skip_old_argument(s, "\x48\x8d\x0d", "\x48\xc7\xc1");
    }
    if (!take_x86_main(s))
        return false;
    if (!is_next_with(s, "\xff\x15", 2, &value) && !is_next_with(s, "\x67\xe8", 2, &value) &&
        !is_next_with(s, "\xe8", 1, &value))
        return false;
    return is_next(s, "\xf4", 1);
}

static uint32_t next_word(struct start *s)
{
    uint32_t word = s->code.n - s->at < 4 ? 0 : u32_at(s->code.p + s->at);

    s->at += word ? 4 : 0;
    return word;
}

/* The operand of adr and adrp: 21 bits, signed. */
static int64_t distance_of(uint32_t adr)
{
    uint64_t number = (uint64_t)(adr >> 5 & 0x7ffff) << 2 | (adr >> 29 & 3);

    return (int64_t)(number << 43) >> 43;
}

/* The address of a page, of "adrp x0, page" at `at`. */
static uint64_t page_of(uint32_t adrp, uint64_t at)
{
    return (at & ~UINT64_C(0xfff)) + (uint64_t)distance_of(adrp) * 4096;
}

/* In programs at a fixed address, main is reached through __wrap_main: [bti c]; b main. */
static void follow_wrapper(struct start *s)
{
    struct elf_bytes code;
    size_t at = 0;

    if (!elffile_loaded(s->f, s->main, &code) || code.n < 8)
        return;
    if (u32_at(code.p) == 0xd503245f)
        at = 4;
    if ((u32_at(code.p + at) & 0xfc000000) == 0x14000000)
        s->main += at + (uint64_t)((int64_t)((uint64_t)u32_at(code.p + at) << 38) >>
                                   36); /* 26 bits with a sign, times 4 */
}

static bool take_arm64_main(struct start *s)
{
    uint64_t at = here(s);
    uint32_t adrp = next_word(s), low = next_word(s);

    if (adrp == 0xd503201f &&
        (low & 0x9f00001f) == 0x10000000) { /* nop; adr x0, main: what lld makes of it */
        s->main = at + 4 + (uint64_t)distance_of(low);
        return true;
    }
    if ((adrp & 0x9f00001f) != 0x90000000)
        return false;
    if ((low & 0xffc003ff) == 0x91000000) { /* add x0, x0, #low */
        s->main = page_of(adrp, at) + (low >> 10 & 0xfff);
        follow_wrapper(s);
        return true;
    }
    return (low & 0xffc003ff) == 0xf9400000 && /* ldr x0, [x0, #low] */
           read_slot(s->f, page_of(adrp, at) + (low >> 10 & 0xfff) * 8, &s->main);
}

/* mov x29, #0; mov x30, #0; mov x5, x0; ldr x1, [sp]; add x2, sp, #8; mov x6, sp; main to x0; …; bl
 * __libc_start_main; bl abort */
static bool read_arm64(struct start *s)
{
    static const uint32_t begin[] = {
        0xd280001d, 0xd280001e, 0xaa0003e5, 0xf94003e1, 0x910023e2, 0x910003e6
    };
    static const uint32_t zeros[] = { 0xd2800003, 0xd2800004 }; /* mov x3, #0; mov x4, #0 */
    bool called;

    (void)(is_next(s, "\x5f\x24\x03\xd5", 4) || is_next(s, "\x1f\x20\x03\xd5", 4)); /* bti c, or nop */
    if (!is_next(s, begin, sizeof begin) || !take_arm64_main(s))
        return false;
    if (!is_next(s, zeros, sizeof zeros)) /* glibc before 2.34: two addresses */
        s->at += 16;
    called = s->at + 8 <= s->code.n && (next_word(s) & 0xfc000000) == 0x94000000;
    return called && (next_word(s) & 0xfc000000) == 0x94000000;
}

/* ---- size of main ---- */

/* Return the size of the function at an address, from .eh_frame; 0: not in it.
 * Each entry has its length, the distance back to its CIE (0: it is a CIE itself), then the function's start,
 * relative to this word, and its size. */
static uint64_t size_of(const struct elffile *f, uint64_t address)
{
    struct elf_bytes frames;
    size_t at = 0;

    if (!elffile_section(f, ".eh_frame", &frames, NULL))
        return 0;
    while (frames.n - at >= 16) {
        const uint8_t *p = frames.p + at;
        if (u32_at(p + 4) && frames.addr + at + 8 + (uint64_t)i32_at(p + 8) == address)
            return u32_at(p + 12);
        if (u32_at(p) > frames.n - at - 4)
            return 0;
        at += 4 + (size_t)u32_at(p);
    }
    return 0;
}

static void add(const struct elffile *f, uint64_t address, uint64_t size, const char *name,
                struct table_builder *b)
{
    uint64_t offset, limit;

    if (size && elffile_offset(f, address, &offset, &limit))
        table_add(b, offset, size, limit, name, strlen(name), TABLE_LOCAL);
}

void elf_add_start(const struct elffile *f, struct table_builder *b)
{
    struct start s = { .f = f };
    uint64_t offset, limit;

    if (b->as_perf || !f->wide || f->swapped || !elffile_offset(f, f->entry, &offset, &limit) ||
        !elffile_loaded(f, f->entry, &s.code))
        return;
    if (!(f->machine == EM_X86_64 && read_x86_64(&s)) && !(f->machine == EM_AARCH64 && read_arm64(&s)))
        return;
    add(f, f->entry, s.at, "_start", b);
    add(f, s.main, size_of(f, s.main), "main", b);
}
