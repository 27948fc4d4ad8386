// SPDX-License-Identifier: GPL-2.0-or-later
/* The scope menu: the other pickers, and threads, users, CPUs and child processes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/procfile.h"
#include "base/text.h"
#include "perf/namelist.h"
#include "ui/dialog.h"
#include "ui/picker.h"

#define REFRESH_MS 2000
#define USERS_MAX  1024

static bool set_threads(struct scope *s, const char *text, struct error *e)
{
    return scope_set_pids(s, text, true, e);
}

static bool set_cpus(struct scope *s, const char *text, struct error *e)
{
    if (*text && strcmp(text, "all"))
        return scope_set_cpus(s, text, e);
    mem_free(s->cpus);
    s->cpus = NULL;
    s->n_cpus = 0;
    return true;
}

static bool set_all(struct scope *s, const char *text, struct error *e)
{
    return scope_set_all(s, text, e) && set_cpus(s, "all", e);
}

static bool set_inherit(struct scope *s, const char *text, struct error *e)
{
    (void)text;
    if (!scope_may_stop_inheriting(s, e))
        return false;
    s->no_inherit = !s->no_inherit;
    return true;
}

/* --- threads of a process --- */

struct threads {
    char pid[16];
};

static void fill_threads(void *ctx, struct app *a, struct picker *p)
{
    const struct threads *t = ctx;
    struct namelist tids = { 0 };
    char path[64], line[96], comm[32];
    (void)a;
    (void)snprintf(path, sizeof path, "/proc/%s/task", t->pid);
    namelist_add_dir(&tids, path, true, NULL);
    for (size_t i = 0; i < tids.n; i++) {
        uint64_t tid = strtoull(tids.items[i], NULL, 10);
        procfile_read_comm((uint32_t)tid, comm, sizeof comm);
        (void)snprintf(line, sizeof line, "%8.16s  %s", tids.items[i], comm);
        picker_add(p, &(struct picker_item){ .key = tid, .text = line, .name = comm });
    }
    namelist_done(&tids);
}

static unsigned take_threads(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    struct buf list = { 0 };
    (void)ctx;
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&list, "%s%llu", i ? "," : "", (unsigned long long)keys[i]);
    unsigned flags = app_change_scope(a, set_threads, buf_str(&list));
    buf_done(&list);
    return flags;
}

static unsigned pid_done(void *ctx, struct app *a, const char *text)
{
    uint64_t pid;
    struct error e = { 0 };
    (void)ctx;
    if (!text)
        return APP_HANDLED;
    if (!text_parse_u64(text, 1, 1 << 22, &pid)) {
        error_set(&e, ERROR_ARGUMENT, "\"%s\" is no process id: give a number", text);
        return app_error(a, &e);
    }
    char title[64], path[32];
    (void)snprintf(path, sizeof path, "/proc/%llu", (unsigned long long)pid);
    if (access(path, F_OK)) {
        error_set(&e, ERROR_MISSING, "there is no process %llu", (unsigned long long)pid);
        return app_error(a, &e);
    }
    struct threads *t = mem_zalloc(sizeof *t);
    (void)snprintf(t->pid, sizeof t->pid, "%llu", (unsigned long long)pid);
    (void)snprintf(title, sizeof title, "Threads of %s to sample", t->pid);
    return picker_open(a, &(struct picker_config){ .title = title,
                                                   .head = "     TID  COMM",
                                                   .multiple = true,
                                                   .refresh_ms = REFRESH_MS,
                                                   .fill = fill_threads,
                                                   .take = take_threads,
                                                   .ctx = t });
}

static unsigned ask_threads(struct app *a)
{
    const struct scope *s = session_scope(a->session);
    char now[16] = "";
    if (s->kind == SCOPE_PIDS && s->n_ids)
        (void)snprintf(now, sizeof now, "%u", s->ids[0]);
    return dialog_ask(
        a, &(struct dialog_prompt){ .label = "threads of process: ", .initial = now, .done = pid_done });
}

/* --- users with running processes --- */

struct users {
    struct session_listing list;
    struct user {
        const char *name; /* in list */
        uint32_t processes;
        double percent;
    } at[USERS_MAX];
    uint32_t n;
};

