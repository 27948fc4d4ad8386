// SPDX-License-Identifier: GPL-2.0-or-later
/* The picker of cgroups: a tree with each one's share of recent samples, including its descendants. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/picker.h"

#define REFRESH_MS 2000
#define OPEN_DEPTH 2
#define NAME_COLS  50
#define NAME_LEAST 12
#define COLS       (NAME_COLS + 24)
#define DEPTH_MAX  64

static uint64_t key_of(const char *path)
{
    return map_hash_bytes(path, strlen(path), 0) | 1;
}

static bool is_root(const char *path)
{
    return strcmp(path, "/") == 0;
}

/* The tree indents by two columns a level; the name's width makes up for it, so that the numbers are
 * aligned. */
static void add_cgroup(struct picker *p, const struct session_cgroup *c)
{
    char line[640], name[512], called[sizeof c->label + sizeof name], shorter[512];
    const char *slash = strrchr(c->path, '/'), *last = slash && slash[1] ? slash + 1 : c->path;
    int cols = NAME_COLS - 2 * (int)c->depth;
    cols = cols < NAME_LEAST ? NAME_LEAST : cols;
    text_clean(name, sizeof name, last, strlen(last));
    (void)snprintf(called, sizeof called, "%s%s%s", c->label, c->label[0] ? "  " : "", name);
    text_elide(shorter, sizeof shorter, is_root(c->path) ? "/ (all)" : called, cols, true);
    (void)snprintf(line, sizeof line, "%s%*s %6.1f%% %9u", shorter, cols - text_width(shorter), "",
                   c->percent, c->n_procs);
    picker_add(p, &(struct picker_item){ .key = key_of(c->path),
                                         .text = line,
                                         .name = c->label[0] ? c->label : name,
                                         .depth = (uint16_t)c->depth });
}

/* Adds each cgroup's processes to its ancestors: sampling a cgroup includes its descendants. The list is
 * in depth-first order. */
static void sum_processes(struct session_cgroup *list, uint32_t n)
{
    uint32_t path[DEPTH_MAX] = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        uint32_t depth = list[i].depth < DEPTH_MAX ? list[i].depth : DEPTH_MAX - 1;
        path[depth] = i;
        for (uint32_t above = 0; above < depth; above++)
            list[path[above]].n_procs += list[i].n_procs;
    }
}

static void request_list(void *ctx, struct app *a)
{
    (void)ctx;
    session_list_start(a->session, SESSION_LIST_CGROUPS);
}

static bool read_reply(void *ctx, struct app *a)
{
    struct session_listing *list = ctx;
    if (!session_list_take(a->session, SESSION_LIST_CGROUPS, list))
        return false;
    sum_processes(list->cgroups, list->n);
    return true;
}

static void fill(void *ctx, struct app *a, struct picker *p)
{
    const struct session_listing *list = ctx;
    for (uint32_t i = 0; i < list->n; i++)
        add_cgroup(p, &list->cgroups[i]);
    if (list->error.class != ERROR_NONE)
        (void)app_error(a, &list->error);
}

static unsigned apply_choice(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    const struct session_listing *list = ctx;
    struct buf paths = { 0 };
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < list->n; i++)
            if (key_of(list->cgroups[i].path) == keys[k])
                buf_printf(&paths, "%s%s", paths.len ? "," : "", list->cgroups[i].path);
    unsigned flags = paths.len
                         ? app_change_scope(a, is_root(buf_str(&paths)) ? scope_set_all : scope_set_cgroup,
                                            buf_str(&paths))
                         : app_message(a, "that cgroup no longer exists");
    if (flags & APP_QUERY && scope_cgroups(session_scope(a->session)) > 1)
        (void)app_group_by(a, VIEW_GROUP_CGROUP_SYMBOL);
    buf_done(&paths);
    return flags;
}

static void destroy(void *ctx)
{
    session_listing_done(ctx);
}

unsigned pick_cgroup(struct app *a)
{
    char root[512], head[128];
    struct error e = { 0 };
    const struct scope *scope = session_scope(a->session);
    if (!scope_cgroup_root(root, sizeof root, NULL, &e))
        return app_error(a, &e);
    (void)snprintf(head, sizeof head, "    %-*s  SHARE  PROCESSES", NAME_COLS, "CGROUP");
    return picker_open(
        a, &(struct picker_config){ .title = "Cgroups to sample",
                                    .head = head,
                                    .multiple = true,
                                    .tree = true,
                                    .open_depth = OPEN_DEPTH,
                                    .current = key_of(scope->kind == SCOPE_CGROUP ? scope->cgroup : "/"),
                                    .refresh_ms = REFRESH_MS,
                                    .cols = COLS,
                                    .ask = request_list,
                                    .read_reply = read_reply,
                                    .fill = fill,
                                    .take = apply_choice,
                                    .destroy = destroy,
                                    .ctx = mem_zalloc(sizeof(struct session_listing)) });
}
