// SPDX-License-Identifier: GPL-2.0-or-later
/* What a sample of latency:ROW has besides its duration, in its payload and in the AUX data of a
 * perf.data. */
#ifndef FLAMETOP_PROFILE_OPERATION_DATA_H
#define FLAMETOP_PROFILE_OPERATION_DATA_H

#include <stdbool.h>
#include <stdint.h>

#define OPERATION_MAGIC    0x6f70 /* "po": least significant byte first */
#define OPERATION_NAME_MAX 256

struct operation_data {
    uint16_t magic;
    uint16_t name_size; /* of the name, which follows without a NUL; 0 in the history: frames have it */
    uint32_t count;     /* number of operations that it represents (operation_data_count); 0, 1: itself */
    uint64_t size;      /* bytes that it moved; 0: none, or the row has no sizes */
};
/* Reads the data of n bytes at any address. name: its leaf frame, "" if there is none. False: it is none. */
bool operation_data_read(const void *bytes, uint32_t n, struct operation_data *out,
                         char name[OPERATION_NAME_MAX]);
static inline uint32_t operation_data_count(const struct operation_data *data)
{
    return data->count ? data->count : 1;
}

#endif
