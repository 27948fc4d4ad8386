// SPDX-License-Identifier: GPL-2.0-or-later
/* Folded stacks: "comm;main;work 12", one line per stack, sorted, counts in samples. Names are what stackcollapse-perf.pl
 * makes of those of perf script, so that both files are one: a function without a name is called by its module, in
 * brackets; what is inlined has no mark; "a->b" is a and, inlined in it, b; quotes are left out, ';' is ':'. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/export.h"
#include "process/module.h"

#define FRAMES_MAX   4096
#define INLINED_MARK " (inlined)"

struct folding {
    const struct view *v;
    const struct export_options *o;
    uint32_t *frame_of; /* a frame of each function; 0: it has none */
    struct buf names;   /* of functions as they stand in a line, each ended by a NUL */
    uint32_t *name_of;  /* function * 2 + (in Java) → place in `names` + 1; 0: not made yet */
    struct buf texts;
};

/* ---- names ---- */

static void put_clean(struct buf *out, const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name[i] == ';')
            buf_putc(out, ':');
        else if (name[i] != '"' && name[i] != '\'')
            buf_putc(out, name[i]);
}

/* "name [module]+0x12" → length of "name" */
static size_t without_offset(const char *name, size_t n)
{
    const char *plus = memmem(name, n, "+0x", 3);
    if (!plus || plus + 3 == name + n || !isxdigit((unsigned char)plus[3]))
        return n;
    n = (size_t)(plus - name);
    const char *open = n && name[n - 1] == ']' ? memrchr(name, '[', n) : NULL;
    return open && open > name && open[-1] == ' ' ? (size_t)(open - 1 - name) : n;
}

static const char *mark_of(const struct folding *f, const struct module *m, const char *path)
{
    size_t n = strlen(path);
    bool vmlinux = n >= 7 && !strcmp(path + n - 7, "vmlinux");
    if (f->o->annotate_kernel && (*path == '[' || vmlinux) && !strstr(path, "unknown"))
        return "_[k]";
    return f->o->annotate_jit && m->kind == MODULE_JIT && *path == '/' ? "_[j]" : "";
}

/* One of the functions that "a->b" names. */
static void put_part(struct buf *out, const char *part, size_t n, bool java, const char *mark)
{
    if (out->len && out->data[out->len - 1])
        buf_putc(out, ';');
    if (java && n && *part == 'L' && memchr(part, '/', n)) {
        part++;
        n--;
    }
    put_clean(out, part, n);
    if (!memmem(part, n, mark, strlen(mark)) || !strcmp(mark, "_[k]"))
        buf_puts(out, mark);
}

static void put_named(struct buf *out, const char *name, size_t n, bool java, const char *mark)
{
    n = without_offset(name, n);
    if (!n || *name == '(') /* the name of a process */
        return;
    while (n >= 2 && !memcmp(name + n - 2, "->", 2))
        n -= 2;
    for (const char *arrow; (arrow = memmem(name, n, "->", 2)); mark = "_[i]") {
        put_part(out, name, (size_t)(arrow - name), java, mark);
        n -= (size_t)(arrow + 2 - name);
        name = arrow + 2;
    }
    put_part(out, name, n, java, mark);
}

/* Where there is no function's name. */
static void put_module(struct buf *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    bool unknown = !strcmp(path, "[unknown]");
    size_t start = out->len;
    if (!unknown)
        buf_putc(out, '[');
    export_put_path(out, slash ? slash + 1 : path);
    for (char *p = out->data + start; p < out->data + out->len; p++)
        *p = *p == ';' ? ':' : *p;
    if (!unknown)
        buf_putc(out, ']');
}

static void put_function(const struct folding *f, uint32_t func, bool java, struct buf *out)
{
    char made[64];
    const struct view_function *fn = &f->v->funcs[func];
    const struct module *m = view_module(f->v, f->frame_of[func]);
    const char *path = export_module_path(m, made, sizeof made);
    size_t n = strlen(fn->name);
    if (f->o->fold_raw) {
        put_clean(out, fn->name, n);
    } else if (!export_is_named(f->v, f->frame_of[func])) {
        put_module(out, path);
        buf_puts(out, mark_of(f, m, path));
    } else if (fn->class == SYMBOL_CLASS_INLINED && n > strlen(INLINED_MARK)) {
        put_named(out, fn->name, n - strlen(INLINED_MARK), java, "");
    } else {
        put_named(out, fn->name, n, java, mark_of(f, m, path));
    }
}

