// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of jitdumps: any file gives an error or a table whose entries lie apart and in order. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct table *t)
{
    struct table_entry entry, found;
    uint64_t end = 0;

    for (uint32_t i = 0; table_entry_at(t, i, &entry); i++) {
        if (!entry.size || entry.start < end || !entry.name[0])
            abort();
        if (!table_find(t, entry.start, &found) || found.index != i)
            abort();
        end = entry.start + entry.size;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 };
    struct table t;
    void *blob;
    size_t n;
    int fd = memfd_create("jit", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (jitdump_read(fd, &b, NULL)) {
        if (!jitdump_is_one(fd) || !table_build(&b, TABLE_REPLACED, &blob, &n, NULL) || !table_view(&t, blob, n, NULL))
            abort();
        check(&t);
        mem_free(blob);
    }
    table_builder_done(&b);
    close(fd);
    return 0;
}
