// SPDX-License-Identifier: GPL-2.0-or-later
/* Adds inlined functions to a result as frames of their own. Without debug information, or before it is
 * read, nothing changes. */
#include "session/query/inlines.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define INLINED_MARK " (inlined)"
#define HOT_SHARE    512 /* skip functions with less than this fraction of the samples: */
#define HOT_SAMPLES  3   /* or fewer samples, since reading debug information is expensive */
#define LOOK_AGAIN   5   /* after this many results, or this fraction of new samples */

void inlines_forget(struct inlines *in)
{
    expand_anew(&in->expanded);
    in->reply = 0;
}

void inlines_renamed(struct inlines *in)
{
    in->renamed = true;
    in->reply = 0;
}

void inlines_done(struct inlines *in)
{
    expanded_done(&in->expanded);
    mem_free(in->frame_func.items);
    mem_free(in->later.items);
    mem_free(in->samples.items);
    mem_free(in->node_samples.items);
    *in = (struct inlines){ 0 };
}

/* Puts the result back as query_run knows it. */
void inlines_restore(struct inlines *in, struct view *v)
{
    if (in->replaced) {
        v->result = in->original;
        v->frame_func = in->original_func;
    }
    in->replaced = false;
}

uint32_t inlines_node(const struct inlines *in, const struct view *v, uint32_t stack)
{
    return in->replaced ? in->expanded.last_node.items[result_node(&in->original, stack)]
                        : result_node(&v->result, stack);
}

struct look {
    struct inlines *in;
    struct session *s;
    const struct view *v;
    bool hot_only;
    inlines_module_fn *module_of;
};

/* --- which frames are looked up --- */

/* Counts samples of each function and its callees, to find hot functions only: recursion counts
 * repeatedly. Callers come first in the trie, so that one pass from the end gives all sums. */
static void count_samples(struct inlines *in, const struct view *v)
{
    const struct result *r = &v->result;
    in->all = 0;
    uint64_t *samples = memset(in->samples.items, 0, v->n_funcs * sizeof *in->samples.items);
    uint64_t *node_samples = VEC_RESERVE(&in->node_samples, r->n_nodes);
    memset(node_samples, 0, r->n_nodes * sizeof *node_samples);
    for (uint32_t i = 0; i < r->n_entries; i++)
        if (!r->entries[i].idle) {
            node_samples[r->entries[i].node] += r->entries[i].count;
            in->all += r->entries[i].count;
        }
    for (uint32_t i = r->n_nodes; i-- > 1;) {
        samples[v->frame_func[r->frame[i]]] += node_samples[i];
        node_samples[r->parent[i]] += node_samples[i];
    }
}

/* Recounts hot functions when there are a fifth more samples, and otherwise at every fifth result. False:
 * not now. */
static bool find_hot(struct inlines *in, const struct view *v)
{
    const struct result *r = &v->result;
    bool goes_on = in->reply && in->reply == r->goes_on_from && r->is_same_query;
    in->reply = r->version;
    VEC_RESERVE(&in->samples, v->n_funcs);
    for (; in->n_samples < v->n_funcs; in->n_samples++)
        in->samples.items[in->n_samples] = 0;
    in->results++;
    if (goes_on && in->results < LOOK_AGAIN && r->samples < in->looked_at + in->looked_at / LOOK_AGAIN)
        return false;
    count_samples(in, v);
    in->results = 0;
    in->looked_at = r->samples;
    return true;
}

static bool is_hot(const struct look *l, uint32_t frame)
{
    uint64_t n = l->hot_only ? l->in->samples.items[l->v->frame_func[frame]] : 0;
    return !l->hot_only || (n >= HOT_SAMPLES && n * HOT_SHARE >= l->in->all);
}

/* Number of functions inlined at a frame. False: not known yet. */
static bool get_inlines(const struct look *l, uint32_t frame, uint32_t *n)
{
    struct module *m = l->module_of(l->v, frame);
    struct symbol_lines lines;
    enum symbol_state state =
        module_has_lines(m)
            ? symbolizer_inlined(l->s->store.symbolizer, m, l->v->result.frame_offset[frame], &lines)
            : SYMBOL_NONE;
    *n = state == SYMBOL_FOUND ? lines.n_inlines : 0;
    return state != SYMBOL_PENDING;
}

