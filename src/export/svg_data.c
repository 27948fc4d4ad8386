// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the whole tree as JSON for the script of the flame graph, however narrow the frames. Nodes are in
 * preorder, each as function, depth, samples and, in a differential flame graph, samples of the baseline. */
#include <string.h>

#include "export/export.h"

static void put_number(struct buf *out, uint64_t v)
{
    char digits[24], *p = digits + sizeof digits;
    do
        *--p = (char)('0' + v % 10);
    while (v /= 10);
    buf_add(out, p, (size_t)(digits + sizeof digits - p));
}

static void put_functions(struct buf *out, const struct svg_picture *p)
{
    const struct nametree *t = p->tree;
    struct map numbers = { 0 };
    struct buf modules = { 0 };
    buf_puts(out, ",\n\"names\":[");
    for (uint32_t i = 0; i < t->n_funcs; i++) {
        buf_puts(out, i ? "," : "");
        svg_put_json(out, t->funcs[i].name);
    }
    buf_puts(out, "],\n\"colours\":[");
    for (uint32_t i = 0; i < t->n_funcs; i++) {
        buf_puts(out, i ? "," : "");
        put_number(out, p->colours[i]);
    }
    buf_puts(out, "],\n\"module\":[");
    for (uint32_t i = 0; i < t->n_funcs; i++) {
        bool created;
        const char *module = t->funcs[i].module;
        uint64_t number = *map_at(&numbers, map_hash_bytes(module, strlen(module), 1), numbers.n, &created);
        if (created) {
            buf_puts(&modules, modules.len ? "," : "");
            svg_put_json(&modules, module);
        }
        buf_puts(out, i ? "," : "");
        put_number(out, number);
    }
    buf_printf(out, "],\n\"modules\":[%s]", buf_str(&modules));
    buf_done(&modules);
    map_done(&numbers);
}

static void put_nodes(struct buf *out, const struct svg_picture *p)
{
    const struct nametree_node *nodes = p->tree->nodes;
    buf_puts(out, ",\n\"nodes\":[");
    for (uint32_t i = 0;;) {
        bool there = !i || nodes[i].total[NAMETREE_SHOWN];
        if (there) {
            buf_puts(out, i ? "," : "");
            put_number(out, nodes[i].func);
            buf_putc(out, ',');
            put_number(out, nodes[i].depth);
            buf_putc(out, ',');
            put_number(out, nodes[i].total[NAMETREE_SHOWN]);
            if (p->all->baseline.session) {
                buf_putc(out, ',');
                put_number(out, nodes[i].total[NAMETREE_BASELINE]);
            }
        }
        if (!(i = nametree_next(p->tree, i, !there)))
            break;
    }
    buf_putc(out, ']');
}

void svg_put_data(struct buf *out, const struct svg_picture *p)
{
    uint32_t background[2] = { 0xffffff };
    (void)svg_background(p->o->background, background);
    buf_puts(out, "<script id=\"data\" type=\"application/json\"><![CDATA[\n{\"countName\":");
    svg_put_json(out, p->count_name);
    buf_puts(out, ",\"nameType\":");
    svg_put_json(out, p->o->name_type ? p->o->name_type : "Function:");
    buf_printf(
        out,
        ",\"width\":%g,\"rowHeight\":%g,\"fontSize\":%g,\"charWidth\":%g,\"monospace\":%s,\"minWidth\":%g,"
        "\"minPercent\":%g,\"pad\":%d,\"top\":%g,\"bottom\":%g,\"inverted\":%s,\"background\":\"#%06x\"",
        p->o->width, p->row, p->font_size, p->char_width, p->o->font ? "false" : "true", p->min_width,
        p->o->min_percent, SVG_PAD, p->top, p->bottom, p->o->inverted ? "true" : "false", background[0]);
    if (p->all->baseline.session) {
        buf_printf(
            out,
            ",\"difference\":{\"scale\":%.17g,\"negate\":%s,\"more\":%u,\"less\":%u,\"same\":%u,\"name\":",
            p->baseline_scale, p->o->negate ? "true" : "false", svg_difference_colour(1, 1, false),
            svg_difference_colour(-1, 1, false), svg_difference_colour(0, 1, false));
        svg_put_json(out, p->all->baseline.name);
        buf_putc(out, '}');
    }
    put_functions(out, p);
    put_nodes(out, p);
    buf_puts(out, "}\n]]></script>\n");
}
