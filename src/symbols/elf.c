// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/elf.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/minidebug.h"

/* Whether a name marks a transition between code and data on ARM and RISC-V ($a, $d, $t, $x, with or without
 * a suffix), or is a label of the compiler (.L). */
static bool is_mark(const char *name, size_t n)
{
    if (n >= 2 && name[0] == '.' && name[1] == 'L')
        return true;
    return n >= 2 && name[0] == '$' && strchr("adtx", name[1]) &&
           (n == 2 || name[2] == '.' || (n > 4 && !memcmp(name + 1, "xrv", 3)));
}

static bool is_code(const struct elf_symbol *s)
{
    if (!s->defined || !s->name_n || is_mark(s->name, s->name_n))
        return false;
    if (s->type == STT_NOTYPE) /* assembler labels, such as _start */
        return s->visibility != STV_HIDDEN && s->visibility != STV_INTERNAL;
    return s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
}

/* Whether a symbol version is only for old programs: memcpy@@GLIBC_2.14 is the default memcpy,
 * memcpy@GLIBC_2.2.5 an old one. Dynamic symbols have their versions in a section of their own. Code of free
 * must not be named cfree, an alias for very old programs. */
static bool is_for_old_programs(const struct elf_symbol *s)
{
    const char *at = memchr(s->name, '@', s->name_n);

    return s->superseded || (at && at > s->name && at + 1 < s->name + s->name_n && at[1] != '@');
}

static enum table_rank rank_of(const struct elf_symbol *s, bool as_perf)
{
    if (!as_perf && is_for_old_programs(s))
        return TABLE_WEAK;
    switch (s->bind) {
    case STB_WEAK:
        return TABLE_WEAK;
    case STB_LOCAL:
        return TABLE_LOCAL;
    default:
        return TABLE_GLOBAL;
    }
}

static size_t without_version(const struct elf_symbol *s)
{
    const char *at = memchr(s->name, '@', s->name_n);

    return at && at > s->name && at + 1 < s->name + s->name_n && at[1] == '@' ? (size_t)(at - s->name)
                                                                              : s->name_n;
}

/* Add a symbol table of `f`. Addresses become offsets by the segments of `loaded`, or stay addresses. */
static bool add_symbols_at(const struct elffile *f, size_t section, const struct elffile *loaded,
                           bool addresses, struct table_builder *b)
{
    struct elf_symbols symbols;
    struct elf_symbol s;
    uint64_t offset, limit;
    size_t i;

    if (!elffile_symbols(f, section, &symbols))
        return false;
    for (i = 0; i < symbols.n && elffile_symbol(&symbols, i, &s); i++)
        if (is_code(&s) && elffile_offset(loaded, s.value, &offset, &limit)) {
            uint64_t up = addresses ? s.value - offset : 0;
            table_add(b, offset + up, s.size, limit + up, s.name, b->as_perf ? s.name_n : without_version(&s),
                      rank_of(&s, b->as_perf));
        }
    return true;
}

static bool add_symbols(const struct elffile *f, size_t section, const struct elffile *loaded,
                        struct table_builder *b)
{
    return add_symbols_at(f, section, loaded, false, b);
}

static void tell_identity(const struct elffile *f, struct table_builder *b)
{
    memcpy(b->header.build_id, f->build_id, f->build_id_size);
    b->header.build_id_size = (uint8_t)f->build_id_size;
}

/* Store the debug link of the mapped file, also in a table made from its debug file, which has none: the
 * search for source lines needs it. */
static void tell_link(const struct elffile *f, struct table_builder *b)
{
    if (f->link[0])
        memcpy(b->debuglink, f->link, sizeof b->debuglink);
}

/* Add mini-debug-info: an xz-compressed ELF file whose .symtab has this file's local functions. */
static bool add_packed(const struct elffile *f, struct table_builder *b)
{
    struct elf_bytes packed;
    struct elffile inner;
    bool ok = false;
    void *bytes;
    size_t n;

    if (!elffile_section(f, ".gnu_debugdata", &packed, NULL))
        return false;
    if (!xz_unpack(packed.p, packed.n, &bytes, &n, NULL)) {
        b->header.flags |= TABLE_PACKED;
        return false;
    }
    if (elffile_open_memory(&inner, bytes, n, NULL)) {
        ok = add_symbols(&inner, inner.symtab, f, b);
        elffile_close(&inner);
    }
    mem_free(bytes);
    return ok;
}