static const char *name_of(struct folding *f, uint32_t func, bool java)
{
    uint32_t *at = &f->name_of[2 * (size_t)func + java];
    if (!*at) {
        *at = (uint32_t)f->names.len + 1;
        put_function(f, func, java, &f->names);
        buf_putc(&f->names, '\0');
    }
    return f->names.data + *at - 1;
}

/* "comm", "comm-pid" or "comm-pid/tid", with '_' for blanks. True: it is a Java VM's. */
static bool put_thread(struct folding *f, const struct view_group_info *g)
{
    struct buf *out = &f->texts;
    size_t start = out->len;
    const char *tid = f->o->pid || f->o->tid ? strrchr(g->label, '/') : NULL;
    put_clean(out, g->label, tid ? (size_t)(tid - g->label) : strlen(g->label));
    for (char *p = out->data + start; p < out->data + out->len; p++)
        *p = *p == ' ' ? '_' : *p;
    if (f->o->pid || f->o->tid)
        buf_printf(out, "-%u", g->pid);
    if (f->o->tid && tid)
        buf_puts(out, tid);
    return out->len - start >= 4 && !memcmp(out->data + start, "java", 4);
}

/* ---- lines ---- */

static void fold_entry(struct folding *f, const struct result_entry *en)
{
    uint32_t path[FRAMES_MAX], n = 0;
    for (uint32_t node = en->node; node && n < FRAMES_MAX; node = f->v->result.parent[node])
        path[n++] = f->v->frame_func[f->v->result.frame[node]];
    bool java = put_thread(f, &f->v->groups[en->group]);
    while (n) {
        const char *name = name_of(f, path[--n], java);
        if (!*name)
            continue;
        buf_putc(&f->texts, ';');
        buf_puts(&f->texts, name);
    }
    buf_putc(&f->texts, '\0');
}

struct line {
    const char *text;
    uint64_t start, count; /* start: in the buffer of all texts */
};

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

/* Equal texts come from different leaf addresses: sorted, they are neighbours and are summed. */
static void put_lines(struct line *lines, uint32_t n, struct buf *out)
{
    qsort(lines, n, sizeof *lines, by_text);
    for (uint32_t i = 0; i < n;) {
        uint64_t count = 0;
        uint32_t first = i;
        for (; i < n && !strcmp(lines[first].text, lines[i].text); i++)
            count += lines[i].count;
        buf_puts(out, lines[first].text);
        buf_printf(out, " %llu\n", (unsigned long long)count);
    }
}

static void folded_text(struct session *s, const struct view_query *q, const struct view *v,
                        const struct export_options *o, struct buf *out)
{
    (void)s;
    (void)q;
    struct folding f = { .v = v, .o = o };
    uint32_t n = v->result.n_entries;
    struct line *lines = mem_array(n + 1, sizeof *lines);
    f.frame_of = mem_array(v->n_funcs + 1, sizeof *f.frame_of);
    f.name_of = mem_array(2 * ((size_t)v->n_funcs + 1), sizeof *f.name_of);
    for (uint32_t i = 1; i < v->result.n_frames; i++)
        f.frame_of[v->frame_func[i]] = i;
    for (uint32_t i = 0; i < n; i++) {
        const struct result_entry *en = &v->result.entries[i];
        lines[i] = (struct line){ .start = f.texts.len, .count = o->fold_period ? en->weight : en->count };
        fold_entry(&f, en);
    }
    for (uint32_t i = 0; i < n; i++)
        lines[i].text = f.texts.data + lines[i].start;
    put_lines(lines, n, out);
    buf_done(&f.texts);
    buf_done(&f.names);
    mem_free(f.frame_of);
    mem_free(f.name_of);
    mem_free(lines);
}

const struct exporter export_folded = {
    .name = "folded",
    .suffix = ".folded",
    .by_comm = true,
    .as_recorded = true,
    .whole = true,
    .help = "a line per stack, as stackcollapse-perf.pl has it; see --fold",
    .text = folded_text,
};
