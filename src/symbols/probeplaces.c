// SPDX-License-Identifier: GPL-2.0-or-later
/* Collect the locations that a request of WORKER_PROBE finds. */
#include <string.h>

#include "base/text.h"
#include "symbols/probefile.h"

void probefile_add(struct probefile *p, uint64_t offset, uint64_t semaphore, const char *name, size_t name_n,
                   const char *details)
{
    const struct probefile_place *known = (const void *)buf_str(&p->places);
    struct probefile_place place = { .offset = offset, .semaphore = semaphore };

    for (uint32_t i = 0; i < p->n_places; i++)
        if (known[i].offset == offset)
            return;
    if (p->n_places == PROBEFILE_PLACES_MAX)
        return;
    text_clean(place.name, sizeof place.name, name, name_n);
    text_clean(place.details, sizeof place.details, details, strlen(details));
    buf_add(&p->places, &place, sizeof place);
    p->n_places++;
}
