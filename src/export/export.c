// SPDX-License-Identifier: GPL-2.0-or-later
/* What the exporters share: waiting for names, and writing. */
#include "export/export.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "process/module.h"

bool export_is_named(const struct view *v, uint32_t frame)
{
    const struct module *m = view_module(v, frame);
    if (m->kind == MODULE_BROKEN)
        /* other offsets are the reason of the truncation, which perf does not have */
        return v->result.frame_offset[frame] != BROKEN_GARBAGE;
    return m->kind != MODULE_UNKNOWN && v->funcs[v->frame_func[frame]].state == SYMBOL_FOUND;
}

const char *export_module_path(const struct module *m, char *dst, size_t cap)
{
    switch (m->kind) {
    case MODULE_KERNEL: /* perf does not know the kernel of a file without kernel information */
        return m->live || m->size || m->build_id_size ? "[kernel.kallsyms]" : "[unknown]";
    case MODULE_UNKNOWN:
    case MODULE_BROKEN:
        return "[unknown]";
    case MODULE_GUEST:
        return "[guest.kernel.kallsyms]";
    case MODULE_JIT:
        if (*m->path == '[')
            return m->path;
        snprintf(dst, cap, "/tmp/perf-%u.map", m->pid);
        return dst;
    default:
        if (!m->deleted || m->live) /* the path is as recorded */
            return m->path;
        snprintf(dst, cap, "%s (deleted)", m->path);
        return dst;
    }
}

void export_put_path(struct buf *out, const char *path)
{
    char clean[PATH_MAX];
    buf_add(out, clean, text_clean(clean, sizeof clean, path, strlen(path)));
}

#define SETTLE_ROUNDS 4 /* names, their demangled form, and names that these need */

void export_query(struct session *s, const struct view_query *q, struct view *v)
{
    uint64_t deadline = clock_now_ns() + session_patience_ns(s);
    session_query_names(s, q, v);
    session_settle(s, session_patience_ns(s));
    session_query(s, q, v);
    for (int round = 0; round < SETTLE_ROUNDS; round++) {
        uint64_t now = clock_now_ns();
        session_settle(s, deadline > now ? deadline - now : 0);
        if (session_generation(s) == v->generation)
            break;
        session_query(s, q, v);
    }
}

bool export_samples(struct session *s, const struct view_query *q, struct view *v,
                    struct session_samples *samples, struct error *e)
{
    export_query(s, q, v);
    return session_samples(s, q, v, samples, e);
}

/* ---- writing ---- */

#define FLUSH_BYTES 65536

static void write_out(struct export_sink *to)
{
    if (to->failed)
        return;
    if (to->memory)
        buf_add(to->memory, to->text.data, to->text.len);
    else if (to->file)
        outfile_write(to->file, buf_str(&to->text), to->text.len);
    else
        to->failed = !file_write_all(STDOUT_FILENO, buf_str(&to->text), to->text.len, &to->error);
    to->failed |= to->file && to->file->failed;
    buf_clear(&to->text);
}

bool export_flush(struct export_sink *to)
{
    if (to->text.len >= FLUSH_BYTES)
        write_out(to);
    return !to->failed;
}

static bool run_text(const struct exporter *x, struct session *s, const struct view_query *q,
                     const struct export_options *o, struct export_sink *to)
{
    struct view v = { 0 };
    export_query(s, q, &v);
    x->text(s, q, &v, o, &to->text);
    view_done(&v);
    return true;
}

static bool run_one(const struct exporter *x, struct session *s, const struct view_query *q,
                    const struct export_options *o, struct export_sink *to, struct error *e)
{
    return x->stream ? x->stream(s, q, o, to, e) : run_text(x, s, q, o, to);
}

/* Exports one section for each event that the user named and that has samples which the format shows, or one
 * for the shown event if there is none. */
static bool run_sections(const struct exporter *x, struct session *s, const struct view_query *q,
                         const struct export_options *o, struct export_sink *to, struct error *e)
{
    struct session_chosen *list;
    uint32_t n = session_chosen(s, &list), written = 0;
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++)
        if (list[i].samples && !list[i].implied && (!x->shows || x->shows(&list[i]))) {
            if (written++)
                buf_putc(&to->text, '\n');
            ok = session_show_event(s, i, e) && run_one(x, s, q, o, to, e);
        }
    mem_free(list);
    return ok && (written || run_one(x, s, q, o, to, e));
}

/* Finishes the output. A file that could not be written completely is removed. */
static bool finish(struct export_sink *to, bool ok, struct error *e)
{
    if (!to->file && to->failed && e)
        *e = to->error;
    if (!to->file)
        return ok && !to->failed;
    if (ok || to->failed)
        return outfile_commit(to->file, e);
    outfile_abort(to->file);
    return false;
}

static void choose_group(const struct exporter *x, const struct export_options *o, struct view_query *asked)
{
    if (x->by_comm)
        asked->group = o->pid || o->tid ? VIEW_GROUP_THREAD : VIEW_GROUP_COMM_SYMBOL;
}

bool export_text(const struct exporter *x, struct session *s, const struct view_query *q,
                 const struct export_options *o, struct buf *out, struct error *e)
{
    struct export_sink to = { .memory = out };
    struct view_query asked = *q;
    choose_group(x, o, &asked);
    bool ok = run_one(x, s, &asked, o, &to, e);
    write_out(&to);
    buf_done(&to.text);
    return ok;
}

void *export_make_plan(const struct export_plan *plan, struct session *s, const struct view_query *q,
                       const struct export_options *o, const char *path, struct error *e)
{
    void *made = plan->begin(s, q, o, path, e);
    enum export_step step = made ? EXPORT_MORE : EXPORT_FAILED;
    const char *what;
    while (step == EXPORT_MORE || step == EXPORT_WAIT) {
        if (step == EXPORT_WAIT)
            nanosleep(&(struct timespec){ .tv_nsec = 10 * NS_PER_MS }, NULL);
        step = plan->step(made, s, &what, e);
    }
    if (made && step == EXPORT_FAILED) {
        plan->free(made);
        made = NULL;
    }
    return made;
}

static bool run_plan(const struct export_plan *plan, struct session *s, const struct view_query *q,
                     const struct export_options *o, const char *path, struct error *e)
{
    void *made = export_make_plan(plan, s, q, o, path, e);
    bool ok = made && plan->write(made, path, e);
    if (made)
        plan->free(made);
    return ok;
}

bool export_may_write(const char *what, const char *path, struct error *e)
{
    return strcmp(path, "-") || !isatty(STDOUT_FILENO) ||
           error_set(e, ERROR_ARGUMENT, "%s is not for a terminal: use -o FILE, or a pipe after -o -", what);
}

bool export_run(const struct exporter *x, struct session *s, const struct view_query *q,
                const struct export_options *o, const char *path, struct error *e)
{
    struct export_sink to = { 0 };
    struct outfile file;
    struct view_query asked = *q;
    if (x->plan)
        return run_plan(x->plan, s, q, o, path, e);
    if (x->write)
        return x->write(s, q, o, path, e);
    choose_group(x, o, &asked);
    if (strcmp(path, "-")) {
        if (!outfile_open(&file, path, e))
            return false;
        to.file = &file;
    } else if (x->binary && !export_may_write(x->name, path, e)) {
        return false;
    }
    bool ok = x->sections && o->each_event ? run_sections(x, s, &asked, o, &to, e)
                                           : run_one(x, s, &asked, o, &to, e);
    write_out(&to);
    ok = finish(&to, ok, e);
    buf_done(&to.text);
    return ok;
}
