// SPDX-License-Identifier: GPL-2.0-or-later
/* Presets: rows of presets.def, then those of /etc/flametop/presets and $XDG_CONFIG_HOME/flametop/presets. A row of a
 * later one takes the place of an earlier one of its name. A file has a row per line, columns separated by blanks, the
 * last one being the rest of the line; empty lines and those that start with # are left out:
 *
 *   NAME  EVENT[,EVENT...]  RATE  VIEW  GROUP  SCOPE  WHAT FOR
 *
 * EVENT: as -e takes it; a filter of the kernel's follows in brackets, without blanks: sched:sched_switch[prev_state&255].
 * Alternatives are separated by |: the first one that this machine opens is used.
 * RATE: 99Hz, 1/1000 (one in so many), each, auto (a period that follows the event's rate), - (as other events). VIEW and GROUP: words of --view and --group-by, or - to
 * leave them. SCOPE: - (as it is), all, user=NAME, cgroup=PATH[,PATH...], cpus=LIST; several are joined by +. */
#ifndef FLAMETOP_UI_PRESET_H
#define FLAMETOP_UI_PRESET_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "session/session.h"

struct preset {
    const char *name, *events, *scope, *help; /* scope "-": as it is */
    const char *rate;                         /* as written */
    struct session_sampling how;
    const char *view; /* NULL: as it is */
    int group;        /* enum view_group; -1: as it is */
    char
        from[160]; /* "FILE:LINE: ", to stand before what is found wrong when it is used; "" of presets.def */
};
struct preset_list { /* zero-initialised: empty */
    struct preset *at;
    size_t n, cap;
    struct arena strings;
};
/* All there are. False: a file is wrong, e says where; what could be read stands. */
bool preset_read(struct preset_list *l, struct error *e);
/* The same of one text; label stands in messages. */
bool preset_read_text(struct preset_list *l, const char *label, const char *text, struct error *e);
void preset_list_done(struct preset_list *l);
/* NULL: there is none of that name; e says the nearest one. */
const struct preset *preset_find(const struct preset_list *l, const char *name, struct error *e);
/* Changes what the preset says of the scope. */
bool preset_set_scope(const struct preset *p, struct scope *s, struct error *e);
/* As lines of a presets file. */
void preset_print(const struct preset_list *l, struct buf *out);

#endif
