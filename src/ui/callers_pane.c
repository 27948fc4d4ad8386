// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/callers_pane.h"

#include <stdio.h>

#include "ui/callgraph_draw.h"

#define SMALL_PART 20   /* callers with less than 1/20 of the function are one row */
#define OPEN_DEPTH 1000 /* rows above this depth are open */
#define SHARE_COLS 6
#define NAME_AT    (SHARE_COLS + 2)

void callers_pane_update(struct callers_pane *p)
{
    p->stale = true;
}

void callers_pane_done(struct callers_pane *p)
{
    callgraph_done(&p->graph);
    tree_done(&p->tree);
}

static void build(struct callers_pane *p, const struct app *a, uint64_t func_key)
{
    if (!p->stale && p->func_key == func_key)
        return;
    p->graph.order = CALLGRAPH_CALLERS;
    p->graph.focus = p->func_key = func_key;
    callgraph_build(&p->graph, &a->data);
    p->graph.small_below = p->graph.tree.nodes[0].total_weight / SMALL_PART;
    p->tree.open_depth = OPEN_DEPTH;
    tree_update(&p->tree, &callgraph_model, &p->graph);
    p->stale = false;
}

static void draw_row(const struct callers_pane *p, const struct app *a, const struct tree_row *row,
                     struct area area, int line)
{
    char text[32];
    uint64_t weight = callgraph_node(&p->graph, row->node)->total_weight;
    double percent = app_percent(a, row->rest ? callgraph_rest_of(&p->graph, row->node).total : weight);
    (void)snprintf(text, sizeof text, "%.1f", percent);
    draw_right(area, line, 0, SHARE_COLS, app_share_style(percent), text);
    callgraph_draw_row(&p->graph, row, "", area_sub(area, 0, NAME_AT, -1, -1), line, false);
}

void callers_pane_draw(struct callers_pane *p, const struct app *a, uint32_t func, struct area area)
{
    draw_fill(area, 0, 0, -1, STYLE_TABLE_HEAD);
    draw_right(area, 0, 0, SHARE_COLS, STYLE_TABLE_HEAD, "TOTAL%");
    draw_text(area, 0, NAME_AT, STYLE_TABLE_HEAD, "CALLERS of the function at the cursor");
    if (!func)
        return;
    build(p, a, a->data.funcs[func].key);
    for (uint32_t i = 0; i < p->tree.n && (int)i + 1 < area.rows; i++)
        draw_row(p, a, &p->tree.rows[i], area, (int)i + 1);
}
