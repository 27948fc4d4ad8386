// SPDX-License-Identifier: GPL-2.0-or-later
/* Internals of a view, private to its files: view.c (query and verdicts by name), view_groups.c (groups of
 * rows), view_names.c (functions of frames). */
#ifndef FLAMETOP_SESSION_QUERY_VIEW_PARTS_H
#define FLAMETOP_SESSION_QUERY_VIEW_PARTS_H

#include "base/mem.h"
#include "session/query/inlines.h"
#include "session/query/select.h"

/* A module of the result's frames. unnamed: one of its frames without a name, looked up again with every
 * query, since a JIT may have named it meanwhile; 0: all have names. */
struct view_module {
    struct module *module; /* held */
    uint32_t unnamed;
    uint32_t changed; /* symbolizer_changed when its frames were named */
    bool is_stale;    /* it has changed since */
};

struct view_memory {
    struct arena strings, names; /* of groups; of functions */
    struct map func_numbers, group_numbers;
    BUFFER(uint32_t) thread_group;
    BUFFER(uint8_t) thread_pass, thread_seen;
    VEC(struct view_module) modules;
    struct map module_numbers; /* module id → index */
    uint32_t n_named;          /* frames below this have their functions, */
    uint32_t names_generation; /* as of this symbolizer generation */
    uint32_t lines_changed;    /* symbolizer_lines_changed when inlined functions were looked up */
    /* frames renamed since all were named: their old functions may have no frames left */
    uint32_t n_renamed;
    bool names_change; /* functions have other frames than before */
    size_t funcs_cap, groups_cap, frame_func_cap;
    BUFFER(uint8_t) drop; /* by entry */
    BUFFER(bool) func_idles;
    BUFFER(bool) func_settled;             /* its name is found and will not change */
    BUFFER(uint32_t) stale;                /* frames to look up again */
    BUFFER(uint16_t) func_hits, path_hits; /* see select.h */
    struct inlines inlines;
};

/* ---- groups (view_groups.c), under store.lock except view_group_cpus ---- */

uint32_t view_add_group(struct view *v, uint64_t key, uint64_t number, const char *label);
bool view_groups_threads(
    enum view_group group); /* true if a sample's group is its thread's: memory->thread_group */
/* Groups the threads that pass (memory->thread_pass) and have samples in the range. */
void view_group_threads(struct session *s, struct view *v, const struct view_query *q,
                        const struct query *scan);
/* Adds a group for each measured cgroup, with samples or not. */
void view_group_chosen(struct session *s, struct view *v);
/* A CPU's group is its number + 1; CPUs in between without samples are empty groups. */
void view_group_cpus(struct view *v);

/* ---- names (view_names.c) ---- */

void view_hold_modules(struct session *s, struct view *v); /* under store.lock: modules of new frames */
void view_release_modules(struct view_memory *m);
/* Names new frames. Frames keep their names until the symbolizer reports new ones. */
void view_name_frames(struct session *s, struct view *v);
void view_expand_inlines(struct session *s, const struct view_query *q, struct view *v);
/* By module: makes every frame of a module one "function" with the module's name. */
void view_name_modules(struct view *v);

#endif
