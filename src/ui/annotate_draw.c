// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/annotate_draw.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/text.h"
#include "ui/view_ops.h"

#define SELF_COLS    7
#define TOTAL_COLS   7
#define SAMPLES_COLS 9
#define BYTES_SHOWN  8
#define WIDE         70  /* from this width on all numbers fit */
#define ROOMY        100 /* width from which on the title is longer */
#define TALL         10
#define NOTES_ROWS   3

struct layout {
    int total, samples; /* start columns; -1: not shown */
    int address, address_cols, arrows, source, bytes, text;
};

/* ---- texts ---- */

static void source_text(const struct annotate_view *v, const struct annotate_row *r, char *dst, size_t cap)
{
    char line[400];
    annotate_source(&v->an, r, line, sizeof line);
    bool named = r->new_file || !line[0];
    (void)snprintf(dst, cap, "%s%s%u%s%.100s%s  %s", named ? text_base_name(r->file) : "", named ? ":" : "",
                   r->line, r->inlined ? " [" : "", r->inlined ? r->inlined : "", r->inlined ? "]" : "",
                   line);
}

void annotate_row_text(const struct annotate_view *v, struct app *a, const struct annotate_row *r, char *dst,
                       size_t cap)
{
    dst[0] = '\0';
    if (r->kind == ANNOTATE_INSN)
        annotate_text(&v->an, a->session, r->slot, v->columns != 0, dst, cap);
    else if (r->kind == ANNOTATE_SOURCE)
        source_text(v, r, dst, cap);
}

static void address_text(const struct annotate_view *v, const struct annotate_row *r, char dst[24])
{
    uint64_t bias = v->an.code ? v->an.code->view.header.bias : 0;
    if (v->columns || !v->an.location.size)
        (void)snprintf(dst, 24, "%" PRIx64, r->offset + bias);
    else
        (void)snprintf(dst, 24, "%" PRIx64, r->offset - v->an.location.start);
}

static void bytes_text(const struct annotate_view *v, const struct annotate_row *r, char *dst, size_t cap)
{
    const struct code_view *c = &v->an.code->view;
    const struct code_row *row = &c->rows[r->slot];
    size_t n = 0;
    dst[0] = '\0';
    for (uint64_t i = 0; i < row->size && i < BYTES_SHOWN; i++)
        n += (size_t)snprintf(dst + n, cap - n, "%02x ", c->bytes[row->offset - c->header.start + i]);
    if (row->size > BYTES_SHOWN && n)
        dst[n - 1] = '+';
}

/* ---- above the rows ---- */

static void draw_title(const struct annotate_view *v, struct app *a, struct area area)
{
    const struct annotation *an = &v->an;
    char self[32], text[200];
    double all = app_percent(a, an->all.self), total = app_percent(a, an->all.total);
    bool wide = area.cols >= ROOMY;
    (void)snprintf(text, sizeof text, "%s samples: %.1f%%%s self, %.1f%% total; %u of %u %s%s",
                   text_thousands(self, sizeof self, an->all.self_samples), all, wide ? " of all" : "", total,
                   an->n_sampled, an->n_sums,
                   an->code && an->code->view.header.n_rows ? "instructions" : "addresses",
                   wide ? " sampled" : "");
    int width = text_width(text), room = area.cols - width - 2;
    if (room < 24)
        room = area.cols / 2;
    int col = draw_function(area, 0, 0, room, app_class_style(an->location.class), an->location.name, NULL);
    char module[140];
    (void)snprintf(module, sizeof module, "(%.130s)", an->location.module->name);
    if (room - col - 1 > 8)
        col += 1 + draw_elided(area, 0, col + 1, room - col - 1, STYLE_DIM, module, true);
    draw_elided(area, 0, col + 2, area.cols - col - 2, STYLE_NORMAL, text, false);
}

static void add_note(struct buf *b, const char *text)
{
    if (!text[0])
        return;
    if (b->len)
        buf_puts(b, "; ");
    buf_puts(b, text);
}

