// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/theme_color.h"

#include <math.h>

#define CUBE           16
#define GREYS          232
#define HUE_MAX        6.0 /* degrees */
#define LIGHTNESS_MAX  0.16
#define SATURATION_MAX 0.41 /* less saturation; more would be too bright */
#define BOTH_MAX       1.5  /* lightness and saturation together, each relative to its own limit */

static const uint8_t cube_levels[6] = { 0, 95, 135, 175, 215, 255 };

static int cube_level(long v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (int)((v - 35) / 40);
}

static int32_t rgb_of(unsigned r, unsigned g, unsigned b)
{
    return (int32_t)(THEME_RGB | r << 16 | g << 8 | b);
}

int32_t theme_color_256(int32_t c)
{
    if (c < THEME_RGB)
        return c;
    return CUBE + 36 * cube_level(c >> 16 & 255) + 6 * cube_level(c >> 8 & 255) + cube_level(c & 255);
}

int32_t theme_color_8(int32_t c)
{
    c = theme_color_256(c);
    if (c < 8)
        return c;
    if (c < CUBE)
        return c - 8;
    if (c >= GREYS)
        return c >= 244 ? 7 : 0;
    int v = c - CUBE, r = v / 36 >= 3, g = v / 6 % 6 >= 3, b = v % 6 >= 3;
    return r | g << 1 | b << 2;
}

int32_t theme_color_direct(int32_t c)
{
    static const int32_t bright[8] = { 0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00,
                                       0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff };
    if (c < 8 || c >= THEME_RGB)
        return c;
    if (c < CUBE)
        return THEME_RGB | bright[c - 8];
    if (c >= GREYS) {
        unsigned grey = 8 + 10 * (unsigned)(c - GREYS);
        return rgb_of(grey, grey, grey);
    }
    int v = c - CUBE;
    return rgb_of(cube_levels[v / 36], cube_levels[v / 6 % 6], cube_levels[v % 6]);
}

/* --- shades --- */

struct hsl {
    double hue, saturation, lightness; /* degrees; the others 0 to 1 */
};

static struct hsl hsl_of(int32_t c)
{
    int32_t rgb = theme_color_direct(c);
    double r = (rgb >> 16 & 255) / 255.0, g = (rgb >> 8 & 255) / 255.0, b = (rgb & 255) / 255.0;
    double max = fmax(r, fmax(g, b)), min = fmin(r, fmin(g, b)), range = max - min;
    struct hsl h = { .lightness = (max + min) / 2 };
    if (range <= 0)
        return h;
    h.saturation = range / (1 - fabs(2 * h.lightness - 1));
    if (max == r)
        h.hue = 60 * fmod((g - b) / range + 6, 6);
    else
        h.hue = 60 * (max == g ? (b - r) / range + 2 : (r - g) / range + 4);
    return h;
}

static bool is_shade(struct hsl a, struct hsl b)
{
    double hue = fabs(a.hue - b.hue), lightness = fabs(a.lightness - b.lightness) / LIGHTNESS_MAX;
    double saturation = (a.saturation - b.saturation) / SATURATION_MAX;
    hue = hue > 180 ? 360 - hue : hue;
    return hue <= HUE_MAX && b.saturation > 0 && lightness <= 1 && saturation > -0.05 && saturation <= 1 &&
           lightness + saturation <= BOTH_MAX;
}

/* Collects the neighbours of a colour in the cube with the same hue: at most THEME_SHADES, the colour
 * itself first. */
static uint32_t cube_shades(int32_t c, int32_t shades[THEME_SHADES])
{
    int v = c - CUBE, r = v / 36, g = v / 6 % 6, b = v % 6;
    struct hsl base = hsl_of(c);
    uint32_t n = 0;
    shades[n++] = c;
    for (int step = 0; step < 27 && n < THEME_SHADES; step++) {
        int nr = r + step / 9 - 1, ng = g + step / 3 % 3 - 1, nb = b + step % 3 - 1;
        int32_t near = CUBE + 36 * nr + 6 * ng + nb;
        if (nr < 0 || nr > 5 || ng < 0 || ng > 5 || nb < 0 || nb > 5 || near == c)
            continue;
        if (is_shade(base, hsl_of(near)))
            shades[n++] = near;
    }
    return n;
}

static int32_t mixed(int32_t rgb, unsigned with, unsigned percent)
{
    unsigned r = rgb >> 16 & 255, g = rgb >> 8 & 255, b = rgb & 255, own = 100 - percent;
    return rgb_of((r * own + with * percent) / 100, (g * own + with * percent) / 100,
                  (b * own + with * percent) / 100);
}

static int32_t direct_shade(int32_t rgb, uint32_t which)
{
    static const struct {
        uint8_t with, percent;
    } mixes[THEME_SHADES] = { { 0, 0 }, { 255, 14 }, { 0, 8 }, { 255, 28 }, { 0, 15 } };
    return mixed(rgb, mixes[which % THEME_SHADES].with, mixes[which % THEME_SHADES].percent);
}

int32_t theme_color_shade(int32_t c, uint32_t which, bool direct)
{
    static const int greys[THEME_SHADES] = { 0, 1, -1, 2, -2 };
    int32_t shades[THEME_SHADES];
    if (c < CUBE)
        return c;
    if (direct)
        return direct_shade(theme_color_direct(c), which);
    c = theme_color_256(c);
    if (c < GREYS)
        return shades[which % cube_shades(c, shades)];
    int32_t grey = c + greys[which % THEME_SHADES];
    return grey < GREYS || grey > 255 ? c : grey;
}
