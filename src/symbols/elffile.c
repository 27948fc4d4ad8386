// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/elffile.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "base/mem.h"
#include "base/unpack.h"

#define SEGMENTS_MAX     512
#define SECTIONS_MAX     65536
#define NOTES_MAX        4096
#define SYMBOLS_MAX      (16u << 20)
#define DECOMPRESSED_MAX (UINT64_C(512) << 20)
/* Of an entry of .gnu.version; see the gABI of GNU and Sun on symbol versioning. */
#define VERSION_HIDDEN  0x8000
#define COMPRESSED_ZSTD 2 /* ELFCOMPRESS_ZSTD, which older headers lack */

/* A section decompressed here; freed with the file. */
struct elf_unpacked {
    struct elf_unpacked *next;
    uint8_t bytes[];
};

static void add_segment(struct elffile *f, const GElf_Phdr *ph)
{
    if (ph->p_type == PT_GNU_EH_FRAME)
        f->eh_frame_hdr = ph->p_vaddr;
    if (ph->p_type == PT_DYNAMIC)
        f->dynamic = ph->p_vaddr;
    if (ph->p_type == PT_LOAD && ph->p_offset + ph->p_filesz >= ph->p_offset)
        f->segments[f->n_segments++] =
            (struct elf_segment){ ph->p_vaddr, ph->p_offset, ph->p_filesz, ph->p_flags & PF_X };
}

static void find_segments(struct elffile *f)
{
    size_t n, i;
    GElf_Phdr ph;

    if (elf_getphdrnum(f->elf, &n))
        return;
    n = n < SEGMENTS_MAX ? n : SEGMENTS_MAX;
    f->segments = mem_array(n, sizeof *f->segments);
    for (i = 0; i < n && gelf_getphdr(f->elf, (int)i, &ph); i++)
        add_segment(f, &ph);
}

static void read_build_id(struct elffile *f, Elf_Data *data)
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

/* Read the build-id from the segments: a stripped file may lack section names, or sections. */
static void read_build_id_of_segments(struct elffile *f)
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

/* .gnu_debuglink: a name, padded to 4 bytes, then the CRC of the debug file. */
static void read_link(struct elffile *f, const Elf_Data *data)
{
    const char *bytes = data->d_buf;
    size_t n = bytes ? strnlen(bytes, data->d_size) : 0;
    size_t crc_at = (n + 4) & ~(size_t)3;

    if (!n || n >= sizeof f->link || crc_at + 4 > data->d_size || memchr(bytes, '/', n))
        return;
    memcpy(f->link, bytes, n + 1);
    memcpy(&f->link_crc, bytes + crc_at, 4);
    if (f->swapped)
        f->link_crc = __builtin_bswap32(f->link_crc);
}

static void look_at_section(struct elffile *f, Elf_Scn *section, const char *name, const GElf_Shdr *header)
{
    Elf_Data *data;

    f->go |= name && (!strcmp(name, ".go.buildinfo") || !strcmp(name, ".note.go.buildid"));
    if (header->sh_type == SHT_SYMTAB && !f->symtab)
        f->symtab = elf_ndxscn(section);
    else if (header->sh_type == SHT_DYNSYM && !f->dynsym)
        f->dynsym = elf_ndxscn(section);
    else if (header->sh_type == SHT_NOTE && !f->build_id_size && (data = elf_getdata(section, NULL)))
        read_build_id(f, data);
    else if (header->sh_type == SHT_PROGBITS && name && !strcmp(name, ".gnu_debuglink") &&
             (data = elf_rawdata(section, NULL)))
        read_link(f, data);
}

/* Visit the sections until `visit` returns true. */
static Elf_Scn *each_section(Elf *elf, bool (*visit)(void *, Elf_Scn *, const char *, const GElf_Shdr *),
                             void *ctx)
{
    size_t names, seen = 0;
    Elf_Scn *section = NULL;
    GElf_Shdr header;

    if (elf_getshdrstrndx(elf, &names))
        names = 0;
    while ((section = elf_nextscn(elf, section)) && seen++ < SECTIONS_MAX)
        if (gelf_getshdr(section, &header) &&
            visit(ctx, section, names ? elf_strptr(elf, names, header.sh_name) : NULL, &header))
            return section;
    return NULL;
}

static bool note_section(void *ctx, Elf_Scn *section, const char *name, const GElf_Shdr *header)
{
    look_at_section(ctx, section, name, header);
    return false;
}