static double share(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

/* Collects remarks on what may surprise the user. */
static void collect_notes(const struct annotate_view *v, const struct app *a, struct buf *b)
{
    const struct annotation *an = &v->an;
    char text[160], key[16];
    if (an->state == SYMBOL_PENDING)
        add_note(b, "reading the code ...");
    if (!an->location.size)
        add_note(b,
                 "no instructions: start and end of this function are unknown (no symbol, no unwind table)");
    if (an->code && an->code->trouble[0]) {
        buf_puts(b, "no instructions: ");
        buf_puts(b, an->code->trouble);
    }
    if (!an->location.size || (an->code && an->code->trouble[0])) {
        (void)snprintf(text, sizeof text, "%s shows its callers",
                       keymap_first(a->keymap, ACTION_CALLERS, key));
        add_note(b, text);
    }
    if (an->code && an->state == SYMBOL_FOUND)
        add_note(b, an->code->note);
    if (an->cut) {
        (void)snprintf(text, sizeof text,
                       "%" PRIu64 " bytes of code: only the part around the hottest is shown",
                       an->location.size);
        add_note(b, text);
    }
    if (an->outside) {
        (void)snprintf(text, sizeof text, "%.1f%% of its samples are not at an instruction shown here",
                       share(an->outside, an->all.self));
        add_note(b, text);
    }
    if (an->other_copies) {
        (void)snprintf(text, sizeof text, "%.1f%% of all samples are in other functions of this name",
                       share(an->other_copies, an->result_weight));
        add_note(b, text);
    }
    if (!v->no_source)
        add_note(b, annotate_source_trouble(an));
}

static int draw_notes(const struct annotate_view *v, const struct app *a, struct area area, int row)
{
    struct buf notes = { 0 };
    collect_notes(v, a, &notes);
    int rows = 0;
    if (notes.len) {
        struct area room = area_sub(area, row, 0, NOTES_ROWS, -1);
        rows = draw_wrapped(room, 0, STYLE_LABEL, buf_str(&notes));
        rows = rows > room.rows ? room.rows : rows;
    }
    buf_done(&notes);
    return row + rows;
}

/* ---- rows ---- */

static void lay_out(struct layout *l, const struct annotate_view *v, int cols)
{
    const struct annotation *an = &v->an;
    char widest[24] = "";
    int col = SELF_COLS;
    l->total = cols >= WIDE ? col : -1;
    col += cols >= WIDE ? TOTAL_COLS : 0;
    l->samples = cols >= WIDE ? col : -1;
    col += cols >= WIDE ? SAMPLES_COLS : 0;
    l->address = col + 1;
    if (an->n_rows)
        address_text(v, &an->rows[an->n_rows - 1], widest);
    l->address_cols = text_width(widest) > 7 ? text_width(widest) : 7;
    col = l->address + l->address_cols + 1;
    l->arrows = col;
    col += v->arrows.n ? (int)v->arrows.lanes + 2 : 0;
    l->source = col;
    l->bytes = v->columns == 2 && an->code ? col : -1;
    col += l->bytes >= 0 ? 3 * BYTES_SHOWN : 0;
    l->text = col;
}

/* Draws what the percentages refer to, if it fits. */
static void draw_bases(const struct annotate_view *v, const struct layout *l, struct area area, int row,
                       int col)
{
    static const char *const texts[][2] = {
        { "SELF% of its own samples, TOTAL% of those with callees", "of own, of own + callees" },
        { "SELF% and TOTAL% of all samples", "of all" },
        { "SELF% of its own samples", "of own" },
        { "SELF% of all samples", "of all" },
    };
    const char *const *text = texts[(v->of_all ? 1 : 0) + (l->total < 0 ? 2 : 0)];
    int room = area.cols - col;
    const char *fits = text_width(text[0]) <= room ? text[0] : text_width(text[1]) <= room ? text[1] : "";
    draw_right(area, row, col, room, STYLE_TABLE_HEAD, fits);
}

static void draw_head(const struct annotate_view *v, const struct layout *l, struct area area, int row)
{
    draw_fill(area, row, 0, -1, STYLE_TABLE_HEAD);
    draw_right(area, row, 0, SELF_COLS - 1, STYLE_TABLE_SORT, "SELF%");
    if (l->total >= 0)
        draw_right(area, row, l->total, TOTAL_COLS - 1, STYLE_TABLE_HEAD, "TOTAL%");
    if (l->samples >= 0)
        draw_right(area, row, l->samples, SAMPLES_COLS - 1, STYLE_TABLE_HEAD, "SAMPLES");
    draw_right(area, row, l->address, l->address_cols, STYLE_TABLE_HEAD, "ADDRESS");
    int col = l->text + draw_text(area, row, l->text, STYLE_TABLE_HEAD, "INSTRUCTION");
    draw_bases(v, l, area, row, col + 2);
}

static void draw_numbers(const struct annotate_view *v, const struct layout *l, const struct annotate_row *r,
                         struct area area, int y)
{
    const struct annotation *an = &v->an;
    const struct annotate_sum *sum = &an->sums[r->slot];
    char number[32];
    double self = share(sum->self, v->of_all ? an->result_weight : an->all.self),
           total = share(sum->total, v->of_all ? an->result_weight : an->all.total);
    if (sum->self_samples)
        draw_printf(area, y, 0, app_share_style(self), "%6.2f", self);
    if (sum->total_samples > sum->self_samples && l->total >= 0)
        draw_printf(area, y, l->total, app_share_style(total), "%6.2f", total);
    if (sum->self_samples && l->samples >= 0)
        draw_right(area, y, l->samples, SAMPLES_COLS - 1, STYLE_NORMAL,
                   text_thousands(number, sizeof number, sum->self_samples));
}

static void draw_arrows(const struct annotate_view *v, const struct layout *l, const struct annotate_row *r,
                        struct area area, int y)
{
    uint8_t cells[ARROWS_COLS];
    uint32_t here = v->list.cursor < v->an.n_rows ? v->an.rows[v->list.cursor].slot : UINT32_MAX;
    int n = arrows_cells(&v->arrows, r->slot, r->kind == ANNOTATE_SOURCE, here, cells);
    for (int i = 0; i < n; i++)
        if (cells[i])
            draw_text(area, y, l->arrows + i, cells[i] & ARROW_HERE ? STYLE_TAGGED : STYLE_DIM,
                      arrow_text(cells[i], term_glyphs()));
}

static enum style text_style(const struct annotate_view *v, const struct annotate_row *r)
{
    static const enum style styles[CODE_KINDS] = { [CODE_PLAIN] = STYLE_NORMAL,
                                                   [CODE_JUMP] = STYLE_ASM_FLOW,
                                                   [CODE_CALL] = STYLE_ASM_FLOW,
                                                   [CODE_RETURN] = STYLE_ASM_FLOW,
                                                   [CODE_BAD] = STYLE_DIM };
    if (r->kind == ANNOTATE_SOURCE)
        return STYLE_ASM_SOURCE;
    return r->kind == ANNOTATE_INSN ? styles[v->an.code->view.rows[r->slot].kind] : STYLE_NORMAL;
}

static void draw_row(const struct annotate_view *v, struct app *a, const struct layout *l,
                     const struct annotate_row *r, struct area area, int y)
{
    char text[512], address[24];
    if (r->kind != ANNOTATE_SOURCE) {
        draw_numbers(v, l, r, area, y);
        address_text(v, r, address);
        draw_right(area, y, l->address, l->address_cols, STYLE_DIM, address);
    }
    if (r->kind == ANNOTATE_INSN && l->bytes >= 0) {
        bytes_text(v, r, text, sizeof text);
        draw_text(area, y, l->bytes, STYLE_DIM, text);
    }
    draw_arrows(v, l, r, area, y);
    annotate_row_text(v, a, r, text, sizeof text);
    int col = r->kind == ANNOTATE_SOURCE ? l->source : l->text;
    /* the start of the text matters more than its end */
    text[text_prefix(text, area.cols > col ? area.cols - col : 0, NULL)] = '\0';
    draw_match(area, y, col, area.cols - col, text_style(v, r), text, a->search);
}

void annotate_draw(void *view, struct app *a, struct area area)
{
    struct annotate_view *v = view;
    struct layout l;
    if (!v->an.location.module) {
        view_draw_empty(a, area);
        return;
    }
    int row = 1;
    draw_title(v, a, area);
    if (area.rows >= TALL)
        draw_elided(area, row++, 0, area.cols, STYLE_DIM, v->skid, false);
    row = draw_notes(v, a, area, row);
    lay_out(&l, v, area.cols);
    draw_head(v, &l, area, row++);
    v->body_row = row;
    struct area body = area_sub(area, row, 0, -1, -1);
    list_fit(&v->list, body.rows);
    for (int y = 0; y < body.rows && v->list.top + (uint32_t)y < v->an.n_rows; y++) {
        uint32_t i = v->list.top + (uint32_t)y;
        draw_row(v, a, &l, &v->an.rows[i], body, y);
        if (i == v->list.cursor)
            draw_restyle(body, y, STYLE_CURSOR);
    }
}
