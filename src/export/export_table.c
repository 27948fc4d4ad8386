// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of exporters, and the choice of a format. */
#include <string.h>

#include "base/text.h"
#include "export/export.h"

const struct exporter *const export_table[] = {
#define EXPORTER(name) &export_##name,
#include "export/exporters.def"
#undef EXPORTER
};
const size_t export_table_n = sizeof export_table / sizeof *export_table;

static bool is_meant(const struct exporter *x, const char *path)
{
    bool meant = text_ends_with(path, x->suffix);
    for (size_t i = 0; i < sizeof x->suffixes / sizeof *x->suffixes && x->suffixes[i]; i++)
        meant |= text_ends_with(path, x->suffixes[i]);
    return meant;
}

const struct exporter *export_find(const char *name, const char *path, struct error *e)
{
    const char *names[sizeof export_table / sizeof *export_table];
    for (size_t i = 0; i < export_table_n; i++) {
        names[i] = export_table[i]->name;
        if (name ? !strcmp(name, export_table[i]->name) : is_meant(export_table[i], path))
            return export_table[i];
    }
    if (!name)
        return &export_perfdata;
    int near = text_nearest(name, names, export_table_n);
    error_set(e, ERROR_ARGUMENT, "--export %s: no such format; --list-exports lists them", name);
    if (near >= 0)
        error_hint(e, "did you mean %s?", names[near]);
    return NULL;
}
