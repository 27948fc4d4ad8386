// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports an SVG flame graph: an image for any viewer, and the data and a script for interaction in a
 * browser. Titles of frames and names of elements are flamegraph.pl's, for tools that read them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "export/compare.h"
#include "session/operation_rows.h"
#include "flamegraph_text.h"

#define WIDTH      1200
#define ROW_HEIGHT 16
#define FONT_SIZE  12
#define MIN_WIDTH  0.1
#define FONT       "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
#define MAP_FILE   "palette.map"

static double change_of(const struct svg_picture *p, const struct nametree_node *n)
{
    return (double)n->total[NAMETREE_SHOWN] - (double)n->total[NAMETREE_BASELINE] * p->baseline_scale;
}

/* --- layout --- */

static bool is_drawn(const struct svg_picture *p, uint32_t node)
{
    uint64_t total = p->tree->nodes[node].total[NAMETREE_SHOWN];
    return total && (!node || (double)total * p->scale >= p->min_width);
}

static void place_boxes(struct svg_picture *p)
{
    const struct nametree_node *nodes = p->tree->nodes;
    p->start = mem_array(p->tree->n, sizeof *p->start);
    for (uint32_t i = 0;;) {
        uint64_t at = p->start[i];
        for (uint32_t child = nodes[i].first_child; child; child = nodes[child].next_sibling) {
            p->start[child] = at;
            at += nodes[child].total[NAMETREE_SHOWN];
        }
        if (is_drawn(p, i) && nodes[i].depth > p->depth)
            p->depth = nodes[i].depth;
        if (!(i = nametree_next(p->tree, i, false)))
            break;
    }
}

/* Finds the largest difference and the baseline's samples of stacks that are gone. Such a subtree counts
 * once, at its top. */
static void compare(struct svg_picture *p)
{
    const struct nametree_node *nodes = p->tree->nodes;
    if (nodes[0].total[NAMETREE_BASELINE])
        p->baseline_scale =
            (double)nodes[0].total[NAMETREE_SHOWN] / (double)nodes[0].total[NAMETREE_BASELINE];
    for (uint32_t i = nodes[0].first_child; i;) {
        bool gone = !nodes[i].total[NAMETREE_SHOWN];
        if (!gone)
            p->largest = fmax(p->largest, fabs(change_of(p, &nodes[i])));
        else
            p->gone += nodes[i].total[NAMETREE_BASELINE];
        i = nametree_next(p->tree, i, gone);
    }
}

static void measure(struct svg_picture *p)
{
    const struct svg_options *o = p->o;
    uint64_t all = p->tree->nodes[0].total[NAMETREE_SHOWN];
    p->width = o->width > 0 ? o->width : WIDTH;
    p->row = o->height > 0 ? o->height : ROW_HEIGHT;
    p->font_size = o->font_size > 0 ? o->font_size : FONT_SIZE;
    p->char_width = p->font_size * (o->font ? 0.59 : 0.602);
    p->scale = all ? (p->width - 2 * SVG_PAD) / (double)all : 0;
    p->min_width = o->min_percent > 0 ? o->min_percent / 100 * (p->width - 2 * SVG_PAD)
                   : o->min_width > 0 ? o->min_width
                                      : MIN_WIDTH;
    p->top = p->font_size * 4.5;
    p->bottom = p->font_size * 4;
    p->count_name = p->all->count_name ? p->all->count_name : "samples";
    place_boxes(p);
    if (p->all->baseline.session)
        compare(p);
    p->height = p->top + p->bottom + (p->depth + 1) * p->row;
}

static void colour_functions(struct svg_picture *p)
{
    p->colours = mem_array(p->tree->n_funcs, sizeof *p->colours);
    for (uint32_t i = 0; i < p->tree->n_funcs; i++)
        p->colours[i] = svg_colour_of(&p->tree->funcs[i], p->o);
}

/* --- text above and below --- */

static const char *title_of(const struct svg_picture *p)
{
    if (p->all->title)
        return p->all->title;
    if (p->all->baseline.session)
        return p->o->inverted ? "Differential Icicle Graph" : "Differential Flame Graph";
    return p->o->inverted ? "Icicle Graph" : "Flame Graph";
}

