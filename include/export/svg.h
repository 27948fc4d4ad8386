// SPDX-License-Identifier: GPL-2.0-or-later
/* What an SVG flame graph takes besides the query, as flamegraph.pl names it, and the pieces that draw one. */
#ifndef FLAMETOP_EXPORT_SVG_H
#define FLAMETOP_EXPORT_SVG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "session/nametree.h"

enum svg_palette {            /* in the order of svg_palette_names */
                   SVG_MIXED, /* by what a function is: kernel, user, C++, Rust, compiled at run time, inlined */
                   SVG_HOT,
                   SVG_MEM,
                   SVG_IO,
                   SVG_JAVA,
                   SVG_JS,
                   SVG_PERL,
                   SVG_WAKEUP,
                   SVG_CHAIN,
                   SVG_AQUA,
                   SVG_RED,
                   SVG_GREEN,
                   SVG_BLUE,
                   SVG_YELLOW,
                   SVG_PURPLE,
                   SVG_ORANGE,
                   SVG_PALETTES
};
extern const char *const svg_palette_names[SVG_PALETTES];

/* All zero: the defaults. Strings are borrowed. */
struct svg_options {
    const char *subtitle, *name_type, *font;
    const char *background; /* as svg_background takes it */
    enum svg_palette palette;
    double width;       /* of the picture, pixels; 0: 1200, and in a browser the window's */
    double height;      /* of a row; 0: 16 */
    double font_size;   /* 0: 12 */
    double min_width;   /* of a box, pixels; 0: 0.1 */
    double min_percent; /* not 0: of all, instead */
    bool hash;          /* colours are flamegraph.pl's for a name, similar ones for similar names */
    bool palette_map;   /* colours are those of ./palette.map, which gets those of functions that it lacks */
    bool inverted;      /* icicle: the root on top */
    bool reverse;       /* stacks are merged from the functions that run */
    bool negate;        /* differential: blue is more */
};
/* flamegraph.pl's "yellow", "blue", "green", "grey", or "#rrggbb": colours above and below. False: none of these. */
bool svg_background(const char *name, uint32_t colours[2]);

#define SVG_PAD 10 /* pixels, left and right of the boxes */

struct export_options;
struct svg_picture { /* pixels are doubles */
    const struct nametree *tree;
    const struct export_options *all;
    const struct svg_options *o;
    uint32_t *colours; /* by function */
    uint64_t *start;   /* by node: samples to the left of it */
    uint32_t depth;    /* of the deepest box */
    double width, row, font_size, char_width, min_width, top, bottom, height;
    double scale;        /* pixels per sample */
    double before_scale; /* what a sample of the other side counts */
    double largest;      /* difference */
    uint64_t gone;       /* samples of the other side in what is there no more */
    const char *count_name;
};
void svg_put_data(struct buf *out, const struct svg_picture *p); /* svg_data.c */

/* --- svg_colour.c: colours are 0xrrggbb --- */

uint32_t svg_colour_of(const struct nametree_func *f, const struct svg_options *o);
/* 0 … 1 for a name, as flamegraph.pl's --hash has it: early letters count more. reversed: of the name backwards. */
double svg_name_hash(const char *name, bool reversed);
/* Of a difference, red for more, blue for less; max: the largest there is. */
uint32_t svg_difference_colour(double difference, double max, bool negate);

/* --- svg_map.c --- */

/* Replaces colours (by function) with those that a palette map of flamegraph.pl has for their names ("name->rgb(r,g,b)"
 * in each line), and adds those that it lacks to the file, which is made when there is none. */
bool svg_map_apply(const char *path, const struct nametree *t, uint32_t *colours, struct error *e);

/* --- svg_text.c --- */

/* Text as XML content or as a value in double quotes; what XML forbids and invalid UTF-8 becomes U+FFFD. */
void svg_put_text(struct buf *out, const char *text);
/* Text as a JSON string with its quotes, of which nothing can end a script element or a CDATA section. */
void svg_put_json(struct buf *out, const char *text);
/* Text for a box of so many columns: what does not fit loses its template arguments first, then its end. Nothing when
 * there are too few. */
void svg_put_label(struct buf *out, const char *text, int columns);

#endif
