// SPDX-License-Identifier: GPL-2.0-or-later
/* Disk cache of inlined functions: reading debug information takes longer than everything else that a profile
 * needs.
 * An entry is a reply in the worker's format (symbols/linesformat.h), of all known ranges of a module,
 * written once, at the end. The key has the stamps of the module's file and of the debug files that would be
 * opened for it; files that those refer to are found by ids of their own.
 * "No debug information" is never kept: a debug file may be installed, or become readable, at any time, and
 * it takes the worker only a millisecond to find out again. Nothing is kept either for a module whose debug
 * information is incomplete. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "symbols/blob.h"
#include "symbols/debugfile.h"
#include "symbols/fetch.h"
#include "symbols/linecache.h"

/* Each stamp once: a process often has the same root as flametop. */
struct stamps {
    uint64_t stamps[8];
    unsigned n;
};

static void add_stamp(struct stamps *s, int fd)
{
    uint64_t stamp = cache_stamp(fd);
    unsigned i;

    close(fd);
    for (i = 0; i < s->n && s->stamps[i] != stamp; i++)
        ;
    if (i == s->n && s->n < sizeof s->stamps / sizeof *s->stamps)
        s->stamps[s->n++] = stamp;
}

static void add_debug_files(struct stamps *s, const struct symbol_module *mod, const struct outcome *out,
                            const struct module_root *root)
{
    struct debugfile_search search = { .user = root->user,
                                       .root = root->path,
                                       .module_path = mod->module->path,
                                       .build_id = out->id,
                                       .build_id_size = out->id_size,
                                       .debuglink = mod->table ? table_debuglink(&mod->table->view) : NULL };
    int fd;

    while ((fd = debugfile_open_next(&search)) >= 0)
        add_stamp(s, fd);
}

static struct cache_key key_of(struct symbolizer *sy, const struct symbol_module *mod, int fd,
                               const struct outcome *out)
{
    struct cache_key key = { .kind = CACHE_INLINED, .version = sy->cache_version, .id_size = out->id_size };
    struct stamps s = { .stamps = { cache_stamp(fd) }, .n = 1 };
    struct module_root root;
    int fetched = fetch_open(sy, out->id, out->id_size);

    for (int own = 0; own < 2; own++)
        if (resolve_root(sy, mod, resolve_owner(fd), own, &root))
            add_debug_files(&s, mod, out, &root);
    if (fetched >= 0)
        add_stamp(&s, fetched);
    memcpy(key.id, out->id, out->id_size);
    key.stamp = s.stamps[0] ? map_hash_bytes(s.stamps, s.n * sizeof *s.stamps, 0) : 0;
    return key;
}

struct lines_result *linesdisk_load(struct symbolizer *sy, struct symbol_module *mod, int fd,
                                    const struct outcome *out)
{
    struct lines_result *a = mem_zalloc(sizeof *a);
    struct cache_key *key = &mod->lines->key;

    *key = key_of(sy, mod, fd, out);
    a->of_disk = true;
    if (!cache_get(sy->cache, key, &a->blob, &a->size, NULL)) {
        mem_free(a);
        return NULL;
    }
    if (lines_view(&a->view, a->blob, a->size, NULL) && a->view.header.status == LINES_DONE &&
        !a->view.header.n_rows)
        return a;
    lines_result_free(a);
    return NULL;
}

static bool add_range(struct lines_builder *b, const struct line_row *row, struct lines_location *location)
{
    location->low = row->low;
    location->high = row->high;
    location->n = row->n < LINES_DEPTH_MAX ? row->n : LINES_DEPTH_MAX;
    for (uint32_t i = 0; i < location->n; i++)
        location->inlined[i] = (struct lines_inlined){ .name = row->names[i]->raw };
    return lines_build_more(b, location);
}

static void save(struct symbolizer *sy, const struct linecache *c)
{
    struct lines_location *location = mem_zalloc(sizeof *location);
    struct lines_builder b = { .header.status = LINES_DONE };
    struct buf blob = { 0 };

    for (size_t i = 0; i < c->ranges.n && add_range(&b, c->ranges.items[i], location); i++)
        ;
    lines_build(&b, &blob);
    cache_put(sy->cache, &c->key, blob.data, blob.len, "");
    lines_builder_done(&b);
    buf_done(&blob);
    mem_free(location);
}

void linesdisk_save(struct symbolizer *sy)
{
    size_t pos = 0;
    uint64_t value;

    while (sy->cache && map_next(&sy->mods, &pos, NULL, &value)) {
        const struct linecache *c = ((struct symbol_module *)(uintptr_t)value)->lines;
        if (c && c->key.id_size && c->ranges.n > c->n_on_disk && !c->given_up && !c->lacking)
            save(sy, c);
    }
}
