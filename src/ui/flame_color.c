// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/flame_color.h"

#include <math.h>
#include <string.h>

#include "base/map.h"

#define MODULE_COLOURS 8
#define LEAST_POINTS   0.05 /* smaller differences have no colour */

enum style flame_class_style(enum symbol_class class)
{
    static const enum style styles[SYMBOL_CLASSES] = {
        [SYMBOL_CLASS_USER] = STYLE_FLAME_USER,
        [SYMBOL_CLASS_CXX] = STYLE_FLAME_CXX,
        [SYMBOL_CLASS_RUST] = STYLE_FLAME_RUST,
        [SYMBOL_CLASS_KERNEL] = STYLE_FLAME_KERNEL,
        [SYMBOL_CLASS_JIT] = STYLE_FLAME_JIT,
        [SYMBOL_CLASS_INLINED] = STYLE_FLAME_INLINED,
        [SYMBOL_CLASS_UNKNOWN] = STYLE_FLAME_UNKNOWN,
        [SYMBOL_CLASS_WAIT_LOCK] = STYLE_FLAME_WAIT_LOCK,
        [SYMBOL_CLASS_WAIT_DISK] = STYLE_FLAME_WAIT_DISK,
        [SYMBOL_CLASS_WAIT_IO] = STYLE_FLAME_WAIT_IO,
        [SYMBOL_CLASS_WAIT_IDLE] = STYLE_FLAME_WAIT_IDLE,
        [SYMBOL_CLASS_WAIT_OTHER] = STYLE_FLAME_WAIT_OTHER,
        [SYMBOL_CLASS_RUNNABLE] = STYLE_FLAME_RUNNABLE,
    };
    return styles[class];
}

static enum style module_style(const char *name)
{
    uint64_t hash = 5381; /* of the name, so that every run has the same colours */
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return STYLE_FLAME_MODULE_0 + hash % MODULE_COLOURS;
}

const struct view_group_column *flame_rate(const struct view *v)
{
    for (int k = 0; k < GROUP_COLUMN_KINDS; k++)
        if (v->group_sums[k].title[0])
            return &v->group_sums[k];
    return NULL;
}

bool flame_rate_of(const struct flame_model *m, const struct view_group_column *b, uint32_t node,
                   double *value, bool *partly)
{
    const struct calltree_node *n = &m->tree.nodes[node];
    uint32_t group_events = m->tree.group_events;
    if (!group_events || n->total_count < GROUP_COLUMN_LEAST)
        return false;
    const uint64_t *sums = m->tree.group_sums + (size_t)node * group_events;
    *partly = group_column_is_partial(sums, group_events, n->total_weight);
    return group_column_value(b, sums, n->total_weight, n->total_count, value);
}

/* Computes the level to grade: IPC itself; other rates relative to the rate of the whole graph; a plain
 * number relative to the share expected from the frame's width. */
static bool level_of(const struct flame_model *m, const struct view_group_column *b, uint32_t node,
                     double *level)
{
    double all;
    bool partly, partly_all;
    if (!flame_rate_of(m, b, node, level, &partly) || partly)
        return false;
    if (b == &m->view->group_sums[GROUP_COLUMN_IPC])
        return true;
    if (!flame_rate_of(m, b, 0, &all, &partly_all) || all <= 0)
        return false;
    if (b->unit == GROUP_COLUMN_SUM || b->unit == GROUP_COLUMN_SHARE)
        all *= (double)m->tree.nodes[node].total_weight / (double)m->tree.nodes[0].total_weight;
    *level /= all;
    return true;
}

#define GRADES 5

static enum style grade_style(double value, const double ends[GRADES - 1])
{
    /* reused styles: a terminal of 8 colours has no room for more */
    static const enum style styles[GRADES] = { STYLE_RANGE, STYLE_FLAME_MODULE_0, STYLE_FLAME_MODULE_5,
                                               STYLE_FLAME_USER, STYLE_ALERT }; /* blue … red */
    unsigned i = 0;
    while (i < GRADES - 1 && value >= ends[i])
        i++;
    return styles[i];
}

static enum style rate_style(const struct flame_model *m, uint32_t node)
{
    static const double ends[] = { 0.35, 0.8, 1.25, 2 };
    const struct view_group_column *b = flame_rate(m->view);
    double level;
    if (!b || !term_colors() || !level_of(m, b, node, &level))
        return STYLE_FLAME_UNKNOWN;
    return grade_style(level, ends);
}

/* Grades relative to the largest difference. A difference that reads as 0 has no colour. */
static enum style difference_box_style(const struct flame_model *m, uint32_t node)
{
    static const double ends[] = { -0.4, -0.03, 0.03, 0.4 };
    double points;
    if (!term_colors() || !flame_model_change(m, node, &points))
        return STYLE_FLAME_UNKNOWN;
    return grade_style(fabs(points) < LEAST_POINTS ? 0 : points / m->largest, ends);
}

/* Returns a shade that depends on the name and differs from the frame to the left, so that neighbours are
 * distinct. */
static enum style shaded(enum style style, const char *name, enum style left)
{
    uint32_t which = (uint32_t)map_hash_bytes(name, strlen(name), 1) % THEME_SHADES;
    enum style shade = term_shade(style, which);
    return shade == left ? term_shade(style, which + 1) : shade;
}

enum style flame_box_style(const struct flame_model *m, enum flame_colour colour, const char *search,
                           const struct flame_box *b, enum style left)
{
    const struct calltree_node *n = &m->tree.nodes[b->node];
    if (flame_model_box_matches(m, b, search))
        return STYLE_FLAME_MATCH;
    if (b->ancestor || b->rest)
        return STYLE_FLAME_ANCESTOR;
    if (colour == FLAME_BY_RATE && flame_rate(m->view))
        return rate_style(m, b->node);
    if (colour == FLAME_BY_DIFFERENCE && m->difference)
        return difference_box_style(m, b->node);
    if (!b->node || n->is_group)
        return STYLE_FLAME_GROUP;
    const struct view_function *fn = &m->view->funcs[n->func];
    return shaded(colour == FLAME_BY_MODULE ? module_style(fn->module) : flame_class_style(fn->class),
                  fn->name, left);
}
