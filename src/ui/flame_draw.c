// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/flame_draw.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "ui/bars.h"

#define MODULE_COLOURS 8
#define NAME_LEAST     4 /* columns; a name cut shorter says nothing */
#define LINES_BELOW    2
#define LEAST_POINTS   0.05 /* of a difference that has a colour */

/* --- boxes --- */

enum style flame_class_style(enum symbol_class class)
{
    switch (class) {
    case SYMBOL_CLASS_CXX:
        return STYLE_FLAME_CXX;
    case SYMBOL_CLASS_RUST:
        return STYLE_FLAME_RUST;
    case SYMBOL_CLASS_KERNEL:
        return STYLE_FLAME_KERNEL;
    case SYMBOL_CLASS_JIT:
        return STYLE_FLAME_JIT;
    case SYMBOL_CLASS_INLINED:
        return STYLE_FLAME_INLINED;
    case SYMBOL_CLASS_UNKNOWN:
        return STYLE_FLAME_UNKNOWN;
    default:
        return STYLE_FLAME_USER;
    }
}

static enum style module_style(const char *name)
{
    uint64_t hash = 5381; /* of the name: the same colour in every run */
    for (; *name; name++)
        hash = hash * 33 + (unsigned char)*name;
    return STYLE_FLAME_MODULE_0 + hash % MODULE_COLOURS;
}

const struct view_beside *flame_rate(const struct view *v)
{
    for (int k = 0; k < BESIDE_KINDS; k++)
        if (v->beside[k].title[0])
            return &v->beside[k];
    return NULL;
}

/* False: too few samples. */
static bool rate_of(const struct flame_model *m, const struct view_beside *b, uint32_t node, double *value, bool *partly)
{
    const struct calltree_node *n = &m->tree.nodes[node];
    uint32_t besides = m->tree.besides;
    if (!besides || n->total_count < BESIDE_LEAST)
        return false;
    const uint64_t *sums = m->tree.beside + (size_t)node * besides;
    *partly = beside_is_partly(sums, besides, n->total_weight);
    return beside_value(b, sums, n->total_weight, n->total_count, value);
}

/* IPC as it is; others in relation to those of all that is drawn, a plain number by how much there is for its width. */
static bool level_of(const struct flame_model *m, const struct view_beside *b, uint32_t node, double *level)
{
    double all;
    bool partly, partly_all;
    if (!rate_of(m, b, node, level, &partly) || partly)
        return false;
    if (b == &m->view->beside[BESIDE_IPC])
        return true;
    if (!rate_of(m, b, 0, &all, &partly_all) || all <= 0)
        return false;
    if (b->unit == BESIDE_SUM)
        all *= (double)m->tree.nodes[node].total_weight / (double)m->tree.nodes[0].total_weight;
    *level /= all;
    return true;
}

#define GRADES 5

static enum style grade_style(double value, const double ends[GRADES - 1])
{
    /* a terminal of 8 colours has no room for more styles of its own */
    static const enum style styles[GRADES] = { STYLE_RANGE, STYLE_FLAME_MODULE_0, STYLE_FLAME_MODULE_5, STYLE_FLAME_USER,
                                               STYLE_ALERT }; /* blue … red */
    unsigned i = 0;
    while (i < GRADES - 1 && value >= ends[i])
        i++;
    return styles[i];
}

static enum style rate_style(const struct flame_model *m, uint32_t node)
{
    static const double ends[] = { 0.35, 0.8, 1.25, 2 };
    const struct view_beside *b = flame_rate(m->view);
    double level;
    if (!b || !term_colors() || !level_of(m, b, node, &level))
        return STYLE_FLAME_UNKNOWN;
    return grade_style(level, ends);
}

/* Beside the largest one that there is; what nobody would read as a change has none. */
static enum style difference_box_style(const struct flame_model *m, uint32_t node)
{
    static const double ends[] = { -0.4, -0.03, 0.03, 0.4 };
    double points;
    if (!term_colors() || !flame_model_change(m, node, &points))
        return STYLE_FLAME_UNKNOWN;
    return grade_style(fabs(points) < LEAST_POINTS ? 0 : points / m->largest, ends);
}

static enum style box_style(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                            const struct flame_box *b)
{
    const struct calltree_node *n = &m->tree.nodes[b->node];
    if (flame_model_box_matches(m, b, a->search))
        return STYLE_FLAME_MATCH;
    if (b->ancestor || b->rest)
        return STYLE_FLAME_ANCESTOR;
    if (look->colour == FLAME_BY_RATE && flame_rate(m->view))
        return rate_style(m, b->node);
    if (look->colour == FLAME_BY_DIFFERENCE && m->difference)
        return difference_box_style(m, b->node);
    if (!b->node || n->is_group)
        return STYLE_FLAME_GROUP;
    const struct view_function *fn = &m->view->funcs[n->func];
    return look->colour == FLAME_BY_MODULE ? module_style(fn->module) : flame_class_style(fn->class);
}

