// SPDX-License-Identifier: GPL-2.0-or-later
/* Get the unwind table of one module. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/debugfile.h"
#include "symbols/elffile.h"
#include "symbols/fetch.h"
#include "symbols/symbolizer_state.h"

static struct unwind_table *known(struct symbolizer *sy, const struct outcome *out)
{
    struct unwind_table *t;

    pthread_mutex_lock(&sy->lock);
    t = unwinds_find(sy, out->id, out->id_size, out->owner);
    pthread_mutex_unlock(&sy->lock);
    return t;
}

/* Read the debug link and, without a table, the reason. Neither is trusted: a hostile file may control the
 * worker. */
static void take_payload(const struct worker_reply *a, char link[ELF_LINK_MAX], struct outcome *out)
{
    size_t n = strnlen(a->payload, a->payload_n);

    if (link && n < ELF_LINK_MAX) {
        memcpy(link, a->payload, n);
        link[n] = '\0';
    }
    if (!a->blob && n < a->payload_n)
        error_set(&out->trouble, ERROR_MISSING, "%.*s",
                  (int)(a->payload_n - n - 1 < 400 ? a->payload_n - n - 1 : 400), a->payload + n + 1);
    else if (!a->blob)
        error_set(&out->trouble, ERROR_FORMAT, "the symbol worker sent no table");
}

/* link: buffer for the debug link in the reply, or NULL. */
static struct unwind_table *request_table(struct symbolizer *sy, enum worker_kind kind, int fd, int debug_fd,
                                          char link[ELF_LINK_MAX], struct outcome *out)
{
    struct worker_reply *a = mem_alloc(sizeof *a);
    struct unwind_table *t = NULL;

    if (resolve_ask(sy, kind, fd, debug_fd, a, out)) {
        take_payload(a, link, out);
        if (a->blob)
            t = unwinds_new(a->blob, a->blob_size, &out->trouble);
    }
    mem_free(a);
    return t;
}

static struct unwind_table *ask_file(struct symbolizer *sy, const struct symbol_module *mod, int fd,
                                     char link[ELF_LINK_MAX], struct outcome *out)
{
    struct unwind_table *t = request_table(sy, WORKER_UNWIND, fd, -1, link, out);

    if (t && !out->id_size)
        out->id_size = (uint8_t)unwind_rows_build_id(&t->rows, out->id);
    if (!t || resolve_is_same_build(mod, out))
        return t;
    unwinds_discard(t);
    return NULL;
}

/* Try a debug file: .debug_frame of code compiled without .eh_frame is there. Closes debug_fd. */
static bool try_debug_file(struct symbolizer *sy, int fd, int debug_fd, struct outcome *out)
{
    struct unwind_table *t;

    if (debug_fd < 0)
        return false;
    t = request_table(sy, WORKER_UNWIND_DEBUG, fd, debug_fd, NULL, out);
    close(debug_fd);
    if (!t)
        return false;
    if (out->unwind)
        unwinds_discard(out->unwind);
    out->unwind = t;
    return true;
}

static bool try_debug_root(struct symbolizer *sy, const char *root, bool own_root,
                           const struct symbol_module *mod, int fd, const char *link, struct outcome *out)
{
    struct debugfile_search search = { .user = resolve_user(sy, mod, resolve_owner(fd), own_root),
                                       .root = root,
                                       .module_path = mod->module->path,
                                       .build_id = out->id,
                                       .build_id_size = out->id_size,
                                       .debuglink = link[0] ? link : NULL };

    return try_debug_file(sy, fd, debugfile_open_next(&search), out);
}

static void look_for_debug_file(struct symbolizer *sy, const struct symbol_module *mod, int fd,
                                const char *link, struct outcome *out)
{
    struct error without = out->trouble;
    bool found = try_debug_root(sy, sy->symfs ? sy->symfs : "/", false, mod, fd, link, out);
    char root[40];

    if (!found && !out->retry && mod->module->live && mod->module->pid) {
        snprintf(root, sizeof root, "/proc/%u/root", mod->module->pid);
        found = try_debug_root(sy, root, true, mod, fd, link, out);
    }
    if (!found && !out->retry)
        try_debug_file(sy, fd, fetch_open(sy, out->id, out->id_size), out);
    /* A debug file that kills the worker: use the table without it. */
    if (out->retry && mod->tasks[TASK_UNWIND].blame + out->blame >= BLAME_MAX)
        out->retry = false;
    if (!out->retry && !out->given_up)
        out->trouble = without;
}

void resolve_unwind(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    char link[ELF_LINK_MAX] = "";
    int fd = resolve_open(sy, mod, out);
    struct opened of;

    if (fd < 0)
        return;
    out->deleted = mod->module->kind == MODULE_FILE && opened_facts(fd, &of) && !of.st.st_nlink;
    out->unwind = known(sy, out);
    if (!out->unwind) {
        out->unwind = ask_file(sy, mod, fd, link, out);
        if (!out->retry && mod->module->kind == MODULE_FILE)
            look_for_debug_file(sy, mod, fd, link, out);
    }
    close(fd);
}
