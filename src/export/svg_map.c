// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads and writes a palette map of flamegraph.pl (--cp). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "export/svg.h"

#define MAP_MAX (64u << 20)

struct entry {
    const char *name;
    uint32_t colour;
};
struct palette_map {
    struct buf text; /* the file's text, split into names */
    VEC(struct entry);
    struct map by_name;
};

static struct entry *entry_of(struct palette_map *m, const char *name, bool *created)
{
    uint64_t *at = map_at(&m->by_name, map_hash_bytes(name, strlen(name), 1), m->n, created);
    if (*created)
        *VEC_PUSH(m) = (struct entry){ .name = name };
    return &m->items[*at];
}

/* Adds a line's entry, if it is one. The last arrow separates name and colour: names may have arrows too
 * (operator->). */
static void take_line(struct palette_map *m, char *line)
{
    unsigned r, g, b;
    int end = 0;
    bool created;
    char *arrow = NULL;
    for (char *p = line; (p = strstr(p, "->")); p++)
        arrow = p;
    if (!arrow || sscanf(arrow, "->rgb(%3u,%3u,%3u)%n", &r, &g, &b, &end) != 3 || !end || r > 255 ||
        g > 255 || b > 255)
        return;
    *arrow = '\0';
    entry_of(m, line, &created)->colour = r << 16 | g << 8 | b;
}

static bool map_load(struct palette_map *m, const char *path, struct error *e)
{
    char *save = NULL;
    if (access(path, F_OK))
        return true;
    if (!file_read(path, MAP_MAX, &m->text, e))
        return error_hint(e, "--cp stores the colours of functions there");
    char *rest = m->text.len ? m->text.data : NULL; /* data is NULL for an empty file */
    for (char *line = rest ? strtok_r(rest, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
        take_line(m, line);
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static bool map_store(struct palette_map *m, const char *path, struct error *e)
{
    struct outfile o;
    struct buf out = { 0 };
    if (!outfile_open(&o, path, e))
        return error_hint(e, "--cp stores the colours of functions there");
    qsort(m->items, m->n, sizeof *m->items, by_name);
    for (size_t i = 0; i < m->n; i++)
        buf_printf(&out, "%s->rgb(%u,%u,%u)\n", m->items[i].name, m->items[i].colour >> 16,
                   m->items[i].colour >> 8 & 0xff, m->items[i].colour & 0xff);
    outfile_write(&o, buf_str(&out), out.len);
    buf_done(&out);
    return outfile_commit(&o, e);
}

bool svg_map_apply(const char *path, const struct nametree *t, uint32_t *colours, struct error *e)
{
    struct palette_map m = { 0 };
    bool ok = map_load(&m, path, e);
    size_t known = m.n;
    for (uint32_t i = 1; i < t->n_funcs && ok; i++) { /* the root is not in the map */
        bool created;
        struct entry *at = entry_of(&m, t->funcs[i].name, &created);
        if (created)
            at->colour = colours[i];
        colours[i] = at->colour;
    }
    ok = ok && (m.n == known || map_store(&m, path, e));
    buf_done(&m.text);
    mem_free(m.items);
    map_done(&m.by_name);
    return ok;
}
