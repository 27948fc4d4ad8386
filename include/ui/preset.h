// SPDX-License-Identifier: GPL-2.0-or-later
/* Presets: rows of presets.def, SYSCONFDIR/flametop/presets and $XDG_CONFIG_HOME/flametop/presets.
 * A later row replaces an earlier one of the same name. A file has a row per line; columns are separated
 * by blanks, and the last one is the rest of the line. Empty lines and lines that start with # are
 * ignored:
 *
 *   NAME  EVENT[,EVENT...]  RATE  VIEW  GROUP  SCOPE  DESCRIPTION
 *
 * EVENT: as for -e. A kernel-side filter follows in brackets, without blanks:
 * sched:sched_switch[prev_state&255]. Alternatives are separated by |: the first one that opens on this
 * system is used.
 * RATE: 99Hz, 1/1000 (a sample every 1000 events), each, auto (a period that follows the event's rate), -
 * (as other events).
 * VIEW and GROUP: words of --view and --group-by, or - to keep the present one.
 * SCOPE: - (the present one), all, user=NAME, cgroup=PATH[,PATH...], cpus=LIST; join several with +. */
#ifndef FLAMETOP_UI_PRESET_H
#define FLAMETOP_UI_PRESET_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "session/session.h"

struct preset {
    const char *name, *events, *scope, *help; /* scope "-": the present one */
    const char *rate;                         /* as written */
    struct session_sampling how;
    const char *view; /* NULL: the present one */
    int group;        /* enum view_group; -1: the present one */
    /* "FILE:LINE: ", prefix of errors found when the preset is used; "" for presets.def */
    char from[160];
};
struct preset_list { /* zero-initialised: empty */
    VEC(struct preset);
    struct arena strings;
};
/* Reads all presets. Returns false if a file has errors: e says where, and the valid rows are kept. */
bool preset_read(struct preset_list *l, struct error *e);
/* The same for one text; label is its name in messages. */
bool preset_read_text(struct preset_list *l, const char *label, const char *text, struct error *e);
void preset_list_done(struct preset_list *l);
/* Returns NULL if there is no such preset; e names the nearest. */
const struct preset *preset_find(const struct preset_list *l, const char *name, struct error *e);
/* Applies the preset's scope. */
bool preset_set_scope(const struct preset *p, struct scope *s, struct error *e);
/* Writes lines of a presets file. */
void preset_print(const struct preset_list *l, struct buf *out);

#endif