/* Puts the subtitle: host, event, samples and query. */
static void put_subtitle(struct buf *out, struct session *s, const struct view_query *q,
                         const struct svg_picture *p)
{
    struct session_status st;
    char samples[32];
    if (p->o->subtitle) {
        buf_puts(out, p->o->subtitle);
        return;
    }
    session_get_status(s, &st);
    buf_printf(out, "%s, %s", st.host, st.event);
    if (st.freq_hz)
        buf_printf(out, " %lluHz", (unsigned long long)st.freq_hz);
    buf_printf(out, ", %s %s",
               text_thousands(samples, sizeof samples, p->tree->nodes[0].total[NAMETREE_SHOWN]),
               p->count_name);
    export_put_selection(out, ", ", &st, q);
    if (!p->all->baseline.session)
        return;
    buf_printf(out, ", compared with %s", p->all->baseline.name);
    if (p->gone)
        buf_printf(out, " (%.2f%% of it only there)",
                   100.0 * (double)p->gone / (double)p->tree->nodes[0].total[NAMETREE_BASELINE]);
}

struct swatch {
    uint32_t colour;
    const char *what;
};

static void put_swatches(struct buf *out, const struct svg_picture *p, const struct swatch *s, size_t n)
{
    double x = SVG_PAD, y = p->bottom - p->font_size;
    for (size_t i = 0; i < n; i++) {
        buf_printf(out,
                   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"1\" fill=\"#%06x\" "
                   "stroke=\"#999\" stroke-width=\"0.5\"/>",
                   x, y - p->font_size * 0.8, p->font_size, p->font_size, s[i].colour);
        buf_printf(out, "<text class=\"pale\" fill=\"#666\" x=\"%.1f\" y=\"%.1f\">", x + p->font_size * 1.5,
                   y);
        svg_put_text(out, s[i].what);
        buf_puts(out, "</text>");
        x += p->font_size * 3 + p->char_width * text_width(s[i].what);
    }
}

static void put_class_legend(struct buf *out, const struct svg_picture *p)
{
    struct swatch s[SYMBOL_CLASSES];
    bool there[SYMBOL_CLASSES] = { 0 };
    size_t n = 0;
    for (uint32_t i = 1; i < p->tree->n_funcs; i++)
        there[p->tree->funcs[i].class] |= !p->tree->funcs[i].is_group;
    for (size_t i = 0; i < SYMBOL_CLASSES; i++)
        if (there[i])
            s[n++] = (struct swatch){ svg_colour_of(&(struct nametree_func){ .name = "", .class = i }, p->o),
                                      symbol_class_names[i] };
    put_swatches(out, p, s, n);
}

static void put_legend(struct buf *out, const struct svg_picture *p)
{
    char more[96], less[96];
    snprintf(more, sizeof more, "more than in %.80s", p->all->baseline.name ? p->all->baseline.name : "");
    snprintf(less, sizeof less, "less");
    buf_puts(out, "<g id=\"legend\">");
    if (p->all->baseline.session)
        put_swatches(out, p,
                     (struct swatch[]){ { svg_difference_colour(1, 1, p->o->negate), more },
                                        { svg_difference_colour(-1, 1, p->o->negate), less },
                                        { svg_difference_colour(0, 1, false), "the same" } },
                     3);
    else if (p->o->palette == SVG_MIXED)
        put_class_legend(out, p);
    buf_puts(out, "</g>\n");
}

/* --- frames --- */

static void put_title(struct buf *out, const struct svg_picture *p, uint32_t node)
{
    const struct nametree_node *n = &p->tree->nodes[node];
    double all = (double)p->tree->nodes[0].total[NAMETREE_SHOWN];
    char count[32];
    svg_put_text(out, p->tree->funcs[n->func].name);
    buf_printf(out, " (%s ", text_thousands(count, sizeof count, n->total[NAMETREE_SHOWN]));
    svg_put_text(out, p->count_name);
    if (!node)
        buf_puts(out, ", 100%");
    else
        buf_printf(out, ", %.2f%%", 100 * (double)n->total[NAMETREE_SHOWN] / all);
    if (node && p->all->baseline.session)
        buf_printf(out, "; %+.2f%%", (p->o->negate ? -100 : 100) * change_of(p, n) / all);
    buf_putc(out, ')');
}

