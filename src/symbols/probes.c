// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/probes.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "symbols/blob.h"
#include "symbols/debugfile.h"
#include "symbols/probefiles.h"
#include "symbols/probeformat.h"
#include "symbols/worker.h"

#define MARKER_GLOB_MAX PROBEFILE_NAME_MAX

/* One search, with the worker that serves it. */
struct lookup {
    struct worker worker;
    struct worker_reply *reply;
};

/* ---- the worker ---- */

static int open_debug_file(const struct probefiles_entry *file)
{
    struct debugfile_search search = { .user = file->user,
                                       .root = file->root,
                                       .module_path = file->shown,
                                       .build_id = file->facts.id,
                                       .build_id_size = file->facts.id_size };
    return file->facts.id_size ? debugfile_open_next(&search) : -1;
}

/* *view is valid until the next request. */
static bool ask(struct lookup *l, const struct probefiles_entry *file, const struct probefile_ask *q,
                struct probefile_view *view, struct error *e)
{
    struct error why = { 0 };
    int debug_fd = open_debug_file(file);
    struct worker_request r = { .kind = WORKER_PROBE,
                                .fds = { file->fd, debug_fd },
                                .n_fds = debug_fd < 0 ? 1 : 2,
                                .payload = q,
                                .payload_n = sizeof *q };
    blob_free(l->reply->blob, l->reply->blob_size);
    l->reply->blob = NULL;
    bool ok = worker_ask(&l->worker, &r, l->reply, &why) == WORKER_DONE &&
              probefile_view(view, l->reply->blob, l->reply->blob_size, &why);
    if (debug_fd >= 0)
        close(debug_fd);
    return ok || error_set(e, why.class, "%s: %s", file->shown, why.text);
}

static void lookup_begin(struct lookup *l)
{
    *l = (struct lookup){ .worker = WORKER_INIT, .reply = mem_zalloc(sizeof *l->reply) };
}

static void lookup_end(struct lookup *l)
{
    blob_free(l->reply->blob, l->reply->blob_size);
    mem_free(l->reply);
    worker_end(&l->worker);
}

/* ---- definitions ---- */

static struct probefile_ask query_of(const struct probe_spec *spec)
{
    static const enum probefile_kind kinds[] = { [PROBE_FUNCTION] = PROBEFILE_FUNCTION,
                                                 [PROBE_OFFSET] = PROBEFILE_OFFSET,
                                                 [PROBE_LINE] = PROBEFILE_LINE,
                                                 [PROBE_MARKER] = PROBEFILE_MARKERS };
    struct probefile_ask q = { .kind = kinds[spec->kind], .line = spec->line, .offset = spec->offset };
    (void)snprintf(q.name, sizeof q.name, "%s", spec->name);
    size_t at = 0;
    for (uint32_t i = 0; i < spec->n_arguments; i++) {
        const struct probe_argument *a = &spec->arguments[i];
        if (!probe_is_parameter(a) || at + strlen(a->value) + 2 > sizeof q.variables)
            continue;
        q.wants_parameters = 1;
        at += (size_t)snprintf(q.variables + at, sizeof q.variables - at, "%s%s", at ? " " : "", a->value);
    }
    return q;
}

static const char *keep(struct probe_places *out, const char *text)
{
    return arena_strndup(&out->strings, text, strlen(text));
}

static bool add_places(const struct probe_spec *spec, struct probefiles_entry *file,
                       const struct probefile_view *v, struct probe_places *out, struct error *e)
{
    const char *path = keep(out, file->path);
    for (uint32_t i = 0; i < v->header.n_places; i++) {
        const struct probefile_place *p = &v->places[i];
        if (out->n == PROBE_PLACES_MAX)
            return error_set(e, ERROR_LIMIT, "%s matches more than %d places: name fewer functions",
                             spec->name, PROBE_PLACES_MAX);
        *VEC_PUSH(out) =
            (struct probe_place){ .path = path,
                                  .name = keep(out, p->name),
                                  .details = keep(out, p->details),
                                  .offset = p->offset,
                                  .semaphore = spec->kind == PROBE_OFFSET ? spec->semaphore : p->semaphore,
                                  .wide = v->header.wide,
                                  .go = v->header.go };
    }
    *VEC_PUSH(&out->fds) = file->fd; /* the path may be that of the descriptor */
    file->fd = -1;
    return true;
}

bool probes_find(const struct probe_spec *spec, struct probe_places *out, struct error *e)
{
    struct probefile_ask q = query_of(spec);
    struct probefiles files = { 0 };
    struct lookup l;
    struct error first = { 0 };
    bool ok = probefiles_find(spec->file, spec->kind != PROBE_OFFSET, &files, e);
    lookup_begin(&l);
    for (size_t i = 0; ok && i < files.n; i++) {
        struct probefile_view view;
        struct error why = { 0 };
        if (ask(&l, &files.items[i], &q, &view, &why))
            ok = add_places(spec, &files.items[i], &view, out, e);
        else if (!first.class)
            first = why;
    }
    lookup_end(&l);
    probefiles_done(&files);
    if (ok && !out->n)
        return error_set(e, first.class, "%s", first.text);
    return ok;
}

/* ---- markers ---- */

static void show_markers(const struct probefiles_entry *file, const struct probefile_view *v,
                         probes_marker_fn *each, void *ctx)
{
    char definition[PROBE_TEXT_MAX];
    for (uint32_t i = 0; i < v->header.n_places; i++) {
        const struct probefile_place *p = &v->places[i];
        bool again = false; /* a marker may be at several places */
        for (uint32_t k = 0; k < i && !again; k++)
            again = !strcmp(v->places[k].name, p->name);
        (void)snprintf(definition, sizeof definition, PROBE_MARKER_PREFIX "%s:%s", file->shown, p->name);
        if (!again)
            each(ctx, definition, p->details);
    }
}

bool probes_each_marker(const char *file, const pid_t *pids, size_t n_pids, const char *glob,
                        probes_marker_fn *each, void *ctx, struct error *e)
{
    struct probefile_ask q = { .kind = PROBEFILE_MARKERS };
    struct probefiles files = { 0 };
    struct lookup l;
    struct error first = { 0 };
    bool any = false;
    if (strlen(glob) >= MARKER_GLOB_MAX)
        return error_set(e, ERROR_ARGUMENT, "the name of a marker has at most %d bytes", MARKER_GLOB_MAX - 1);
    (void)snprintf(q.name, sizeof q.name, "%s", glob);
    if (!file)
        probefiles_of_processes(pids, n_pids, &files);
    else if (!probefiles_find(file, false, &files, e))
        return false;
    lookup_begin(&l);
    for (size_t i = 0; i < files.n; i++) {
        struct probefile_view view;
        struct error why = { 0 };
        if (ask(&l, &files.items[i], &q, &view, &why)) {
            show_markers(&files.items[i], &view, each, ctx);
            any = true;
        } else if (!first.class) {
            first = why;
        }
    }
    lookup_end(&l);
    probefiles_done(&files);
    if (any)
        return true;
    if (file)
        return error_set(e, first.class, "%s", first.text);
    return error_set(e, ERROR_MISSING, "no file that these processes use has a marker that matches '%s'",
                     glob);
}
