// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares functions with the baseline by name, and prints the differences. */
#include "export/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

void compare_add_baseline(struct nametree *t, struct session *s, const struct view_query *q,
                          const struct session_baseline *baseline, bool by_weight)
{
    struct view v = { 0 };
    struct view_query there;
    if (!baseline->session)
        return;
    if (baseline->session != s)
        session_wait(baseline->session, UINT64_MAX / 4, NULL); /* until the baseline is read */
    session_baseline_query(s, baseline, q, &there);
    export_query(baseline->session, &there, &v);
    nametree_add(t, &v, NAMETREE_BASELINE, by_weight);
    view_done(&v);
}

/* --- rows --- */

static double change(const double side[NAMETREE_SIDES])
{
    return side[NAMETREE_SHOWN] - side[NAMETREE_BASELINE];
}

static int by_change(const void *x, const void *y, void *ctx)
{
    const struct compare_row *a = x, *b = y;
    const struct nametree_func *funcs = ctx;
    double self = fabs(change(b->self)) - fabs(change(a->self));
    double total = fabs(change(b->total)) - fabs(change(a->total));
    if (self != 0 || total != 0)
        return (self != 0 ? self : total) > 0 ? 1 : -1;
    return strcmp(funcs[a->func].name, funcs[b->func].name);
}

static void add_node(struct compare_row *row, const struct nametree_node *n, const double of[NAMETREE_SIDES],
                     bool outermost)
{
    for (int side = 0; side < NAMETREE_SIDES; side++) {
        row->self[side] += (double)n->self[side] * of[side];
        row->total[side] += outermost ? (double)n->total[side] * of[side] : 0;
    }
}

/* Removes the nodes from `from` up to `to` from on_path, which counts by function how often it is on the path
 * to the current node. */
static void leave(const struct nametree *t, uint32_t *on_path, uint32_t from, uint32_t to)
{
    for (; from != to; from = t->nodes[from].parent)
        on_path[t->nodes[from].func]--;
}

struct compare_row *compare_rows(const struct nametree *t, uint32_t *n)
{
    const struct nametree_node *nodes = t->nodes;
    struct compare_row *rows = mem_array(t->n_funcs, sizeof *rows);
    uint32_t *on_path = mem_array(t->n_funcs, sizeof *on_path);
    double of[NAMETREE_SIDES];
    for (int side = 0; side < NAMETREE_SIDES; side++)
        of[side] = nodes[0].total[side] ? 100 / (double)nodes[0].total[side] : 0;
    for (uint32_t last = 0, i; (i = nametree_next(t, last, false)); last = i) {
        leave(t, on_path, last, nodes[i].parent);
        add_node(&rows[nodes[i].func], &nodes[i], of, !on_path[nodes[i].func]++);
    }
    *n = 0;
    for (uint32_t i = 1; i < t->n_funcs; i++)
        if (!t->funcs[i].is_group) {
            rows[*n] = rows[i];
            rows[(*n)++].func = i;
        }
    qsort_r(rows, *n, sizeof *rows, by_change, t->funcs);
    mem_free(on_path);
    return rows;
}

/* --- text --- */

static void print_header(struct session *s, const struct nametree *t, const struct view *v,
                         const struct export_options *o, struct buf *out)
{
    struct session_status st;
    char samples[32];
    session_get_status(s, &st);
    buf_printf(out, "flametop - %s %s  %s, compared with %s\n", st.host, st.release, st.event,
               o->baseline.name);
    buf_printf(out, "samples %s", text_thousands(samples, sizeof samples, v->result.samples));
    if (!t->nodes[0].total[NAMETREE_BASELINE])
        buf_puts(out, "  the baseline has none");
    buf_printf(out, "\npercent of each side's total %s, sorted by the change of self%s\n\n",
               o->compare_by == COMPARE_BY_SAMPLES ? "samples"
               : v->weight_is_time                 ? "time"
                                                   : "events",
               o->svg.negate ? "; + means less now" : "");
}

static void print_share(struct buf *out, const double side[NAMETREE_SIDES], bool negate)
{
    double d = negate ? -change(side) : change(side);
    buf_printf(out, "%7.2f %7.2f %+8.2f", side[NAMETREE_BASELINE], side[NAMETREE_SHOWN],
               fabs(d) < 0.005 ? 0 : d);
}

void compare_print(struct session *s, const struct view_query *q, const struct view *v,
                   const struct export_options *o, struct buf *out)
{
    struct nametree t = { 0 };
    uint32_t n;
    bool by_weight = o->compare_by != COMPARE_BY_SAMPLES;
    nametree_init(&t);
    nametree_add(&t, v, NAMETREE_SHOWN, by_weight);
    compare_add_baseline(&t, s, q, &o->baseline, by_weight);
    nametree_sort(&t);
    struct compare_row *rows = compare_rows(&t, &n);
    print_header(s, &t, v, o, out);
    buf_printf(out, "%s\n%7s %7s %8s  %7s %7s %8s  %-20s %s\n",
               "------- SELF % ---------  ------- TOTAL % --------", "before", "now", "change", "before",
               "now", "change", "MODULE", "FUNCTION");
    for (uint32_t i = 0; i < n; i++) {
        print_share(out, rows[i].self, o->svg.negate);
        buf_puts(out, "  ");
        print_share(out, rows[i].total, o->svg.negate);
        const struct nametree_func *f = &t.funcs[rows[i].func];
        buf_printf(out, "  %-20s %s%s\n", f->module, f->name,
                   f->class == SYMBOL_CLASS_INLINED ? " (inlined)" : "");
    }
    mem_free(rows);
    nametree_done(&t);
}
