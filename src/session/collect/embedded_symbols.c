// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/load.h"

#include "perfdata/embedded.h"
#include "perfdata/format.h"

struct taking {
    struct supplied_symbols *supplied;
    struct supplied_module *module;
    const char *path; /* of the module, as the section has it */
};

static void take_symbol(void *ctx, const struct embedded_symbol *s)
{
    struct taking *t = ctx;

    if (s->path != t->path)
        t->module = supplied_add_module(t->supplied, s->kernel, s->path, s->path_n);
    t->path = s->path;
    supplied_add_symbol(t->supplied, t->module, s->offset, s->size, s->name, s->name_n);
}

struct supplied_symbols *embedded_symbols(const struct perfdata *p)
{
    static const unsigned features[] = { FORMAT_SIMPLEPERF_FILE, FORMAT_SIMPLEPERF_FILE2,
                                         FORMAT_HIPERF_SYMBOLS };
    struct taking t = { 0 };

    for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
        size_t n;
        const void *bytes = perfdata_feature(p, features[i], &n);
        if (!bytes)
            continue;
        t.supplied = t.supplied ? t.supplied : supplied_new();
        embedded_read(features[i], bytes, n, perfdata_swapped(p), take_symbol, &t);
    }
    if (t.supplied)
        supplied_sort(t.supplied);
    return t.supplied;
}
