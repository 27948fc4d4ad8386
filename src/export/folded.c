// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded stacks, as stackcollapse-perf.pl prints them: "comm;main;work 12", one line per stack, sorted, counts in
 * samples. ';' in a name would cut it in two and becomes ':'. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/export.h"

static void put_name(struct buf *out, const char *name)
{
    size_t start = out->len;
    buf_puts(out, name);
    for (char *p = out->data + start; (p = strchr(p, ';'));)
        *p = ':';
}

static void fold_entry(const struct view *v, const struct result_entry *en, struct buf *out)
{
    uint32_t path[4096], n = 0;
    for (uint32_t node = en->node; node && n < sizeof path / sizeof *path; node = v->result.parent[node])
        path[n++] = v->frame_func[v->result.frame[node]];
    put_name(out, v->groups[en->group].label);
    while (n) {
        buf_putc(out, ';');
        put_name(out, v->funcs[path[--n]].name);
    }
    buf_putc(out, '\0');
}

struct line {
    const char *text;
    uint64_t start, count; /* start: in the buffer of all texts */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void folded_text(struct session *s, const struct view_query *q, const struct view *v,
                        const struct export_options *o, struct buf *out)
{
    (void)s;
    (void)q;
    (void)o;
    /* Equal texts come from different leaf addresses: sorted, they are neighbours and are summed. */
    uint32_t n = v->result.n_entries;
    struct line *lines = mem_array(n + 1, sizeof *lines);
    struct buf texts = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        lines[i] = (struct line){ .start = texts.len, .count = v->result.entries[i].count };
        fold_entry(v, &v->result.entries[i], &texts);
    }
    for (uint32_t i = 0; i < n; i++)
        lines[i].text = texts.data + lines[i].start;
    qsort(lines, n, sizeof *lines, by_text);
    for (uint32_t i = 0; i < n;) {
        uint64_t count = 0;
        uint32_t first = i;
        for (; i < n && !strcmp(lines[first].text, lines[i].text); i++)
            count += lines[i].count;
        buf_puts(out, lines[first].text);
        buf_printf(out, " %llu\n", (unsigned long long)count);
    }
    buf_done(&texts);
    mem_free(lines);
}

const struct exporter export_folded = {
    .name = "folded",
    .suffix = ".folded",
    .by_comm = true,
    .whole = true,
    .help = "one line per stack with its samples, for flamegraph.pl and its kin",
    .text = folded_text,
};
