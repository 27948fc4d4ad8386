// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/blob.h"

#include <stdatomic.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#define COPY_MAX     65536
#define MAPPINGS_MAX 16384
#define BYTES_MAX    ((size_t)2 << 30)

static atomic_size_t held_bytes, mappings, most_bytes = BYTES_MAX;

bool blob_is_mapped(size_t n)
{
    return n > COPY_MAX;
}

static void *count(void *p, size_t n)
{
    if (p == MAP_FAILED)
        return NULL;
    if (p) {
        atomic_fetch_add(&held_bytes, n);
        atomic_fetch_add(&mappings, blob_is_mapped(n));
    }
    return p;
}

void *blob_new(size_t n)
{
    if (blob_is_mapped(n))
        return count(mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), n);
    return count(mem_try_resize(NULL, n, 1), n);
}

const void *blob_read(int fd, uint64_t offset, size_t n)
{
    void *p;

    if (blob_is_mapped(n))
        return count(mmap(NULL, n, PROT_READ, MAP_SHARED, fd, (off_t)offset), n);
    p = n ? blob_new(n) : NULL;
    if (p && file_read_from(fd, p, n, offset) == n)
        return p;
    blob_free(p, n);
    return NULL;
}

void blob_free(const void *blob, size_t n)
{
    void *p = (void *)(uintptr_t)blob;

    if (!p)
        return;
    atomic_fetch_sub(&held_bytes, n);
    atomic_fetch_sub(&mappings, blob_is_mapped(n));
    if (blob_is_mapped(n))
        munmap(p, n);
    else
        mem_free(p);
}

void blob_limit(uint64_t bytes)
{
    atomic_store(&most_bytes, bytes < BYTES_MAX ? (size_t)bytes : BYTES_MAX);
}

bool blob_has_room(struct error *e)
{
    char text[32];
    size_t most = atomic_load(&most_bytes);

    if (atomic_load(&mappings) < MAPPINGS_MAX && atomic_load(&held_bytes) < most)
        return true;
    return error_set(e, ERROR_LIMIT, "not read: the tables of all modules already use %s, or are too many",
                     text_bytes(text, sizeof text, most));
}
