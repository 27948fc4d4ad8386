// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/elf.h"

#include <gelf.h>
#include <libelf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define SEGMENTS_MAX 512
#define SECTIONS_MAX 65536
#define NOTES_MAX    4096

struct segment { /* executable, as loaded */
    uint64_t vaddr, offset, size;
};

struct elf_file {
    Elf *elf;
    int fd;
    struct segment *segments;
    unsigned n_segments;
    Elf_Scn *symtab, *dynsym;
    uint8_t build_id[TABLE_BUILD_ID_MAX];
    unsigned build_id_size;
    char link[256];
    uint32_t link_crc;
};

static void find_segments(struct elf_file *f)
{
    size_t n, i;
    GElf_Phdr ph;

    if (elf_getphdrnum(f->elf, &n))
        return;
    n = n < SEGMENTS_MAX ? n : SEGMENTS_MAX;
    f->segments = mem_array(n, sizeof *f->segments);
    for (i = 0; i < n && gelf_getphdr(f->elf, (int)i, &ph); i++)
        if (ph.p_type == PT_LOAD && ph.p_flags & PF_X && ph.p_offset + ph.p_filesz >= ph.p_offset)
            f->segments[f->n_segments++] = (struct segment){ ph.p_vaddr, ph.p_offset, ph.p_filesz };
}

static void read_build_id(struct elf_file *f, Elf_Data *data)
{
    size_t at = 0, name_at, desc_at, next;
    GElf_Nhdr note;
    unsigned seen;

    for (seen = 0; seen < NOTES_MAX && (next = gelf_getnote(data, at, &note, &name_at, &desc_at)); seen++) {
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz &&
            note.n_descsz <= TABLE_BUILD_ID_MAX && !memcmp((char *)data->d_buf + name_at, "GNU", 4)) {
            memcpy(f->build_id, (char *)data->d_buf + desc_at, note.n_descsz);
            f->build_id_size = note.n_descsz;
            return;
        }
        at = next;
    }
}

/* A stripped file may have lost its sections' names, or the sections; the segments tell the same. */
static void read_build_id_of_segments(struct elf_file *f)
{
    size_t n, i;
    GElf_Phdr ph;
    Elf_Data *data;

    if (elf_getphdrnum(f->elf, &n))
        return;
    for (i = 0; i < n && i < SEGMENTS_MAX && !f->build_id_size && gelf_getphdr(f->elf, (int)i, &ph); i++)
        if (ph.p_type == PT_NOTE && ph.p_filesz && ph.p_filesz < (1 << 20) &&
            (data = elf_getdata_rawchunk(f->elf, (int64_t)ph.p_offset, ph.p_filesz,
                                         ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR)))
            read_build_id(f, data);
}

/* .gnu_debuglink: a name, padded to 4 bytes, then the CRC of that file. */
static void read_link(struct elf_file *f, const Elf_Data *data)
{
    const char *bytes = data->d_buf;
    size_t n = bytes ? strnlen(bytes, data->d_size) : 0;
    size_t crc_at = (n + 4) & ~(size_t)3;

    if (!n || n >= sizeof f->link || crc_at + 4 > data->d_size || memchr(bytes, '/', n))
        return;
    memcpy(f->link, bytes, n + 1);
    memcpy(&f->link_crc, bytes + crc_at, 4);
    if (elf_getident(f->elf, NULL)[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB))
        f->link_crc = __builtin_bswap32(f->link_crc);
}

static void look_at_section(struct elf_file *f, Elf_Scn *section, const char *name, const GElf_Shdr *header)
{
    Elf_Data *data;

    if (header->sh_type == SHT_SYMTAB && !f->symtab)
        f->symtab = section;
    else if (header->sh_type == SHT_DYNSYM && !f->dynsym)
        f->dynsym = section;
    else if (header->sh_type == SHT_NOTE && !f->build_id_size && (data = elf_getdata(section, NULL)))
        read_build_id(f, data);
    else if (header->sh_type == SHT_PROGBITS && name && !strcmp(name, ".gnu_debuglink") &&
             (data = elf_rawdata(section, NULL)))
        read_link(f, data);
}

static void find_sections(struct elf_file *f)
{
    size_t names, seen = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    if (elf_getshdrstrndx(f->elf, &names))
        names = 0;
    while ((section = elf_nextscn(f->elf, section)) && seen++ < SECTIONS_MAX)
        if (gelf_getshdr(section, &header))
            look_at_section(f, section, names ? elf_strptr(f->elf, names, header.sh_name) : NULL, &header);
}

static void elf_close(struct elf_file *f)
{
    mem_free(f->segments);
    elf_end(f->elf);
}

static bool elf_open(struct elf_file *f, int fd, struct error *e)
{
    *f = (struct elf_file){ .fd = fd };
    elf_version(EV_CURRENT);
    f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (!f->elf || elf_kind(f->elf) != ELF_K_ELF) {
        elf_end(f->elf);
        return error_set(e, ERROR_FORMAT, "not an ELF file");
    }
    find_segments(f);
    find_sections(f);
    if (!f->build_id_size)
        read_build_id_of_segments(f);
    return true;
}

/* $a, $d, $t, $x (with a suffix or without) mark where code and data meet on ARM and RISC-V; .L is the
 * compiler's. */
