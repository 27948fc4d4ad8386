// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes a file in the cache folder: the cache returns nothing but what was put. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "symbols/blob.h"
#include "symbols/cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void remove_folder(void)
{
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cache_key key = { CACHE_NAMES, 1, { 1, 2, 3 }, 3, 4 };
    static const char kept[] = "what was kept";
    static struct cache *cache;
    char path[128], note[CACHE_NOTE_MAX];
    const void *bytes;
    size_t n;
    if (!cache) {
        snprintf(folder, sizeof folder, "/tmp/fuzz_cache.%d", (int)getpid());
        cache = cache_open(folder, CACHE_BYTES_DEFAULT, NULL);
        if (!cache)
            abort();
        atexit(remove_folder);
    }
    cache_put(cache, &key, kept, sizeof kept, "note");
    if (!cache_get(cache, &key, &bytes, &n, note) || n != sizeof kept || memcmp(bytes, kept, n) ||
        strcmp(note, "note"))
        abort();
    blob_free(bytes, n);
    /* The input replaces the file's first bytes or, if its first byte is odd, the whole file. */
    snprintf(path, sizeof path, "%s/010203-0000000000000004.names", folder);
    int fd = open(path, O_WRONLY | O_CLOEXEC | (size && data[0] & 1 ? O_TRUNC : 0));
    if (fd < 0 || (size && !file_write_all(fd, data + 1, size - 1, NULL)))
        abort();
    close(fd);
    if (cache_get(cache, &key, &bytes, &n, note)) {
        if (!memchr(note, 0, sizeof note))
            abort();
        blob_free(bytes, n);
    }
    unlink(path);
    return 0;
}
