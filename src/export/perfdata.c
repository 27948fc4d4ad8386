// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports a perf.data. */
#include "export/export.h"

static bool perfdata_write(struct session *s, const struct view_query *q, const struct export_options *o,
                           const char *path, struct error *e)
{
    (void)o;
    return export_may_write("perf.data", path, e) && session_write(s, q, path, NULL, e);
}

const struct exporter export_perfdata = {
    .name = "perf.data",
    .suffix = ".data",
    .whole = true,
    .all_events = true,
    .help = "samples for perf report, perf script, and flametop -i",
    .save_help = "samples for perf and for flametop -i, on this machine",
    .write = perfdata_write,
};
