// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbol tables made by the worker, shared by modules of one build-id. */
#include <string.h>

#include "symbols/blob.h"
#include "symbols/symbolizer_state.h"

struct symbol_table *tables_new(const void *blob, size_t size, struct error *e)
{
    struct symbol_table *t = mem_zalloc(sizeof *t);

    t->blob = blob;
    t->size = size;
    t->users = 1;
    if (blob && table_view(&t->view, blob, size, e))
        return t;
    if (blob)
        blob_free(blob, size);
    else
        error_set(e, ERROR_FORMAT, "the symbol worker sent no table");
    mem_free(t);
    return NULL;
}

static uint64_t key_of(const uint8_t *id, unsigned size)
{
    return map_hash_bytes(id, size, size);
}

static bool has_id(const struct symbol_table *t, const uint8_t *id, unsigned size)
{
    const struct table_header *h = t->view.header;

    return size && h->build_id_size == size && !memcmp(h->build_id, id, size);
}

void tables_discard(struct symbol_table *t)
{
    blob_free(t->blob, t->size);
    map_done(&t->names);
    mem_free(t);
}

void tables_drop(struct symbolizer *sy, struct symbol_table *t)
{
    uint64_t key, found;

    if (!t || --t->users)
        return;
    key = key_of(t->view.header->build_id, t->view.header->build_id_size);
    if (map_get(&sy->tables, key, &found) && found == (uintptr_t)t)
        map_del(&sy->tables, key);
    tables_discard(t);
}

struct symbol_table *tables_find(struct symbolizer *sy, const uint8_t *id, unsigned size, unsigned owner)
{
    uint64_t found;
    struct symbol_table *t;

    if (!size || !map_get(&sy->tables, key_of(id, size), &found))
        return NULL;
    t = (struct symbol_table *)(uintptr_t)found;
    if (!has_id(t, id, size) || (t->owner != OWNER_TRUSTED && t->owner != owner))
        return NULL;
    t->users++;
    return t;
}

struct symbol_table *tables_share(struct symbolizer *sy, struct symbol_table *t, unsigned owner)
{
    const struct table_header *h = t->view.header;
    struct symbol_table *other = tables_find(sy, h->build_id, h->build_id_size, owner);

    /* The few names of a stripped file are not shared with the unstripped file of the same build. */
    if (other && (other->view.header->flags & TABLE_FULL || !(h->flags & TABLE_FULL))) {
        tables_drop(sy, t);
        return other;
    }
    tables_drop(sy, other);
    t->owner = owner;
    if (h->build_id_size)
        map_put(&sy->tables, key_of(h->build_id, h->build_id_size), (uintptr_t)t);
    return t;
}