static void put_box(struct buf *out, const struct svg_picture *p, uint32_t node)
{
    const struct nametree_node *n = &p->tree->nodes[node];
    double x = SVG_PAD + (double)p->start[node] * p->scale,
           width = (double)n->total[NAMETREE_SHOWN] * p->scale;
    double y = p->o->inverted ? p->top + n->depth * p->row : p->height - p->bottom - (n->depth + 1) * p->row;
    uint32_t colour = p->all->baseline.session
                          ? svg_difference_colour(change_of(p, n), p->largest, p->o->negate)
                          : p->colours[n->func];
    int columns = (int)((width - 6) / p->char_width);
    buf_puts(out, "<g class=\"func_g\"><title>");
    put_title(out, p, node);
    buf_printf(out,
               "</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#%06x\" rx=\"1\"/>",
               x, y, width > 2 ? width - 0.5 : width, p->row - 1, colour);
    if (columns >= 3) {
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\">", x + 3, y + (p->row + p->font_size * 0.7) / 2 - 0.5);
        svg_put_label(out, p->tree->funcs[n->func].name, columns);
        buf_puts(out, "</text>");
    }
    buf_puts(out, "</g>\n");
}

/* Each frame that is wide enough is an SVG element, so every viewer shows it. In a browser the script
 * removes them and draws from the JSON, so a zoom shows frames that were too narrow. */
static void put_boxes(struct buf *out, const struct svg_picture *p)
{
    buf_puts(out, "<g id=\"frames\" fill=\"#111\">\n");
    for (uint32_t i = 0;;) {
        bool drawn = is_drawn(p, i);
        if (drawn)
            put_box(out, p, i);
        if (!(i = nametree_next(p->tree, i, !drawn)))
            break;
    }
    buf_puts(out, "</g>\n");
}

/* --- the file --- */

static void put_background(struct buf *out, const struct svg_picture *p)
{
    uint32_t colours[2];
    bool chosen = svg_background(p->o->background, colours);
    if (chosen)
        buf_printf(out,
                   "<defs><linearGradient id=\"background\" x1=\"0\" x2=\"0\" y1=\"0\" y2=\"1\">"
                   "<stop offset=\"5%%\" stop-color=\"#%06x\"/><stop offset=\"95%%\" stop-color=\"#%06x\"/>"
                   "</linearGradient></defs>\n",
                   colours[0], colours[1]);
    buf_printf(out, "<rect id=\"back\" class=\"back\" width=\"%g\" height=\"%g\" fill=\"%s\"/>\n", p->width,
               p->height, chosen ? "url(#background)" : "#fff");
}

static void put_start(struct buf *out, const struct svg_picture *p)
{
    buf_printf(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"%s\" width=\"%g\" height=\"%g\" "
               "viewBox=\"0 0 %g %g\" font-size=\"%g\" font-family=\"",
               p->o->background ? "flame light" : "flame", p->width, p->height, p->width, p->height,
               p->font_size);
    svg_put_text(out, p->o->font ? p->o->font : FONT);
    buf_puts(out, "\">\n<title>");
    svg_put_text(out, title_of(p));
    buf_puts(out, "</title>\n<desc>made by flametop " PACKAGE_VERSION "</desc>\n<style>\n");
    buf_puts(out, flamegraph_css);
    buf_puts(out, "</style>\n");
    put_background(out, p);
}

