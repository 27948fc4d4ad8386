// SPDX-License-Identifier: GPL-2.0-or-later
/* A file read at any offset through a bounded cache of blocks. */
#ifndef FLAMETOP_PERFDATA_INPUT_H
#define FLAMETOP_PERFDATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INPUT_GET_MAX 65536 /* a record's size is 16 bits */

struct input_block;
struct input {
    int fd;
    uint64_t size_bytes; /* when it was opened; what is appended later is not seen */
    size_t block_bytes;
    struct input_block *blocks;
    uint8_t *scratch;
    uint32_t tick;
    bool shrank; /* bytes within size_bytes could not be read */
};

/* Refuses what is no regular file; never blocks on a FIFO. */
bool input_open(struct input *in, const char *path, struct error *e);
void input_close(struct input *in);
/* From here on much of the file will be skipped, or got in large pieces: reads less ahead. */
void input_expect_gaps(struct input *in);
/* n (at most INPUT_GET_MAX) bytes at offset: borrowed until the next get; NULL when they are not all there.
 */
const void *input_get(struct input *in, uint64_t offset, size_t n);
/* Copies n bytes of any number past the cache. */
bool input_copy(struct input *in, uint64_t offset, void *dst, size_t n);

#endif
