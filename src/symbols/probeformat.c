// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/probeformat.h"

#include <string.h>

static bool ends(const char *text, size_t cap)
{
    return memchr(text, '\0', cap) != NULL;
}

bool probefile_view(struct probefile_view *v, const void *blob, size_t size, struct error *e)
{
    struct probefile_header *h = &v->header;
    bool ok = size >= sizeof *h;

    *v = (struct probefile_view){ 0 };
    if (ok)
        memcpy(h, blob, sizeof *h);
    ok = ok && h->magic == PROBEFILE_MAGIC && h->n_places <= PROBEFILE_PLACES_MAX &&
         size - sizeof *h == h->n_places * sizeof *v->places;
    if (ok)
        v->places = (const void *)((const char *)blob + sizeof *h);
    for (uint32_t i = 0; ok && i < h->n_places; i++)
        ok = ends(v->places[i].name, PROBEFILE_NAME_MAX) && ends(v->places[i].details, PROBEFILE_DETAILS_MAX);
    return ok || error_set(e, ERROR_FORMAT, "the symbol worker's locations of probes are malformed");
}
