// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/supplied.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"

#define HEAD     "flametop names 1\n"
#define TEXT_MAX 4096

struct given_function {
    uint64_t start, size, key;
    const char *name;
    uint8_t class;
    bool idle;
};
struct given_line {
    uint64_t offset;
    const char *file;
    struct symbol_inline *inlines;
    uint32_t line, n_inlines;
};
struct supplied_module {
    VEC(struct given_function) functions; /* by start, without overlaps */
    VEC(struct given_line) lines;         /* by offset */
    size_t inlines_cap;                   /* of the last line */
};
struct supplied_symbols {
    struct map modules; /* hash → struct supplied_module * */
    struct arena strings;
};

/* ---- writing ---- */

static void put_text(struct buf *out, const char *s)
{
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c > ' ' && c < 0x7f && c != '%')
            buf_putc(out, (char)c);
        else
            buf_printf(out, "%%%02x", c);
    }
}

void supplied_put_head(struct buf *out)
{
    buf_puts(out, HEAD);
}

void supplied_put_module(struct buf *out, const struct module *m, const uint8_t *build_id,
                         unsigned build_id_size)
{
    buf_printf(out, "m %x %" PRIx32 " %" PRIx32 " %" PRIx64 " %" PRIx64 " ", (unsigned)m->kind, m->maj,
               m->min, m->ino, m->ino_generation);
    for (unsigned i = 0; i < build_id_size; i++)
        buf_printf(out, "%02x", build_id[i]);
    buf_puts(out, build_id_size ? " " : "- ");
    put_text(out, m->path);
    buf_putc(out, '\n');
}

void supplied_put_symbol(struct buf *out, uint64_t offset, const struct symbol *symbol)
{
    bool found = symbol->state == SYMBOL_FOUND, sized = symbol->size && offset - symbol->start < symbol->size;
    buf_printf(out, "f %" PRIx64 " %" PRIx64 " %" PRIx64 " %x %x ", sized ? symbol->start : offset,
               sized ? symbol->size : 1, symbol->key, (unsigned)symbol->class, (unsigned)symbol->idle);
    put_text(out, found ? symbol->name : "");
    buf_putc(out, '\n');
}

void supplied_put_lines(struct buf *out, uint64_t offset, const struct symbol_lines *lines)
{
    buf_printf(out, "l %" PRIx64 " %" PRIx32 " ", offset, lines->line);
    put_text(out, lines->file);
    buf_putc(out, '\n');
    for (uint32_t i = 0; i < lines->n_inlines; i++) {
        buf_printf(out, "i %" PRIx64 " %" PRIx32 " ", lines->inlines[i].key, lines->inlines[i].line);
        put_text(out, lines->inlines[i].file);
        buf_puts(out, "%09");
        put_text(out, lines->inlines[i].name);
        buf_putc(out, '\n');
    }
}

/* ---- reading ---- */

struct line { /* the rest of a line of text */
    const char *p, *end;
    bool bad;
};

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static uint64_t take_number(struct line *l, uint64_t max)
{
    uint64_t v = 0;
    int digits = 0;
    for (; l->p < l->end && digits <= 16 && hex_digit(*l->p) >= 0; l->p++, digits++)
        v = v << 4 | (unsigned)hex_digit(*l->p);
    if (!digits || digits > 16 || v > max || l->p == l->end || *l->p != ' ')
        l->bad = true;
    else
        l->p++;
    return l->bad ? 0 : v;
}

/* Decode the rest of the line; cap bytes with the NUL. */
static size_t take_raw(struct line *l, char *dst, size_t cap)
{
    size_t n = 0;
    for (; l->p < l->end && n + 1 < cap; l->p++) {
        char c = *l->p;
        if (c == '%') {
            int high = l->end - l->p > 2 ? hex_digit(l->p[1]) : -1, low = high >= 0 ? hex_digit(l->p[2]) : -1;
            if (low < 0)
                break;
            c = (char)(high << 4 | low);
            l->p += 2;
        }
        dst[n++] = c;
    }
    l->bad |= l->p < l->end;
    dst[n] = '\0';
    return n;
}

static const char *keep(struct supplied_symbols *g, const char *raw)
{
    char clean[TEXT_MAX];
    size_t n = text_clean(clean, sizeof clean, raw, strlen(raw));
    return n ? arena_strndup(&g->strings, clean, n) : "";
}

static uint64_t module_hash(enum module_kind kind, uint32_t maj, uint32_t min, uint64_t ino,
                            uint64_t generation, const char *path)
{
    const uint64_t parts[] = { (uint64_t)kind, (uint64_t)maj << 32 | min, ino, generation };
    return map_hash_bytes(path, strlen(path), map_hash_bytes(parts, sizeof parts, 0));
}

