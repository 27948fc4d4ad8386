// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes small 64-bit ELF files in memory descriptors, for tests: one executable segment, a build-id, a symbol
 * table or none, a debug link or none, and up to four sections of any kind. */
#ifndef FLAMETOP_TESTS_ELF_MAKER_H
#define FLAMETOP_TESTS_ELF_MAKER_H

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ELF_MAKER_VADDR  0x400000 /* of the segment, which begins at offset */
#define ELF_MAKER_OFFSET 0x1000   /* file offset */
#define ELF_MAKER_SIZE   0x1000
#define ELF_MAKER_EXTRAS 4

struct elf_maker_symbol {
    const char *name;
    uint64_t value, size;
    unsigned char info; /* ELF64_ST_INFO(); 0: a global function */
};
struct elf_maker_extra {
    const char *name;
    const void *bytes;
    size_t n; /* 0: no section */
    uint64_t addr, flags;
};
struct elf_maker {
    const struct elf_maker_symbol *symbols;
    unsigned n_symbols;
    int symtab_type;  /* SHT_SYMTAB, SHT_DYNSYM; 0: no table */
    unsigned char id; /* the build-id is 20 bytes of this value; 0: none */
    const char *link; /* NULL: none */
    uint32_t link_crc;
    struct elf_maker_extra extras[ELF_MAKER_EXTRAS]; /* SHT_PROGBITS */
    const uint16_t
        *versions;     /* versions of the symbols, entry 0 for the null symbol; replaces the last extra */
    uint16_t machine;  /* 0: x86-64 */
    bool note_segment; /* program headers also locate the build-id, as linkers write them */
};
struct elf_maker_file {
    Elf64_Ehdr header;
    Elf64_Phdr segment, note_segment;
    Elf64_Shdr sections[6 + ELF_MAKER_EXTRAS]; /* sections: null, names, note, link, symbols, strings */
    char names[192];
    struct {
        Elf64_Nhdr header;
        char name[4];
        unsigned char id[20];
    } note;
    char link[64];
    Elf64_Sym symbols[32];
    char strings[1024];
    char extras[8192];
};

static inline Elf64_Shdr elf_maker_section(unsigned name, unsigned type, size_t offset, size_t size)
{
    Elf64_Shdr s = {
        .sh_name = name, .sh_type = type, .sh_offset = offset, .sh_size = size, .sh_addralign = 4
    };

    return s;
}

static inline void elf_maker_fill_extras(struct elf_maker_file *f, const struct elf_maker *m)
{
    size_t i, name_at = 40, at = 0;

    for (i = 0; i < ELF_MAKER_EXTRAS; i++) {
        const struct elf_maker_extra *x = &m->extras[i];
        Elf64_Shdr *s = &f->sections[6 + i];
        if (!x->n || at + x->n > sizeof f->extras || name_at + strlen(x->name) >= sizeof f->names)
            continue;
        *s = elf_maker_section((unsigned)name_at, SHT_PROGBITS, offsetof(struct elf_maker_file, extras) + at,
                               x->n);
        s->sh_addr = x->addr;
        s->sh_flags = x->flags;
        strcpy(f->names + name_at, x->name);
        memcpy(f->extras + at, x->bytes, x->n);
        name_at += strlen(x->name) + 1;
        at = (at + x->n + 15) & ~(size_t)15;
    }
}

static inline void elf_maker_fill_versions(struct elf_maker_file *f, const struct elf_maker *m)
{
    size_t n = (m->n_symbols + 1) * sizeof *m->versions, at = sizeof f->extras - n;
    Elf64_Shdr *s = &f->sections[6 + ELF_MAKER_EXTRAS - 1];

    memcpy(f->extras + at, m->versions, n);
    *s = elf_maker_section(0, SHT_GNU_versym, offsetof(struct elf_maker_file, extras) + at, n);
    s->sh_link = 4;
    s->sh_entsize = s->sh_addralign = sizeof *m->versions;
}

