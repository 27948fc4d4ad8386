// SPDX-License-Identifier: GPL-2.0-or-later
/* Read /proc/kcore: the running kernel's memory as an ELF core file made by the kernel (fs/proc/kcore.c).
 * It is read here and only the code goes to the worker: a parser of untrusted files must not get such a
 * descriptor. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "symbols/codecache.h"

#define HEADERS_MAX 512

/* Return the file offset of n bytes at this address; 0: not in the file. */
static uint64_t find(int fd, uint64_t addr, size_t n)
{
    Elf64_Ehdr head;
    Elf64_Phdr p;
    unsigned i;

    if (file_read_from(fd, &head, sizeof head, 0) < sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_phentsize != sizeof p)
        return 0;
    for (i = 0; i < head.e_phnum && i < HEADERS_MAX; i++) {
        if (file_read_from(fd, &p, sizeof p, head.e_phoff + i * sizeof p) < sizeof p)
            return 0;
        if (p.p_type == PT_LOAD && addr >= p.p_vaddr && addr - p.p_vaddr < p.p_memsz &&
            n <= p.p_memsz - (addr - p.p_vaddr))
            return p.p_offset + (addr - p.p_vaddr);
    }
    return 0;
}

bool kcore_read(const char *path, uint64_t addr, void *bytes, size_t n, struct error *e)
{
    int fd = open(path ? path : "/proc/kcore", O_RDONLY | O_CLOEXEC);
    uint64_t at;
    bool ok;

    if (fd < 0)
        return error_sys(e, errno, "cannot open /proc/kcore");
    at = find(fd, addr, n);
    ok = at && file_read_from(fd, bytes, n, at) == n;
    if (!ok)
        error_set(e, ERROR_MISSING, "/proc/kcore does not have the code at 0x%llx", (unsigned long long)addr);
    close(fd);
    return ok;
}
