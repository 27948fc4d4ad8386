// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the jitdump reader: any file gives an error or a table with sorted, disjoint entries. Also fuzzes
 * the check whether a path is a dump's name. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbols/jitdump.h"
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 };
    char path[64];
    uint32_t number;
    int fd = memfd_create("jit", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (jitdump_read(fd, &b, NULL)) {
        if (!jitdump_is_one(fd))
            abort();
        table_check(&b);
    }
    snprintf(path, sizeof path, "%.*s", (int)(size < sizeof path ? size : sizeof path - 1),
             (const char *)data);
    (void)jitdump_is_name(path, &number);
    table_builder_done(&b);
    close(fd);
    return 0;
}
