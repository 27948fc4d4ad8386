// SPDX-License-Identifier: GPL-2.0-or-later
/* A screen's query, and its result with names. */
#ifndef FLAMETOP_SESSION_VIEW_H
#define FLAMETOP_SESSION_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "profile/query.h"
#include "session/group_column.h"
#include "symbols/symbolizer.h"

enum view_group { /* X(id, name, title) rows: names for --group-by and the screens */
                  VIEW_GROUP_SYMBOL,
                  VIEW_GROUP_COMM_SYMBOL,
                  VIEW_GROUP_COMM,
                  VIEW_GROUP_MODULE,
                  VIEW_GROUP_PROCESS,
                  VIEW_GROUP_THREAD,
                  VIEW_GROUP_CPU,
                  /* with several measured cgroups: each includes all below it */
                  VIEW_GROUP_CGROUP_SYMBOL,
                  VIEW_GROUP_CGROUP,
                  VIEW_GROUP_COUNT
};
/* True if rows are functions within groups. */
static inline bool view_group_splits(enum view_group g)
{
    return g == VIEW_GROUP_COMM_SYMBOL || g == VIEW_GROUP_CGROUP_SYMBOL;
}
/* True if rows are whole groups, whatever function a sample is in. */
static inline bool view_group_is_whole(enum view_group g)
{
    return g != VIEW_GROUP_SYMBOL && g != VIEW_GROUP_MODULE && !view_group_splits(g);
}
extern const char *const view_group_names[VIEW_GROUP_COUNT]; /* "symbol", "comm,symbol", … */

enum view_mode { VIEW_MODE_ALL, VIEW_MODE_KERNEL, VIEW_MODE_USER };

/* One zoom. Zooms stack; Backspace removes the last one. */
enum zoom_kind {
    ZOOM_MODULE,
    ZOOM_COMM,
    ZOOM_PROCESS,
    ZOOM_THREAD,
    ZOOM_CPU,
    ZOOM_CGROUP,
    ZOOM_FUNCTION,
    ZOOM_PARALLELISM,
    ZOOM_DEVICE, /* operations whose name begins with this device */
    ZOOM_PARENT  /* processes that this one forked */
};
extern const char *const zoom_words[]; /* by kind */
struct zoom {
    enum zoom_kind kind;
    uint64_t number; /* pid, parent's pid, tid, cpu, cgroup id; function key; zoom_parallelism; ZOOM_LIST */
    char text[128];  /* comm; module name; device; label for the header; a list */
};
/* Of a process, a thread or a CPU: one in the list `text`, "12,34". A word that is no number is a comm. A
 * list of CPUs is that of the session's scope. */
#define ZOOM_LIST      UINT64_MAX
#define VIEW_ZOOMS_MAX 8

struct view_query {
    uint64_t window_ns;      /* only the last window_ns of the shown time; 0: since start (or clear) */
    uint64_t from_ns, to_ns; /* not 0: an explicit range instead */
    /* Only operations that took so long, inclusive, of the shown event. max_ns 0: of any duration. No effect
     * if that event is not latency:ROW. */
    uint64_t min_ns, max_ns;
    enum view_group group;
    enum view_mode mode;
    bool show_idle;   /* include idle samples in the percentages */
    bool all_events;  /* all events, not only the shown one */
    bool group_sums;  /* also sum the other events of the shown group (session/group_column.h) */
    bool no_inlines;  /* attribute inlined code to the calling function */
    bool hot_inlines; /* live: the same for functions with hardly any samples */
    struct zoom zooms[VIEW_ZOOMS_MAX];
    uint32_t n_zooms;
    char filter[128]; /* only stacks with a function whose name contains this (case folded); "": all */
};
/* Replaces the zoom into moments at which from..to threads ran (struct sample). to SAMPLE_RUNNING: at least
 * `from`; to 0: at any moment. False: there are too many zooms. */
bool view_zoom_parallelism(struct view_query *q, uint32_t from, uint32_t to);

struct view_function {         /* funcs[0] is unused */
    const char *name, *module; /* cleaned; valid until the next session_query on the view */
    uint64_t key;
    enum symbol_class class;
    enum symbol_state state;
    uint32_t module_id;
    uint64_t start, size; /* offsets in the module */
};
struct view_group_info {
    const char *label; /* "mysqld", "cpu 3", "docker web", "mysqld/123" */
    const char *full;  /* for exports: a cgroup's path, else the label */
    uint64_t number;   /* for a zoom into it */
    uint32_t pid;      /* of a thread: its process; else 0 */
    uint64_t key;      /* stable identity */
};

struct view {
    struct result result; /* filtered: 100 % is result.weight */
    uint32_t *frame_func; /* function number per frame of the result */
    struct view_function *funcs;
    uint32_t n_funcs;
    struct view_group_info *groups; /* groups[0]: all, when not grouped */
    uint32_t n_groups;
    /* With VIEW_GROUP_CGROUP_SYMBOL, groups[1 .. n_chosen] are the measured cgroups in their order, empty
     * or not. */
    uint32_t n_chosen;
    bool weight_is_time; /* weights are nanoseconds */
    bool off_cpu;        /* they are times that threads waited: the event is off-cpu */
    bool wall;           /* they are times that threads waited or ran: the event is wall */
    bool latency;        /* they are durations of operations: the event is latency:ROW */
    uint64_t span_ns;    /* part of the range in which the event was sampled: the base of rates */
    struct view_group_column group_sums[GROUP_COLUMN_KINDS]; /* for result.group_sums */
    uint64_t idle_samples, idle_weight;                      /* left out (with show_idle: included) */
    uint64_t all_samples, all_weight;                        /* with idle, before zooms */
    uint64_t generation;                                     /* session_generation at the time of the query */
    struct view_memory *memory;
};
/* True if the event has waits: off-cpu, wakers or wall. */
static inline bool view_has_waits(const struct view *v)
{
    return v->off_cpu || v->wall;
}
/* True if weights are durations of what is not CPU time. */
static inline bool view_has_durations(const struct view *v)
{
    return view_has_waits(v) || v->latency;
}
/* The module of a frame of the result. Valid until the next query on the view. */
struct module *view_module(const struct view *v, uint32_t frame);
/* Start of a frame's symbol, an offset in the module; 0: unknown. view_function has only one location, but
 * several functions of a module may share a name. */
uint64_t view_symbol_start(struct session *s, const struct view *v, uint32_t frame);
/* Source location of a frame, also inside inlined functions: returns the file, NULL if unknown. Looks it
 * up in the background; *pending: it may still come. Valid until the next query. */
const char *view_line(struct session *s, const struct view *v, uint32_t frame, uint32_t *line, bool *pending);
void view_done(struct view *v);

/* For src/session: the samples of a result one by one, after session_query, ignoring a group by module. */
enum view_verdict { VIEW_PASSES = 1, VIEW_IDLES = 2 };
struct view_verdicts {
    VEC(uint8_t); /* by node of view_judged */
};
/* Judges each stack by names. The caller frees the verdicts. *moment: the samples that the result includes.
 * False: the result does not continue the previous one, since the query differs, or samples or stacks have
 * changed. */
bool view_judge(struct view *v, const struct view_query *q, struct view_verdicts *verdicts,
                struct result_moment *moment);
const struct result *view_judged(const struct view *v); /* for result_node */
const uint32_t *view_inlined_nodes(
    const struct view *v); /* by its nodes: the nodes of v->result; NULL: the same nodes */

#endif
