// SPDX-License-Identifier: GPL-2.0-or-later
/* Read markers (USDT probes) of an ELF file. Format: sys/sdt.h of SystemTap, a note per marker: three
 * addresses (code, base, semaphore), then three strings (provider, name, arguments). */
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/cursor.h"
#include "symbols/probefile.h"

#define NOTES       ".note.stapsdt"
#define BASE        ".stapsdt.base"
#define OWNER       "stapsdt"
#define NOTE_TYPE   3
#define MARKERS_MAX 65536

static size_t padded(uint32_t n)
{
    return ((size_t)n + 3) & ~(size_t)3;
}

/* The next string of the note. NULL: it does not end. */
static const char *string_of(struct cursor *c)
{
    const char *text = (const char *)c->p;
    const char *end = cursor_left(c) ? memchr(text, '\0', cursor_left(c)) : NULL;

    if (end)
        cursor_skip(c, (size_t)(end + 1 - text));
    return end ? text : NULL;
}

static uint64_t address_of(struct cursor *c, bool wide)
{
    return wide ? cursor_u64(c) : cursor_u32(c);
}

/* Offset in the file of loaded data, for the semaphore; 0: it is not in the file. */
static uint64_t data_offset(const struct elffile *f, uint64_t address)
{
    for (unsigned i = 0; i < f->n_segments; i++)
        if (address - f->segments[i].addr < f->segments[i].size)
            return f->segments[i].offset + (address - f->segments[i].addr);
    return 0;
}

static bool add_marker(struct probefile *p, struct cursor desc, uint64_t base)
{
    uint64_t code = address_of(&desc, p->file.wide), at_build = address_of(&desc, p->file.wide);
    uint64_t semaphore = address_of(&desc, p->file.wide), offset, limit;
    const char *provider = string_of(&desc), *name = provider ? string_of(&desc) : NULL;
    const char *arguments = name ? string_of(&desc) : NULL;
    char whole[PROBEFILE_NAME_MAX];

    if (desc.bad || !name || !*provider || !*name)
        return false;
    /* prelink moves the file: the base section tells by how much */
    uint64_t moved = base && at_build ? base - at_build : 0;
    if (!elffile_offset(&p->file, code + moved, &offset, &limit))
        return false;
    int n = snprintf(whole, sizeof whole, "%s:%s", provider, name);
    if (n < 0 || (size_t)n >= sizeof whole)
        return false;
    if (!fnmatch(p->ask->name, whole, 0))
        probefile_add(p, offset, semaphore ? data_offset(&p->file, semaphore + moved) : 0, whole, (size_t)n,
                      arguments ? arguments : "");
    return true;
}

uint32_t probefile_add_markers(struct probefile *p)
{
    struct elf_bytes notes, base = { 0 };
    uint32_t found = 0;

    if (!elffile_section(&p->file, NOTES, &notes, NULL))
        return 0;
    (void)elffile_section(&p->file, BASE, &base, NULL);
    struct cursor c = cursor_of(notes.p, notes.n, p->file.swapped);
    while (!c.bad && cursor_left(&c) && found < MARKERS_MAX) {
        uint32_t name_n = cursor_u32(&c), desc_n = cursor_u32(&c), type = cursor_u32(&c);
        const char *owner = cursor_bytes(&c, padded(name_n));
        const void *desc = cursor_bytes(&c, padded(desc_n));
        if (owner && desc && type == NOTE_TYPE && name_n == sizeof OWNER &&
            !memcmp(owner, OWNER, sizeof OWNER))
            found += add_marker(p, cursor_of(desc, desc_n, p->file.swapped), base.addr);
    }
    return found;
}
