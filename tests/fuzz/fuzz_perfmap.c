// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the parser of perf-PID.map: any bytes give a table with sorted, disjoint entries, the same from
 * memory and from a file. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/perfmap.h"
#include "table_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct table_builder b = { 0 }, of_file = { 0 };
    char *text = mem_alloc(size);
    int fd = memfd_create("map", MFD_CLOEXEC);

    memcpy(text, data, size);
    perfmap_parse(text, size, &b);
    table_check(&b);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size || !perfmap_read(fd, &of_file, NULL))
        abort();
    table_check(&of_file);
    close(fd);
    table_builder_done(&b);
    table_builder_done(&of_file);
    mem_free(text);
    return 0;
}
