// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/elfid.h"

#include <elf.h>
#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"

#define SEGMENTS_MAX 64
#define NOTES_MAX    4096

static size_t padded(uint32_t n)
{
    return ((size_t)n + 3) & ~(size_t)3;
}

unsigned elfid_in_notes(const void *notes, size_t n, uint8_t id[20])
{
    struct cursor c = cursor_of(notes, n, false);

    while (!c.bad && cursor_left(&c)) {
        uint32_t name_n = cursor_u32(&c), desc_n = cursor_u32(&c), type = cursor_u32(&c);
        const char *name = cursor_bytes(&c, padded(name_n));
        const void *desc = cursor_bytes(&c, padded(desc_n));

        if (desc && name && type == NT_GNU_BUILD_ID && name_n == 4 && !memcmp(name, "GNU", 4) &&
            desc_n <= 20) {
            memcpy(id, desc, desc_n);
            return desc_n;
        }
    }
    return 0;
}

static bool read_at(int fd, void *dst, size_t n, uint64_t at)
{
    return at <= INT64_MAX && pread(fd, dst, n, (off_t)at) == (ssize_t)n;
}

static unsigned id_in_notes(int fd, uint64_t at, uint64_t size, uint8_t id[20])
{
    uint8_t notes[NOTES_MAX];
    size_t n = size < sizeof notes ? (size_t)size : sizeof notes;

    return read_at(fd, notes, n, at) ? elfid_in_notes(notes, n, id) : 0;
}

struct notes {
    uint64_t at, size;
};

/* Reads the offset and number of the program headers. */
static bool find_segments(int fd, bool wide, uint64_t *at, unsigned *n)
{
    Elf64_Ehdr h64;
    Elf32_Ehdr h32;

    if (wide ? !read_at(fd, &h64, sizeof h64, 0) : !read_at(fd, &h32, sizeof h32, 0))
        return false;
    *at = wide ? h64.e_phoff : h32.e_phoff;
    *n = wide ? h64.e_phnum : h32.e_phnum;
    return (wide ? h64.e_phentsize : h32.e_phentsize) == (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
}

static bool is_note_segment(int fd, bool wide, uint64_t at, struct notes *notes)
{
    Elf64_Phdr p64;
    Elf32_Phdr p32;

    if (wide ? !read_at(fd, &p64, sizeof p64, at) : !read_at(fd, &p32, sizeof p32, at))
        return false;
    *notes =
        wide ? (struct notes){ p64.p_offset, p64.p_filesz } : (struct notes){ p32.p_offset, p32.p_filesz };
    return (wide ? p64.p_type : p32.p_type) == PT_NOTE;
}

unsigned elfid_read(int fd, uint8_t id[20])
{
    const unsigned char order = __BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;
    unsigned char ident[EI_NIDENT];
    unsigned count, i, n = 0;
    struct notes notes;
    uint64_t at;
    bool wide;

    if (!read_at(fd, ident, sizeof ident, 0) || memcmp(ident, ELFMAG, SELFMAG) || ident[EI_DATA] != order)
        return 0;
    wide = ident[EI_CLASS] == ELFCLASS64;
    if (!find_segments(fd, wide, &at, &count))
        return 0;
    for (i = 0; i < count && i < SEGMENTS_MAX && !n; i++)
        if (is_note_segment(fd, wide, at + i * (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)), &notes))
            n = id_in_notes(fd, notes.at, notes.size, id);
    return n;
}