bool elf_read(int fd, struct table_builder *b, struct error *e)
{
    struct elffile f;

    if (!elffile_open(&f, fd, e))
        return false;
    tell_identity(&f, b);
    if (add_symbols(&f, f.symtab, &f, b) || add_packed(&f, b) || elf_add_go(&f, b))
        b->header.flags |= TABLE_FULL;
    if (!f.symtab)
        add_symbols(&f, f.dynsym, &f, b);
    if (!(b->header.flags & TABLE_FULL))
        elf_add_start(&f, b);
    elf_add_plt(&f, b);
    tell_link(&f, b);
    elffile_close(&f);
    return true;
}

/* Compute zlib's CRC-32 of a whole file, by nibbles: it is rarely needed. */
static uint32_t crc_of(int fd)
{
    static const uint32_t nibble[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                         0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                         0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                         0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
    uint8_t bytes[65536];
    uint32_t crc = UINT32_MAX;
    off_t at = 0;
    ssize_t n, i;

    while ((n = pread(fd, bytes, sizeof bytes, at)) > 0) {
        for (i = 0; i < n; i++) {
            crc ^= bytes[i];
            crc = crc >> 4 ^ nibble[crc & 15];
            crc = crc >> 4 ^ nibble[crc & 15];
        }
        at += n;
    }
    return ~crc;
}

bool elf_is_debug_of(const struct elffile *f, const struct elffile *debug)
{
    if (f->build_id_size && debug->build_id_size)
        return f->build_id_size == debug->build_id_size &&
               !memcmp(f->build_id, debug->build_id, f->build_id_size);
    return f->link[0] && crc_of(debug->fd) == f->link_crc;
}

/* Find the symbol by which the table is relocated to the kernel's address (kallsyms.c has the same). */
static uint64_t find_reference(const struct elffile *f)
{
    struct elf_symbols symbols;
    struct elf_symbol s;
    uint64_t found = 0;
    size_t i;

    if (!elffile_symbols(f, f->symtab, &symbols))
        return 0;
    for (i = 0; i < symbols.n && elffile_symbol(&symbols, i, &s); i++)
        if (s.name_n == 5 && !memcmp(s.name, "_text", 5))
            return s.value;
        else if (s.name_n == 6 && !memcmp(s.name, "_stext", 6))
            found = s.value;
    return found;
}

bool elf_read_kernel(int fd, struct table_builder *b, struct error *e)
{
    struct elffile f;
    bool ok;

    if (!elffile_open(&f, fd, e))
        return false;
    tell_identity(&f, b);
    b->header.reference = find_reference(&f);
    b->header.flags |= TABLE_FULL;
    ok = add_symbols_at(&f, f.symtab, &f, true, b) || error_set(e, ERROR_MISSING, "it has no symbol table");
    elffile_close(&f);
    return ok;
}

bool elf_belongs(int fd, int debug_fd)
{
    struct elffile f, debug;
    bool ok;

    if (!elffile_open(&f, fd, NULL))
        return false;
    ok = elffile_open(&debug, debug_fd, NULL);
    if (ok) {
        ok = elf_is_debug_of(&f, &debug);
        elffile_close(&debug);
    }
    elffile_close(&f);
    return ok;
}

bool elf_read_with_debug(int fd, int debug_fd, struct table_builder *b, struct error *e)
{
    struct elffile f, debug;
    bool ok;

    if (!elffile_open(&f, fd, e))
        return false;
    if (!elffile_open(&debug, debug_fd, e)) {
        elffile_close(&f);
        return false;
    }
    tell_identity(&f, b);
    ok = elf_is_debug_of(&f, &debug);
    if (!ok)
        error_set(e, ERROR_FORMAT, "the debug file is of another build");
    else if (!add_symbols(&debug, debug.symtab, &f, b))
        ok = error_set(e, ERROR_FORMAT, "the debug file has no symbol table");
    if (ok) {
        b->header.flags |= TABLE_FULL;
        tell_link(&f, b);
        if (!b->as_perf)
            add_symbols(&f, f.dynsym, &f, b);
        elf_add_plt(&f, b);
    }
    elffile_close(&debug);
    elffile_close(&f);
    return ok;
}
