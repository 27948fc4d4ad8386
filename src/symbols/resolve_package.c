// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the package that would give a module its names, for the doctor only. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/package.h"
#include "symbols/symbolizer_state.h"

#define LISTS "/var/lib/dpkg/info"

/* Whether the module's file is the system's file of this path. A file of a container may only have the same
 * path, and the package lists are about the system's files. */
static bool is_ours(const struct symbol_module *mod, const uint8_t *id, unsigned n)
{
    const struct opener_user user = opener_user_of(mod->module);
    int fd = opener_open(&user, "/", mod->module->path, true);
    struct opened ours;
    bool same;

    if (fd < 0)
        return false;
    same = n && opened_facts(fd, &ours) && ours.id_size == n && !memcmp(ours.id, id, n);
    close(fd);
    return same;
}

void resolve_package(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    char package[sizeof out->package];
    int fd = resolve_open(sy, mod, out);

    if (fd < 0)
        return;
    close(fd);
    if (is_ours(mod, out->id, out->id_size) &&
        package_of_file(LISTS, mod->module->path, package, sizeof package))
        package_of_symbols(package, out->package, sizeof out->package);
}

enum symbol_state symbolizer_package(struct symbolizer *sy, struct module *m, char *dst, size_t cap)
{
    const struct symbol_task *task;
    enum symbol_state state = SYMBOL_NONE;

    dst[0] = '\0';
    if (m->kind != MODULE_FILE)
        return SYMBOL_NONE;
    pthread_mutex_lock(&sy->lock);
    task = mods_ask(sy, mods_get(sy, m), TASK_PACKAGE);
    if (task->progress == PROGRESS_WAITING)
        state = SYMBOL_PENDING;
    else if (task->mod->package) {
        snprintf(dst, cap, "%s", task->mod->package);
        state = SYMBOL_FOUND;
    }
    pthread_mutex_unlock(&sy->lock);
    return state;
}
