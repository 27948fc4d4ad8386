// SPDX-License-Identifier: GPL-2.0-or-later
/* Get source lines and inlined functions of one module. The worker keeps the module open: its files are only
 * searched and opened when the worker does not have it (any more). */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "symbols/blob.h"
#include "symbols/codecache.h"
#include "symbols/debugfile.h"
#include "symbols/fetch.h"
#include "symbols/linecache.h"

#define SPLIT_MAX_NS (200 * NS_PER_MS) /* then it is the others' turn */

struct lines_query {
    struct symbolizer *sy;
    struct symbol_module *mod;
    struct outcome *out;
    struct worker_reply *raw; /* buffer for the worker's message */
    struct module_root root;  /* below which files are searched now */
    uint32_t flags;           /* of each request that opens the module */
    bool has_go;              /* its own file has no debug information, but Go's table */
    struct error failure;     /* why a debug file could not be read; class ERROR_NONE: all could */
};
struct lines_query_files {
    int fd, debug_fd, alt_fd, split_fd;
};
static const struct lines_query_files no_files = { -1, -1, -1, -1 };

/* False: there is no such root. */
static bool look_below(struct lines_query *q, bool own_root)
{
    return resolve_root(q->sy, q->mod, q->mod->lines->file_user, own_root, &q->root);
}

static struct lines_result *read_reply(struct lines_query *q)
{
    struct lines_result *a = mem_zalloc(sizeof *a);

    a->blob = q->raw->blob;
    a->size = q->raw->blob_size;
    if (!a->blob)
        error_set(&q->out->trouble, ERROR_FORMAT, "the symbol worker sent no source lines");
    if (a->blob && lines_view(&a->view, a->blob, a->size, &q->out->trouble))
        return a;
    lines_result_free(a);
    return NULL;
}

static void add_file(struct worker_request *r, int fd)
{
    if (fd >= 0)
        r->fds[r->n_fds++] = fd;
}

/* Send a request. NULL: with the outcome's trouble, blame and retry. */
static struct lines_result *request_lines(struct lines_query *q, uint32_t flags,
                                          const struct lines_query_files *files, uint64_t split_id)
{
    const struct linecache *c = q->mod->lines;
    enum worker_result result;
    struct {
        struct lines_ask head;
        uint64_t offsets[LINECACHE_BATCH];
    } payload = { .head = { .key = q->mod->module->id,
                            .split_id = split_id,
                            .reference = c->reference,
                            .flags = flags,
                            .n = (uint32_t)c->n_batch } };
    struct worker_request r = { .kind = WORKER_LINES,
                                .payload = &payload,
                                .payload_n = sizeof payload.head + c->n_batch * sizeof *c->batch };

    if (c->batch_kind == LINECACHE_INLINED)
        payload.head.flags |= LINES_INLINED;
    memcpy(payload.offsets, c->batch, c->n_batch * sizeof *c->batch);
    add_file(&r, files->fd);
    add_file(&r, files->debug_fd);
    add_file(&r, files->alt_fd);
    add_file(&r, files->split_fd);
    error_clear(&q->out->trouble);
    result = resolve_send(q->sy, &r, q->raw, q->out);
    return result == WORKER_DONE ? read_reply(q) : NULL;
}

static bool has_status(const struct lines_result *a, enum lines_status status)
{
    return a && a->view.header.status == status;
}

static int open_below(const struct lines_query *q, const char *folder, const char *path)
{
    char joined[PATH_MAX];
    int n = path[0] == '/' ? snprintf(joined, sizeof joined, "%s", path)
                           : snprintf(joined, sizeof joined, "%s/%s", folder, path);

    if (n <= 0 || (size_t)n >= sizeof joined || joined[0] != '/')
        return -1;
    return opener_open(&q->root.user, q->root.path, joined, true);
}

/* Return the folder of an open file; "": not known, or not below the root. */
static void folder_of(const struct lines_query *q, int fd, char folder[PATH_MAX])
{
    char link[40], path[PATH_MAX];
    size_t root_n = strcmp(q->root.path, "/") ? strlen(q->root.path) : 0;
    ssize_t n;

    folder[0] = '\0';
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    if (n <= 0)
        return;
    path[n] = '\0';
    if (strncmp(path, q->root.path, root_n) || path[root_n] != '/')
        return;
    snprintf(folder, PATH_MAX, "%.*s", (int)(text_base_name(path + root_n) - (path + root_n)), path + root_n);
}

/* Open the alternate file as gdb does: by build-id, by its name (which may be relative to the file that names
 * it), and by the last part of its name in the tree of debug files; then among the fetched files. The worker
 * checks the match. */
