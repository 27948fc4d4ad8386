// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/callgraph_draw.h"

#include <stdio.h>

#include "base/text.h"
#include "ui/app.h"
#include "ui/bars.h"

#define MARK_COLS   4
#define NAME_COLS   40 /* width that names keep when indentation grows */
#define LINE_LEVELS 64 /* of tree_row.more */
#define ARROW_COLS  3

static const char *glyph(enum glyph g)
{
    return glyph_text(g, term_glyphs());
}

struct indent {
    int cols, wide; /* wide: levels of two columns */
    bool deep;      /* no room to indent further: the depth is drawn as a number */
};

/* Indents by two columns a level while there is room, then by one, then not at all. */
static struct indent indent_of(uint16_t depth, int cols)
{
    int room = cols - NAME_COLS - MARK_COLS;
    room = room < 6 ? 6 : room;
    struct indent in = { .wide = room / 4 };
    in.cols = depth <= in.wide ? depth * 2 : in.wide + depth;
    in.deep = in.cols > room;
    in.cols = in.deep ? room : in.cols;
    return in;
}

/* Draws lines from the marks of the rows above to this row's, only at levels that are two columns wide. */
static void draw_lines(const struct tree_row *row, struct area area, int line, int wide)
{
    for (int level = 1; level < row->depth && level < LINE_LEVELS && level <= wide; level++)
        if (row->more >> level & 1)
            draw_text(area, line, level * 2 - 1, STYLE_DIM, glyph(GLYPH_VERTICAL));
    if (row->depth && row->depth < LINE_LEVELS && row->depth <= wide)
        draw_text(area, line, row->depth * 2 - 1, STYLE_DIM,
                  glyph(row->more >> row->depth & 1 ? GLYPH_BRANCH : GLYPH_LAST_BRANCH));
}

static void draw_mark(const struct tree_row *row, struct area area, int line, int col)
{
    if (!row->leaf)
        draw_text(area, line, col, STYLE_NORMAL, row->open ? "[-]" : "[+]");
    else
        for (int i = 0; row->depth && i < MARK_COLS - 1; i++)
            draw_text(area, line, col + i, STYLE_DIM, glyph(GLYPH_HORIZONTAL));
}

static int draw_one(const struct callgraph *g, uint32_t node, const char *search, struct area area, int line,
                    int col)
{
    const struct view_function *f = callgraph_function(g, node);
    enum style style = f ? app_class_style(f->class) : STYLE_GROUP;
    return (f ? draw_function : draw_match)(area, line, col, area.cols - col, style, callgraph_name(g, node),
                                            search);
}

static uint32_t next_in(const struct callgraph *g, uint32_t node, bool towards_last)
{
    return towards_last ? callgraph_node(g, node)->first_child : callgraph_node(g, node)->parent;
}

/* Returns the last name that fits, from one end of a chain on, with an ellipsis for the others. Callees
 * are named from the last one back, callers from the first one on. */
static uint32_t fitting(const struct callgraph *g, uint32_t from, uint32_t to, int room)
{
    bool towards_last = g->order == CALLGRAPH_CALLERS;
    int width = text_width(callgraph_name(g, from));
    while (from != to) {
        uint32_t next = next_in(g, from, towards_last);
        width += ARROW_COLS + text_width(callgraph_name(g, next));
        if (width + (next == to ? 0 : ARROW_COLS + 1) > room)
            break;
        from = next;
    }
    return from;
}

static int draw_arrow(const struct callgraph *g, struct area area, int line, int col)
{
    return draw_printf(area, line, col, STYLE_DIM, " %s ",
                       glyph(g->order == CALLGRAPH_CALLERS ? GLYPH_FROM : GLYPH_TO));
}

/* Draws "main → run → work", or for callers "work ← run ← main". Without room for all, the functions next
 * to the root are left out. Returns the next free column. */
static int draw_chain(const struct callgraph *g, const struct tree_row *row, const char *search,
                      struct area area, int line, int col)
{
    bool callers = g->order == CALLGRAPH_CALLERS;
    uint32_t node = callers ? row->first : fitting(g, row->node, row->first, area.cols - col);
    uint32_t last = callers ? fitting(g, row->first, row->node, area.cols - col) : row->node;
    if (node != row->first) {
        col += draw_text(area, line, col, STYLE_DIM, glyph(GLYPH_ELLIPSIS));
        col += draw_arrow(g, area, line, col);
    }
    for (; node != last; node = next_in(g, node, true)) {
        col += draw_one(g, node, search, area, line, col);
        col += draw_arrow(g, area, line, col);
    }
    col += draw_one(g, node, search, area, line, col);
    if (last != row->node) {
        col += draw_arrow(g, area, line, col);
        col += draw_text(area, line, col, STYLE_DIM, glyph(GLYPH_ELLIPSIS));
    }
    return col;
}

void callgraph_draw_row(const struct callgraph *g, const struct tree_row *row, const char *search,
                        struct area area, int line, bool module)
{
    struct indent indent = indent_of(row->depth, area.cols);
    int col = indent.cols + MARK_COLS;
    draw_lines(row, area, line, indent.wide);
    if (indent.deep)
        draw_printf(area, line, indent.cols - 4, STYLE_DIM, "%3u", row->depth + 1u);
    draw_mark(row, area, line, indent.cols);
    if (row->rest) {
        draw_printf(area, line, col, STYLE_DIM, "%s %u more below 0.1%%", glyph(GLYPH_ELLIPSIS),
                    callgraph_rest_of(g, row->node).nodes);
        return;
    }
    const struct view_function *f = callgraph_function(g, row->node);
    col = 2 + draw_chain(g, row, search, area, line, col);
    if (module && f && f->state == SYMBOL_FOUND && area.cols - col > 6)
        draw_elided(area, line, col, area.cols - col, STYLE_DIM, f->module, true);
}
