// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"

struct space *space_new(void)
{
    struct space *s = mem_zalloc(sizeof *s);

    s->refs = 1;
    s->next_seq = 1;
    return s;
}

static struct space_map *copy_held(const struct space_map *maps, uint32_t n)
{
    struct space_map *copy = n ? mem_array(n, sizeof *copy) : NULL;

    for (uint32_t i = 0; i < n; i++) {
        copy[i] = maps[i];
        modtab_hold(copy[i].mod);
    }
    return copy;
}

struct space *space_clone(const struct space *s)
{
    struct space *c = mem_alloc(sizeof *c);

    *c = *s;
    c->refs = 1;
    c->maps = copy_held(s->maps, s->n);
    c->cap = s->n;
    c->retired = copy_held(s->retired, s->n_retired);
    c->retired_cap = s->n_retired;
    return c;
}

static void drop_range(struct modtab *t, const struct space_map *maps, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        modtab_drop(t, maps[i].mod);
}

void space_put(struct space *s, struct modtab *t)
{
    if (--s->refs)
        return;
    drop_range(t, s->maps, s->n);
    drop_range(t, s->retired, s->n_retired);
    mem_free(s->maps);
    mem_free(s->retired);
    mem_free(s);
}

/* Returns the index of the first mapping that ends after addr. */
static uint32_t first_behind(const struct space *s, uint64_t addr)
{
    return SEARCH_FIRST(i, 0, s->n, s->maps[i].end > addr);
}

/* True if both map the same bytes of the module at the same addresses: they form one mapping. */
static bool continues(const struct space_map *a, const struct space_map *b)
{
    return a->mod == b->mod && a->start - a->pgoff == b->start - b->pgoff;
}

static struct space_map part_of(const struct space_map *m, uint64_t start, uint64_t end)
{
    struct space_map part = *m;

    part.start = start;
    part.end = end;
    part.pgoff = m->pgoff + (start - m->start);
    return part;
}

static void retire(struct space *s, struct modtab *t, struct space_map m)
{
    if (s->n_retired >= SPACE_RETIRED_MAX) {
        uint32_t gone = SPACE_RETIRED_MAX / 2;

        drop_range(t, s->retired, gone);
        s->n_retired -= gone;
        memmove(s->retired, s->retired + gone, s->n_retired * sizeof *s->retired);
    }
    MEM_GROW(s->retired, s->retired_cap, s->n_retired + 1);
    s->retired[s->n_retired++] = m;
    modtab_hold(m.mod);
}

/* Replaces mappings [from, to) by `n_new` new ones, whose modules the caller has held. */
static void splice(struct space *s, struct modtab *t, uint32_t from, uint32_t to, const struct space_map *new,
                   uint32_t n_new)
{
    uint32_t n = s->n - (to - from) + n_new;

    /* there is a space for every process: keep the spare room small */
    if (n > s->cap) {
        s->cap = n < 4 ? 4 : n + n / 2;
        s->maps = mem_resize(s->maps, s->cap, sizeof *s->maps);
    }
    drop_range(t, s->maps + from, to - from);
    memmove(s->maps + from + n_new, s->maps + to, (s->n - to) * sizeof *s->maps);
    if (n_new)
        memcpy(s->maps + from, new, n_new * sizeof *new);
    s->n = n;
}

/* Replaces whatever is mapped in [start, end) by m, or by nothing. */
static bool replace(struct space *s, struct modtab *t, uint64_t start, uint64_t end,
                    const struct space_map *m, bool keep_old)
{
    uint32_t from = first_behind(s, start), to = from, n = 0;
    struct space_map new[3];

    while (to < s->n && s->maps[to].start < end)
        to++;
    if (from == to && !m)
        return false;
    if (from < to && s->maps[from].start < start)
        new[n++] = part_of(&s->maps[from], s->maps[from].start, start);
    if (m)
        new[n++] = *m;
    if (from < to && s->maps[to - 1].end > end)
        new[n++] = part_of(&s->maps[to - 1], end, s->maps[to - 1].end);
    if (s->n - (to - from) + n > SPACE_MAPS_MAX)
        return false;
    for (uint32_t i = from; keep_old && i < to; i++) {
        const struct space_map *old = &s->maps[i];

        retire(s, t, part_of(old, old->start > start ? old->start : start, old->end < end ? old->end : end));
    }
    for (uint32_t i = 0; i < n; i++)
        modtab_hold(new[i].mod);
    splice(s, t, from, to, new, n);
    return true;
}

bool space_covers(const struct space *s, const struct space_map *m, bool exactly)
{
    uint64_t at = m->start;

    for (uint32_t i = first_behind(s, at); at < m->end; at = s->maps[i++].end)
        if (i >= s->n || s->maps[i].start > at || (exactly && !continues(&s->maps[i], m)))
            return false;
    return true;
}

/* True if a retired mapping in the range is younger than m: it would hide m when the mappings are replayed in
 * order. */
static bool hidden_by_retired(const struct space *s, const struct space_map *m)
{
    for (uint32_t i = s->n_retired; i-- > 0;)
        if (s->retired[i].seq > m->seq && s->retired[i].start < m->end && m->start < s->retired[i].end)
            return true;
    return false;
}

/* Merges m with mappings that it only repeats or extends (JIT code that grows, an mprotect that split a
 * mapping). *changed is false if m adds nothing. */
