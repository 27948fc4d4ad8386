// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the ELF readers and their use of libelf: any file gives an error or valid tables of symbols and of
 * unwind rows. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/elf.h"
#include "process/elfid.h"
#include "../unit/unwind_row.h"

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

static void check_unwind(int fd, int debug_fd)
{
    char link[ELF_LINK_MAX];
    struct unwind_rows rows;
    const struct unwind_entry *entry;
    uint64_t at, start, length;
    void *blob;
    size_t n;

    if (!elf_read_unwind(fd, debug_fd, &blob, &n, link, NULL))
        return;
    if (!unwind_rows_view(&rows, blob, n, NULL))
        abort();
    for (at = 0; at < 0x3000; at += 7) {
        if ((entry = unwind_rows_entry(&rows, at)) && !unwind_entry_is_valid(&rows, entry))
            abort();
        if (unwind_rows_function(&rows, at, &start, &length) && (at < start || at - start >= length))
            abort();
    }
    mem_free(blob);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 }, with_debug = { 0 }, kernel = { 0 };
    uint8_t id[20];
    int fd = memfd_create("elf", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (elf_read(fd, &b, NULL))
        check(&b);
    if (elf_read_with_debug(fd, fd, &with_debug, NULL))
        check(&with_debug);
    if (elf_read_kernel(fd, &kernel, NULL))
        check(&kernel);
    check_unwind(fd, -1);
    check_unwind(fd, fd);
    if (elfid_read(fd, id) > sizeof id)
        abort();
    table_builder_done(&kernel);
    table_builder_done(&b);
    table_builder_done(&with_debug);
    close(fd);
    return 0;
}
