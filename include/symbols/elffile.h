// SPDX-License-Identifier: GPL-2.0-or-later
/* One ELF file, opened: the only door to libelf. For the worker. All that is handed out is borrowed from the
 * file and ends with it; every size and offset in it has been checked against the file. */
#ifndef FLAMETOP_SYMBOLS_ELFFILE_H
#define FLAMETOP_SYMBOLS_ELFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/table.h"

#define ELF_LINK_MAX 256

struct elf_segment { /* PT_LOAD */
    uint64_t addr, offset, size;
    bool executable;
};
struct elf_bytes {
    const uint8_t *p;
    size_t n;
    uint64_t addr; /* virtual address */
};
struct elffile {
    void *elf;
    int fd; /* -1: in memory */
    struct elf_segment *segments;
    unsigned n_segments;
    bool wide, swapped;    /* 64-bit; of the other byte order */
    uint16_t machine;      /* EM_… */
    uint64_t entry;        /* where it is started, 0: nowhere */
    bool moves;            /* ET_DYN: a library, or a program that may be anywhere */
    size_t symtab, dynsym; /* sections, 0: none */
    bool go;               /* of Go's linker; or it may be, as there are no sections that tell */
    uint64_t dynamic;      /* virtual address of PT_DYNAMIC, 0: none */
    uint64_t eh_frame_hdr; /* virtual address of PT_GNU_EH_FRAME, 0: none */
    uint8_t build_id[TABLE_BUILD_ID_MAX];
    unsigned build_id_size;  /* 0: none */
    char link[ELF_LINK_MAX]; /* .gnu_debuglink, "": none */
    uint32_t link_crc;
    struct elf_unpacked *unpacked; /* the file's own */
};

bool elffile_open(struct elffile *f, int fd, struct error *e); /* fd stays the caller's, and open */
/* An ELF file that lies in memory, which stays the caller's. */
bool elffile_open_memory(struct elffile *f, const void *bytes, size_t n, struct error *e);
void elffile_close(struct elffile *f);

/* The bytes of the first section of that name, decompressed. False: none, or it has none (of its own), or they
 * cannot be had: then e says why. */
bool elffile_section(const struct elffile *f, const char *name, struct elf_bytes *out, struct error *e);
/* The bytes that are loaded at a virtual address: as many as there are to the end of its segment. */
bool elffile_loaded(const struct elffile *f, uint64_t addr, struct elf_bytes *out);
/* A virtual address in an executable segment → offset in the file, and the offset where the segment ends. */
bool elffile_offset(const struct elffile *f, uint64_t addr, uint64_t *offset, uint64_t *limit);

struct elf_symbols {
    void *data, *versions; /* versions: NULL: none are told */
    const char *strings;
    size_t strings_n, n;
};
struct elf_symbol {
    uint64_t value, size;
    const char *name;               /* name_n bytes, not terminated within them */
    size_t name_n;                  /* 0: no name */
    uint8_t type, bind, visibility; /* STT_…, STB_…, STV_… */
    bool defined;                   /* at an address of a section */
    bool superseded; /* a version that is there for old programs only (the hidden bit of .gnu.version) */
};
bool elffile_symbols(const struct elffile *f, size_t section, struct elf_symbols *out); /* section 0: none */
bool elffile_symbol(const struct elf_symbols *symbols, size_t i, struct elf_symbol *out);

#endif
