// SPDX-License-Identifier: GPL-2.0-or-later
/* Options of an SVG flame graph, named as in flamegraph.pl, and the functions that draw one. */
#ifndef FLAMETOP_EXPORT_SVG_H
#define FLAMETOP_EXPORT_SVG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "session/nametree.h"

/* SVG_MIXED: by class: kernel, user, C++, Rust, JIT-compiled, inlined. */
enum svg_palette {
    SVG_MIXED,
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

/* All zero: the defaults. Strings are borrowed. */
struct svg_options {
    const char *subtitle, *name_type, *font;
    const char *background; /* see svg_background */
    enum svg_palette palette;
    double width;       /* of the image, pixels; 0: 1200, and in a browser the window's width */
    double height;      /* of a row, pixels; 0: 16 */
    double font_size;   /* pixels; 0: 12 */
    double min_width;   /* of a frame, pixels; 0: 0.1 */
    double min_percent; /* if not 0: minimum share of all samples, instead of min_width */
    bool hash;          /* colours by flamegraph.pl's hash: similar names get similar colours */
    bool palette_map;   /* use the colours of ./palette.map, and add those of functions it lacks */
    bool inverted;      /* icicle graph: the root at the top */
    bool reverse;       /* merge stacks from the leaf */
    bool negate;        /* differential flame graph: blue is more */
};
/* Returns the colours at the top and bottom of a background: flamegraph.pl's "yellow", "blue", "green",
 * "grey", or "#rrggbb". Returns false for other names. */
bool svg_background(const char *name, uint32_t colours[2]);

#define SVG_PAD 10 /* pixels, left and right of the frames */

struct export_options;
struct svg_picture { /* doubles are pixels if nothing else is said */
    const struct nametree *tree;
    const struct export_options *all;
    const struct svg_options *o;
    uint32_t *colours; /* by function */
    uint64_t *start;   /* by node: samples to its left */
    uint32_t depth;    /* of the deepest frame */
    double width, row, font_size, char_width, min_width, top, bottom, height;
    double scale;          /* pixels per sample */
    double baseline_scale; /* weight of a baseline sample */
    double largest;        /* largest difference, in samples */
    uint64_t gone;         /* baseline samples of stacks without samples now */
    const char *count_name;
};
void svg_put_data(struct buf *out, const struct svg_picture *p); /* svg_data.c */

/* --- svg_colour.c: colours are 0xrrggbb --- */

uint32_t svg_colour_of(const struct nametree_func *f, const struct svg_options *o);
/* Returns 0 to 1 for a name, as flamegraph.pl --hash does: early letters count more. reversed: reads the name
 * backwards. */
double svg_name_hash(const char *name, bool reversed);
/* Returns the colour of a difference: red for more, blue for less. max: the largest difference. */
uint32_t svg_difference_colour(double difference, double max, bool negate);

/* --- svg_map.c --- */

/* Replaces colours (by function) with those of a palette map of flamegraph.pl, which has "name->rgb(r,g,b)"
 * in each line. Adds functions that it lacks to the file, and creates the file if there is none. */
bool svg_map_apply(const char *path, const struct nametree *t, uint32_t *colours, struct error *e);

/* --- svg_text.c --- */

/* Appends text as XML content or as a value in double quotes. Invalid UTF-8 and characters that XML forbids
 * become U+FFFD. */
void svg_put_text(struct buf *out, const char *text);
/* Appends a quoted JSON string that cannot end a script element or a CDATA section. */
void svg_put_json(struct buf *out, const char *text);
/* Appends the label of a frame of `columns` columns. Text that does not fit loses its template arguments
 * first, then its end. Appends nothing if there are too few columns. */
void svg_put_label(struct buf *out, const char *text, int columns);

#endif
