// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/export.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"

const struct exporter *const export_table[] = { &export_perfdata, &export_folded, &export_report };
const size_t export_table_n = sizeof export_table / sizeof *export_table;

static bool ends_with(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n >= m && !strcmp(path + n - m, suffix);
}

const struct exporter *export_find(const char *name, const char *path, struct error *e)
{
    const char *names[sizeof export_table / sizeof *export_table];
    for (size_t i = 0; i < export_table_n; i++) {
        names[i] = export_table[i]->name;
        if (name ? !strcmp(name, export_table[i]->name) : ends_with(path, export_table[i]->suffix))
            return export_table[i];
    }
    if (!name)
        return &export_perfdata;
    int near = text_nearest(name, names, export_table_n);
    error_set(e, ERROR_ARGUMENT, "--export %s: no such format; --list-exports shows them", name);
    if (near >= 0)
        error_hint(e, "did you mean %s?", names[near]);
    return NULL;
}

#define SETTLE_NS (5 * NS_PER_SEC)
#define SETTLE_ROUNDS 4 /* names, then their demangled form, then what those brought */

void export_query(struct session *s, const struct view_query *q, struct view *v)
{
    uint64_t deadline = clock_now_ns() + SETTLE_NS;
    session_query(s, q, v);
    for (int round = 0; round < SETTLE_ROUNDS; round++) {
        uint64_t now = clock_now_ns();
        session_settle(s, deadline > now ? deadline - now : 0);
        if (session_generation(s) == v->generation)
            break;
        session_query(s, q, v);
    }
}

static bool write_text(const struct buf *text, const char *path, struct error *e)
{
    struct outfile o;
    if (!strcmp(path, "-"))
        return file_write_all(STDOUT_FILENO, buf_str(text), text->len, e);
    if (!outfile_open(&o, path, e))
        return false;
    outfile_write(&o, buf_str(text), text->len);
    return outfile_commit(&o, e);
}

bool export_run(const struct exporter *x, struct session *s, const struct view_query *q,
                const struct export_options *o, const char *path, struct error *e)
{
    if (x->write)
        return x->write(s, q, o, path, e);
    struct view v = { 0 };
    struct buf text = { 0 };
    struct view_query asked = *q;
    if (x->by_comm)
        asked.group = VIEW_GROUP_COMM_SYMBOL;
    export_query(s, &asked, &v);
    x->text(s, &asked, &v, o, &text);
    bool ok = write_text(&text, path, e);
    buf_done(&text);
    view_done(&v);
    return ok;
}
