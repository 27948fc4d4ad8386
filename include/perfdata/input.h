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
    uint8_t *area; /* where they are mapped */
    struct guard *guard;
    uint32_t tick;
    bool maps;   /* the file system can */
    bool shrank; /* bytes within size_bytes could not be read */
};

/* Takes fd, which input_close closes, in any case. Refuses what is no regular file. path: for messages. */
bool input_open(struct input *in, int fd, const char *path, struct error *e);
void input_close(struct input *in);
/* n (at most INPUT_GET_MAX) bytes at offset: borrowed until the next get; NULL when they are not all there. They are the
 * file's own: another program may change them at any time, so nothing holds of them that was seen before. Those that
 * are cut off meanwhile read as zeros. */
const void *input_get(struct input *in, uint64_t offset, size_t n);
/* Copies n bytes of any number past the windows. */
bool input_copy(struct input *in, uint64_t offset, void *dst, size_t n);
bool input_shrank(struct input *in); /* or may have, meanwhile: part of what was got was not what the file held */

#endif