static struct supplied_module *module_at(struct supplied_symbols *g, uint64_t hash)
{
    bool created;
    uint64_t *at = map_at(&g->modules, hash, 0, &created);
    if (created)
        *at = (uintptr_t)mem_zalloc(sizeof(struct supplied_module));
    return (struct supplied_module *)(uintptr_t)*at;
}

static struct supplied_module *add_module(struct supplied_symbols *g, struct line *l)
{
    char path[TEXT_MAX];
    enum module_kind kind = (enum module_kind)take_number(l, MODULE_KINDS - 1);
    uint32_t maj = (uint32_t)take_number(l, UINT32_MAX);
    uint32_t min = (uint32_t)take_number(l, UINT32_MAX);
    uint64_t ino = take_number(l, UINT64_MAX);
    uint64_t generation = take_number(l, UINT64_MAX);
    const char *blank = l->bad ? NULL : memchr(l->p, ' ', (size_t)(l->end - l->p));
    if (!blank)
        return NULL;
    l->p = blank + 1; /* skip the build-id: it is for people, and is in the profile's header */
    take_raw(l, path, sizeof path);
    if (l->bad || !*path)
        return NULL;
    return module_at(g, module_hash(kind, maj, min, ino, generation, path));
}

static void add_function(struct supplied_symbols *g, struct supplied_module *m, struct line *l)
{
    char name[TEXT_MAX];
    struct given_function f = { 0 };
    f.start = take_number(l, UINT64_MAX);
    f.size = take_number(l, UINT64_MAX);
    f.key = take_number(l, UINT64_MAX);
    f.class = (uint8_t)take_number(l, SYMBOL_CLASSES - 1);
    f.idle = take_number(l, 1);
    take_raw(l, name, sizeof name);
    if (l->bad || !f.size || f.start + (f.size - 1) < f.start)
        return;
    f.name = keep(g, name);
    *VEC_PUSH(&m->functions) = f;
}

static void add_line(struct supplied_symbols *g, struct supplied_module *m, struct line *l)
{
    char file[TEXT_MAX];
    struct given_line line = { .offset = take_number(l, UINT64_MAX) };
    line.line = (uint32_t)take_number(l, UINT32_MAX);
    take_raw(l, file, sizeof file);
    if (l->bad)
        return;
    line.file = keep(g, file);
    *VEC_PUSH(&m->lines) = line;
    m->inlines_cap = 0;
}

static void add_inline(struct supplied_symbols *g, struct supplied_module *m, struct line *l)
{
    char text[TEXT_MAX];
    struct symbol_inline in = { .key = take_number(l, UINT64_MAX) };
    in.line = (uint32_t)take_number(l, UINT32_MAX);
    take_raw(l, text, sizeof text);
    char *tab = strchr(text, '\t');
    if (l->bad || !tab || !m->lines.n)
        return;
    *tab = '\0';
    in.file = keep(g, text);
    in.name = keep(g, tab + 1);
    struct given_line *line = &m->lines.items[m->lines.n - 1];
    MEM_GROW(line->inlines, m->inlines_cap, line->n_inlines + 1);
    line->inlines[line->n_inlines++] = in;
}

static void take_line(struct supplied_symbols *g, struct supplied_module **m, struct line *l)
{
    char kind = l->p < l->end ? *l->p : ' ';
    if (l->end - l->p < 2 || l->p[1] != ' ')
        return;
    l->p += 2;
    if (kind == 'm')
        *m = add_module(g, l);
    else if (*m && kind == 'f')
        add_function(g, *m, l);
    else if (*m && kind == 'l')
        add_line(g, *m, l);
    else if (*m && kind == 'i')
        add_inline(g, *m, l);
}

static int by_start(const void *a, const void *b)
{
    const struct given_function *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static int by_offset(const void *a, const void *b)
{
    const struct given_line *x = a, *y = b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void end_at_next(struct supplied_module *m)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = m->functions.n; i-- > 0;) {
        struct given_function *f = &m->functions.items[i];
        if (!f->size)
            f->size = next - f->start;
        if (!i || f[-1].start != f->start)
            next = f->start;
    }
}

static void sort_module(struct supplied_module *m)
{
    size_t n = 0;
    if (m->functions.n)
        qsort(m->functions.items, m->functions.n, sizeof *m->functions.items, by_start);
    end_at_next(m);
    if (m->lines.n)
        qsort(m->lines.items, m->lines.n, sizeof *m->lines.items, by_offset);
    for (size_t i = 0; i < m->functions.n; i++)
        if (!n ||
            m->functions.items[i].start - m->functions.items[n - 1].start >= m->functions.items[n - 1].size)
            m->functions.items[n++] = m->functions.items[i];
    m->functions.n = n;
}

