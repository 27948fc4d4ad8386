// SPDX-License-Identifier: GPL-2.0-or-later
/* What a view is made of, for those files of this folder that make it: view.c the query and what names decide of it,
 * view_groups.c the groups of its rows, view_names.c the functions of its frames. */
#ifndef FLAMETOP_SESSION_VIEW_PARTS_H
#define FLAMETOP_SESSION_VIEW_PARTS_H

#include "base/mem.h"
#include "session/inlines.h"
#include "session/select.h"

/* A module of the result's frames, and one of them that has no name: it is asked for again with every query, for a JIT
 * may have told one meanwhile. 0: all have one. */
struct view_module {
    struct module *module; /* held */
    uint32_t unnamed;
    uint32_t changed; /* symbolizer_changed when its frames were named */
    bool is_stale;    /* it has changed since */
};

struct view_memory {
    struct arena strings, names; /* of groups; of functions */
    struct map func_numbers, group_numbers;
    uint32_t *thread_group;
    uint8_t *thread_pass, *thread_seen;
    size_t thread_group_cap, thread_pass_cap, thread_seen_cap;
    struct view_module *modules;
    size_t n_modules, modules_cap;
    struct map module_numbers; /* module id → index */
    uint32_t n_named;          /* frames below have their functions, named … */
    uint32_t names_generation; /* … when the symbolizer was at this */
    uint32_t lines_changed;    /* symbolizer_lines_changed when inlined functions were asked for */
    uint32_t n_renamed;        /* frames since all were named: the functions that they had may be nobody's */
    bool names_change;         /* functions have other frames than before */
    size_t funcs_cap, groups_cap, frame_func_cap, drop_cap;
    uint8_t *drop; /* by entry */
    bool *func_idles;
    bool *func_settled;              /* it is found, and not called otherwise later */
    uint32_t *stale;                 /* frames that are to be asked for again */
    uint16_t *func_hits, *path_hits; /* see session/select.h */
    size_t func_settled_cap, stale_cap, func_idles_cap, func_hits_cap, path_hits_cap;
    struct inlines inlines;
};

/* ---- groups (view_groups.c), under the lock but for view_group_cpus ---- */

uint32_t view_add_group(struct view *v, uint64_t key, uint64_t number, const char *label);
bool view_groups_threads(
    enum view_group group); /* whether a sample's group is its thread's: memory->thread_group */
/* Of the threads that pass (memory->thread_pass) and have samples in the range. */
void view_group_threads(struct session *s, struct view *v, const struct view_query *q,
                        const struct query *scan);
/* Of the cgroups that are measured each has its place, whether it has samples or not. */
void view_group_chosen(struct session *s, struct view *v);
/* A CPU's group is its number plus one; those between that were not seen are groups without samples. */
void view_group_cpus(struct view *v);

/* ---- names (view_names.c) ---- */

void view_hold_modules(struct session *s, struct view *v); /* under the lock: of the frames that are new */
void view_release_modules(struct view_memory *m);
/* The names of frames that were there before are as they were until the symbolizer says that there are new ones. */
void view_name_frames(struct session *s, struct view *v);
void view_expand_inlines(struct session *s, const struct view_query *q, struct view *v);
/* By module: every frame of a module becomes one "function" with the module's name. */
void view_name_modules(struct view *v);

#endif
