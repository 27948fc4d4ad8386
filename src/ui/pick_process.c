// SPDX-License-Identifier: GPL-2.0-or-later
/* The pickers of processes, in descending share of recent samples. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "ui/picker.h"

#define KEY_ALL    UINT64_MAX /* else the pid */
#define REFRESH_MS 1000
#define COLS       120

struct processes {
    struct session_listing list;
    unsigned (*take)(struct app *a, uint32_t pid); /* pick_one_process; else NULL */
};

static void add_process(struct picker *p, const struct session_process *at)
{
    char line[256], user[32];
    text_elide(user, sizeof user, at->user, 10, false);
    (void)snprintf(line, sizeof line, "%7u %-10s %5.1f%% %-15s %s", at->pid, user, at->percent, at->comm,
                   at->cmdline);
    picker_add(p, &(struct picker_item){ .key = at->pid, .text = line, .name = at->comm });
}

static void request_list(void *ctx, struct app *a)
{
    (void)ctx;
    session_list_start(a->session, SESSION_LIST_PROCESSES);
}

static bool read_reply(void *ctx, struct app *a)
{
    struct processes *p = ctx;
    return session_list_take(a->session, SESSION_LIST_PROCESSES, &p->list);
}

static void fill(void *ctx, struct app *a, struct picker *p)
{
    const struct processes *processes = ctx;
    const struct session_listing *list = &processes->list;
    if (!processes->take)
        picker_add(p, &(struct picker_item){ .key = KEY_ALL, .text = "    all processes" });
    for (uint32_t i = 0; i < list->n; i++)
        add_process(p, &list->processes[i]);
    if (list->error.class != ERROR_NONE)
        (void)app_error(a, &list->error);
}

static void destroy(void *ctx)
{
    struct processes *p = ctx;
    session_listing_done(&p->list);
}

static bool has_all(const uint64_t *keys, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (keys[i] == KEY_ALL)
            return true;
    return false;
}

static bool set_processes(struct scope *s, const char *text, struct error *e)
{
    return scope_set_pids(s, text, false, e);
}

static unsigned apply_choice(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    struct buf list = { 0 };
    (void)ctx;
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&list, "%s%u", i ? "," : "", (unsigned)keys[i]);
    unsigned flags = app_change_scope(a, has_all(keys, n) ? scope_set_all : set_processes, buf_str(&list));
    buf_done(&list);
    return flags;
}

static uint64_t current_key(struct app *a)
{
    const struct scope *scope = session_scope(a->session);
    return scope->kind == SCOPE_PIDS && scope->n_ids ? scope->ids[0] : KEY_ALL;
}

static unsigned open_picker(struct app *a, const struct picker_config *how,
                            unsigned (*take)(struct app *a, uint32_t pid))
{
    struct picker_config c = *how;
    struct processes *p = mem_zalloc(sizeof *p);
    p->take = take;
    c.refresh_ms = REFRESH_MS;
    c.cols = COLS - 4;
    c.cut_end = true; /* shorten the command line, not the columns before it */
    c.ask = request_list;
    c.read_reply = read_reply;
    c.fill = fill;
    c.destroy = destroy;
    c.ctx = p;
    return picker_open(a, &c);
}

unsigned pick_process(struct app *a)
{
    return open_picker(a,
                       &(struct picker_config){ .title = "Processes to sample",
                                                .head = "    PID USER       SHARE  COMM            COMMAND",
                                                .multiple = true,
                                                .current = current_key(a),
                                                .take = apply_choice },
                       NULL);
}

static unsigned take_one(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    const struct processes *p = ctx;
    return n ? p->take(a, (uint32_t)keys[0]) : (unsigned)APP_HANDLED;
}

unsigned pick_one_process(struct app *a, const char *title, unsigned (*take)(struct app *a, uint32_t pid))
{
    return open_picker(a,
                       &(struct picker_config){ .title = title,
                                                .head = "    PID USER       SHARE  COMM            COMMAND",
                                                .take = take_one },
                       take);
}