static void box_label(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                      const struct flame_box *b, char *name, char *label, size_t cap)
{
    char change[24] = "";
    double points;
    if (look->colour == FLAME_BY_DIFFERENCE && flame_model_change(m, b->node, &points))
        (void)difference_text(points, change, sizeof change);
    if (b->rest) {
        struct flame_rest rest = flame_rest_of(&m->tree, b->node);
        double percent = app_percent(a, rest.weight);
        (void)snprintf(name, cap, "%s%.1f%%", glyph_text(GLYPH_ELLIPSIS, term_glyphs()), percent);
        (void)snprintf(label, cap, "%s %u more %.1f%%", glyph_text(GLYPH_ELLIPSIS, term_glyphs()), rest.nodes,
                       percent);
        return;
    }
    (void)snprintf(name, cap, "%.500s", flame_model_name(m, b->node));
    (void)snprintf(label, cap, "%.500s %.1f%%%s%s", name, app_percent(a, m->tree.nodes[b->node].total_weight),
                   *change ? " " : "", change);
}

/* "|name 41%": a bar at the left edge sets a box off from its neighbour, also without colours. A box of
 * one cell is just its colour, or, without colours, the bar; the rest is a mark. */
static void draw_box_cells(const struct flame_model *m, const struct flame_look *look, const struct app *a,
                           struct area area, int row, const struct flame_box *b, enum style style)
{
    char name[560], label[560];
    int width = (int)b->width, x = (int)b->x, room = width - 1;
    draw_fill(area, row, x, width, style);
    if (b->rest && width <= NAME_LEAST)
        draw_text(area, row, x + width / 2, style, glyph_text(GLYPH_ELLIPSIS, term_glyphs()));
    if (width > 1 || (!b->rest && !term_colors()))
        draw_text(area, row, x, style, term_glyphs() ? "▏" : "|");
    if (width <= NAME_LEAST)
        return;
    box_label(m, look, a, b, name, label, sizeof name);
    bool whole = text_width(label) <= room;
    if (whole || b->rest)
        draw_elided(area, row, x + 1, room, style, whole ? label : name, false);
    else
        draw_function(area, row, x + 1, room, style, name, NULL);
}

/* Scrolls so that the selected box is seen. */
static void keep_in_sight(const struct flame_model *m, struct flame_look *look, int selected, int rows)
{
    int row = selected >= 0 ? (int)m->flame.boxes[selected].row : 0, last = (int)m->flame.rows - rows;
    if (row < look->first_row)
        look->first_row = row;
    if (row >= look->first_row + rows)
        look->first_row = row - rows + 1;
    if (look->first_row > last)
        look->first_row = last;
    if (look->first_row < 0)
        look->first_row = 0;
}

/* --- the lines below --- */

static void draw_selected_line(struct area area, int row, const char *name, const char *numbers)
{
    int col = draw_text(area, row, 0, STYLE_LABEL, "selected: ");
    col += draw_elided(area, row, col, area.cols - col - text_width(numbers), STYLE_NAME, name, true);
    draw_text(area, row, col, STYLE_NORMAL, numbers);
}

/* ", IPC 0.83": of the node and what it calls. */
static void rates_text(const struct flame_model *m, uint32_t node, char *dst, size_t cap)
{
    size_t used = 0;
    *dst = '\0';
    for (int k = 0; k < BESIDE_KINDS && used < cap; k++) {
        const struct view_beside *b = &m->view->beside[k];
        double value;
        bool partly = false;
        char text[24] = "-";
        if (!b->title[0])
            continue;
        if (rate_of(m, b, node, &value, &partly))
            beside_text(b, value, text, sizeof text);
        used += (size_t)snprintf(dst + used, cap - used, ", %s%s %s", partly ? "~" : "", b->title, text);
    }
}

/* ", +3.20 (was 38.20%)": of what it is compared with. */
static void change_text(const struct flame_model *m, const struct app *a, char *dst, size_t cap)
{
    double points, percent = app_percent(a, m->tree.nodes[m->selected].total_weight);
    char change[24];
    *dst = '\0';
    if (flame_model_change(m, m->selected, &points))
        (void)snprintf(dst, cap, ", %s (was %.2f%%)", difference_text(points, change, sizeof change),
                       fabs(percent - (m->difference->negate ? -points : points)));
}

