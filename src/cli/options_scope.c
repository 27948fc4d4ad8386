// SPDX-License-Identifier: GPL-2.0-or-later
/* -p, -t, -C, -K and -U: the scope of live sampling, or what is selected of a file. They are read after all
 * options: processes of a file need not exist any more, and its CPUs may be another machine's. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/options.h"

#define COMM_MOST 15 /* bytes of a longer name that the kernel keeps (TASK_COMM_LEN) */

static bool zoom(struct options *o, enum zoom_kind kind, uint64_t number, const char *value)
{
    struct zoom *z = &o->ui.query.zooms[o->ui.query.n_zooms++];
    *z = (struct zoom){ .kind = kind, .number = number };
    (void)snprintf(z->text, sizeof z->text, "%s", value);
    return true;
}

static bool wrong(struct error *e, char letter, const char *value, const char *wanted)
{
    char safe[64];
    text_clean(safe, sizeof safe, value, strlen(value));
    return error_set(e, ERROR_ARGUMENT, "-%c %s: in a file %s is selected", letter, safe, wanted);
}

/* A word that is no number is the name of processes. */
static bool select_target(struct options *o, struct error *e)
{
    bool thread = o->target->least == SCOPE_TIDS;
    char comm[COMM_MOST + 1];
    uint64_t id;
    if (text_parse_u64(o->ids, 0, UINT32_MAX, &id))
        return zoom(o, thread ? ZOOM_THREAD : ZOOM_PROCESS, id, o->ids);
    if (thread || !*o->ids || strchr(o->ids, ','))
        return wrong(e, o->target->letter, o->ids, thread ? "one thread id" : "one process id or name");
    (void)snprintf(comm, sizeof comm, "%.*s", COMM_MOST, o->ids);
    return zoom(o, ZOOM_COMM, 0, comm);
}

static bool select_cpu(struct options *o, struct error *e)
{
    uint64_t cpu;
    return (text_parse_u64(o->cpus, 0, UINT32_MAX, &cpu) && zoom(o, ZOOM_CPU, cpu, o->cpus)) ||
           wrong(e, 'C', o->cpus, "the number of one CPU");
}

static bool select_in_file(struct options *o, struct error *e)
{
    struct scope *scope = &o->session.scope;
    if (o->session.command || scope->kind != SCOPE_ALL)
        return error_set(e, ERROR_ARGUMENT,
                         "-i opens a file: leave out -u, -G and the command, which are for sampling; -p, -t, "
                         "-C, -K and -U select samples of the file");
    if (scope->no_kernel != scope->no_user) /* both are refused with a file or without */
        o->ui.query.mode = scope->no_kernel ? VIEW_MODE_USER : VIEW_MODE_KERNEL;
    return (!o->ids || select_target(o, e)) && (!o->cpus || select_cpu(o, e));
}

bool options_take_scope(struct options *o, struct error *e)
{
    struct scope *scope = &o->session.scope;
    if (o->session.input)
        return select_in_file(o, e);
    return (!o->ids || scope_set_pids(scope, o->ids, o->target->least == SCOPE_TIDS, e)) &&
           (!o->cpus || scope_set_cpus(scope, o->cpus, e));
}
