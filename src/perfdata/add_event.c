// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds an event with its ids, from an entry of the header or from a record. */
#include <string.h>

#include "perfdata/perfdata_file.h"

void header_add_event(struct perfdata *p, const uint8_t *entry, size_t entry_n)
{
    struct cursor size = cursor_of(entry, entry_n, p->swap);
    cursor_skip(&size, 4);
    uint32_t own = cursor_u32(&size);
    if (own >= PERF_ATTR_SIZE_VER0 && own < entry_n)
        entry_n = own;
    struct perfdata_event *ev = VEC_PUSH(&p->events);
    memset(ev, 0, sizeof *ev);
    ev->leader = (uint32_t)p->events.n - 1;
    struct cursor c = cursor_of(entry, entry_n, p->swap);
    attr_read(&c, &ev->attr);
    uint8_t *bytes = arena_alloc(&p->strings, entry_n);
    memcpy(bytes, entry, entry_n);
    ev->bytes = bytes;
    ev->n_bytes = (uint32_t)entry_n;
}

void header_add_ids(struct perfdata *p, uint32_t event, struct cursor ids)
{
    struct perfdata_event *ev = &p->events.items[event];
    uint64_t n = cursor_left(&ids) / sizeof(uint64_t);
    if (!n || ev->ids || n > p->in.size_bytes / sizeof(uint64_t) - p->n_ids)
        return; /* overlapping sections of several events must not multiply the memory */
    uint64_t *list = arena_alloc(&p->strings, (size_t)n * sizeof *list);
    for (uint64_t i = 0; i < n; i++) {
        list[i] = cursor_u64(&ids);
        map_put(&p->event_of, list[i], event);
        p->recent_ids[list[i] % 16].id = 0;
    }
    p->n_ids += n;
    ev->ids = list;
    ev->n_ids = (uint32_t)n;
}
