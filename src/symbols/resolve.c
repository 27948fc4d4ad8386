// SPDX-License-Identifier: GPL-2.0-or-later
/* Get a table of one module: open its files and send them to the worker. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbols/debugfile.h"
#include "symbols/elffile.h"
#include "symbols/fetch.h"
#include "symbols/machine.h"
#include "symbols/symbolizer_state.h"

#ifdef HAVE_LZMA
#define PACKED_HINT ""
#else
#define PACKED_HINT " (built without liblzma)"
#endif

bool resolve_root(const struct symbolizer *sy, const struct symbol_module *mod, uint32_t named_by, bool own,
                  struct module_root *root)
{
    const struct module *m = mod->module;

    root->user = opener_user_of(m);
    if (sy->symfs && !own)
        root->user = (struct opener_user){ .kind = OPENER_FOR_STARTER };
    root->user.named_by = named_by;
    snprintf(root->own, sizeof root->own, "/proc/%u/root", m->pid);
    root->path = own ? root->own : sy->symfs ? sy->symfs : "/";
    return !own || (m->live && m->pid);
}

/* A table, and the debug files to make a better one of. */
struct debug_search {
    struct symbolizer *sy;
    const struct symbol_module *mod;
    enum worker_kind kind; /* of the request with a debug file */
    int fd;                /* of the module */
    const char *link;
    struct outcome *out;
};

/* Replace the table with that of a debug file, which is closed. */
static bool try_debug_file(const struct debug_search *q, int debug_fd)
{
    struct symbol_table *t = resolve_table(q->sy, q->kind, q->fd, debug_fd, NULL, q->out);

    close(debug_fd);
    if (!t)
        return false;
    tables_drop(q->sy, q->out->table);
    q->out->table = t;
    return true;
}

/* For unwind rows (.debug_frame of code compiled without .eh_frame), only the first debug file is tried. */
static bool try_debug_root(const struct debug_search *q, bool own)
{
    struct module_root root;
    bool more = resolve_root(q->sy, q->mod, resolve_owner(q->fd), own, &root);
    struct debugfile_search search = { .user = root.user,
                                       .root = root.path,
                                       .module_path = q->mod->module->path,
                                       .build_id = q->out->id,
                                       .build_id_size = q->out->id_size,
                                       .debuglink = q->link };
    bool found = false;
    int debug_fd;

    while (more && !found && !q->out->retry && (debug_fd = debugfile_open_next(&search)) >= 0) {
        found = try_debug_file(q, debug_fd);
        more = q->kind == WORKER_ELF_DEBUG;
    }
    return found;
}

static bool try_fetched(const struct debug_search *q)
{
    int debug_fd = fetch_open(q->sy, q->out->id, q->out->id_size);
    bool found = debug_fd >= 0 && try_debug_file(q, debug_fd);

    if (debug_fd >= 0 && !found && !q->out->retry && q->kind == WORKER_ELF_DEBUG)
        fetch_refuse(q->sy, q->out->id, q->out->id_size, q->out->trouble.text);
    return found;
}

static void say_stripped(struct outcome *out)
{
    const struct table_header *h = out->table->view.header;
    struct buf id = { 0 };
    unsigned i;

    for (i = 0; i < h->build_id_size; i++)
        buf_printf(&id, "%02x", h->build_id[i]);
    error_set(&out->trouble, ERROR_MISSING, "stripped%s%s, no debug file%s%s",
              h->n ? ": only exported names are known" : "",
              h->flags & TABLE_PACKED ? ", .gnu_debugdata cannot be decompressed" PACKED_HINT : "",
              id.len ? " for build-id " : "", buf_str(&id));
    buf_done(&id);
}

static void look_for_debug_file(const struct debug_search *q)
{
    struct outcome *out = q->out;
    struct error without = out->trouble;
    bool names = q->kind == WORKER_ELF_DEBUG;
    bool found = try_debug_root(q, false) || try_debug_root(q, true) || (!out->retry && try_fetched(q));

    /* A debug file that kills the worker: use the table without it. */
    if (out->retry && q->mod->tasks[names ? TASK_NAMES : TASK_UNWIND].blame + out->blame >= BLAME_MAX)
        out->retry = false;
    if (found || !out->given_up)
        out->trouble = without;
    if (names && !found && !out->retry && !out->given_up)
        say_stripped(out);
}

