// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists and removes probes, and lists the markers (USDT probes) of programs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"
#include "perf/probe.h"
#include "symbols/probes.h"

static bool print(struct buf *out, struct error *e)
{
    bool ok = file_write_all(STDOUT_FILENO, buf_str(out), out->len, e);
    buf_done(out);
    return ok;
}

static void put_probe(void *ctx, const struct probe_row *r)
{
    char owner[64], safe[1024];
    if (r->owner)
        snprintf(owner, sizeof owner, "flametop %d%s", (int)r->owner, r->dead ? " (ended)" : "");
    else
        snprintf(owner, sizeof owner, "other");
    text_clean(safe, sizeof safe, r->text, strlen(r->text));
    buf_printf(ctx, "%-24s  %s\n", owner, safe);
}

bool probes_list(struct error *e)
{
    struct buf out = { 0 };
    bool ok = probe_each(put_probe, &out, e);
    if (ok && !out.len)
        buf_puts(&out, "no probes are defined\n");
    return print(&out, ok ? e : NULL) && ok;
}

bool probes_remove(struct error *e)
{
    uint32_t removed, kept;
    struct buf out = { 0 };
    if (!probe_remove_dead(&removed, &kept, e))
        return false;
    buf_printf(&out, "removed %u probe%s of flametops that have ended", removed, removed == 1 ? "" : "s");
    if (kept)
        buf_printf(&out, "; %u could not be removed: other programs use them", kept);
    buf_putc(&out, '\n');
    return print(&out, e);
}

bool probes_print_definition(const char *definition, struct error *e)
{
    struct buf out = { 0 };
    bool ok = probe_is_definition(definition)
                  ? probe_print_definition(definition, &out, e)
                  : error_set(e, ERROR_ARGUMENT,
                              "'%s': a probe is probe:FILE:FUNCTION or sdt:FILE:PROVIDER:NAME", definition);
    if (!ok)
        error_show(e, definition);
    return print(&out, ok ? e : NULL) && ok;
}

/* ---- markers ---- */

static void put_marker(void *ctx, const char *definition, const char *arguments)
{
    char name[PROBE_TEXT_MAX], safe[512];
    text_clean(name, sizeof name, definition, strlen(definition));
    text_clean(safe, sizeof safe, arguments, strlen(arguments));
    buf_printf(ctx, "  %-56s %s\n", name, safe);
}

bool probes_list_markers(const char *glob, const struct scope *scope, struct error *e)
{
    const char *file = glob + strlen(PROBES_MARKERS), *colon = strchr(file, ':');
    bool of_processes = scope->kind == SCOPE_PIDS;
    char *name = mem_strndup(file, colon && !of_processes ? (size_t)(colon - file) : 0);
    struct buf out = { 0 };
    pid_t *pids = mem_array(scope->n_ids + 1, sizeof *pids);
    for (uint32_t i = 0; i < scope->n_ids; i++)
        pids[i] = (pid_t)scope->ids[i];
    bool ok = of_processes || colon ||
              error_set(e, ERROR_ARGUMENT,
                        "markers are those of a file, --list-events 'sdt:FILE:*', or of processes: "
                        "--list-events 'sdt:*' -p PID");
    ok = ok && probes_each_marker(of_processes ? NULL : name, pids, scope->n_ids,
                                  of_processes ? file : colon + 1, put_marker, &out, e);
    mem_free(pids);
    mem_free(name);
    return print(&out, ok ? e : NULL) && ok;
}
