// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_paint.h"

static uint32_t add(struct term_paints *p, struct theme_style s)
{
    p->styles[p->n] = s;
    return p->n++;
}

void term_paint_theme(struct term_paints *p, const struct theme_style styles[STYLE_COUNT], uint32_t room)
{
    p->n = 0;
    p->room = room < TERM_PAINTS ? room : TERM_PAINTS;
    map_clear(&p->made);
    for (int i = 0; i < STYLE_COUNT; i++)
        (void)add(p, styles[i]);
    (void)add(p, (struct theme_style){ -1, -1, 0 });
}

void term_paint_done(struct term_paints *p)
{
    map_done(&p->made);
}

/* Returns the paint of a style, and adds it if new; `instead` when there is no room. */
static enum style made(struct term_paints *p, struct theme_style s, enum style instead)
{
    uint64_t key = (uint64_t)(s.fg + 1) | (uint64_t)(s.bg + 1) << 26 | (uint64_t)s.attributes << 52, at;
    if (map_get(&p->made, key, &at))
        return (enum style)at;
    if (p->n >= p->room)
        return instead;
    at = add(p, s);
    map_put(&p->made, key, at);
    return (enum style)at;
}

enum style term_paint_shade(struct term_paints *p, enum style style, uint32_t which)
{
    struct theme_style s = p->styles[style];
    if (!p->rich || s.bg < 0)
        return style;
    int32_t shade = theme_color_shade(s.bg, which, p->direct);
    if (shade == s.bg)
        return style;
    s.bg = shade;
    return made(p, s, style);
}

static int32_t background(const struct theme_style *s)
{
    return s->attributes & THEME_REVERSE ? s->fg : s->bg;
}

enum style term_paint_half(struct term_paints *p, enum style left, enum style right, const char **character)
{
    int32_t l = background(&p->styles[left]), r = background(&p->styles[right]);
    *character = l == r ? " " : l < 0 ? "▐" : "▌"; /* the terminal's own background cannot be a foreground */
    return made(p, (struct theme_style){ l < 0 ? r : l, l < 0 ? l : r, 0 }, right);
}