/* A long name is only seen whole here. */
static void draw_node(const struct flame_model *m, const struct app *a, struct area area, int row)
{
    const struct calltree_node *n = &m->tree.nodes[m->selected];
    char count[32], rates[160], change[64], numbers[360], name[512];
    (void)snprintf(name, sizeof name, "%.500s", flame_model_name(m, m->selected));
    rates_text(m, m->selected, rates, sizeof rates);
    change_text(m, a, change, sizeof change);
    (void)snprintf(numbers, sizeof numbers, "  %.1f%% total%s, %.1f%% self, %s sample%s%s",
                   app_percent(a, n->total_weight), change, app_percent(a, n->self_weight),
                   text_thousands(count, sizeof count, n->total_count), n->total_count == 1 ? "" : "s", rates);
    draw_selected_line(area, row, name, numbers);
}

static void draw_rest(const struct flame_model *m, const struct app *a, struct area area, int row)
{
    struct flame_rest rest = flame_rest_of(&m->tree, m->selected);
    char count[32], numbers[160], name[96];
    (void)snprintf(name, sizeof name, "%u boxes too narrow to be drawn alone", rest.nodes);
    (void)snprintf(numbers, sizeof numbers, "  %.1f%% total, %s samples", app_percent(a, rest.weight),
                   text_thousands(count, sizeof count, rest.count));
    draw_selected_line(area, row, name, numbers);
}

/* Where the selected node belongs, or which of many it is. */
static int draw_belonging(const struct flame_model *m, const struct app *a, struct area area, int row,
                          bool rest)
{
    const struct calltree_node *n = &m->tree.nodes[m->selected];
    char name[64], key[16];
    if (rest) {
        text_elide(name, sizeof name, flame_model_name(m, m->selected), 30, true);
        return draw_printf(area, row, 0, STYLE_DIM, "hottest %s %.1f%%: %s zooms in  ", name,
                           app_percent(a, n->total_weight), keymap_first(a->keymap, ACTION_DRILL, key));
    }
    if (!m->selected || n->is_group)
        return 0;
    return draw_printf(area, row, 0, STYLE_DIM, "module %s%s%s  ", m->view->funcs[n->func].module,
                       n->group ? ", under " : "", n->group ? m->view->groups[n->group].label : "");
}

/* Or nothing: half of it would mislead. */
static int draw_whole(struct area area, int row, int col, const char *text)
{
    return col + text_width(text) <= area.cols ? draw_text(area, row, col, STYLE_DIM, text) + 2 : 0;
}

static void draw_below(const struct flame_model *m, const struct app *a, struct area area, int selected)
{
    int first = area.rows - LINES_BELOW, last = area.rows - 1;
    const struct flame_box *box = selected >= 0 ? &m->flame.boxes[selected] : NULL;
    bool rest = box && box->rest && box->node == m->selected;
    double alone = app_percent(a, m->flame.rest_weight), hidden = app_percent(a, m->flame.hidden_weight);
    if (rest)
        draw_rest(m, a, area, first);
    else
        draw_node(m, a, area, first);
    int col = draw_belonging(m, a, area, last, rest);
    if (*a->search)
        col += draw_printf(area, last, col, STYLE_LABEL, "/%s: %u frame%s, %.1f%%  ", a->search,
                           m->matched_frames, m->matched_frames == 1 ? "" : "s", m->matched_percent);
    char text[64];
    (void)snprintf(text, sizeof text, "%s too narrow alone: %.1f%%", glyph_text(GLYPH_ELLIPSIS, term_glyphs()), alone);
    if (m->flame.rest_weight)
        col += draw_whole(area, last, col, text);
    (void)snprintf(text, sizeof text, "not drawn: %.1f%%", hidden);
    if (hidden >= 0.05)
        draw_whole(area, last, col, text);
}

/* --- all of it --- */

static int rows_of_boxes(struct area area)
{
    return area.rows > LINES_BELOW ? area.rows - LINES_BELOW : 1;
}

void flame_draw(const struct flame_model *m, struct flame_look *look, const struct app *a, struct area area)
{
    int rows = rows_of_boxes(area), selected = flame_model_box_of(m, m->selected);
    keep_in_sight(m, look, selected, rows);
    for (int i = 0; i < (int)m->flame.n; i++) {
        const struct flame_box *b = &m->flame.boxes[i];
        int row = (int)b->row - look->first_row;
        if (row < 0 || row >= rows)
            continue;
        draw_box_cells(m, look, a, area, look->upward ? rows - 1 - row : row, b,
                       i == selected ? STYLE_FLAME_SELECTED : box_style(m, look, a, b));
    }
    draw_below(m, a, area, selected);
}

int flame_draw_row_at(const struct flame_model *m, const struct flame_look *look, struct area area, int row)
{
    int rows = rows_of_boxes(area), at = (look->upward ? rows - 1 - row : row) + look->first_row;
    return row >= 0 && row < rows && at >= 0 && at < (int)m->flame.rows ? at : -1;
}
