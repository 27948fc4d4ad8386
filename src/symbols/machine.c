// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/machine.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/file.h"

#define NOTES_MAX 65536
#define VDSO_MAX  (256 * 1024)

static size_t padded(uint32_t n)
{
    return ((size_t)n + 3) & ~(size_t)3;
}

unsigned machine_find_build_id(const void *notes, size_t n, uint8_t id[20])
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

unsigned machine_kernel_build_id(uint8_t id[20])
{
    struct buf notes = { 0 };
    unsigned n = 0;

    if (file_read("/sys/kernel/notes", NOTES_MAX, &notes, NULL))
        n = machine_find_build_id(notes.data, notes.len, id);
    buf_done(&notes);
    return n;
}

/* The kernel maps it whole; its section headers are the last thing in it. */
static size_t vdso_size(const ElfW(Ehdr) * header)
{
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;

    return end < VDSO_MAX ? end : 0;
}

int machine_open_vdso(void)
{
    const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
    size_t n = header && !memcmp(header->e_ident, ELFMAG, SELFMAG) ? vdso_size(header) : 0;
    int fd = n ? memfd_create("flametop-vdso", MFD_CLOEXEC) : -1;

    if (fd >= 0 && !file_write_all(fd, header, n, NULL)) {
        close(fd);
        return -1;
    }
    return fd;
}
