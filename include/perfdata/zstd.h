// SPDX-License-Identifier: GPL-2.0-or-later
/* Streaming decompression and compression with zstd (the only door to it). */
#ifndef FLAMETOP_PERFDATA_ZSTD_H
#define FLAMETOP_PERFDATA_ZSTD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decompressor;
/* NULL: this build has no zstd, or there is no memory. */
struct decompressor *decompressor_new(void);
void decompressor_free(struct decompressor *d);
/* Decompresses from *src on: at most cap bytes into dst, *got of them. Moves *src and *n on. *done: nothing
 * is left to come out of what was given. False: the stream is broken. */
bool decompressor_run(struct decompressor *d, const uint8_t **src, size_t *n, uint8_t *dst, size_t cap,
                      size_t *got, bool *done);

#endif
