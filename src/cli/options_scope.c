// SPDX-License-Identifier: GPL-2.0-or-later
/* -p, -t, -C, -K and -U: the scope of live sampling, or what is selected of a file. They are read after all
 * options: processes of a file need not exist any more, and its CPUs may be another machine's. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/options.h"
#include "profile/history.h"

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

/* Appends a word to a list that fits a zoom. */
static bool append(struct zoom *z, const char *word)
{
    size_t n = strlen(z->text);
    int more = snprintf(z->text + n, sizeof z->text - n, "%s%.*s", n ? "," : "", COMM_MOST, word);
    return (size_t)more < sizeof z->text - n;
}

/* A word that is no number is the name of processes. */
static bool select_target(struct options *o, struct error *e)
{
    bool thread = o->target->least == SCOPE_TIDS, valid = true, id = true;
    struct zoom list = { .number = ZOOM_LIST };
    char *copy = mem_strdup(o->ids), *rest = copy, *word;
    uint64_t number = 0;
    while (valid && (word = strsep(&rest, ","))) {
        id = text_parse_u64(word, 0, UINT32_MAX, &number);
        valid = (id || (!thread && *word)) && append(&list, word);
    }
    mem_free(copy);
    if (!valid)
        return wrong(e, o->target->letter, o->ids,
                     thread ? "a short list of thread ids" : "a short list of process ids and names");
    if (strchr(o->ids, ','))
        return zoom(o, thread ? ZOOM_THREAD : ZOOM_PROCESS, ZOOM_LIST, list.text);
    return id ? zoom(o, thread ? ZOOM_THREAD : ZOOM_PROCESS, number, o->ids)
              : zoom(o, ZOOM_COMM, 0, list.text);
}

/* "3" or "0-3". */
static bool parse_cpus(const char *word, uint64_t *from, uint64_t *to)
{
    char *copy = mem_strdup(word), *rest = copy, *first = strsep(&rest, "-");
    bool valid = text_parse_u64(first, 0, SAMPLE_CPUS - 1, from) &&
                 (rest ? text_parse_u64(rest, *from, SAMPLE_CPUS - 1, to) : (*to = *from, true));
    mem_free(copy);
    return valid;
}

static bool select_cpus(struct options *o, struct error *e)
{
    struct scope *scope = &o->session.scope;
    char *copy = mem_strdup(o->cpus), *rest = copy, *word;
    uint64_t from = 0, to = 0;
    bool valid = strlen(o->cpus) < sizeof((struct zoom *)NULL)->text;
    scope->cpus = mem_array(SAMPLE_CPUS, sizeof *scope->cpus);
    while (valid && (word = strsep(&rest, ",")) && (valid = parse_cpus(word, &from, &to)))
        for (scope->n_cpus = scope->n_cpus > to ? scope->n_cpus : (uint32_t)to + 1; from <= to; from++)
            scope->cpus[from] = true;
    mem_free(copy);
    if (!valid)
        return wrong(e, 'C', o->cpus, "a short list of CPUs, as in 0-3,8,");
    return zoom(o, ZOOM_CPU, strpbrk(o->cpus, ",-") ? ZOOM_LIST : to, o->cpus);
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
    return (!o->ids || select_target(o, e)) && (!o->cpus || select_cpus(o, e));
}

bool options_take_scope(struct options *o, struct error *e)
{
    struct scope *scope = &o->session.scope;
    if (o->session.input)
        return select_in_file(o, e);
    return (!o->ids || scope_set_pids(scope, o->ids, o->target->least == SCOPE_TIDS, e)) &&
           (!o->cpus || scope_set_cpus(scope, o->cpus, e));
}
