// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads perf.data files. Memory use is a multiple of the file's size, whatever the file claims: counts
 * and sizes are compared with the bytes that are left, decompressed sizes with a ratio.
 * tests/screen/test_memory.py tests it. */
#include "perfdata/reader.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perfdata/perfdata_file.h"
#include "perfdata/spool.h"

#define HELD_BYTES (UINT64_C(1) << 30) /* a mapped file counts as flametop's memory */

/* Opens a folder's main file, then the others. */
static bool open_folder(struct perfdata *p, int dir_fd, const char *path, struct error *e)
{
    int fd = folder_open_data(dir_fd, path, e);
    bool ok = fd >= 0 && input_open(&p->in, fd, path, e);
    if (ok)
        folder_open_parts(p, dir_fd);
    close(dir_fd);
    return ok;
}

/* Recordings with stack dumps are large, and both passes use little of them: keeping the files mapped for
 * both halves the page faults. */
static void hold_dumps(struct perfdata *p)
{
    bool dumps = false;
    for (uint32_t i = 0; i < p->events.n; i++)
        dumps |= (p->events.items[i].attr.sample_type & PERF_SAMPLE_STACK_USER) != 0;
    if (!dumps || p->all_bytes > HELD_BYTES)
        return;
    input_hold(&p->in);
    for (uint32_t i = 0; i < p->n_parts; i++)
        input_hold(&p->parts[i]);
}

static bool open_input(struct perfdata *p, const struct spool *s, struct error *e)
{
    struct stat st;
    memcpy(p->trouble, s->trouble, sizeof p->trouble);
    bool folder = fstat(s->fd, &st) == 0 && S_ISDIR(st.st_mode);
    if (folder ? !open_folder(p, s->fd, s->name, e) : !input_open(&p->in, s->fd, s->name, e))
        return false;
    p->all_bytes = p->in.size_bytes;
    for (uint32_t i = 0; i < p->n_parts; i++)
        p->all_bytes += p->parts[i].size_bytes;
    if (!header_read(p, s->name, e))
        return false;
    hold_dumps(p);
    return true;
}

struct perfdata *perfdata_open_spooled(const struct spool *s, struct error *e)
{
    struct perfdata *p = mem_zalloc(sizeof *p);
    p->in.fd = -1;
    if (!open_input(p, s, e)) {
        perfdata_close(p);
        return NULL;
    }
    damage_tell(p);
    return p;
}

struct perfdata *perfdata_open(const char *path, struct error *e)
{
    struct spool s;
    return spool_open(&s, path, NULL, e) ? perfdata_open_spooled(&s, e) : NULL;
}

void perfdata_close(struct perfdata *p)
{
    if (!p)
        return;
    input_close(&p->in);
    while (p->n_parts)
        input_close(&p->parts[--p->n_parts]);
    mem_free(p->parts);
    unpacker_free(p->zstd);
    arena_done(&p->strings);
    map_done(&p->event_of);
    readings_done(&p->readings);
    map_done(&p->count_of_others);
    damage_done(p);
    void *owned[] = { p->events.items,    p->layouts, p->event_class, p->id_targets,
                      p->build_ids.items, p->plain,   p->runs,        p->counts };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        mem_free(owned[i]);
    for (unsigned i = 0; i < FORMAT_FEATURES; i++)
        mem_free(p->kept[i].bytes);
    mem_free(p);
}

uint64_t perfdata_bytes(const struct perfdata *p)
{
    return p->all_bytes;
}

uint32_t perfdata_events(const struct perfdata *p, const struct perfdata_event **events)
{
    *events = p->events.items;
    return (uint32_t)p->events.n;
}

uint32_t perfdata_build_ids(const struct perfdata *p, const struct perfdata_build_id **ids)
{
    *ids = p->build_ids.items;
    return (uint32_t)p->build_ids.n;
}

const struct perfdata_info *perfdata_info(const struct perfdata *p)
{
    return &p->info;
}

const void *perfdata_feature(const struct perfdata *p, unsigned feature, size_t *size)
{
    *size = feature < FORMAT_FEATURES ? p->kept[feature].n : 0;
    return feature < FORMAT_FEATURES ? p->kept[feature].bytes : NULL;
}

bool perfdata_swapped(const struct perfdata *p)
{
    return p->swap;
}

void perfdata_index(struct perfdata *p, perfdata_go_on_fn *go_on, void *ctx)
{
    if (!p->indexed)
        index_build(p, go_on, ctx);
}

bool perfdata_each(struct perfdata *p, perfdata_record_fn *fn, void *ctx, double *progress, struct error *e)
{
    if (!p->indexed)
        index_build(p, NULL, NULL);
    p->damage[DAMAGE_BAD_RECORD] = p->damage[DAMAGE_NO_EVENT] = 0;
    bool whole = merge_records(p, fn, ctx, progress, e);
    p->damage[DAMAGE_SHRANK] = input_shrank(&p->in);
    for (uint32_t i = 0; i < p->n_parts; i++)
        p->damage[DAMAGE_SHRANK] |= input_shrank(&p->parts[i]);
    damage_tell(p);
    if (progress && whole)
        *progress = 1;
    return whole;
}