void supplied_sort(struct supplied_symbols *g)
{
    size_t pos = 0;
    uint64_t value;
    while (map_next(&g->modules, &pos, NULL, &value))
        sort_module((struct supplied_module *)(uintptr_t)value);
}

struct supplied_symbols *supplied_parse(const char *text, size_t n, struct error *e)
{
    const char *end = text + n;
    if (n < strlen(HEAD) || memcmp(text, HEAD, strlen(HEAD))) {
        error_set(e, ERROR_FORMAT, "its symbols have a format that this flametop does not know");
        return NULL;
    }
    struct supplied_symbols *g = mem_zalloc(sizeof *g);
    struct supplied_module *m = NULL;
    for (const char *p = text + strlen(HEAD); p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        struct line l = { p, newline ? newline : end, false };
        take_line(g, &m, &l);
        p = newline ? newline + 1 : end;
    }
    supplied_sort(g);
    return g;
}

/* ---- symbols of other tools ---- */

struct supplied_symbols *supplied_new(void)
{
    return mem_zalloc(sizeof(struct supplied_symbols));
}

#define KERNEL_PATH "[kernel]"

struct supplied_module *supplied_add_module(struct supplied_symbols *g, bool kernel, const char *path,
                                            size_t path_n)
{
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%.*s", (int)(path_n < TEXT_MAX ? path_n : TEXT_MAX - 1), path);
    return module_at(g, kernel ? module_hash(MODULE_KERNEL, 0, 0, 0, 0, KERNEL_PATH)
                               : module_hash(MODULE_FILE, 0, 0, 0, 0, text));
}

void supplied_add_symbol(struct supplied_symbols *g, struct supplied_module *m, uint64_t start, uint64_t size,
                         const char *name, size_t name_n)
{
    char clean[TEXT_MAX];
    size_t n = text_clean(clean, sizeof clean, name, name_n);
    if (size && start + (size - 1) < start)
        return;
    *VEC_PUSH(&m->functions) = (struct given_function){
        .start = start, .size = size, .name = n ? arena_strndup(&g->strings, clean, n) : ""
    };
}

/* The kernel's list has its modules' symbols, too: both are by address. */
const struct supplied_module *supplied_module_by_path(const struct supplied_symbols *g,
                                                      const struct module *m)
{
    bool kernel = m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD;
    uint64_t value;
    if (!kernel && m->kind != MODULE_FILE)
        return NULL;
    return map_get(
               &g->modules,
               module_hash(kernel ? MODULE_KERNEL : MODULE_FILE, 0, 0, 0, 0, kernel ? KERNEL_PATH : m->path),
               &value)
               ? (const struct supplied_module *)(uintptr_t)value
               : NULL;
}

void supplied_free(struct supplied_symbols *g)
{
    size_t pos = 0;
    uint64_t value;
    if (!g)
        return;
    while (map_next(&g->modules, &pos, NULL, &value)) {
        struct supplied_module *m = (struct supplied_module *)(uintptr_t)value;
        for (size_t i = 0; i < m->lines.n; i++)
            mem_free(m->lines.items[i].inlines);
        mem_free(m->functions.items);
        mem_free(m->lines.items);
        mem_free(m);
    }
    map_done(&g->modules);
    arena_done(&g->strings);
    mem_free(g);
}

const struct supplied_module *supplied_module(const struct supplied_symbols *g, const struct module *m)
{
    uint64_t value;
    return map_get(&g->modules, module_hash(m->kind, m->maj, m->min, m->ino, m->ino_generation, m->path),
                   &value)
               ? (const struct supplied_module *)(uintptr_t)value
               : NULL;
}

bool supplied_symbol(const struct supplied_module *m, uint64_t offset, struct symbol *out)
{
    size_t n = SEARCH_FIRST(i, 0, m->functions.n, m->functions.items[i].start > offset);
    if (!n || offset - m->functions.items[n - 1].start >= m->functions.items[n - 1].size)
        return false;
    const struct given_function *f = &m->functions.items[n - 1];
    *out = (struct symbol){ .state = *f->name ? SYMBOL_FOUND : SYMBOL_NONE,
                            .class = (enum symbol_class)f->class,
                            .name = f->name,
                            .start = f->start,
                            .size = f->size,
                            .key = f->key,
                            .idle = f->idle };
    return true;
}

bool supplied_lines(const struct supplied_module *m, uint64_t offset, struct symbol_lines *out)
{
    size_t at = SEARCH_FIRST(i, 0, m->lines.n, m->lines.items[i].offset >= offset);
    if (at == m->lines.n || m->lines.items[at].offset != offset)
        return false;
    const struct given_line *l = &m->lines.items[at];
    *out = (struct symbol_lines){
        .file = l->file, .line = l->line, .n_inlines = l->n_inlines, .inlines = l->inlines
    };
    return true;
}
