// SPDX-License-Identifier: GPL-2.0-or-later
/* The reader of jitdumps: any file gives an error or a table whose entries lie apart and in order. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/jitdump.h"
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 };
    int fd = memfd_create("jit", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (jitdump_read(fd, &b, NULL)) {
        if (!jitdump_is_one(fd))
            abort();
        table_check(&b);
    }
    table_builder_done(&b);
    close(fd);
    return 0;
}
