// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes untrusted source files: every line fits and is printable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"
#include "symbols/codecache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char line[64], clean[64];
    int fd = memfd_create("source", MFD_CLOEXEC);
    if (fd < 0 || !file_write_all(fd, data, size, NULL))
        abort();
    struct source *s = source_read(fd, NULL);
    for (uint32_t i = 0; s && i < size + 2; i++) {
        source_line(s, i, line, sizeof line);
        text_clean(clean, sizeof clean, line, strlen(line));
        if (strcmp(line, clean))
            abort();
    }
    source_put(s);
    close(fd);
    return 0;
}