static bool look_at_all(struct elffile *f, struct error *e)
{
    const char *ident = f->elf && elf_kind(f->elf) == ELF_K_ELF ? elf_getident(f->elf, NULL) : NULL;
    GElf_Ehdr header;

    if (!ident || !gelf_getehdr(f->elf, &header)) {
        elf_end(f->elf);
        return error_set(e, ERROR_FORMAT, "not an ELF file");
    }
    f->wide = ident[EI_CLASS] == ELFCLASS64;
    f->swapped = ident[EI_DATA] != (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
    f->machine = header.e_machine;
    f->entry = header.e_entry;
    f->moves = header.e_type == ET_DYN;
    f->unpacked = mem_zalloc(sizeof *f->unpacked);
    find_segments(f);
    f->go = !elf_nextscn(f->elf, NULL);
    each_section(f->elf, note_section, f);
    if (!f->build_id_size)
        read_build_id_of_segments(f);
    return true;
}

bool elffile_open(struct elffile *f, int fd, struct error *e)
{
    *f = (struct elffile){ .fd = fd };
    elf_version(EV_CURRENT);
    f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    return look_at_all(f, e);
}

bool elffile_open_memory(struct elffile *f, const void *bytes, size_t n, struct error *e)
{
    *f = (struct elffile){ .fd = -1 };
    elf_version(EV_CURRENT);
    f->elf = elf_memory((char *)(uintptr_t)bytes, n);
    return look_at_all(f, e);
}

void elffile_close(struct elffile *f)
{
    struct elf_unpacked *u = f->unpacked, *next;

    mem_free(f->segments);
    elf_end(f->elf);
    for (; u; u = next) {
        next = u->next;
        mem_free(u);
    }
}

static bool is_named(void *ctx, Elf_Scn *section, const char *name, const GElf_Shdr *header)
{
    (void)section;
    (void)header;
    return name && !strcmp(name, ctx);
}

/* Linkers that compress in parallel write several frames. */
static bool unpack_all(const Elf_Data *packed, size_t skip, uint8_t *bytes, size_t n, struct error *e)
{
    struct unpacker *u = unpacker_new(UNPACK_ZSTD, e);
    const uint8_t *src = (const uint8_t *)packed->d_buf + skip;
    size_t left = packed->d_size - skip, at = 0, got;
    enum unpack_state state = u ? UNPACK_ENDED : UNPACK_BROKEN;

    for (; state == UNPACK_ENDED && left && at < n; at += got)
        state = unpacker_run(u, &src, &left, bytes + at, n - at, &got);
    unpacker_free(u);
    return state == UNPACK_ENDED && at == n;
}

/* Replace the section's data by decompressed bytes, as elf_compress() does, for libdw as well. */
static bool unpack_section(const struct elffile *f, Elf_Scn *section, size_t n, struct error *e)
{
    size_t skip = gelf_fsize(f->elf, ELF_T_CHDR, 1, EV_CURRENT);
    Elf_Data *data = elf_getdata(section, NULL), *raw = elf_rawdata(section, NULL);
    struct elf_unpacked *u;
    GElf_Shdr header;

    if (!data || !raw || !raw->d_buf || raw->d_size <= skip || !gelf_getshdr(section, &header) ||
        !(u = mem_try_array(sizeof *u + n, 1)))
        return false;
    u->next = f->unpacked->next;
    f->unpacked->next = u;
    if (!unpack_all(raw, skip, u->bytes, n, e))
        return false;
    header.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
    header.sh_size = raw->d_size = data->d_size = n;
    raw->d_buf = data->d_buf = u->bytes;
    raw->d_type = data->d_type = ELF_T_BYTE;
    return gelf_update_shdr(section, &header);
}

/* Decompress a section, unless its size exceeds DECOMPRESSED_MAX. libelf supports zstd since 0.189, if built
 * with it. */
static bool decompress(const struct elffile *f, Elf_Scn *section, const char *name, struct error *e)
{
    struct error why = { 0 };
    GElf_Chdr header;

    if (!gelf_getchdr(section, &header) || header.ch_size > DECOMPRESSED_MAX)
        return error_set(e, ERROR_FORMAT, "its compressed %s is damaged or too large", name);
    if (elf_compress(section, 0, 0) >= 0 ||
        (header.ch_type == COMPRESSED_ZSTD && unpack_section(f, section, header.ch_size, &why)))
        return true;
    return why.class == ERROR_UNSUPPORTED
               ? error_set(e, why.class, "its %s is compressed with zstd, and this build is without libzstd",
                           name)
               : error_set(e, ERROR_FORMAT, "its %s cannot be decompressed", name);
}

bool elffile_section(const struct elffile *f, const char *name, struct elf_bytes *out, struct error *e)
{
    Elf_Scn *section = each_section(f->elf, is_named, (void *)(uintptr_t)name);
    GElf_Shdr header;
    Elf_Data *data;

    *out = (struct elf_bytes){ 0 };
    if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
        return false;
    if (header.sh_flags & SHF_COMPRESSED && !decompress(f, section, name, e))
        return false;
    data = elf_rawdata(section, NULL);
    if (header.sh_flags & SHF_COMPRESSED)
        data = elf_getdata(section, NULL);
    if (!data || !data->d_buf || !data->d_size)
        return false;
    *out = (struct elf_bytes){ data->d_buf, data->d_size, header.sh_addr };
    return true;
}

bool elffile_loaded(const struct elffile *f, uint64_t addr, struct elf_bytes *out)
{
    Elf_Data *data;
    unsigned i;

    for (i = 0; i < f->n_segments; i++) {
        const struct elf_segment *s = &f->segments[i];
        uint64_t into = addr - s->addr;
        if (into >= s->size)
            continue;
        data = elf_getdata_rawchunk(f->elf, (int64_t)(s->offset + into), s->size - into, ELF_T_BYTE);
        *out = data ? (struct elf_bytes){ data->d_buf, data->d_size, addr } : (struct elf_bytes){ 0 };
        return out->p != NULL;
    }
    return false;
}

bool elffile_offset(const struct elffile *f, uint64_t addr, uint64_t *offset, uint64_t *limit)
{
    unsigned i;

    for (i = 0; i < f->n_segments; i++) {
        const struct elf_segment *s = &f->segments[i];
        uint64_t into = addr - s->addr;
        if (s->executable && into < s->size) {
            *offset = s->offset + into;
            *limit = s->offset + s->size;
            return true;
        }
    }
    return false;
}

static bool is_versions_of(void *ctx, Elf_Scn *section, const char *name, const GElf_Shdr *header)
{
    (void)section;
    (void)name;
    return header->sh_type == SHT_GNU_versym && header->sh_link == *(const size_t *)ctx;
}

bool elffile_symbols(const struct elffile *f, size_t section, struct elf_symbols *out)
{
    size_t entry = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
    Elf_Scn *scn = section ? elf_getscn(f->elf, section) : NULL, *string_scn, *version_scn;
    Elf_Data *data, *strings;
    GElf_Shdr header;

    if (!scn || !entry || !gelf_getshdr(scn, &header) || !(data = elf_getdata(scn, NULL)) || !data->d_buf ||
        !(string_scn = elf_getscn(f->elf, header.sh_link)) || !(strings = elf_getdata(string_scn, NULL)) ||
        !strings->d_buf)
        return false;
    *out = (struct elf_symbols){
        .data = data, .strings = strings->d_buf, .strings_n = strings->d_size, .n = data->d_size / entry
    };
    out->n = out->n < SYMBOLS_MAX ? out->n : SYMBOLS_MAX;
    version_scn = each_section(f->elf, is_versions_of, &section);
    out->versions = version_scn ? elf_getdata(version_scn, NULL) : NULL;
    return true;
}

bool elffile_symbol(const struct elf_symbols *symbols, size_t i, struct elf_symbol *out)
{
    GElf_Sym sym;
    GElf_Versym version;
    size_t left;

    if (i >= symbols->n || !gelf_getsym(symbols->data, (int)i, &sym))
        return false;
    left = sym.st_name && sym.st_name < symbols->strings_n ? symbols->strings_n - sym.st_name : 0;
    out->name = symbols->strings + (left ? sym.st_name : 0);
    out->name_n = strnlen(out->name, left < TABLE_NAME_MAX ? left : TABLE_NAME_MAX);
    out->value = sym.st_value;
    out->size = sym.st_size;
    out->type = GELF_ST_TYPE(sym.st_info);
    out->bind = GELF_ST_BIND(sym.st_info);
    out->visibility = GELF_ST_VISIBILITY(sym.st_other);
    out->superseded =
        symbols->versions && gelf_getversym(symbols->versions, (int)i, &version) && version & VERSION_HIDDEN;
    out->defined = sym.st_shndx != SHN_UNDEF && sym.st_shndx != SHN_ABS;
    return true;
}