static void ask_users(void *ctx, struct app *a)
{
    (void)ctx;
    session_list_start(a->session, SESSION_LIST_PROCESSES);
}

static bool read_reply(void *ctx, struct app *a)
{
    return session_list_take(a->session, SESSION_LIST_PROCESSES, &((struct users *)ctx)->list);
}

static void fill_users(void *ctx, struct app *a, struct picker *p)
{
    struct users *u = ctx;
    char line[96];
    u->n = 0;
    for (uint32_t i = 0; i < u->list.n; i++) {
        const struct session_process *from = &u->list.processes[i];
        uint32_t at = 0;
        while (at < u->n && strcmp(u->at[at].name, from->user))
            at++;
        if (at == USERS_MAX)
            continue;
        if (at == u->n)
            u->at[u->n++] = (struct user){ .name = from->user };
        u->at[at].processes++;
        u->at[at].percent += from->percent;
    }
    for (uint32_t i = 0; i < u->n; i++) {
        const struct user *at = &u->at[i];
        (void)snprintf(line, sizeof line, "%-24s %5.1f%% %9u", at->name, at->percent, at->processes);
        picker_add(p, &(struct picker_item){ .key = map_hash_bytes(at->name, strlen(at->name), 0) | 1,
                                             .text = line });
    }
    if (u->list.error.class != ERROR_NONE)
        (void)app_error(a, &u->list.error);
}

static unsigned take_user(void *ctx, struct app *a, const uint64_t *keys, uint32_t n)
{
    const struct users *u = ctx;
    for (uint32_t i = 0; i < u->n && n; i++)
        if ((map_hash_bytes(u->at[i].name, strlen(u->at[i].name), 0) | 1) == keys[0])
            return app_change_scope(a, scope_set_user, u->at[i].name);
    return app_message(a, "no process of that user is running");
}

static void destroy_users(void *ctx)
{
    session_listing_done(&((struct users *)ctx)->list);
}

static unsigned pick_user(struct app *a)
{
    return picker_open(a, &(struct picker_config){ .title = "User to sample",
                                                   .head = "USER                      SHARE PROCESSES",
                                                   .refresh_ms = REFRESH_MS,
                                                   .ask = ask_users,
                                                   .read_reply = read_reply,
                                                   .fill = fill_users,
                                                   .take = take_user,
                                                   .destroy = destroy_users,
                                                   .ctx = mem_zalloc(sizeof(struct users)) });
}

/* --- CPUs --- */

static unsigned cpus_done_typing(void *ctx, struct app *a, const char *text)
{
    (void)ctx;
    return text ? app_change_scope(a, set_cpus, text) : (unsigned)APP_HANDLED;
}

static unsigned ask_cpus(struct app *a)
{
    return dialog_ask(a, &(struct dialog_prompt){ .label = "CPUs (0-3, core:2, socket:0, node:1, all): ",
                                                  .initial = session_scope(a->session)->cpus ? "" : "all",
                                                  .done = cpus_done_typing });
}

/* --- the menu --- */

static unsigned take_everything(struct app *a)
{
    return app_change_scope(a, set_all, "");
}

unsigned scope_toggle_inherit(struct app *a)
{
    return app_change_scope(a, set_inherit, "");
}

static const struct {
    const char *text;
    unsigned (*open)(struct app *a);
} rows[] = {
    { "everything", take_everything },
    { "processes ...", pick_process },
    { "threads of a process ...", ask_threads },
    { "a user ...", pick_user },
    { "cgroups ...", pick_cgroup },
    { "CPUs ...", ask_cpus },
};
#define ROWS (sizeof rows / sizeof *rows)

static unsigned take_row(struct app *a, uint32_t choice)
{
    return choice < ROWS ? rows[choice].open(a) : scope_toggle_inherit(a);
}

unsigned pick_scope(struct app *a)
{
    const char *list[ROWS + 1];
    bool follows = !session_scope(a->session)->no_inherit;
    for (size_t i = 0; i < ROWS; i++)
        list[i] = rows[i].text;
    list[ROWS] = follows ? "exclude child processes from now on" : "include child processes from now on";
    return picker_menu(a, "Scope to sample", list, ROWS + 1, 0, take_row);
}