/* Whether the file on disk is the one that was profiled: no name is better than a wrong one. False with
 * trouble set. */
static bool is_same_build(const struct symbol_module *mod, struct outcome *out)
{
    const struct module *m = mod->module;

    if (!m->build_id_size || !out->id_size ||
        (m->build_id_size == out->id_size && !memcmp(m->build_id, out->id, out->id_size)))
        return true;
    return error_set(&out->trouble, ERROR_MISSING, "%s is of another build than what was profiled", m->path);
}

/* Open the vdso. That of a 32-bit process differs from flametop's and is read from this process. For a
 * recording, flametop's is good enough if the kernel is the same, or if the recorded vdso's build-id is
 * known, which decides. */
static int open_vdso(const struct symbolizer *sy, const struct module *m, struct error *e)
{
    bool other = !strcmp(m->path, MODULE_VDSO32);
    int fd = -1;

    if (m->live && other)
        fd = machine_open_vdso_of(m->pid, m->map_start, m->map_end);
    else if ((sy->kernel_ours || m->build_id_size) && !other)
        fd = machine_open_vdso();
    if (fd < 0 && m->live && other)
        error_sys(e, errno, "cannot read the vdso of process %u", m->pid);
    else if (fd < 0)
        error_set(e, ERROR_MISSING, "the vdso of the profiled kernel is not available");
    return fd;
}

/* Note a failure; retry a timeout: a disk under load may be slow once. */
static void note_failure(const struct symbol_module *mod, int errnum, struct outcome *out)
{
    opener_error(&out->trouble, errnum, mod->module->path);
    if (errnum == ETIMEDOUT || errnum == EAGAIN || errnum == ECANCELED) {
        out->blame += errnum == ETIMEDOUT ? BLAME_CRASH : BLAME_KILL;
        out->retry = true;
    }
    out->given_up |= errnum == ETIMEDOUT || errnum == EBUSY;
}

static int open_where_it_was(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    const struct module *m = mod->module;
    int fd;

    if (m->kind == MODULE_VDSO)
        return open_vdso(sy, m, &out->trouble);
    fd = module_open(m, sy->symfs);
    if (fd < 0)
        note_failure(mod, errno, out);
    return fd;
}

/* Whether the file may be the recorded one. Without a build-id a file of this name may be anything, unless
 * the recording is from this machine. */
static bool may_be_it(const struct symbolizer *sy, const struct module *m, int fd, struct outcome *out)
{
    struct opened of;

    if (m->live || !sy->other_machine || sy->symfs || m->build_id_size || m->kind != MODULE_FILE)
        return true;
    if (m->ino && opened_facts(fd, &of) && of.st.st_ino == m->ino && major(of.st.st_dev) == m->maj &&
        minor(of.st.st_dev) == m->min)
        return true;
    return error_set(
        &out->trouble, ERROR_MISSING,
        "recorded on another machine, without a build-id to match this machine's %s. Give a folder with its "
        "files: --symfs DIR",
        m->path);
}

static bool is_what_was_profiled(const struct symbolizer *sy, const struct symbol_module *mod, int fd,
                                 struct outcome *out)
{
    struct opened of;

    out->id_size = opened_facts(fd, &of) ? of.id_size : 0;
    if (out->id_size)
        memcpy(out->id, of.id, out->id_size);
    return may_be_it(sy, mod->module, fd, out) && is_same_build(mod, out);
}

/* Open perf's copy of a file that was deleted or is of another file system. */
static int open_kept(const struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    const struct module *m = mod->module;
    int fd = -1;

    if (!m->live && m->build_id_size)
        fd = debugfile_open_kept(m->build_id, m->build_id_size, m->kind == MODULE_VDSO ? "vdso" : "elf");
    if (fd < 0)
        return -1;
    if (is_what_was_profiled(sy, mod, fd, out)) {
        error_clear(&out->trouble);
        return fd;
    }
    close(fd);
    return -1;
}

