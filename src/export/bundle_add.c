// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds a file to the contents of a bundle. */
#include <stdio.h>

#include "base/mem.h"
#include "export/bundle_file.h"

void bundle_add(struct bundle_plan *p, const char *name, const char *about, struct buf *bytes)
{
    if (!bytes->len)
        return;
    MEM_GROW(p->items, p->cap, p->n + 1);
    struct bundle_item *item = &p->items[p->n++];
    *item = (struct bundle_item){ .about = about, .bytes = *bytes };
    snprintf(item->name, sizeof item->name, "%s", name);
    *bytes = (struct buf){ 0 };
}
