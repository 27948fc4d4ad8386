// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds a file to the contents of a bundle. */
#include <stdio.h>

#include "base/mem.h"
#include "export/bundle_file.h"

void bundle_add(struct bundle_plan *p, const char *name, const char *about, struct buf *bytes)
{
    if (!bytes->len)
        return;
    struct bundle_item *item = VEC_PUSH(p);
    *item = (struct bundle_item){ .about = about, .bytes = *bytes };
    snprintf(item->name, sizeof item->name, "%s", name);
    *bytes = (struct buf){ 0 };
}
