// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes bundles, compressed or not: each is opened, or refused with a message. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "session/bundle.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = { 0 };
    int fd = memfd_create("bundle", MFD_CLOEXEC);
    if (fd < 0 || !file_write_all(fd, data, size, NULL))
        abort();
    struct bundle *b = bundle_open(fd, "fuzz", &e);
    if (!b && !e.text[0])
        abort();
    for (size_t i = 0; b && i < b->files.n; i++)
        for (const char *c = b->files.items[i].name; *c; c++)
            if ((unsigned char)*c < ' ')
                abort();
    bundle_free(b);
    close(fd);
    return 0;
}
