// SPDX-License-Identifier: GPL-2.0-or-later
/* A file read at any offset through a bounded number of mapped windows. */
#ifndef FLAMETOP_PERFDATA_INPUT_H
#define FLAMETOP_PERFDATA_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define INPUT_GET_MAX 65536 /* a record's size is 16 bits */

struct guard;
struct input_window;
struct input {
    int fd;
    uint64_t size_bytes; /* when it was opened; what is appended later is not seen */
    uint64_t left_bytes; /* of them, after it was cut */
    struct input_window *windows;
    const struct input_window *last; /* that was looked into */
    uint8_t *area;                   /* where they are mapped … */
    size_t area_bytes;
    bool held;      /* … or all of the file */
    uint64_t piece; /* held: of the last get, plus 1 */
    struct guard *guard;
    uint32_t tick;
    bool maps;   /* the file system can */
    bool shrank; /* bytes within size_bytes could not be read */
};

/* Takes fd, which input_close closes, in any case. Refuses what is no regular file. path: for messages. */
bool input_open(struct input *in, int fd, const char *path, struct error *e);
void input_close(struct input *in);
/* From now on all of it stays mapped, where that can be. What was got before is gone. */
void input_hold(struct input *in);
/* n (at most INPUT_GET_MAX) bytes at offset: borrowed until the next get; NULL when they are not all there. They are the
 * file's own: another program may change them at any time, so nothing holds of them that was seen before. Those that
 * are cut off meanwhile read as zeros. */
const void *input_get(struct input *in, uint64_t offset, size_t n);
/* n bytes at offset will be asked for soon: of a held file they are on their way to the cache from now on. */
static inline void input_await(const struct input *in, uint64_t offset, size_t n)
{
    if (in->held && offset <= in->left_bytes && n <= in->left_bytes - offset)
        for (size_t at = 0; at < n; at += 64)
            __builtin_prefetch(in->area + offset + at);
}
/* Copies n bytes of any number past the windows. */
bool input_copy(struct input *in, uint64_t offset, void *dst, size_t n);
bool input_shrank(
    struct input *in); /* or may have, meanwhile: part of what was got was not what the file held */

#endif