int resolve_open(struct symbolizer *sy, const struct symbol_module *mod, struct outcome *out)
{
    int fd = open_where_it_was(sy, mod, out);

    if (fd >= 0 && !is_what_was_profiled(sy, mod, fd, out)) {
        close(fd);
        fd = -1;
    }
    if (fd < 0)
        fd = open_kept(sy, mod, out);
    if (fd >= 0)
        resolve_note_owner(sy, fd, -1, out);
    return fd;
}

/* Return another module's table of the same build. A table without local names is of no use: this file may
 * have them. */
static struct symbol_table *known_table(struct symbolizer *sy, enum cache_kind kind,
                                        const struct outcome *out)
{
    struct symbol_table *t;

    pthread_mutex_lock(&sy->lock);
    t = tables_find(sy, kind, out->id, out->id_size, out->owner, true);
    pthread_mutex_unlock(&sy->lock);
    return t;
}

static void take_id(const struct symbol_table *t, struct outcome *out)
{
    if (t->kind == CACHE_UNWIND)
        out->id_size = (uint8_t)unwind_rows_build_id(&t->rows, out->id);
    if (t->kind != CACHE_NAMES)
        return;
    out->id_size = t->view.header->build_id_size;
    memcpy(out->id, t->view.header->build_id, sizeof out->id);
}

/* Make a table of the file. The worker finds a build-id where the quick check does not: in a file without
 * program headers. */
static struct symbol_table *ask_file(struct symbolizer *sy, const struct symbol_module *mod,
                                     enum worker_kind kind, int fd, char *link, struct outcome *out)
{
    struct symbol_table *t = resolve_table(sy, kind, fd, -1, link, out);

    if (t && !out->id_size)
        take_id(t, out);
    if (!t || is_same_build(mod, out))
        return t;
    tables_drop(sy, t);
    return NULL;
}

static void ask_files(struct symbolizer *sy, const struct symbol_module *mod, enum cache_kind kind, int fd,
                      struct outcome *out)
{
    static const enum worker_kind kinds[][2] = { [CACHE_NAMES] = { WORKER_ELF, WORKER_ELF_DEBUG },
                                                 [CACHE_UNWIND] = { WORKER_UNWIND, WORKER_UNWIND_DEBUG },
                                                 [CACHE_CALLS] = { WORKER_CALLS } };
    char link[ELF_LINK_MAX] = "";
    struct debug_search q = { sy, mod, kinds[kind][1], fd, link, out };

    out->table = ask_file(sy, mod, kinds[kind][0], fd, link, out);
    if (out->retry || mod->module->kind != MODULE_FILE || kind == CACHE_CALLS)
        return;
    if (kind == CACHE_NAMES && (!out->table || tables_is_full(out->table)))
        return;
    if (kind == CACHE_NAMES)
        q.link = table_debuglink(&out->table->view);
    look_for_debug_file(&q);
}

static void resolve_file(struct symbolizer *sy, const struct symbol_module *mod, enum cache_kind kind,
                         struct outcome *out)
{
    int fd = resolve_open(sy, mod, out);
    struct opened of;

    if (fd < 0)
        return;
    out->deleted = mod->module->kind == MODULE_FILE && opened_facts(fd, &of) && !of.st.st_nlink;
    out->table = known_table(sy, kind, out);
    if (!out->table)
        ask_files(sy, mod, kind, fd, out);
    close(fd);
}

void resolve_unwind(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    resolve_file(sy, mod, CACHE_UNWIND, out);
}

void resolve_calls(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    resolve_file(sy, mod, CACHE_CALLS, out);
}

void resolve_names(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    switch (mod->module->kind) {
    case MODULE_FILE:
    case MODULE_VDSO:
        resolve_file(sy, mod, CACHE_NAMES, out);
        break;
    case MODULE_KERNEL:
    case MODULE_KMOD:
        resolve_kernel(sy, mod, out);
        break;
    case MODULE_JIT:
        resolve_jit(sy, mod, out);
        break;
    default:
        break;
    }
}
