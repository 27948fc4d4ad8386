// SPDX-License-Identifier: GPL-2.0-or-later
/* The samples of a function by instruction, and its rows. */
#include "session/annotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "base/text.h"
#include "session/session_state.h"

/* ---- samples per instruction ---- */

static bool is_in(const struct annotation *a, const struct view *v, uint32_t frame)
{
    const struct result *r = &v->result;
    if (r->frame_module[frame] != a->location.module->id)
        return false;
    if (!a->location.size)
        return v->funcs[v->frame_func[frame]].key == a->location.key;
    return r->frame_offset[frame] - a->location.start < a->location.size;
}

/* Without instructions, each sampled address is a slot. */
static void collect_addresses(struct annotation *a, const struct view *v)
{
    a->addresses.n = 0;
    for (uint32_t f = 1; f < v->result.n_frames; f++) {
        if (is_in(a, v, f))
            *VEC_PUSH(&a->addresses) = v->result.frame_offset[f];
    }
    if (!a->addresses.n)
        return;
    qsort(a->addresses.items, a->addresses.n, sizeof *a->addresses.items, search_compare_u64);
    uint32_t n = 1;
    for (uint32_t i = 1; i < a->addresses.n; i++)
        if (a->addresses.items[i] != a->addresses.items[n - 1])
            a->addresses.items[n++] = a->addresses.items[i];
    a->addresses.n = n;
}

static bool has_code(const struct annotation *a)
{
    return a->code && a->code->view.header.n_rows;
}

static int64_t slot_at(const struct annotation *a, uint64_t offset)
{
    if (has_code(a))
        return code_find(&a->code->view, offset);
    uint32_t at = SEARCH_FIRST(i, 0, a->addresses.n, a->addresses.items[i] >= offset);
    return at < a->addresses.n && a->addresses.items[at] == offset ? (int64_t)at : -1;
}

/* Maps frames to slots. Samples at no instruction are in the last slot, which is not shown. */
static void find_slots(struct annotation *a, const struct view *v)
{
    a->n_sums = has_code(a) ? a->code->view.header.n_rows : (uint32_t)a->addresses.n;
    MEM_GROW(a->sums, a->sums_cap, (size_t)a->n_sums + 1);
    memset(a->sums, 0, (a->n_sums + 1) * sizeof *a->sums);
    uint32_t *slot_of_frame = VEC_RESERVE(&a->slot_of_frame, v->result.n_frames);
    slot_of_frame[0] = 0;
    for (uint32_t f = 1; f < v->result.n_frames; f++) {
        int64_t slot = is_in(a, v, f) ? slot_at(a, v->result.frame_offset[f]) : 0;
        slot_of_frame[f] = !is_in(a, v, f) ? 0 : slot < 0 ? a->n_sums + 1 : (uint32_t)slot + 1;
    }
}

static void add_total(struct annotate_sum *sum, const struct annotate_sum *node)
{
    sum->total += node->self;
    sum->total_samples += node->self_samples;
}

/* Adds the totals of a node. A recursive function, or an instruction that is on a stack twice, counts once
 * per sample. */
static void add_node(struct annotation *a, const struct view *v, uint32_t node)
{
    const struct result *r = &v->result;
    uint32_t slot = a->slot_of_frame.items[r->frame[node]];
    bool same_function = false, same_slot = false;
    for (uint32_t up = r->parent[node]; up && !same_slot; up = r->parent[up]) {
        uint32_t other = a->slot_of_frame.items[r->frame[up]];
        same_function |= other != 0;
        same_slot |= other == slot;
    }
    if (!same_function)
        add_total(&a->all, &a->node_sums.items[node]);
    if (!same_slot)
        add_total(&a->sums[slot - 1], &a->node_sums.items[node]);
}

static void add_self(struct annotation *a, const struct view *v)
{
    const struct view_function *f;
    for (uint32_t i = 0; i < v->result.n_entries; i++) {
        const struct result_entry *en = &v->result.entries[i];
        uint32_t frame = v->result.frame[en->node], slot = a->slot_of_frame.items[frame];
        a->node_sums.items[en->node].self += en->weight;
        a->node_sums.items[en->node].self_samples += en->count;
        f = &v->funcs[v->frame_func[frame]];
        a->other_copies += !slot && frame && f->key == a->location.key ? en->weight : 0;
        if (!slot)
            continue;
        a->sums[slot - 1].self += en->weight;
        a->sums[slot - 1].self_samples += en->count;
        a->all.self += en->weight;
        a->all.self_samples += en->count;
    }
}

