// SPDX-License-Identifier: GPL-2.0-or-later
/* Exports folded stacks: "comm;main;work 12", one line per stack, sorted, with counts of samples. Names are
 * those that stackcollapse-perf.pl makes of perf script's, so that both files are the same: a function
 * without a name is its module in brackets; inlined functions have no mark; "a->b" is a and, inlined into it,
 * b; quotes are omitted, ';' becomes ':'. Durations (the events off-cpu, wall
 * and latency:ROW) count microseconds instead of samples. */
#include <ctype.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "export/export.h"
#include "process/module.h"
#include "process/world.h"

#define FRAMES_MAX   4096
#define INLINED_MARK " (inlined)"
#define KEY_BYTES    8

struct folding {
    const struct view *v;
    const struct export_options *o;
    uint32_t *frame_of;       /* a frame of each function; 0: none */
    struct buf names;         /* names of threads and functions as in a line: "work", ";work", or nothing */
    struct map places;        /* hash of such a name → its offset in `names` + 1 */
    struct name *name_of;     /* by function * 2 + (in Java) */
    struct thread *thread_of; /* by group */
    struct buf made;          /* the name that is being composed */
    struct buf texts;         /* texts of all lines */
    struct map line_of;       /* hash of thread and path → line */
    VEC(struct line) lines;
};
struct name {
    uint32_t at, n; /* at: offset in `names` + 1, unique per name; 0: not composed yet. n: length */
};
struct thread {
    struct name name;
    bool java;
};
struct line {
    uint64_t key;          /* first: the bytes of the text that are compared in the current sorting step */
    uint64_t start, count; /* start: offset in `texts` */
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

/* Returns the length of "name" in "name [module]+0x12" or "name+0x12". */
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

/* Puts one of the functions of "a->b". */
static void put_part(struct buf *out, const char *part, size_t n, bool java, const char *mark)
{
    if (out->len)
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
    if (!n || *name == '(') /* a process name */
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

/* Puts the module of a function without a name. */
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
    char made[EXPORT_PATH_MAX];
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

/* Stores the name in `made`, with a separator before it. */
static struct name keep_made(struct folding *f, const char *separator)
{
    bool created;
    uint64_t hash = map_hash_bytes(f->made.data, f->made.len, *separator);
    uint64_t at = *map_at(&f->places, hash, f->names.len + 1, &created);
    if (created) {
        buf_puts(&f->names, separator);
        buf_add(&f->names, f->made.data, f->made.len);
        buf_putc(&f->names, '\0'); /* so that an empty name also has an offset of its own */
    }
    return (struct name){ (uint32_t)at, (uint32_t)(f->made.len ? strlen(separator) + f->made.len : 0) };
}

static struct name name_of(struct folding *f, uint32_t func, bool java)
{
    struct name *name = &f->name_of[2 * (size_t)func + java];
    if (!name->at) {
        buf_clear(&f->made);
        put_function(f, func, java, &f->made);
        *name = keep_made(f, ";");
    }
    return *name;
}

/* Puts "comm", "comm-pid" or "comm-pid/tid", with '_' for blanks. */
static void put_thread(const struct folding *f, const struct view_group_info *g, struct buf *out)
{
    char pid[16];
    const char *tid = f->o->pid || f->o->tid ? strrchr(g->label, '/') : NULL;
    put_clean(out, g->label, tid ? (size_t)(tid - g->label) : strlen(g->label));
    for (size_t i = 0; i < out->len; i++)
        out->data[i] = out->data[i] == ' ' ? '_' : out->data[i];
    if (f->o->pid || f->o->tid)
        buf_printf(out, "-%s", world_id_text(g->pid, pid, sizeof pid));
    if (f->o->tid && tid)
        buf_puts(out, tid);
}

static struct thread thread_of(struct folding *f, uint32_t group)
{
    struct thread *t = &f->thread_of[group];
    if (!t->name.at) {
        buf_clear(&f->made);
        put_thread(f, &f->v->groups[group], &f->made);
        t->java = f->made.len >= 4 && !memcmp(f->made.data, "java", 4);
        t->name = keep_made(f, "");
    }
    return *t;
}

/* ---- lines ---- */

static void add_line(struct folding *f, struct thread t, const struct name *path, uint32_t n)
{
    static const char end[KEY_BYTES]; /* padding: a key never reaches into the next text */
    *VEC_PUSH(&f->lines) = (struct line){ .start = f->texts.len };
    buf_add(&f->texts, f->names.data + t.name.at - 1, t.name.n);
    while (n--)
        buf_add(&f->texts, f->names.data + path[n].at - 1, path[n].n);
    buf_add(&f->texts, end, sizeof end);
}

/* Adds an entry to its line. Many entries differ only in the leaf's address, and share one line. */
static void fold_entry(struct folding *f, const struct result_entry *en)
{
    struct thread t = thread_of(f, en->group);
    struct name path[FRAMES_MAX];
    uint32_t n = 0;
    uint64_t hash = map_mix(t.name.at); /* mixed: plain sums of offsets would collide */
    bool created;
    for (uint32_t node = en->node; node && n < FRAMES_MAX; node = f->v->result.parent[node]) {
        path[n] = name_of(f, f->v->frame_func[f->v->result.frame[node]], t.java);
        hash = path[n].n ? map_mix(hash + path[n].at) : hash;
        n++;
    }
    if (!n && f->o->as_perf) /* stackcollapse-perf.pl skips samples without a stack */
        return;
    uint64_t at = *map_at(&f->line_of, hash, f->lines.n, &created);
    if (created)
        add_line(f, t, path, n);
    f->lines.items[at].count += f->o->fold_period || view_has_durations(f->v) ? en->weight : en->count;
}

struct part { /* a range of lines with the same first `depth` bytes */
    uint32_t first, n, depth;
};

/* Sets the keys of a part. Returns false if all are the same. */
static bool keys_differ(struct folding *f, struct part p)
{
    bool differ = false;
    struct line *lines = f->lines.items + p.first;
    for (uint32_t i = 0; i < p.n; i++) {
        memcpy(&lines[i].key, f->texts.data + lines[i].start + p.depth, KEY_BYTES);
        lines[i].key = be64toh(lines[i].key);
        differ |= lines[i].key != lines[0].key;
    }
    return differ;
}

/* Sorts lines by text, in the order of strcmp. Stacks share their first hundreds of bytes: this radix sort
 * reads them once per line, not once per comparison. */
static void sort_lines(struct folding *f)
{
    VEC(struct part) parts = { 0 };
    if (f->lines.n)
        *VEC_PUSH(&parts) = (struct part){ .n = (uint32_t)f->lines.n };
    while (parts.n) {
        struct part p = parts.items[--parts.n];
        if (keys_differ(f, p))
            qsort(f->lines.items + p.first, p.n, sizeof *f->lines.items, search_compare_u64);
        for (uint32_t i = p.first, first; i < p.first + p.n;) {
            for (first = i; i < p.first + p.n && f->lines.items[i].key == f->lines.items[first].key; i++)
                ;
            if (i - first < 2 || !(f->lines.items[first].key & 0xff)) /* a single line, or the texts ended */
                continue;
            *VEC_PUSH(&parts) = (struct part){ first, i - first, p.depth + KEY_BYTES };
        }
    }
    mem_free(parts.items);
}

static void put_count(struct buf *out, uint64_t count)
{
    char digits[24], *p = digits + sizeof digits;
    *--p = '\n';
    do
        *--p = (char)('0' + count % 10);
    while (count /= 10);
    *--p = ' ';
    buf_add(out, p, (size_t)(digits + sizeof digits - p));
}

/* Puts the lines, and sums those with equal texts, which are adjacent. They come from "a;b" as one name and
 * as two. */
static void put_lines(const struct folding *f, struct buf *out)
{
    for (size_t i = 0; i < f->lines.n;) {
        const char *text = f->texts.data + f->lines.items[i].start;
        uint64_t count = 0;
        do
            count += f->lines.items[i++].count;
        while (i < f->lines.n && !strcmp(text, f->texts.data + f->lines.items[i].start));
        buf_puts(out, text);
        put_count(out, view_has_durations(f->v) && !f->o->fold_period ? (count + NS_PER_US / 2) / NS_PER_US
                                                                      : count);
    }
}

static void folded_text(struct session *s, const struct view_query *q, const struct view *v,
                        const struct export_options *o, struct buf *out)
{
    (void)s;
    (void)q;
    struct folding f = { .v = v, .o = o };
    f.frame_of = mem_array(v->n_funcs + 1, sizeof *f.frame_of);
    f.name_of = mem_array(2 * ((size_t)v->n_funcs + 1), sizeof *f.name_of);
    f.thread_of = mem_array(v->n_groups + 1, sizeof *f.thread_of);
    for (uint32_t i = 1; i < v->result.n_frames; i++)
        f.frame_of[v->frame_func[i]] = i;
    for (uint32_t i = 0; i < v->result.n_entries; i++)
        fold_entry(&f, &v->result.entries[i]);
    sort_lines(&f);
    put_lines(&f, out);
    buf_done(&f.texts);
    buf_done(&f.names);
    buf_done(&f.made);
    map_done(&f.places);
    map_done(&f.line_of);
    mem_free(f.frame_of);
    mem_free(f.name_of);
    mem_free(f.thread_of);
    mem_free(f.lines.items);
}

const struct exporter export_folded = {
    .name = "folded",
    .suffix = ".folded",
    .by_comm = true,
    .as_recorded = true,
    .whole = true,
    .help = "one line per stack, as stackcollapse-perf.pl; see --fold",
    .text = folded_text,
};