static void put_head(struct buf *out, const struct svg_picture *p, const char *subtitle)
{
    buf_printf(out,
               "<g id=\"head\"><text id=\"title\" class=\"ink middle\" x=\"%g\" y=\"%g\" font-size=\"%g\" "
               "text-anchor=\"middle\" fill=\"#111\">",
               p->width / 2, p->font_size * 2, p->font_size + 5);
    svg_put_text(out, title_of(p));
    buf_printf(out,
               "</text><text id=\"subtitle\" class=\"pale middle\" x=\"%g\" y=\"%g\" text-anchor=\"middle\" "
               "fill=\"#666\">",
               p->width / 2, p->font_size * 3.6);
    svg_put_label(out, subtitle, (int)((p->width - 2 * SVG_PAD) / p->char_width));
    buf_puts(out, "</text></g>\n");
}

static void put_foot(struct buf *out, const struct svg_picture *p)
{
    buf_printf(
        out,
        "<g id=\"foot\" transform=\"translate(0,%g)\"><text id=\"details\" class=\"ink\" x=\"%d\" y=\"%g\" "
        "fill=\"#111\"></text><text id=\"numbers\" class=\"pale\" x=\"%d\" y=\"%g\" fill=\"#666\"></text>",
        p->height - p->bottom, SVG_PAD, p->font_size * 1.6, SVG_PAD, p->bottom - p->font_size);
    put_legend(out, p);
    buf_puts(out, "</g>\n");
}

static void put_picture(struct buf *out, struct session *s, const struct view_query *q,
                        const struct svg_picture *p)
{
    struct buf subtitle = { 0 };
    put_subtitle(&subtitle, s, q, p);
    put_start(out, p);
    put_boxes(out, p);
    if (!p->tree->nodes[0].total[NAMETREE_SHOWN])
        buf_printf(out, "<text class=\"ink\" x=\"%d\" y=\"%g\" fill=\"#111\">no samples</text>\n", SVG_PAD,
                   p->top + p->font_size);
    put_head(out, p, buf_str(&subtitle));
    put_foot(out, p);
    svg_put_data(out, p);
    buf_puts(out, "<script><![CDATA[\n");
    buf_puts(out, flamegraph_js);
    buf_puts(out, "]]></script>\n</svg>\n");
    buf_done(&subtitle);
}

static void make_tree(struct nametree *t, struct session *s, const struct view_query *q, const struct view *v,
                      const struct export_options *o)
{
    struct nametree whole = { 0 };
    struct nametree *into = o->svg.reverse ? &whole : t;
    nametree_init(t);
    nametree_init(&whole);
    bool by_weight = o->baseline.session && o->compare_by == COMPARE_BY_PERIOD;
    nametree_add(into, v, NAMETREE_SHOWN, by_weight);
    compare_add_baseline(into, s, q, &o->baseline, by_weight);
    if (o->svg.reverse)
        nametree_add_reversed(t, &whole);
    nametree_sort(t);
    nametree_done(&whole);
}

static bool draw(struct session *s, const struct view_query *q, const struct view *v,
                 const struct export_options *o, struct buf *out, struct error *e)
{
    struct nametree tree = { 0 };
    struct svg_picture p = { .tree = &tree, .all = o, .o = &o->svg, .baseline_scale = 1 };
    make_tree(&tree, s, q, v, o);
    measure(&p);
    if (o->baseline.session && o->compare_by == COMPARE_BY_PERIOD && !o->count_name)
        p.count_name = v->weight_is_time ? "nanoseconds" : "events";
    colour_functions(&p);
    bool ok = !o->svg.palette_map || svg_map_apply(MAP_FILE, &tree, p.colours, e);
    if (ok)
        put_picture(out, s, q, &p);
    mem_free(p.colours);
    mem_free(p.start);
    nametree_done(&tree);
    return ok;
}

static bool svg_stream(struct session *s, const struct view_query *q, const struct export_options *o,
                       struct export_sink *to, struct error *e)
{
    struct view v = { 0 };
    export_query(s, q, &v);
    bool ok = draw(s, q, &v, o, &to->text, e);
    view_done(&v);
    return ok;
}

const struct exporter export_svg = {
    .name = "svg",
    .suffix = ".svg",
    .by_comm = true,
    .compares = true,
    .help = "a flame graph, in browsers with zoom and search",
    .stream = svg_stream,
};