static void count(struct annotation *a, const struct view *v)
{
    const struct result *r = &v->result;
    a->all = (struct annotate_sum){ 0 };
    a->result_weight = r->weight;
    a->other_copies = 0;
    find_slots(a, v);
    struct annotate_sum *sums = VEC_RESERVE(&a->node_sums, (size_t)r->n_nodes + 1);
    memset(sums, 0, (r->n_nodes + 1) * sizeof *sums);
    add_self(a, v);
    for (uint32_t node = r->n_nodes; node-- > 1;) {
        struct annotate_sum *up = &sums[r->parent[node]];
        up->self += sums[node].self;
        up->self_samples += sums[node].self_samples;
    }
    for (uint32_t node = 1; node < r->n_nodes; node++)
        if (a->slot_of_frame.items[r->frame[node]])
            add_node(a, v, node);
    a->outside = a->sums[a->n_sums].self;
    a->n_sampled = 0;
    for (uint32_t i = 0; i < a->n_sums; i++)
        a->n_sampled += a->sums[i].self_samples != 0;
}

/* ---- the code ---- */

/* Start of the requested code: for a function over CODE_BYTES_MAX, near the hottest sample. Samples are at
 * starts of instructions, so it is a sampled address. */
static uint64_t choose_start(struct annotation *a, const struct view *v)
{
    uint64_t hottest = a->location.start, most = 0, start = a->location.start, low;
    if (a->location.size <= CODE_BYTES_MAX)
        return start;
    collect_addresses(a, v);
    count(a, v);
    for (uint32_t i = 0; i < a->n_sums; i++)
        if (a->sums[i].self > most) {
            most = a->sums[i].self;
            hottest = a->addresses.items[i];
        }
    low = hottest - start < CODE_BYTES_MAX / 2 ? start : hottest - CODE_BYTES_MAX / 2;
    if (low == start)
        return start;
    for (uint32_t i = 0; i < a->n_sums; i++)
        if (a->sums[i].self && a->addresses.items[i] >= low)
            return a->addresses.items[i];
    return start;
}

static void get_code(struct annotation *a, struct session *s, const struct view *v)
{
    uint64_t left;
    if (a->code)
        return;
    if (!a->location.size) {
        a->state = SYMBOL_NONE;
        return;
    }
    if (a->code_start == UINT64_MAX)
        a->code_start = choose_start(a, v);
    left = a->location.size - (a->code_start - a->location.start);
    a->cut = a->location.size > CODE_BYTES_MAX;
    a->state =
        symbolizer_code(s->store.symbolizer, a->location.module, a->code_start, left, a->intel, &a->code);
    a->rows_stale = a->code != NULL;
}

/* ---- source lines ---- */

static const char *keep(struct annotation *a, const char *text, const char *last)
{
    if (!text[0])
        return NULL;
    return last && !strcmp(last, text) ? last : arena_strndup(&a->strings, text, strlen(text));
}

static void add_file(struct annotation *a, const char *path)
{
    for (uint32_t i = 0; i < a->n_files; i++)
        if (!strcmp(a->files[i].path, path))
            return;
    if (a->n_files < ANNOTATE_FILES_MAX)
        a->files[a->n_files++] = (struct annotate_file){ .path = path };
}

static void get_lines(struct annotation *a, struct session *s)
{
    const char *file = NULL, *inlined = NULL;
    if (!has_code(a) || a->n_sums > ANNOTATE_LINES_MAX)
        return;
    if (!a->lines.n) {
        a->lines.n = a->lines_left = a->n_sums;
        memset(VEC_RESERVE(&a->lines, a->n_sums), 0, a->n_sums * sizeof *a->lines.items);
    }
    for (uint32_t i = 0; a->lines_left && i < a->lines.n; i++) {
        struct annotate_location_line *l = &a->lines.items[i];
        struct symbol_lines told;
        if (l->known || symbolizer_lines(s->store.symbolizer, a->location.module,
                                         a->code->view.rows[i].offset, &told) == SYMBOL_PENDING)
            continue;
        l->known = true;
        a->lines_left--;
        l->file = file = keep(a, told.file, file);
        l->line = told.line;
        l->inlined = inlined = told.n_inlines ? keep(a, told.inlines[0].name, inlined) : NULL;
        if (file)
            add_file(a, file);
        a->rows_stale |= file != NULL;
    }
}

static void get_sources(struct annotation *a, struct session *s)
{
    for (uint32_t i = 0; i < a->n_files; i++)
        if (!a->files[i].source)
            (void)symbolizer_source(s->store.symbolizer, a->location.module, a->files[i].path,
                                    &a->files[i].source);
}

static const struct source *source_of(const struct annotation *a, const char *path)
{
    for (uint32_t i = 0; i < a->n_files; i++)
        if (!strcmp(a->files[i].path, path))
            return a->files[i].source;
    return NULL;
}

const char *annotate_source(const struct annotation *a, const struct annotate_row *r, char *dst, size_t cap)
{
    const struct source *source = r->file ? source_of(a, r->file) : NULL;
    dst[0] = '\0';
    return source && source->text ? source_line(source, r->line, dst, cap) : dst;
}

const char *annotate_source_trouble(const struct annotation *a)
{
    for (uint32_t i = 0; i < a->n_files; i++)
        if (a->files[i].source && !a->files[i].source->text)
            return a->files[i].source->trouble;
    return "";
}