static bool is_mark(const char *name, size_t n)
{
    if (n >= 2 && name[0] == '.' && name[1] == 'L')
        return true;
    return n >= 2 && name[0] == '$' && strchr("adtx", name[1]) &&
           (n == 2 || name[2] == '.' || (n > 4 && !memcmp(name + 1, "xrv", 3)));
}

static bool is_code(const GElf_Sym *sym)
{
    unsigned type = GELF_ST_TYPE(sym->st_info);
    unsigned visibility = GELF_ST_VISIBILITY(sym->st_other);

    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx == SHN_ABS || !sym->st_name)
        return false;
    if (type == STT_NOTYPE) /* assembler's labels, such as _start */
        return visibility != STV_HIDDEN && visibility != STV_INTERNAL;
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static enum table_rank rank_of(const GElf_Sym *sym)
{
    switch (GELF_ST_BIND(sym->st_info)) {
    case STB_WEAK:
        return TABLE_WEAK;
    case STB_LOCAL:
        return TABLE_LOCAL;
    default:
        return TABLE_GLOBAL;
    }
}

static void add_symbol(const struct elf_file *loaded, const GElf_Sym *sym, const char *name, size_t n,
                       struct table_builder *b)
{
    unsigned i;

    for (i = 0; i < loaded->n_segments; i++) {
        const struct segment *s = &loaded->segments[i];
        uint64_t into = sym->st_value - s->vaddr;
        if (into < s->size) {
            table_add(b, s->offset + into, sym->st_size, s->offset + s->size, name, n, rank_of(sym));
            return;
        }
    }
}

/* Reads a symbol table of `f`; addresses become offsets by the segments of `loaded`. */
static bool add_symbols(struct elf_file *f, Elf_Scn *section, const struct elf_file *loaded,
                        struct table_builder *b)
{
    GElf_Shdr header;
    Elf_Data *data, *strings;
    Elf_Scn *string_section;
    size_t i, n, entry = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
    GElf_Sym sym;

    if (!section || !entry || !gelf_getshdr(section, &header) || !(data = elf_getdata(section, NULL)) ||
        !(string_section = elf_getscn(f->elf, header.sh_link)) ||
        !(strings = elf_getdata(string_section, NULL)) || !strings->d_buf || !data->d_buf)
        return false;
    n = data->d_size / entry;
    for (i = 0; i < n && i < INT32_MAX && gelf_getsym(data, (int)i, &sym); i++) {
        const char *name = (const char *)strings->d_buf + sym.st_name;
        size_t left = sym.st_name < strings->d_size ? strings->d_size - sym.st_name : 0;
        size_t length = strnlen(name, left < TABLE_NAME_MAX ? left : TABLE_NAME_MAX);
        if (length && is_code(&sym) && !is_mark(name, length))
            add_symbol(loaded, &sym, name, length, b);
    }
    return true;
}

static void tell_identity(const struct elf_file *f, struct table_builder *b)
{
    memcpy(b->header.build_id, f->build_id, f->build_id_size);
    b->header.build_id_size = (uint8_t)f->build_id_size;
}

bool elf_read(int fd, struct table_builder *b, struct error *e)
{
    struct elf_file f;

    if (!elf_open(&f, fd, e))
        return false;
    tell_identity(&f, b);
    if (add_symbols(&f, f.symtab, &f, b))
        b->header.flags |= TABLE_FULL;
    else
        add_symbols(&f, f.dynsym, &f, b);
    if (f.link[0]) {
        memcpy(b->debuglink, f.link, sizeof b->debuglink);
        b->header.link_crc = f.link_crc;
    }
    elf_close(&f);
    return true;
}

/* The CRC-32 of zlib over a whole file, by nibbles: asked seldom. */
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

static bool belongs(const struct elf_file *f, const struct elf_file *debug)
{
    if (f->build_id_size && debug->build_id_size)
        return f->build_id_size == debug->build_id_size &&
               !memcmp(f->build_id, debug->build_id, f->build_id_size);
    return f->link[0] && crc_of(debug->fd) == f->link_crc;
}

bool elf_belongs(int fd, int debug_fd)
{
    struct elf_file f, debug;
    bool ok;

    if (!elf_open(&f, fd, NULL))
        return false;
    ok = elf_open(&debug, debug_fd, NULL);
    if (ok) {
        ok = belongs(&f, &debug);
        elf_close(&debug);
    }
    elf_close(&f);
    return ok;
}

bool elf_read_with_debug(int fd, int debug_fd, struct table_builder *b, struct error *e)
{
    struct elf_file f, debug;
    bool ok;

    if (!elf_open(&f, fd, e))
        return false;
    if (!elf_open(&debug, debug_fd, e)) {
        elf_close(&f);
        return false;
    }
    tell_identity(&f, b);
    ok = belongs(&f, &debug);
    if (!ok)
        error_set(e, ERROR_FORMAT, "the debug file is of another build");
    else if (!add_symbols(&debug, debug.symtab, &f, b))
        ok = error_set(e, ERROR_FORMAT, "the debug file has no symbol table");
    if (ok) {
        b->header.flags |= TABLE_FULL;
        add_symbols(&f, f.dynsym, &f, b);
    }
    elf_close(&debug);
    elf_close(&f);
    return ok;
}
