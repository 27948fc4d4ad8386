// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded stacks, as stackcollapse-perf.pl prints them: "comm;main;work 12", one line per stack, sorted, counts in
 * samples. ';' in a name would cut it in two and becomes ':'. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/export.h"

static void put_name(struct buf *out, const char *name)
{
    for (; *name; name++)
        buf_putc(out, *name == ';' ? ':' : *name);
}

static void fold_entry(const struct view *v, const struct result_entry *en, struct buf *out)
{
    uint32_t path[4096], n = 0;
    for (uint32_t node = en->node; node && n < sizeof path / sizeof *path; node = v->result.parent[node])
        path[n++] = v->frame_func[v->result.frame[node]];
    put_name(out, v->groups[en->group].label);
    while (n) {
        const struct view_function *f = &v->funcs[path[--n]];
        buf_putc(out, ';');
        put_name(out, f->name);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void folded_text(struct session *s, const struct view_query *q, const struct view *v, struct buf *out)
{
    (void)v; /* asked anew, by comm */
    struct view_query by_comm = *q;
    struct view answer = { 0 };
    by_comm.group = VIEW_GROUP_COMM_SYMBOL;
    export_query(s, &by_comm, &answer);
    /* Equal texts come from different leaf addresses: sorted, they are neighbours and are summed. */
    uint32_t n = answer.result.n_entries;
    struct line {
        char *text;
        uint64_t count;
    } *lines = mem_array(n + 1, sizeof *lines);
    for (uint32_t i = 0; i < n; i++) {
        struct buf line = { 0 };
        fold_entry(&answer, &answer.result.entries[i], &line);
        lines[i].text = buf_take(&line);
        lines[i].count = answer.result.entries[i].count;
    }
    qsort(lines, n, sizeof *lines, by_text);
    for (uint32_t i = 0; i < n;) {
        uint64_t count = 0;
        uint32_t j = i;
        while (j < n && !strcmp(lines[j].text, lines[i].text))
            count += lines[j++].count;
        buf_printf(out, "%s %llu\n", lines[i].text, (unsigned long long)count);
        i = j;
    }
    for (uint32_t i = 0; i < n; i++)
        mem_free(lines[i].text);
    mem_free(lines);
    view_done(&answer);
}

const struct exporter export_folded = {
    .name = "folded",
    .suffix = ".folded",
    .help = "one line per stack with its samples, for flamegraph.pl and its kin",
    .text = folded_text,
};