static int open_alt(const struct lines_query *q, const struct lines_view *v, int from_fd)
{
    struct debugfile_search by_id = { .user = q->root.user,
                                      .root = q->root.path,
                                      .module_path = q->mod->module->path,
                                      .build_id = v->header.want_id,
                                      .build_id_size = v->header.want_id_n };
    const char *path = v->strings + v->header.want_path;
    char folder[PATH_MAX];
    int fd = debugfile_open_next(&by_id);

    if (fd < 0) {
        folder_of(q, from_fd, folder);
        fd = open_below(q, folder, path);
    }
    if (fd < 0)
        fd = open_below(q, "/usr/lib/debug/.dwz", text_base_name(path));
    return fd >= 0 ? fd : fetch_open(q->sy, v->header.want_id, v->header.want_id_n);
}

/* Open the module in the worker. NULL, or a reply that is_of_no_use(): not with these files. */
static struct lines_result *open_with(struct lines_query *q, int fd, int debug_fd)
{
    struct lines_query_files files = { fd, debug_fd, -1, -1 };
    uint32_t flags = q->flags | LINES_OPEN | (debug_fd >= 0 ? LINES_DEBUG : 0);
    struct lines_result *a = request_lines(q, flags, &files, 0);

    if (!has_status(a, LINES_WANTS_ALT))
        return a;
    files.alt_fd = open_alt(q, &a->view, debug_fd >= 0 ? debug_fd : fd);
    q->out->later =
        files.alt_fd < 0 && fetch_for_lines(q->sy, q->mod, a->view.header.want_id, a->view.header.want_id_n);
    lines_result_free(a);
    if (q->out->later)
        return NULL;
    a = files.alt_fd >= 0 ? request_lines(q, flags | LINES_ALT, &files, 0) : NULL;
    if (files.alt_fd >= 0)
        close(files.alt_fd);
    if ((a && !has_status(a, LINES_OTHER_BUILD)) || q->out->retry)
        return a;
    lines_result_free(a);
    files.alt_fd = -1;
    q->mod->lines->lacking = true;
    return request_lines(q, flags | LINES_NO_ALT, &files, 0);
}

static bool is_of_no_use(const struct lines_result *a)
{
    return !a || has_status(a, LINES_NO_DWARF) || has_status(a, LINES_GO_TABLE) ||
           has_status(a, LINES_OTHER_BUILD);
}

/* Replace `a` with the result for a debug file, and close the file. One that could not be read, because of
 * its time limit or the rights that it needs, may still have lines: then the result is the failure, not "no
 * lines". */
static struct lines_result *try_debug_file(struct lines_query *q, int fd, int debug_fd,
                                           struct lines_result *a)
{
    struct lines_result *with = open_with(q, fd, debug_fd);

    close(debug_fd);
    if (!with) {
        q->failure = q->out->trouble;
        return a;
    }
    lines_result_free(a);
    return with;
}

/* Try the debug files below the root. */
static struct lines_result *try_debug_root(struct lines_query *q, bool own_root, int fd,
                                           struct lines_result *a)
{
    const struct symbol_table *t = q->mod->table;

    if (!look_below(q, own_root))
        return a;
    struct debugfile_search search = { .user = q->root.user,
                                       .root = q->root.path,
                                       .module_path = q->mod->module->path,
                                       .build_id = q->out->id,
                                       .build_id_size = q->out->id_size,
                                       .debuglink = t ? table_debuglink(&t->view) : NULL };
    int debug_fd;

    while (is_of_no_use(a) && !q->out->retry && !q->out->later &&
           (debug_fd = debugfile_open_next(&search)) >= 0)
        a = try_debug_file(q, fd, debug_fd, a);
    return a;
}

static struct lines_result *try_fetched(struct lines_query *q, int fd, struct lines_result *a)
{
    int debug_fd = fetch_open(q->sy, q->out->id, q->out->id_size);

    look_below(q, false);
    return debug_fd >= 0 ? try_debug_file(q, fd, debug_fd, a) : a;
}

/* Use the table of a Go program. A debug file is better: it covers the parts in other languages as well. */
static struct lines_result *try_go_table(struct lines_query *q, int fd, struct lines_result *a)
{
    lines_result_free(a);
    look_below(q, false);
    q->flags = LINES_GO;
    return open_with(q, fd, -1);
}

/* Get the kernel's lines. A distribution's debug file of a kernel is complete. Most machines have none: no
 * worker is started only to learn this. */
