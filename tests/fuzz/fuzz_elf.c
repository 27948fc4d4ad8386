// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of ELF files, what it makes of libelf's answers: any file gives an error or a sane table. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct table_builder *b)
{
    struct table t;
    void *blob;
    size_t n;

    if (!table_build(b, TABLE_NESTED, &blob, &n, NULL) || !table_view(&t, blob, n, NULL))
        abort();
    mem_free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 }, with_debug = { 0 };
    int fd = memfd_create("elf", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (elf_read(fd, &b, NULL))
        check(&b);
    if (elf_read_with_debug(fd, fd, &with_debug, NULL))
        check(&with_debug);
    table_builder_done(&b);
    table_builder_done(&with_debug);
    close(fd);
    return 0;
}
