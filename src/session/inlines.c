// SPDX-License-Identifier: GPL-2.0-or-later
/* Frames of functions that were inlined, put into the answer of a query as frames of their own. Only what is in the
 * answer is asked for, in the background; without debug information, or before it is read, nothing changes. */
#include "session/inlines.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define INLINED_MARK " (inlined)"

void inlines_forget(struct inlines *in)
{
    in->n_frames = 0;
}

void inlines_done(struct inlines *in)
{
    expanded_done(&in->expanded);
    mem_free(in->counts);
    *in = (struct inlines){ 0 };
}

/* The answer as query_run knows it. */
void inlines_restore(struct inlines *in, struct view *v)
{
    if (in->replaced)
        v->result = in->original;
    in->replaced = false;
}

uint32_t inlines_node(const struct inlines *in, const struct view *v, uint32_t stack)
{
    return in->replaced ? in->expanded.last_node[result_node(&in->original, stack)] : result_node(&v->result, stack);
}

struct look {
    struct inlines *in;
    struct session *s;
    const struct view *v;
    inlines_module_fn *module_of;
};

static uint8_t ask(const struct look *l, uint32_t frame)
{
    struct module *m = l->module_of(l->v, frame);
    struct symbol_lines lines;
    if (m->kind != MODULE_FILE || symbolizer_inlined(l->s->symbolizer, m, l->v->result.frame_offset[frame], &lines) !=
                                      SYMBOL_FOUND)
        return 0;
    return lines.n_inlines < UINT8_MAX ? (uint8_t)lines.n_inlines : UINT8_MAX;
}

/* How many there are at each frame. What is not known yet counts as none until inlines_forget: it comes with news. */
static bool count_inlines(const struct look *l)
{
    struct inlines *in = l->in;
    uint32_t n = l->v->result.n_frames;
    MEM_GROW(in->counts, in->counts_cap, n);
    if (!in->n_frames) {
        in->counts[in->n_frames++] = 0;
        in->any = false;
    }
    for (; in->n_frames < n; in->n_frames++) {
        in->counts[in->n_frames] = ask(l, in->n_frames);
        in->any |= in->counts[in->n_frames] != 0;
    }
    return in->any;
}

static uint32_t count_of(void *ctx, uint32_t frame)
{
    const struct look *l = ctx;
    return l->in->counts[frame];
}

/* What is called for a frame's k-th inlined function, counted from the outside; it was there when it was counted. */
static void symbol_of(const struct look *l, uint32_t frame, uint32_t k, char *name, size_t cap, struct symbol *out)
{
    struct symbol_lines lines;
    const char *text = "";
    if (symbolizer_inlined(l->s->symbolizer, l->module_of(l->v, frame), l->v->result.frame_offset[frame], &lines) ==
            SYMBOL_FOUND &&
        k && k <= lines.n_inlines)
        text = lines.inlines[lines.n_inlines - k].name;
    snprintf(name, cap, "%.*s%s", (int)(cap - sizeof INLINED_MARK), *text ? text : "?", INLINED_MARK);
    *out = (struct symbol){ .state = SYMBOL_FOUND,
                            .class = SYMBOL_CLASS_INLINED,
                            .name = name,
                            .key = map_hash_bytes(name, strlen(name), l->v->funcs[l->v->frame_func[frame]].key) };
}

/* As result_filter, for an answer that is not query_run's. */
void inlines_filter(struct inlines *in, struct view *v, const uint8_t *drop)
{
    struct result *r = &v->result;
    uint32_t n = 0;
    if (!in->replaced) {
        result_filter(r, drop);
        return;
    }
    r->samples = r->weight = r->broken_samples = 0;
    for (uint32_t i = 0; i < r->n_entries; i++) {
        if (drop[i])
            continue;
        r->entries[n] = r->entries[i];
        r->samples += r->entries[n].count;
        r->weight += r->entries[n].weight;
        r->broken_samples += r->entries[n++].broken;
    }
    r->n_entries = n;
}

bool inlines_expand(struct inlines *in, struct session *s, struct view *v, inlines_module_fn *module_of,
                    inlines_number_fn *number_of)
{
    struct look l = { in, s, v, module_of };
    if (!count_inlines(&l) || !expand_result(&in->expanded, &v->result, count_of, &l))
        return false;
    const struct expanded *x = &in->expanded;
    for (uint32_t frame = x->n_real; frame < x->result.n_frames; frame++) {
        char name[1024];
        struct symbol sym;
        uint32_t real = x->real[frame - x->n_real];
        symbol_of(&l, real, x->inlined[frame - x->n_real], name, sizeof name, &sym);
        number_of(v, frame, real, &sym);
    }
    in->original = v->result; /* its filter is void: it is run again before it is used */
    in->replaced = true;
    v->result = x->result;
    return true;
}
