// SPDX-License-Identifier: GPL-2.0-or-later
/* Colours of frames. The palettes look like flamegraph.pl's and apply to the same functions; instead of marks
 * after names (_[k], _[j], _[i]) the symbolizer's class is used. A function has the same colour in every
 * flame graph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "export/svg.h"

/* The value of a channel is base + range * one of the three numbers of a name. */
struct channel {
    uint8_t base, range, number;
};
struct ramp {
    struct channel red, green, blue;
};

static const struct ramp ramps[SVG_PALETTES] = {
    [SVG_HOT] = { { 205, 50, 2 }, { 0, 230, 0 }, { 0, 55, 1 } },
    [SVG_MEM] = { { 0, 0, 0 }, { 190, 50, 1 }, { 0, 210, 0 } },
    [SVG_IO] = { { 80, 60, 0 }, { 80, 60, 0 }, { 190, 55, 1 } },
    [SVG_RED] = { { 200, 55, 0 }, { 50, 80, 0 }, { 50, 80, 0 } },
    [SVG_GREEN] = { { 50, 60, 0 }, { 200, 55, 0 }, { 50, 60, 0 } },
    [SVG_BLUE] = { { 80, 60, 0 }, { 80, 60, 0 }, { 205, 50, 0 } },
    [SVG_YELLOW] = { { 175, 55, 0 }, { 175, 55, 0 }, { 50, 20, 0 } },
    [SVG_PURPLE] = { { 190, 65, 0 }, { 80, 60, 0 }, { 190, 65, 0 } },
    [SVG_AQUA] = { { 50, 60, 0 }, { 165, 55, 0 }, { 165, 55, 0 } },
    [SVG_ORANGE] = { { 190, 65, 0 }, { 90, 65, 0 }, { 0, 0, 0 } },
};

/* The flame view's colours, a little lighter or darker by name so that adjacent frames differ. */
static const struct ramp mixed[] = {
    [SYMBOL_CLASS_USER] = { { 232, 20, 0 }, { 92, 58, 0 }, { 84, 50, 0 } },
    [SYMBOL_CLASS_CXX] = { { 236, 18, 0 }, { 192, 34, 0 }, { 72, 50, 0 } },
    [SYMBOL_CLASS_RUST] = { { 200, 26, 0 }, { 152, 36, 0 }, { 80, 40, 0 } },
    [SYMBOL_CLASS_KERNEL] = { { 244, 11, 0 }, { 134, 44, 0 }, { 20, 50, 0 } },
    [SYMBOL_CLASS_JIT] = { { 112, 40, 0 }, { 196, 36, 0 }, { 112, 40, 0 } },
    [SYMBOL_CLASS_INLINED] = { { 84, 40, 0 }, { 196, 34, 0 }, { 200, 34, 0 } },
    [SYMBOL_CLASS_UNKNOWN] = { { 176, 24, 0 }, { 176, 24, 0 }, { 176, 24, 0 } },
    [SYMBOL_CLASS_WAIT_LOCK] = { { 200, 24, 0 }, { 120, 40, 0 }, { 204, 34, 0 } },
    [SYMBOL_CLASS_WAIT_DISK] = { { 84, 30, 0 }, { 156, 40, 0 }, { 232, 22, 0 } },
    [SYMBOL_CLASS_WAIT_IO] = { { 72, 30, 0 }, { 160, 34, 0 }, { 160, 34, 0 } },
    [SYMBOL_CLASS_WAIT_IDLE] = { { 146, 18, 0 }, { 150, 18, 0 }, { 158, 18, 0 } },
    [SYMBOL_CLASS_WAIT_OTHER] = { { 150, 26, 0 }, { 124, 34, 0 }, { 196, 30, 0 } },
    [SYMBOL_CLASS_RUNNABLE] = { { 196, 24, 0 }, { 226, 24, 0 }, { 36, 40, 0 } },
};
static const struct ramp group_ramp = { { 206, 14, 0 }, { 206, 14, 0 }, { 206, 14, 0 } };

#define SEPARATOR       0xa0a0a0 /* "--", between the stacks of a waiter and its waker */
#define LIGHT_SEPARATOR 0xc8c8c8 /* "-" */

/* --- numbers of a name --- */

double svg_name_hash(const char *name, bool reversed)
{
    size_t n = strlen(name);
    double vector = 0, weight = 1, max = 1;
    for (unsigned i = 0; i < 3 && i < n; i++) {
        unsigned char c = (unsigned char)name[reversed ? n - 1 - i : i];
        vector += (c % (10 + i)) / (double)(9 + i) * weight;
        max += weight;
        weight *= 0.70;
    }
    return 1 - vector / max;
}

static double spread(uint64_t hash, unsigned bits)
{
    return (double)(hash >> bits & 0xffff) / 0x10000;
}

static void numbers_of(const char *name, bool similar, double v[3])
{
    uint64_t hash = map_hash_bytes(name, strlen(name), 1);
    v[0] = similar ? svg_name_hash(name, false) : spread(hash, 0);
    v[1] = similar ? svg_name_hash(name, true) : spread(hash, 16);
    v[2] = similar ? v[1] : spread(hash, 32);
}

