// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ini_edit.h"
#include "base/mem.h"
#include "ui/columns.h"

#define PAIRS_MAX 8

struct pairs {
    struct ini_pair list[PAIRS_MAX];
    size_t n;
};

static void add(struct pairs *p, const char *key, const char *value)
{
    p->list[p->n++] = (struct ini_pair){ key, value };
}

/* Returns a theme's name; if it is a path, the full path, so that it works from every directory. */
static char *theme_value(const struct app *a)
{
    const char *name = a->theme.name;
    char *full = strchr(name, '/') ? realpath(name, NULL) : NULL, *value = mem_strdup(full ? full : name);
    free(full);
    return value;
}

unsigned setup_save(struct app *a)
{
    char delay[32], window[32];
    struct buf columns = { 0 };
    struct pairs p = { .n = 0 };
    struct error e = { 0 };
    if (!a->cfg->config_path)
        return app_message(a, "cannot save: set HOME or XDG_CONFIG_HOME");
    char *theme = theme_value(a);
    (void)snprintf(delay, sizeof delay, "%g", a->delay_s);
    (void)snprintf(window, sizeof window, "%g", (double)a->query.window_ns / (double)NS_PER_SEC);
    columns_shown(a->columns_hidden, &columns);
    add(&p, "theme", theme);
    add(&p, "delay", delay);
    /* for a recording, the window starts as all of it */
    if (!a->status.file || a->query.window_ns != a->cfg->query.window_ns)
        add(&p, "window", window);
    add(&p, "group-by", view_group_names[a->query.group]);
    add(&p, "idle", a->query.show_idle ? "yes" : "no");
    add(&p, "columns", buf_str(&columns));
    bool good = ini_write(a->cfg->config_path, a->cfg->config_model, "options", p.list, p.n, &e);
    mem_free(theme);
    buf_done(&columns);
    return good ? app_message(a, "saved in %s", a->cfg->config_path) : app_error(a, &e);
}
