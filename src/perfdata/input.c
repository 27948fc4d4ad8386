// SPDX-License-Identifier: GPL-2.0-or-later
/* pread(2) into blocks, and no mmap: a file that another program cuts while we read would end a mapping in
 * SIGBUS, and a mapped file counts as our memory for its whole length. The records of a merge come from as
 * many places at once as there were CPUs, each of them read forward, so some hundred blocks serve any file.
 */
#include "perfdata/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"

#define BLOCK_BYTES     65536
#define BLOCK_BYTES_GAP 1024
#define WAYS            4
#define SETS            128 /* 32 MiB in all */

struct input_block {
    uint64_t number; /* of the block, plus 1; 0: empty */
    uint32_t used;   /* tick of the last use */
    uint32_t n;      /* bytes that are there */
    uint8_t *bytes;
};

static bool refuse_kind(mode_t mode, const char *path, struct error *e)
{
    const char *kind = S_ISDIR(mode)    ? "a folder"
                       : S_ISFIFO(mode) ? "a pipe"
                       : S_ISSOCK(mode) ? "a socket"
                                        : "a device";
    error_set(e, ERROR_ARGUMENT, "%s is %s, no perf.data file", path, kind);
    return S_ISFIFO(mode) ? error_hint(e, "write what comes through it into a file first") : false;
}

bool input_open(struct input *in, const char *path, struct error *e)
{
    struct stat st;
    *in = (struct input){ .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) };
    if (in->fd < 0)
        return error_sys(e, errno, "cannot open %s", path);
    if (fstat(in->fd, &st))
        return error_sys(e, errno, "cannot look at %s", path);
    if (!S_ISREG(st.st_mode))
        return refuse_kind(st.st_mode, path, e);
    if (!st.st_size)
        return error_set(e, ERROR_FORMAT, "%s is empty", path);
    in->size_bytes = (uint64_t)st.st_size;
    in->block_bytes = BLOCK_BYTES;
    in->blocks = mem_array((size_t)SETS * WAYS, sizeof *in->blocks);
    in->scratch = mem_alloc(INPUT_GET_MAX);
    return true;
}

void input_expect_gaps(struct input *in)
{
    in->block_bytes = BLOCK_BYTES_GAP;
    for (size_t i = 0; i < (size_t)SETS * WAYS; i++)
        in->blocks[i].number = 0;
}

void input_close(struct input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    for (size_t i = 0; in->blocks && i < (size_t)SETS * WAYS; i++)
        mem_free(in->blocks[i].bytes);
    mem_free(in->blocks);
    mem_free(in->scratch);
    *in = (struct input){ .fd = -1 };
}

static size_t read_at(struct input *in, uint64_t offset, uint8_t *dst, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = pread(in->fd, dst + got, n - got, (off_t)(offset + got));
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            break;
        got += (size_t)r;
    }
    if (got < n)
        in->shrank = true;
    return got;
}

static void load(struct input *in, struct input_block *b, uint64_t number)
{
    uint64_t offset = number * in->block_bytes, left = in->size_bytes - offset;
    if (!b->bytes)
        b->bytes = mem_alloc(in->block_bytes);
    b->number = number + 1;
    b->n = (uint32_t)read_at(in, offset, b->bytes, left < in->block_bytes ? (size_t)left : in->block_bytes);
}

static const struct input_block *block_of(struct input *in, uint64_t number)
{
    struct input_block *set = &in->blocks[map_mix(number) % SETS * WAYS], *oldest = set;
    in->tick++;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].number == number + 1) {
            set[i].used = in->tick;
            return &set[i];
        }
        if (in->tick - set[i].used > in->tick - oldest->used)
            oldest = &set[i];
    }
    load(in, oldest, number);
    oldest->used = in->tick;
    return oldest;
}

static bool inside(const struct input *in, uint64_t offset, size_t n)
{
    return offset <= in->size_bytes && n <= in->size_bytes - offset;
}

const void *input_get(struct input *in, uint64_t offset, size_t n)
{
    if (n > INPUT_GET_MAX || !n || !inside(in, offset, n))
        return NULL;
    if (n > in->block_bytes)
        return read_at(in, offset, in->scratch, n) == n ? in->scratch : NULL;
    for (size_t done = 0; done < n;) {
        const struct input_block *b = block_of(in, (offset + done) / in->block_bytes);
        size_t at = (offset + done) % in->block_bytes, part = n - done;
        if (part > in->block_bytes - at)
            part = in->block_bytes - at;
        if (at + part > b->n)
            return NULL;
        if (part == n)
            return b->bytes + at;
        memcpy(in->scratch + done, b->bytes + at, part);
        done += part;
    }
    return in->scratch;
}

bool input_copy(struct input *in, uint64_t offset, void *dst, size_t n)
{
    return inside(in, offset, n) && read_at(in, offset, dst, n) == n;
}
