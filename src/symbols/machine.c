// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/machine.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "process/elfid.h"
#include "process/opener.h"

#define NOTES_MAX   65536
#define VDSO_MAX    (256 * 1024)
#define CMDLINE_MAX 65536
#define CONFIG_MAX  (4 << 20)

unsigned machine_kernel_build_id(uint8_t id[20])
{
    struct buf notes = { 0 };
    unsigned n = 0;

    if (file_read("/sys/kernel/notes", NOTES_MAX, &notes, NULL))
        n = elfid_in_notes(notes.data, notes.len, id);
    buf_done(&notes);
    return n;
}

/* Return the vdso's size. The kernel maps it whole; its section headers are its last part. */
static size_t vdso_size(const ElfW(Ehdr) * header)
{
    size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;

    return end < VDSO_MAX ? end : 0;
}

int machine_open_vdso_of(uint32_t pid, uint64_t start, uint64_t end)
{
    int fd;

    errno = EINVAL;
    if (end <= start || end - start > VDSO_MAX)
        return -1;
    fd = opener_memory(pid, start, end - start);
    if (fd < 0 || file_is_elf(fd))
        return fd;
    close(fd);
    errno = ENOEXEC;
    return -1;
}

int machine_open_vdso(void)
{
    const ElfW(Ehdr) *header = (const void *)getauxval(AT_SYSINFO_EHDR);
    size_t n = header && !memcmp(header->e_ident, ELFMAG, SELFMAG) ? vdso_size(header) : 0;

    return n ? file_in_memory("flametop-vdso", header, n) : -1;
}

/* Whether a text contains a separate word or line: "nokaslr" among others, but not in "nokaslrx". */
static bool has_word(const char *text, const char *word, const char *between)
{
    const char *p = text;
    size_t n = strlen(word);

    for (; (p = strstr(p, word)); p += n)
        if ((p == text || strchr(between, p[-1])) && (!p[n] || strchr(between, p[n])))
            return true;
    return false;
}

bool machine_kernel_stays(void)
{
    struct buf text = { 0 };
    struct utsname name;
    char path[128];
    bool stays;

    stays =
        file_read("/proc/cmdline", CMDLINE_MAX, &text, NULL) && has_word(buf_str(&text), "nokaslr", " \n");
    if (!stays && !uname(&name)) {
        snprintf(path, sizeof path, "/boot/config-%s", name.release);
        stays = file_read(path, CONFIG_MAX, &text, NULL) &&
                has_word(buf_str(&text), "# CONFIG_RANDOMIZE_BASE is not set", "\n");
    }
    buf_done(&text);
    return stays;
}

uint64_t machine_boot(void)
{
    struct buf id = { 0 };
    uint64_t number = 0;

    if (file_read("/proc/sys/kernel/random/boot_id", 64, &id, NULL) && id.len >= 36)
        number = map_hash_bytes(id.data, id.len, 0) | 1;
    buf_done(&id);
    return number;
}
