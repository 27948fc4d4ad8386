// SPDX-License-Identifier: GPL-2.0-or-later
/* What a screen asks and what it gets: a query in the words of the field, and its answer with names. */
#ifndef FLAMETOP_SESSION_VIEW_H
#define FLAMETOP_SESSION_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/query.h"
#include "session/beside.h"
#include "symbols/symbolizer.h"

enum view_group { /* X(id, name, title) rows: names for --group-by and the screens */
                  VIEW_GROUP_SYMBOL,
                  VIEW_GROUP_COMM_SYMBOL,
                  VIEW_GROUP_COMM,
                  VIEW_GROUP_MODULE,
                  VIEW_GROUP_PROCESS,
                  VIEW_GROUP_THREAD,
                  VIEW_GROUP_CPU,
                  VIEW_GROUP_CGROUP_SYMBOL, /* where several cgroups are measured, each of these is one with all below it */
                  VIEW_GROUP_CGROUP,
                  VIEW_GROUP_COUNT
};
/* Rows are of functions in each group. */
static inline bool view_group_splits(enum view_group g)
{
    return g == VIEW_GROUP_COMM_SYMBOL || g == VIEW_GROUP_CGROUP_SYMBOL;
}
/* Rows are of whole groups, whatever function a sample was in. */
static inline bool view_group_is_whole(enum view_group g)
{
    return g != VIEW_GROUP_SYMBOL && g != VIEW_GROUP_MODULE && !view_group_splits(g);
}
extern const char *const view_group_names[VIEW_GROUP_COUNT]; /* "symbol", "comm,symbol", … */

enum view_mode { VIEW_MODE_ALL, VIEW_MODE_KERNEL, VIEW_MODE_USER };

/* One zoom; they stack (Backspace takes the last one off). */
enum zoom_kind { ZOOM_MODULE, ZOOM_COMM, ZOOM_PROCESS, ZOOM_THREAD, ZOOM_CPU, ZOOM_CGROUP, ZOOM_FUNCTION };
struct zoom {
    enum zoom_kind kind;
    uint64_t number; /* pid, tid, cpu, cgroup id; function key */
    char text[128];  /* comm; module name; label for the header */
};
#define VIEW_ZOOMS_MAX 8

struct view_query {
    uint64_t window_ns;      /* the last so many ns of what is shown; 0: since start (or clear) */
    uint64_t from_ns, to_ns; /* not 0: an explicit range instead */
    enum view_group group;
    enum view_mode mode;
    bool show_idle;   /* count idle samples into the percentages */
    bool all_events;  /* not only those of the event that is shown */
    bool beside;      /* the other events of the group that is shown are summed up, too (session/beside.h) */
    bool no_inlines;  /* functions that were inlined are part of those that hold them */
    bool hot_inlines; /* so are, of what is sampled now, those in functions that have hardly a part in it */
    struct zoom zooms[VIEW_ZOOMS_MAX];
    uint32_t n_zooms;
    char filter[128]; /* only stacks through a function whose name has this (case folded); "": all */
};

struct view_function {         /* funcs[0] is unused */
    const char *name, *module; /* cleaned; valid until the next session_query on the view */
    uint64_t key;
    enum symbol_class class;
    enum symbol_state state;
    uint32_t module_id;
    uint64_t start, size; /* in the module's offsets */
};
struct view_group_info {
    const char *label; /* "mysqld", "cpu 3", "docker web", "mysqld/123" */
    const char *full;  /* of a cgroup its path, for files that are written; else the label */
    uint64_t number;   /* for a zoom into it */
    uint32_t pid;      /* of a thread: its process; else 0 */
    uint64_t key;      /* stable identity */
};

struct view {
    struct result result; /* filtered: what the percentages are of (result.weight is 100 %) */
    uint32_t *frame_func; /* function number per frame of the result */
    struct view_function *funcs;
    uint32_t n_funcs;
    struct view_group_info *groups; /* groups[0]: all, when not grouped */
    uint32_t n_groups;
    uint32_t
        n_chosen; /* with VIEW_GROUP_CGROUP_SYMBOL groups[1 .. n_chosen] are those measured, in their order, empty or not */
    bool weight_is_time; /* weights are nanoseconds */
    uint64_t span_ns;    /* of the range, as far as the event was sampled in it: what rates are of */
    struct view_beside beside[BESIDE_KINDS]; /* of result.beside */
    uint64_t idle_samples, idle_weight;      /* left out (or, with show_idle, counted in) */
    uint64_t all_samples;                    /* with idle, before zooms */
    uint64_t generation;                     /* session_generation at the time */
    struct view_memory *memory;
};
/* The module of one of the result's frames: held until the next query on the view. */
const struct module *view_module(const struct view *v, uint32_t frame);
/* Where the symbol of one of them begins, in the module's offsets: view_function has one place, and several functions of a
 * module may have one name. 0: not known. */
uint64_t view_symbol_start(struct session *s, const struct view *v, uint32_t frame);
/* Where one of them is in the source, of an inlined function within that: its file, NULL when that is not known. Asks in the
 * background; *pending: it may still come. Valid until the next query. */
const char *view_line(struct session *s, const struct view *v, uint32_t frame, uint32_t *line, bool *pending);
void view_done(struct view *v);

/* For this folder: an answer seen sample by sample, after session_query and without its group by module. */
enum view_verdict { VIEW_PASSES = 1, VIEW_IDLES = 2 };
/* What names decide of each stack: a byte per node of view_judged. False: nodes have other numbers than at the query
 * before, or that asked something else. *moment: the samples that were looked at. */
bool view_judge(struct view *v, const struct view_query *q, uint8_t **verdicts, size_t *cap, uint32_t *n,
                struct result_moment *moment);
const struct result *view_judged(const struct view *v); /* for result_node */
const uint32_t *view_inlined_nodes(
    const struct view *v); /* by its nodes: those of v->result; NULL: the same ones */

#endif