static bool merge(struct space *s, struct modtab *t, const struct space_map *m, bool *changed)
{
    uint32_t from = first_behind(s, m->start), to = from;
    struct space_map whole = *m;

    for (; to < s->n && s->maps[to].start < m->end; to++)
        if (!continues(&s->maps[to], m))
            return false;
    if (from && s->maps[from - 1].end == m->start && continues(&s->maps[from - 1], m))
        from--;
    if (to < s->n && s->maps[to].start == m->end && continues(&s->maps[to], m))
        to++;
    if (from == to)
        return false;
    for (uint32_t i = from; i < to; i++) {
        const struct space_map *part = &s->maps[i];

        if (part->start < whole.start)
            whole = part_of(&whole, part->start, whole.end);
        if (part->end > whole.end)
            whole.end = part->end;
        if (part->seq < whole.seq) {
            whole.seq = part->seq;
            whole.time_ns = part->time_ns;
        }
    }
    *changed = to - from > 1 || s->maps[from].start != whole.start || s->maps[from].end != whole.end;
    if (!*changed)
        return true;
    if (hidden_by_retired(s, &whole)) {
        *changed = false;
        return space_covers(s, m, false);
    }
    modtab_hold(whole.mod);
    splice(s, t, from, to, &whole, 1);
    return true;
}

bool space_add(struct space *s, struct modtab *t, const struct space_map *m)
{
    struct space_map new = *m;
    bool changed;

    new.seq = s->next_seq++;
    if (merge(s, t, &new, &changed))
        return changed;
    return replace(s, t, new.start, new.end, &new, true);
}

bool space_cut(struct space *s, struct modtab *t, uint64_t start, uint64_t end, bool keep_old)
{
    return replace(s, t, start, end, NULL, keep_old);
}

void space_remember(struct space *s, struct modtab *t, const struct space_map *m)
{
    struct space_map old = *m;

    old.seq = 0;
    for (uint32_t i = 0; i < s->n_retired; i++)
        if (s->retired[i].mod == m->mod && s->retired[i].start <= m->start && s->retired[i].end >= m->end)
            return;
    retire(s, t, old);
}

bool space_maps_module(const struct space *s, const struct mod *mod)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->maps[i].mod == mod)
            return true;
    return false;
}

void space_change_module(struct space *s, struct modtab *t, struct mod *from, struct mod *to)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->maps[i].mod != from)
            continue;
        s->maps[i].mod = to;
        modtab_hold(to);
        modtab_drop(t, from);
    }
}

bool space_fill(struct space *s, const struct space_map *m)
{
    uint64_t at = m->start;
    bool changed = false;

    while (at < m->end && s->n < SPACE_MAPS_MAX) {
        uint32_t i = first_behind(s, at);
        uint64_t end = i < s->n && s->maps[i].start < m->end ? s->maps[i].start : m->end;

        if (end <= at) {
            at = s->maps[i].end;
            continue;
        }
        struct space_map piece = part_of(m, at, end);
        piece.seq = 0;
        modtab_hold(piece.mod);
        splice(s, NULL, i, i, &piece, 1);
        changed = true;
        at = end;
    }
    return changed;
}

const struct space_map *space_find(struct space *s, uint64_t addr)
{
    uint32_t i = s->last;

    if (i >= s->n || addr < s->maps[i].start || addr >= s->maps[i].end)
        i = first_behind(s, addr);
    if (i >= s->n || addr < s->maps[i].start)
        return NULL;
    s->last = i;
    return &s->maps[i];
}

/* Prefers the latest mapping made by time_ns; if there is none, the earliest one. */
static bool is_better(const struct space_map *a, const struct space_map *b, uint64_t time_ns)
{
    bool a_made = a->time_ns <= time_ns, b_made = b->time_ns <= time_ns;

    if (a_made != b_made)
        return a_made;
    return a_made ? a->seq > b->seq : a->seq < b->seq;
}

bool space_address(const struct space *s, uint32_t module, uint64_t offset, uint64_t time_ns,
                   struct world_address *out)
{
    const struct space_map *best = NULL;

    out->until_ns = UINT64_MAX;
    for (uint32_t i = 0; i < s->n + s->n_retired; i++) {
        const struct space_map *m = i < s->n ? &s->maps[i] : &s->retired[i - s->n];

        if (m->mod->module->id != module || offset < m->pgoff || offset - m->pgoff >= m->end - m->start)
            continue;
        if (m->time_ns > time_ns && m->time_ns < out->until_ns)
            out->until_ns = m->time_ns;
        if (!best || is_better(m, best, time_ns))
            best = m;
    }
    if (best)
        out->address = best->start + (offset - best->pgoff);
    return best != NULL;
}

static int by_seq(const void *a, const void *b)
{
    const struct space_map *x = *(const struct space_map *const *)a, *y = *(const struct space_map *const *)b;

    if (x->seq != y->seq)
        return x->seq < y->seq ? -1 : 1;
    return (x->start > y->start) - (x->start < y->start);
}

uint32_t space_list(const struct space *s, struct world_map *out)
{
    uint32_t n = 0;
    const struct space_map **order = mem_array((size_t)s->n + s->n_retired, sizeof *order);

    for (uint32_t i = 0; i < s->n_retired; i++)
        order[n++] = &s->retired[i];
    for (uint32_t i = 0; i < s->n; i++)
        order[n++] = &s->maps[i];
    qsort(order, n, sizeof *order, by_seq);
    for (uint32_t i = 0; i < n; i++)
        out[i] = (struct world_map){ .start = order[i]->start,
                                     .end = order[i]->end,
                                     .pgoff = order[i]->pgoff,
                                     .module = order[i]->mod->module->id,
                                     .time_ns = order[i]->time_ns };
    mem_free(order);
    return n;
}

size_t space_bytes(const struct space *s)
{
    return sizeof *s + ((size_t)s->cap + s->retired_cap) * sizeof *s->maps;
}