static inline void elf_maker_fill(struct elf_maker_file *f, const struct elf_maker *m)
{
    size_t i, at = 1, n;

    memset(f, 0, sizeof *f);
    memcpy(f->header.e_ident, ELFMAG, SELFMAG);
    f->header.e_ident[EI_CLASS] = ELFCLASS64;
    f->header.e_ident[EI_DATA] = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
    f->header.e_ident[EI_VERSION] = EV_CURRENT;
    f->header.e_type = ET_DYN;
    f->header.e_machine = m->machine ? m->machine : EM_X86_64;
    f->header.e_version = EV_CURRENT;
    f->header.e_ehsize = sizeof f->header;
    f->header.e_phoff = offsetof(struct elf_maker_file, segment);
    f->header.e_phentsize = sizeof f->segment;
    f->header.e_phnum = 1;
    f->header.e_shoff = offsetof(struct elf_maker_file, sections);
    f->header.e_shentsize = sizeof *f->sections;
    f->header.e_shnum = 6 + ELF_MAKER_EXTRAS;
    f->header.e_shstrndx = 1;
    f->segment = (Elf64_Phdr){ .p_type = PT_LOAD,
                               .p_flags = PF_R | PF_X,
                               .p_vaddr = ELF_MAKER_VADDR,
                               .p_offset = ELF_MAKER_OFFSET,
                               .p_filesz = ELF_MAKER_SIZE,
                               .p_memsz = ELF_MAKER_SIZE };
    memcpy(f->names, "\0.note.gnu.build-id\0.gnu_debuglink", 35);
    f->sections[1] =
        elf_maker_section(0, SHT_STRTAB, offsetof(struct elf_maker_file, names), sizeof f->names);
    if (m->id) {
        f->note.header = (Elf64_Nhdr){ 4, 20, NT_GNU_BUILD_ID };
        memcpy(f->note.name, "GNU", 4);
        memset(f->note.id, m->id, sizeof f->note.id);
        f->sections[2] =
            elf_maker_section(1, SHT_NOTE, offsetof(struct elf_maker_file, note), sizeof f->note);
    }
    if (m->id && m->note_segment) {
        f->header.e_phnum = 2;
        f->note_segment = (Elf64_Phdr){ .p_type = PT_NOTE,
                                        .p_offset = offsetof(struct elf_maker_file, note),
                                        .p_filesz = sizeof f->note,
                                        .p_align = 4 };
    }
    if (m->link) {
        n = (strlen(m->link) + 4) & ~(size_t)3;
        memcpy(f->link, m->link, strlen(m->link));
        memcpy(f->link + n, &m->link_crc, 4);
        f->sections[3] = elf_maker_section(20, SHT_PROGBITS, offsetof(struct elf_maker_file, link), n + 4);
    }
    for (i = 0; i < m->n_symbols; i++) {
        const struct elf_maker_symbol *s = &m->symbols[i];
        f->symbols[i + 1] = (Elf64_Sym){ .st_name = (Elf64_Word)at,
                                         .st_info = s->info ? s->info : ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                                         .st_shndx = 5,
                                         .st_value = s->value,
                                         .st_size = s->size };
        strcpy(f->strings + at, s->name);
        at += strlen(s->name) + 1;
    }
    if (m->symtab_type) {
        f->sections[4] =
            elf_maker_section(0, (unsigned)m->symtab_type, offsetof(struct elf_maker_file, symbols),
                              (m->n_symbols + 1) * sizeof *f->symbols);
        f->sections[4].sh_entsize = sizeof *f->symbols;
        f->sections[4].sh_link = 5;
        f->sections[4].sh_addralign = 8;
        f->sections[5] = elf_maker_section(0, SHT_STRTAB, offsetof(struct elf_maker_file, strings), at);
    }
    elf_maker_fill_extras(f, m);
    if (m->versions)
        elf_maker_fill_versions(f, m);
}

/* Returns a memory file with these bytes. */
static inline int elf_maker_memfd(const void *bytes, size_t n)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);

    if (fd >= 0 && write(fd, bytes, n) != (ssize_t)n) {
        close(fd);
        return -1;
    }
    return fd;
}

static inline int elf_maker_open(const struct elf_maker *m)
{
    struct elf_maker_file f;

    elf_maker_fill(&f, m);
    return elf_maker_memfd(&f, sizeof f);
}

#endif