static uint32_t channel_value(const struct channel *c, const double v[3])
{
    return c->base + (uint32_t)(c->range * v[c->number]);
}

static uint32_t ramp_colour(const struct ramp *r, const double v[3])
{
    return channel_value(&r->red, v) << 16 | channel_value(&r->green, v) << 8 | channel_value(&r->blue, v);
}

/* --- palettes by the kind of a function --- */

static bool begins_with_java(const char *name)
{
    static const char *const packages[] = {
        "java/", "javax/", "jdk/", "net/", "org/", "com/", "io/", "sun/"
    };
    name += *name == 'L';
    for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
        if (!strncmp(name, packages[i], strlen(packages[i])))
            return true;
    return false;
}

static bool has_namespaces(const struct nametree_func *f)
{
    return strstr(f->name, "::") || f->class == SYMBOL_CLASS_CXX;
}

static enum svg_palette java_palette(const struct nametree_func *f)
{
    if (f->class == SYMBOL_CLASS_JIT)
        return SVG_GREEN;
    if (f->class == SYMBOL_CLASS_INLINED)
        return SVG_AQUA;
    if (begins_with_java(f->name))
        return SVG_GREEN;
    if (has_namespaces(f))
        return SVG_YELLOW;
    return f->class == SYMBOL_CLASS_KERNEL ? SVG_ORANGE : SVG_RED;
}

static enum svg_palette js_palette(const struct nametree_func *f)
{
    const char *slash = strchr(f->name, '/');
    if (f->class == SYMBOL_CLASS_JIT)
        return slash ? SVG_GREEN : SVG_AQUA;
    if (has_namespaces(f))
        return SVG_YELLOW;
    if (slash && strstr(slash, ".js"))
        return SVG_GREEN;
    if (strchr(f->name, ':'))
        return SVG_AQUA;
    return f->class == SYMBOL_CLASS_KERNEL ? SVG_ORANGE : SVG_RED;
}

static enum svg_palette perl_palette(const struct nametree_func *f)
{
    if (has_namespaces(f))
        return SVG_YELLOW;
    if (strstr(f->name, "Perl") || strstr(f->name, ".pl"))
        return SVG_GREEN;
    return f->class == SYMBOL_CLASS_KERNEL ? SVG_ORANGE : SVG_RED;
}

static enum svg_palette palette_of(const struct nametree_func *f, enum svg_palette asked)
{
    switch (asked) {
    case SVG_JAVA:
        return java_palette(f);
    case SVG_JS:
        return js_palette(f);
    case SVG_PERL:
        return perl_palette(f);
    case SVG_WAKEUP:
        return SVG_AQUA;
    case SVG_CHAIN: /* wakers have a mark */
        return strstr(f->name, "_[w]") ? SVG_AQUA : SVG_BLUE;
    default:
        return asked;
    }
}

uint32_t svg_colour_of(const struct nametree_func *f, const struct svg_options *o)
{
    double v[3];
    if (!strcmp(f->name, "--"))
        return SEPARATOR;
    if (!strcmp(f->name, "-"))
        return LIGHT_SEPARATOR;
    numbers_of(f->name, o->hash, v);
    if (o->palette == SVG_MIXED)
        return ramp_colour(f->is_group ? &group_ramp : &mixed[f->class], v);
    return ramp_colour(&ramps[palette_of(f, o->palette)], v);
}

#define SAME 0xe4e4e4
#define MORE 0xf04438
#define LESS 0x4c8df6

static uint32_t mixed_channel(uint32_t from, uint32_t to, double share, int shift)
{
    double a = from >> shift & 0xff, b = to >> shift & 0xff;
    return (uint32_t)(a + (b - a) * share) << shift;
}

uint32_t svg_difference_colour(double difference, double max, bool negate)
{
    uint32_t full = (difference > 0) != negate ? MORE : LESS;
    double share = max > 0 ? pow(fabs(difference) / max, 0.6) : 0; /* keeps small differences visible */
    return mixed_channel(SAME, full, share, 16) | mixed_channel(SAME, full, share, 8) |
           mixed_channel(SAME, full, share, 0);
}

bool svg_background(const char *name, uint32_t colours[2])
{
    static const struct {
        const char *name;
        uint32_t colours[2];
    } known[] = { { "yellow", { 0xeeeeee, 0xeeeeb0 } },
                  { "blue", { 0xeeeeee, 0xe0e0ff } },
                  { "green", { 0xeef2ee, 0xe0ffe0 } },
                  { "grey", { 0xf8f8f8, 0xe8e8e8 } } };
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name)) {
            memcpy(colours, known[i].colours, sizeof known[i].colours);
            return true;
        }
    if (!name || *name != '#' || strlen(name) != 7 || strspn(name + 1, "0123456789abcdefABCDEF") != 6)
        return false;
    colours[0] = colours[1] = (uint32_t)strtoul(name + 1, NULL, 16);
    return true;
}
