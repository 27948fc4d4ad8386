// SPDX-License-Identifier: GPL-2.0-or-later
/* Sets the options of SVG flame graphs, which have flamegraph.pl's names and meanings, and of comparisons. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"

/* Parses a number of pixels from least to most or, if percent is not NULL, a share such as "0.5%". */
static bool set_pixels(double *to, double *percent, enum option_id id, const char *value, double least,
                       double most, struct error *e)
{
    char *end;
    double v = *value >= '0' && *value <= '9' ? strtod(value, &end) : NAN;
    bool share = percent && !isnan(v) && !strcmp(end, "%");
    if (!isnan(v) && (share ? v <= 100 : !*end && v >= least && v <= most)) {
        *(share ? percent : to) = v > 0 ? v : DBL_MIN; /* 0 means the default */
        return true;
    }
    return error_set(e, ERROR_ARGUMENT, "--%s %s: pixels from %g to %g are needed%s", option_row(id)->name,
                     value, least, most, percent ? ", or a share such as 0.5%" : "");
}

static bool set_background(struct svg_options *svg, const char *value, struct error *e)
{
    uint32_t colours[2];
    svg->background = value;
    return svg_background(value, colours) ||
           error_set(e, ERROR_ARGUMENT,
                     "--bgcolors %s: yellow, blue, green, grey, or a colour such as #eeeeee is needed",
                     value);
}

static bool set_palette(struct svg_options *svg, const char *value, struct error *e)
{
    int word = options_word_of(OPTION_COLORS, value, e);
    for (int i = 0; i < SVG_PALETTES && word >= 0; i++)
        if (!strcmp(svg_palette_names[i], value))
            svg->palette = (enum svg_palette)i;
    return word >= 0;
}

/* Parses decimal seconds up to `end`. */
static bool seconds_of(const char *text, const char *end, double *to)
{
    char word[32], *rest;
    size_t n = (size_t)(end - text);
    if (!n || n >= sizeof word || strspn(text, "0123456789.") < n)
        return false;
    memcpy(word, text, n);
    word[n] = '\0';
    *to = strtod(word, &rest);
    return !*rest && *to <= 1e9;
}

/* Parses "A..B" up to `end`; B must be greater than A. */
static bool range_of(const char *text, const char *end, double *from, double *to)
{
    const char *dots = strstr(text, "..");
    return dots && dots < end && seconds_of(text, dots, from) && seconds_of(dots + 2, end, to) && *to > *from;
}

bool options_set_diff_range(struct options *o, const char *value, struct error *e)
{
    const char *comma = strchrnul(value, ',');
    o->diff_range = value;
    return (range_of(value, comma, &o->exports.baseline.from_s, &o->exports.baseline.to_s) &&
            (!*comma || range_of(comma + 1, comma + strlen(comma), &o->from_s, &o->to_s))) ||
           error_set(e, ERROR_ARGUMENT, "--diff-range %s: seconds are needed, such as 0..10 or 0..10,20..30",
                     value);
}

static bool set_text(const char **to, const char *value)
{
    *to = value;
    return true;
}

bool options_set_picture(struct export_options *x, enum option_id id, const char *value, struct error *e)
{
    struct svg_options *svg = &x->svg;
    switch (id) {
    case OPTION_TITLE:
        return set_text(&x->title, value);
    case OPTION_SUBTITLE:
        return set_text(&svg->subtitle, value);
    case OPTION_COUNTNAME:
        return set_text(&x->count_name, value);
    case OPTION_NAMETYPE:
        return set_text(&svg->name_type, value);
    case OPTION_FONTTYPE:
        return set_text(&svg->font, value);
    case OPTION_COLORS:
        return set_palette(svg, value, e);
    case OPTION_BGCOLORS:
        return set_background(svg, value, e);
    case OPTION_HASH:
        return options_set_flag(&svg->hash, id, value, e);
    case OPTION_CP:
        return options_set_flag(&svg->palette_map, id, value, e);
    case OPTION_INVERTED:
        return options_set_flag(&svg->inverted, id, value, e);
    case OPTION_REVERSE:
        return options_set_flag(&svg->reverse, id, value, e);
    case OPTION_DIFF_BY: {
        int word = options_word_of(id, value, e);
        x->compare_by = word == 0 ? COMPARE_BY_SAMPLES : COMPARE_BY_PERIOD;
        return word >= 0;
    }
    case OPTION_NEGATE:
        return options_set_flag(&svg->negate, id, value, e);
    case OPTION_WIDTH:
        return set_pixels(&svg->width, NULL, id, value, 100, 100000, e);
    case OPTION_HEIGHT:
        return set_pixels(&svg->height, NULL, id, value, 4, 200, e);
    case OPTION_FONTSIZE:
        return set_pixels(&svg->font_size, NULL, id, value, 4, 100, e);
    case OPTION_MINWIDTH:
        return set_pixels(&svg->min_width, &svg->min_percent, id, value, 0, 100000, e);
    default:
        return error_set(e, ERROR_ARGUMENT, "option %d is not known", (int)id);
    }
}