/* ---- rows ---- */

static struct annotate_row *add_row(struct annotation *a, enum annotate_kind kind, uint32_t slot)
{
    MEM_GROW(a->rows, a->rows_cap, (size_t)a->n_rows + 1);
    a->rows[a->n_rows] = (struct annotate_row){ .kind = kind,
                                                .slot = slot,
                                                .offset = has_code(a) ? a->code->view.rows[slot].offset
                                                                      : a->addresses.items[slot] };
    return &a->rows[a->n_rows++];
}

static bool is_same_line(const struct annotate_location_line *l, const struct annotate_location_line *r)
{
    return l->file && r->file && l->line == r->line && !strcmp(l->file, r->file) &&
           !l->inlined == !r->inlined && (!l->inlined || !strcmp(l->inlined, r->inlined));
}

static void make_rows(struct annotation *a)
{
    const struct annotate_location_line *last = NULL;
    a->n_rows = 0;
    a->rows_stale = false;
    for (uint32_t i = 0; i < a->n_sums; i++) {
        const struct annotate_location_line *l = a->source && i < a->lines.n ? &a->lines.items[i] : NULL;
        if (l && l->file && l->line && !(last && is_same_line(l, last))) {
            struct annotate_row *r = add_row(a, ANNOTATE_SOURCE, i);
            r->file = l->file;
            r->line = l->line;
            r->inlined = l->inlined;
            r->new_file = !last || strcmp(last->file, l->file);
            last = l;
        }
        add_row(a, has_code(a) ? ANNOTATE_INSN : ANNOTATE_ADDRESS, i);
    }
}

int64_t annotate_row_at(const struct annotation *a, uint64_t offset)
{
    uint32_t at = SEARCH_FIRST(i, 0, a->n_rows, a->rows[i].offset >= offset);
    while (at < a->n_rows && a->rows[at].offset == offset && a->rows[at].kind == ANNOTATE_SOURCE)
        at++;
    return at < a->n_rows && a->rows[at].offset == offset ? (int64_t)at : -1;
}

static bool is_hotter(const struct annotation *a, uint32_t l, uint32_t r)
{
    return a->sums[l].self > a->sums[r].self || (a->sums[l].self == a->sums[r].self && l < r);
}

int64_t annotate_hottest(const struct annotation *a, uint32_t n)
{
    int64_t last = -1;
    for (uint32_t rank = 0; rank <= n; rank++) {
        int64_t best = -1;
        for (uint32_t i = 0; i < a->n_sums; i++)
            if (a->sums[i].self && (last < 0 || is_hotter(a, (uint32_t)last, i)) &&
                (best < 0 || is_hotter(a, i, (uint32_t)best)))
                best = i;
        if (best < 0)
            return -1;
        last = best;
    }
    return annotate_row_at(a, has_code(a) ? a->code->view.rows[last].offset : a->addresses.items[last]);
}

/* ---- open, update, close ---- */

void annotate_done(struct annotation *a)
{
    annotate_location_done(&a->location);
    code_put(a->code);
    for (uint32_t i = 0; i < a->n_files; i++)
        source_put(a->files[i].source);
    mem_free(a->sums);
    mem_free(a->rows);
    mem_free(a->addresses.items);
    mem_free(a->slot_of_frame.items);
    mem_free(a->node_sums.items);
    mem_free(a->lines.items);
    arena_done(&a->strings);
    *a = (struct annotation){ 0 };
}

void annotate_open(struct annotation *a, struct annotate_location *location, bool intel)
{
    annotate_done(a);
    a->location = *location;
    a->intel = intel;
    a->code_start = UINT64_MAX;
    *location = (struct annotate_location){ 0 };
}

static void renew_location(struct annotation *a, struct session *s)
{
    struct annotate_location location = a->location;
    if (!annotate_location_renew(s, &location))
        return;
    bool same_code = location.start == a->location.start && location.size == a->location.size;
    a->location = location;
    if (same_code)
        return;
    module_get(location.module);
    annotate_open(a, &location, a->intel);
}

void annotate_update(struct annotation *a, struct session *s, const struct view *v, bool source)
{
    if (!a->location.module)
        return;
    renew_location(a, s);
    a->rows_stale |= source != a->source;
    a->source = source;
    get_code(a, s, v);
    if (!has_code(a))
        collect_addresses(a, v);
    count(a, v);
    get_lines(a, s);
    if (source)
        get_sources(a, s);
    if (a->rows_stale || !has_code(a))
        make_rows(a);
}

void annotate_wait(struct session *s, uint64_t timeout_ns)
{
    (void)symbolizer_settle(s->store.symbolizer, timeout_ns);
}

bool annotate_is_pending(const struct annotation *a)
{
    if (!a->location.module)
        return false;
    for (uint32_t i = 0; i < a->n_files && a->source; i++)
        if (!a->files[i].source)
            return true;
    return a->state == SYMBOL_PENDING || a->lines_left;
}
