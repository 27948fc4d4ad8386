// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/golines.h"

#include "symbols/patience.h"

struct search {
    const struct golines *g;
    struct gotable_function f;
    struct patience patience;
};

/* Find the value in a table of the function at an address. False: it has none there. */
static bool find_value(struct search *s, uint32_t table, uint64_t address, struct gotable_values *v)
{
    gotable_values_of(v, &s->g->table, &s->f, table);
    while (patience_lasts(&s->patience) && gotable_next_value(v))
        if (address < v->to)
            return true;
    return false;
}

static void find_line(struct search *s, uint64_t address, const char **file, uint32_t *line)
{
    struct gotable_values v;

    *file = NULL;
    *line = 0;
    if (find_value(s, s->f.pcfile, address, &v) && v.value >= 0)
        *file = gotable_file(&s->g->table, &s->f, (uint32_t)v.value);
    if (*file && find_value(s, s->f.pcln, address, &v) && v.value > 0)
        *line = (uint32_t)v.value;
}

/* Find the inlined call that covers the address, and the range [*low, *high) around it of the same call. */
static bool find_call(struct search *s, uint64_t address, struct gotable_call *call, uint64_t *low,
                      uint64_t *high)
{
    struct gotable_values v;

    *low = s->f.entry;
    *high = s->f.end;
    if (!s->g->calls || !s->f.pcinlined)
        return false;
    if (!find_value(s, s->f.pcinlined, address, &v)) {
        *low = v.to;
        return false;
    }
    *low = v.from;
    *high = v.to;
    return v.value >= 0 &&
           gotable_call(&s->g->table, &s->f, s->g->calls, s->g->calls_n, (uint32_t)v.value, call);
}

/* Add the inlined calls. Each call site is in the next outer call. A damaged table may loop: LINES_DEPTH_MAX
 * ends it. */
static void find_inlined(struct search *s, uint64_t address, bool only_inlined,
                         struct lines_location *location)
{
    uint64_t low, high;
    struct gotable_call call;
    bool inlined = find_call(s, address, &call, &location->low, &location->high);

    while (inlined && location->n < LINES_DEPTH_MAX) {
        struct lines_inlined *in = &location->inlined[location->n++];
        *in = (struct lines_inlined){ .name = call.name };
        address = s->f.entry + call.pc;
        if (!only_inlined)
            find_line(s, address, &in->file, &in->line);
        inlined = find_call(s, address, &call, &low, &high);
    }
    if (inlined)
        location->inlined[location->n - 1] = (struct lines_inlined){ .name = LINES_MORE };
}

enum lines_find_result golines_find(const struct golines *g, uint64_t address, bool only_inlined,
                                    uint64_t deadline_ns, struct lines_location *location)
{
    struct search s = { .g = g, .patience.deadline_ns = deadline_ns };

    lines_location_reset(location, address);
    if (!gotable_find(&g->table, address, &s.f))
        return LINES_FIND_DONE;
    location->unit_low = s.f.entry;
    location->unit_high = s.f.end;
    if (!only_inlined)
        find_line(&s, address, &location->file, &location->line);
    find_inlined(&s, address, only_inlined, location);
    return s.patience.over ? LINES_FIND_LATE : LINES_FIND_DONE;
}
