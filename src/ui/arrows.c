// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/arrows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define SPAN_MAX 4096 /* instructions; of longer arrows only the ends are drawn */
#define WORD     64

static uint32_t low_of(const struct arrow *a)
{
    return a->from < a->to ? a->from : a->to;
}

static uint32_t high_of(const struct arrow *a)
{
    return a->from < a->to ? a->to : a->from;
}

static int compare(const void *left, const void *right)
{
    const struct arrow *l = left, *r = right;
    uint32_t l_span = high_of(l) - low_of(l), r_span = high_of(r) - low_of(r);
    if (l_span != r_span)
        return l_span < r_span ? -1 : 1;
    return l->from < r->from ? -1 : l->from > r->from;
}

static void collect(struct arrows *a, const struct code_view *v)
{
    for (uint32_t i = 0; i < v->header.n_rows; i++) {
        const struct code_row *row = &v->rows[i];
        int64_t to = row->kind == CODE_JUMP && row->target != CODE_NO_TARGET ? code_find(v, row->target) : -1;
        if (to < 0 || v->rows[to].offset != row->target)
            continue;
        *VEC_PUSH(a) = (struct arrow){ .from = i, .to = (uint32_t)to, .lane = ARROWS_LANES };
    }
}

/* Claims the rows of an arrow in a lane, if all are free. */
static bool claim_lane(uint64_t *lane, const struct arrow *a)
{
    for (uint32_t i = low_of(a); i <= high_of(a); i++)
        if (lane[i / WORD] & (UINT64_C(1) << i % WORD))
            return false;
    for (uint32_t i = low_of(a); i <= high_of(a); i++)
        lane[i / WORD] |= UINT64_C(1) << i % WORD;
    return true;
}

void arrows_make(struct arrows *a, const struct code_view *v)
{
    size_t words = v->header.n_rows / WORD + 1;
    uint64_t *taken = mem_array(words * ARROWS_LANES, sizeof *taken);
    a->n = a->lanes = 0;
    collect(a, v);
    if (a->n)
        qsort(a->items, a->n, sizeof *a->items, compare);
    for (uint32_t i = 0; i < a->n; i++) {
        struct arrow *item = &a->items[i];
        for (uint8_t lane = 0; lane < ARROWS_LANES - 1 && high_of(item) - low_of(item) <= SPAN_MAX; lane++)
            if (claim_lane(taken + lane * words, item)) {
                item->lane = lane;
                break;
            }
        uint32_t used = item->lane < ARROWS_LANES ? item->lane + 1u : ARROWS_LANES;
        a->lanes = used > a->lanes ? used : a->lanes;
    }
    mem_free(taken);
}

void arrows_done(struct arrows *a)
{
    mem_free(a->items);
    *a = (struct arrows){ 0 };
}

/* Draws the end of an arrow: a corner, and a line from there to the instruction. */
static void put_end(const struct arrow *arrow, uint32_t row, int at, int cols, uint8_t here, uint8_t *cells)
{
    bool first = row == low_of(arrow), only = arrow->from == arrow->to;
    cells[at] |= (uint8_t)((only ? 0 : first ? ARROW_DOWN : ARROW_UP) | ARROW_RIGHT | here);
    for (int i = at + 1; i < cols; i++)
        cells[i] |= ARROW_LEFT | ARROW_RIGHT | here;
    if (row == arrow->to)
        cells[cols - 1] |= ARROW_HEAD;
}

int arrows_cells(const struct arrows *a, uint32_t row, bool before, uint32_t here, uint8_t cells[ARROWS_COLS])
{
    int cols = a->n ? (int)a->lanes + 1 : 0;
    memset(cells, 0, ARROWS_COLS);
    for (uint32_t i = 0; i < a->n; i++) {
        const struct arrow *arrow = &a->items[i];
        bool at_cursor = arrow->from == here || arrow->to == here;
        if (row < low_of(arrow) || row > high_of(arrow) || (arrow->lane == ARROWS_LANES && !at_cursor))
            continue;
        int at = (int)a->lanes - 1 - (arrow->lane < ARROWS_LANES ? arrow->lane : ARROWS_LANES - 1);
        uint8_t mark = at_cursor ? ARROW_HERE : 0;
        bool end = row == low_of(arrow) || row == high_of(arrow);
        if (end && !before)
            put_end(arrow, row, at, cols, mark, cells);
        else if (row > low_of(arrow))
            cells[at] |= ARROW_UP | ARROW_DOWN | mark;
    }
    return cols;
}

const char *arrow_text(uint8_t cell, bool glyphs)
{
    static const char *const lines[] = { " ", "│", "│", "│", "─", "┘", "┐", "┤",
                                         "─", "└", "┌", "├", "─", "┴", "┬", "┼" };
    unsigned way = cell & 15;
    if (cell & ARROW_HEAD)
        return ">";
    if (glyphs)
        return lines[way];
    if (!way)
        return " ";
    bool across = way & (ARROW_LEFT | ARROW_RIGHT), along = way & (ARROW_UP | ARROW_DOWN);
    return across && along ? "+" : across ? "-" : "|";
}
