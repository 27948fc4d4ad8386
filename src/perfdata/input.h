// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a file at any offset through a bounded number of mapped windows. */
#ifndef FLAMETOP_PERFDATA_INPUT_H
#define FLAMETOP_PERFDATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INPUT_GET_MAX 65536 /* record sizes have 16 bits */

struct guard;
struct input_window;
struct input {
    int fd;
    uint64_t size_bytes; /* at the time of opening; later appended data is ignored */
    uint64_t left_bytes; /* size after a truncation */
    struct input_window *windows;
    const struct input_window *last; /* the last one used */
    uint8_t *area;                   /* memory area of the windows or, if held, of the whole file */
    size_t area_bytes;
    bool held;      /* the whole file is mapped */
    uint64_t piece; /* held: piece of the last input_get, plus 1 */
    struct guard *guard;
    uint32_t tick;
    bool maps;   /* the file system supports mmap */
    bool shrank; /* bytes within size_bytes could not be read */
};

/* Takes ownership of fd in any case; input_close closes it. Refuses everything but regular files. path: for
 * messages. */
bool input_open(struct input *in, int fd, const char *path, struct error *e);
void input_close(struct input *in);
/* Maps the whole file from now on, if possible. Invalidates earlier results of input_get. */
void input_hold(struct input *in);
/* Returns n (at most INPUT_GET_MAX) bytes at offset, borrowed until the next call; NULL if not all exist.
 * They are the file's own bytes, which another program may change at any time: check a copy, not these. Bytes
 * that are truncated meanwhile read as zeros. */
const void *input_get(struct input *in, uint64_t offset, size_t n);
/* Prefetches n bytes at offset into the CPU's cache, if the file is held. */
static inline void input_await(const struct input *in, uint64_t offset, size_t n)
{
    if (in->held && offset <= in->left_bytes && n <= in->left_bytes - offset)
        for (size_t at = 0; at < n; at += 64)
            __builtin_prefetch(in->area + offset + at);
}
/* Copies any number n of bytes without the windows. */
bool input_copy(struct input *in, uint64_t offset, void *dst, size_t n);
/* True if the file shrank or may have shrunk meanwhile: some bytes returned may not be the file's. */
bool input_shrank(struct input *in);

#endif