static struct lines_result *ask_of_kernel(struct lines_query *q)
{
    int fd = q->mod->lines->reference ? resolve_vmlinux(q->sy) : -1;
    struct lines_result *a;

    if (fd < 0) {
        error_set(&q->out->trouble, ERROR_MISSING,
                  q->mod->lines->reference ? "there is no vmlinux of this kernel for its source lines"
                                           : "the kernel hides its addresses: source lines need them");
        return NULL;
    }
    a = request_lines(q, 0, &no_files, 0);
    if (has_status(a, LINES_NOT_OPEN)) {
        lines_result_free(a);
        a = open_with(q, fd, -1);
    }
    close(fd);
    return a;
}

static struct lines_result *ask_of_file(struct lines_query *q)
{
    struct lines_result *a = request_lines(q, 0, &no_files, 0);
    int fd;

    if (!has_status(a, LINES_NOT_OPEN))
        return a;
    lines_result_free(a);
    fd = resolve_open(q->sy, q->mod, q->out);
    if (fd < 0)
        return NULL;
    q->mod->lines->file_user = resolve_owner(fd);
    look_below(q, false);
    a = open_with(q, fd, -1);
    q->has_go = has_status(a, LINES_GO_TABLE);
    if (a && is_of_no_use(a))
        a = try_debug_root(q, false, fd, a);
    if (a && is_of_no_use(a) && !q->out->later)
        a = try_debug_root(q, true, fd, a);
    if (a && is_of_no_use(a) && !q->out->retry && !q->out->later)
        a = try_fetched(q, fd, a);
    if (a && is_of_no_use(a) && !q->out->retry && !q->out->later && q->has_go)
        a = try_go_table(q, fd, a);
    close(fd);
    return a;
}

/* Open a unit's own file, in its compilation folder or next to the module. */
static int open_split(struct lines_query *q, bool own_root, const char *folder, const char *path)
{
    const char *module_path = q->mod->module->path;
    char near_path[PATH_MAX];
    int fd;

    if (!look_below(q, own_root))
        return -1;
    fd = open_below(q, folder, path);
    if (fd >= 0)
        return fd;
    snprintf(near_path, sizeof near_path, "%.*s", (int)(text_base_name(module_path) - module_path),
             module_path);
    return open_below(q, near_path, text_base_name(path));
}

static struct lines_result *give_split(struct lines_query *q, struct lines_result *a)
{
    const struct lines_header *h = &a->view.header;
    const char *path = a->view.strings + h->want_path, *folder = a->view.strings + h->want_folder;
    struct lines_query_files files = no_files;
    uint64_t id = 0;

    memcpy(&id, h->want_id, h->want_id_n < sizeof id ? h->want_id_n : sizeof id);
    files.split_fd = open_split(q, false, folder, path);
    if (files.split_fd < 0)
        files.split_fd = open_split(q, true, folder, path);
    lines_result_free(a);
    a = request_lines(q, files.split_fd >= 0 ? LINES_SPLIT : LINES_NO_SPLIT, &files, id);
    if (files.split_fd >= 0)
        close(files.split_fd);
    return a;
}

static struct lines_result *kept_on_disk(const struct lines_query *q)
{
    int fd = resolve_open(q->sy, q->mod, q->out);
    struct lines_result *a = fd >= 0 ? linesdisk_load(q->sy, q->mod, fd, q->out) : NULL;

    if (fd >= 0)
        close(fd);
    error_clear(&q->out->trouble);
    return a;
}

/* Inlined functions are requested for a whole unit with its first address, and without lines, whose
 * tables are most of the bytes: soon nothing is left to request. */
void resolve_lines(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    uint64_t end_ns = clock_now_ns() + SPLIT_MAX_NS;
    struct lines_query q = { .sy = sy, .mod = mod, .out = out, .raw = mem_alloc(sizeof *q.raw) };
    struct lines_result *a;

    look_below(&q, false);
    if (mod->lines->ask_disk && (out->lines = kept_on_disk(&q))) {
        mem_free(q.raw);
        return;
    }
    a = mods_is_kernel(mod) ? ask_of_kernel(&q) : ask_of_file(&q);
    while (has_status(a, LINES_WANTS_SPLIT) && clock_now_ns() < end_ns)
        a = give_split(&q, a);
    mem_free(q.raw);
    bool failed = q.failure.class != ERROR_NONE && is_of_no_use(a);
    if (a && (out->retry || out->later || failed)) { /* not all of its files were read */
        lines_result_free(a);
        a = NULL;
    }
    out->lines = a;
    if (a)
        error_clear(&out->trouble);
    else if (failed)
        out->trouble = q.failure;
}
