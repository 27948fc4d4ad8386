// SPDX-License-Identifier: GPL-2.0-or-later
/* Gets the table of one module: opens what it is made from and asks the worker. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "symbols/debugfile.h"
#include "symbols/machine.h"
#include "symbols/perfmap.h"
#include "symbols/state.h"

unsigned resolve_blame(const struct worker *w, enum worker_result result)
{
    if (!w->ready || (result != WORKER_DIED && result != WORKER_LATE))
        return 0;
    return result == WORKER_LATE || w->crashed ? BLAME_CRASH : BLAME_KILL;
}

static void count_blame(const struct worker *w, enum worker_result result, struct outcome *out)
{
    out->blame += resolve_blame(w, result);
    out->retry = result == WORKER_DIED || result == WORKER_LATE || result == WORKER_STOPPED;
}

/* A table out of one or two files, or NULL with the outcome's trouble, blame and retry set. */
static struct symbol_table *ask(struct symbolizer *sy, enum worker_kind kind, int fd, int second_fd,
                                struct outcome *out)
{
    struct worker_request r = { .kind = kind, .fds = { fd, second_fd }, .n_fds = second_fd < 0 ? 1 : 2 };
    struct worker_answer *a = mem_alloc(sizeof *a);
    enum worker_result result = worker_ask(&sy->worker, &r, a, &out->trouble);
    struct symbol_table *t = NULL;

    count_blame(&sy->worker, result, out);
    if (result == WORKER_DONE)
        t = tables_new(a->blob, a->blob_size, &out->trouble);
    else if (a->blob)
        munmap((void *)(uintptr_t)a->blob, a->blob_size);
    mem_free(a);
    return t;
}

static bool is_full(const struct symbol_table *t)
{
    return t->view.header->flags & TABLE_FULL;
}

static void try_debug_root(struct symbolizer *sy, const char *root, const struct mod *mod, int fd,
                           struct outcome *out)
{
    const struct table_header *h = out->table->view.header;
    uint32_t crc;
    struct debugfile_search search = { .root = root,
                                       .module_path = mod->module->path,
                                       .build_id = h->build_id,
                                       .build_id_size = h->build_id_size,
                                       .debuglink = table_debuglink(&out->table->view, &crc) };
    int debug_fd;

    while (!out->retry && (debug_fd = debugfile_open_next(&search)) >= 0) {
        struct symbol_table *t = ask(sy, WORKER_ELF_DEBUG, fd, debug_fd, out);
        close(debug_fd);
        if (t) {
            tables_discard(out->table);
            out->table = t;
            return;
        }
    }
}

static void say_stripped(struct outcome *out)
{
    const struct table_header *h = out->table->view.header;
    struct buf id = { 0 };
    unsigned i;

    for (i = 0; i < h->build_id_size; i++)
        buf_printf(&id, "%02x", h->build_id[i]);
    error_set(&out->trouble, ERROR_MISSING, "stripped%s, no debug file%s%s",
              h->n ? ": only exported names are known" : "", id.len ? " for build-id " : "", buf_str(&id));
    buf_done(&id);
}

static void look_for_debug_file(struct symbolizer *sy, const struct mod *mod, int fd, struct outcome *out)
{
    char root[40];

    try_debug_root(sy, sy->symfs ? sy->symfs : "/", mod, fd, out);
    if (!out->retry && !is_full(out->table) && mod->module->live && mod->module->pid) {
        snprintf(root, sizeof root, "/proc/%u/root", mod->module->pid);
        try_debug_root(sy, root, mod, fd, out);
    }
    /* A debug file that the worker cannot survive: the names without it are what there is. */
    if (out->retry && mod->blame + out->blame >= BLAME_MAX)
        out->retry = false;
    if (!out->retry && !is_full(out->table))
        say_stripped(out);
    else
        error_clear(&out->trouble);
}

/* A file on disk may be another than the one that was profiled: better no names than wrong ones. */
static bool is_same_build(const struct module *m, const struct symbol_table *t)
{
    const struct table_header *h = t->view.header;

    return !m->build_id_size || !h->build_id_size ||
           (m->build_id_size == h->build_id_size && !memcmp(m->build_id, h->build_id, h->build_id_size));
}

static void resolve_file(struct symbolizer *sy, const struct mod *mod, struct outcome *out)
{
    int fd = module_open(mod->module, sy->symfs);

    if (fd < 0) {
        error_sys(&out->trouble, errno, "cannot open %s", mod->module->path);
        return;
    }
    out->table = ask(sy, WORKER_ELF, fd, -1, out);
    if (out->table && !is_same_build(mod->module, out->table)) {
        error_set(&out->trouble, ERROR_MISSING, "%s is of another build than what was profiled",
                  mod->module->path);
        tables_discard(out->table);
        out->table = NULL;
    }
    if (out->table && !is_full(out->table))
        look_for_debug_file(sy, mod, fd, out);
    close(fd);
}

static void resolve_vdso(struct symbolizer *sy, struct outcome *out)
{
    int fd = sy->kernel_ours ? machine_open_vdso() : -1;

    if (fd < 0) {
        error_set(&out->trouble, ERROR_MISSING, "the vdso of that kernel is not at hand");
        return;
    }
    out->table = ask(sy, WORKER_ELF, fd, -1, out);
    close(fd);
}

static void resolve_kernel(struct symbolizer *sy, struct outcome *out)
{
    if (!sy->kernel_usable)
        error_set(&out->trouble, ERROR_MISSING, "recorded on another kernel; give its kallsyms");
    else if (sy->kallsyms_fd < 0)
        error_set(&out->trouble, ERROR_MISSING, "this kernel has no /proc/kallsyms that can be read");
    else
        out->table = ask(sy, WORKER_KALLSYMS, sy->kallsyms_fd, -1, out);
}

static void resolve_jit(struct symbolizer *sy, const struct mod *mod, struct outcome *out)
{
    uint64_t size;
    int fd;

    if (!mod->module->live) {
        error_set(&out->trouble, ERROR_MISSING, "names of a JIT's code are known while its process runs");
        return;
    }
    fd = perfmap_open(mod->module->pid, &size, &out->trouble);
    if (fd < 0) {
        out->unchanged = mod->table != NULL; /* the process ended: what it told before still holds */
        return;
    }
    out->map_size = size;
    if (mod->table && size == mod->map_size)
        out->unchanged = true;
    else
        out->table = ask(sy, WORKER_PERFMAP, fd, -1, out);
    close(fd);
}

void resolve_module(struct symbolizer *sy, struct mod *mod, struct outcome *out)
{
    *out = (struct outcome){ .map_size = mod->map_size };
    switch (mod->module->kind) {
    case MODULE_FILE:
        resolve_file(sy, mod, out);
        break;
    case MODULE_VDSO:
        resolve_vdso(sy, out);
        break;
    case MODULE_KERNEL:
    case MODULE_KMOD:
        resolve_kernel(sy, out);
        break;
    case MODULE_JIT:
        resolve_jit(sy, mod, out);
        break;
    default:
        break;
    }
}
