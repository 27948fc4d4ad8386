// SPDX-License-Identifier: GPL-2.0-or-later
/* One open ELF file: the only interface to libelf. For the worker.
 * Everything returned is borrowed from the file and valid while it is open. Every size and offset in it has
 * been checked against the file. */
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
    bool wide, swapped;    /* 64-bit; byte order differs from this machine's */
    uint16_t machine;      /* EM_… */
    uint64_t entry;        /* address of the entry point, 0: none */
    bool moves;            /* ET_DYN: a library, or a position-independent program */
    size_t symtab, dynsym; /* sections, 0: none */
    /* From Go's linker; also true when unknown, for a file without section headers. */
    bool go;
    uint64_t dynamic;      /* virtual address of PT_DYNAMIC, 0: none */
    uint64_t eh_frame_hdr; /* virtual address of PT_GNU_EH_FRAME, 0: none */
    uint8_t build_id[TABLE_BUILD_ID_MAX];
    unsigned build_id_size;  /* 0: none */
    char link[ELF_LINK_MAX]; /* .gnu_debuglink, "": none */
    uint32_t link_crc;
    struct elf_unpacked *unpacked; /* decompressed sections; owned */
};

bool elffile_open(struct elffile *f, int fd, struct error *e); /* fd stays open and the caller's */
/* Open an ELF file in memory, which stays the caller's. */
bool elffile_open_memory(struct elffile *f, const void *bytes, size_t n, struct error *e);
void elffile_close(struct elffile *f);

/* Return the bytes of the first section with this name, decompressed. False: no such section, or no bytes in
 * this file, or they cannot be read: then e says why. */
bool elffile_section(const struct elffile *f, const char *name, struct elf_bytes *out, struct error *e);
/* Return the bytes loaded at a virtual address, up to the end of its segment. */
bool elffile_loaded(const struct elffile *f, uint64_t addr, struct elf_bytes *out);
/* Translate a virtual address in an executable segment to its file offset. *limit: file offset of the
 * segment's end. */
bool elffile_offset(const struct elffile *f, uint64_t addr, uint64_t *offset, uint64_t *limit);

struct elf_symbols {
    void *data, *versions; /* versions NULL: none */
    const char *strings;
    size_t strings_n, n;
};
struct elf_symbol {
    uint64_t value, size;
    const char *name;               /* name_n bytes, not terminated within them */
    size_t name_n;                  /* 0: no name */
    uint8_t type, bind, visibility; /* STT_…, STB_…, STV_… */
    bool defined;                   /* at an address of a section */
    /* A version for old programs only (the hidden bit of .gnu.version). */
    bool superseded;
};
/* section 0: none */
bool elffile_symbols(const struct elffile *f, size_t section, struct elf_symbols *out);
bool elffile_symbol(const struct elf_symbols *symbols, size_t i, struct elf_symbol *out);

#endif
