// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/operation_data.h"

#include <string.h>

bool operation_data_read(const void *bytes, uint32_t n, struct operation_data *out,
                         char name[OPERATION_NAME_MAX])
{
    *name = '\0';
    if (!bytes || n < sizeof *out)
        return false;
    memcpy(out, bytes, sizeof *out);
    if (out->magic != OPERATION_MAGIC || out->name_size >= OPERATION_NAME_MAX ||
        out->name_size > n - sizeof *out)
        return false;
    memcpy(name, (const char *)bytes + sizeof *out, out->name_size);
    name[out->name_size] = '\0';
    return true;
}