static uint32_t ask_if_hot(void *ctx, uint32_t frame)
{
    const struct look *l = ctx;
    struct inlines *in = l->in;
    uint32_t n;
    if (is_hot(l, frame) && get_inlines(l, frame, &n))
        return n;
    *VEC_PUSH(&in->later) = frame;
    return 0;
}

/* Retries the frames that are hot or known by now. If functions are inlined in them, the trie is rebuilt. */
static void look_at_later(const struct look *l)
{
    struct inlines *in = l->in;
    uint32_t n = 0, inlined;
    bool more = false;
    for (uint32_t i = 0; i < in->later.n; i++)
        if (is_hot(l, in->later.items[i]) && get_inlines(l, in->later.items[i], &inlined))
            more |= inlined > 0;
        else
            in->later.items[n++] = in->later.items[i];
    in->later.n = n;
    if (more)
        expand_anew(&in->expanded);
}

/* --- what replaces the result --- */

/* Name and key of a frame's k-th inlined function, counted from the outside (it existed at the count). An
 * inlined function is the same one wherever it is inlined, but differs from its real copy. */
static void symbol_of(const struct look *l, uint32_t frame, uint32_t k, char *name, size_t cap,
                      struct symbol *out)
{
    struct symbol_lines lines;
    const char *text = "";
    uint64_t key = l->v->funcs[l->v->frame_func[frame]].key;
    if (symbolizer_inlined(l->s->store.symbolizer, l->module_of(l->v, frame),
                           l->v->result.frame_offset[frame], &lines) == SYMBOL_FOUND &&
        k && k <= lines.n_inlines) {
        text = lines.inlines[lines.n_inlines - k].name;
        key = lines.inlines[lines.n_inlines - k].key;
    }
    snprintf(name, cap, "%.*s%s", (int)(cap - sizeof INLINED_MARK), *text ? text : "?", INLINED_MARK);
    *out = (struct symbol){ .state = SYMBOL_FOUND,
                            .class = SYMBOL_CLASS_INLINED,
                            .name = name,
                            .key = map_hash_bytes(name, strlen(name), key) };
}

static void number_frames(const struct look *l, struct view *v, inlines_number_fn *number_of)
{
    struct inlines *in = l->in;
    const struct expanded *x = &in->expanded;
    bool is_new = true; /* the function of the frame that contains the next ones */
    uint32_t *frame_func = VEC_RESERVE(&in->frame_func, x->result.n_frames);
    for (uint32_t i = in->renamed ? 0 : in->n_numbered; i < x->result.n_frames; i++) {
        uint32_t real = x->real.items[i], k = x->inlined.items[i];
        char name[1024];
        struct symbol sym;
        if (!k) {
            is_new = i >= in->n_numbered || frame_func[i] != v->frame_func[real];
            frame_func[i] = v->frame_func[real];
        } else if (is_new) {
            symbol_of(l, real, k, name, sizeof name, &sym);
            frame_func[i] = number_of(v, real, &sym);
        }
    }
    in->n_numbered = x->result.n_frames;
    in->renamed = false;
}

bool inlines_expand(struct inlines *in, struct session *s, struct view *v, bool hot_only,
                    inlines_module_fn *module_of, inlines_number_fn *number_of)
{
    struct look l = { in, s, v, hot_only, module_of };
    uint32_t generation = symbolizer_generation(s->store.symbolizer);
    bool others_are_hot = hot_only && find_hot(in, v);
    if (expand_goes_on(&in->expanded, &v->result) && (others_are_hot || generation != in->generation))
        look_at_later(&l);
    in->generation = generation;
    if (!expand_goes_on(&in->expanded, &v->result))
        in->later.n = in->n_numbered = 0;
    expand_trie(&in->expanded, &v->result, ask_if_hot, &l);
    if (!in->expanded.any)
        return false;
    number_frames(&l, v, number_of);
    in->original = v->result;
    in->original_func = v->frame_func;
    in->replaced = true;
    v->result = in->expanded.result;
    v->frame_func = in->frame_func.items;
    return true;
}

void inlines_filter(struct inlines *in, struct view *v, const uint8_t *drop)
{
    if (in->replaced) {
        result_filter(&in->original, drop);
        expand_entries(&in->expanded, &in->original);
        v->result = in->expanded.result;
    } else {
        result_filter(&v->result, drop);
        if (in->was_replaced)
            v->result.since = 0; /* frames and nodes had other numbers */
    }
    in->was_replaced = in->replaced;
}
