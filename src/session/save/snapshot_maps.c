// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the maps of a snapshot. A saved perf.data has the real addresses of each process, by the maps of the
 * image of its time, so it reads as if perf had recorded it. */
#include "base/mem.h"
#include "perfdata/writer.h"
#include "session/save/snapshot.h"

static struct copied_image *image_of(const struct snapshot *sn, const struct world_thread *t)
{
    uint64_t index;
    return map_get(&sn->image_index, t->image, &index) ? &sn->images.items[index] : NULL;
}

/* The last mapping of the module that was made by time_ns, or else the first one (mappings are in order of
 * time). NULL: never mapped there. *until_ns: time of the next candidate. */
static const struct world_map *map_of(const struct copied_image *im, uint32_t module, uint64_t offset,
                                      uint64_t time_ns, uint64_t *until_ns)
{
    const struct world_map *found = NULL;
    *until_ns = UINT64_MAX;
    for (uint32_t i = 0; i < im->n_maps; i++) {
        const struct world_map *map = &im->maps[i];
        if (map->module != module || offset < map->pgoff || offset - map->pgoff >= map->end - map->start)
            continue;
        if (map->time_ns <= time_ns || !found)
            found = map;
        if (map->time_ns > time_ns) {
            *until_ns = map->time_ns;
            break;
        }
    }
    return found;
}

static bool shows_the_same(const struct world_map *a, const struct world_map *b)
{
    return a->module == b->module && a->start - a->pgoff == b->start - b->pgoff;
}

/* True if a reader that has read all maps written so far finds `map` at the address. */
static bool is_in_force(const struct copied_image *im, const struct world_map *map, uint64_t address)
{
    for (uint32_t i = (uint32_t)im->written.n; i-- > 0;) {
        const struct world_map *written = &im->maps[im->written.items[i]];
        if (address >= written->start && address < written->end)
            return shows_the_same(written, map);
    }
    return false;
}

static void write_map(struct snapshot *sn, uint64_t time_ns, uint32_t pid, struct copied_image *im,
                      uint32_t index)
{
    const struct world_map *map = &im->maps[index];
    const struct module *m = snapshot_module(sn, map->module);
    *VEC_PUSH(&im->written) = index;
    if (!m)
        return;
    perfdata_write_mmap(sn->w, time_ns,
                        &(struct perfdata_write_map){
                            .pid = pid,
                            .tid = pid,
                            .addr = map->start,
                            .len = map->end - map->start,
                            .pgoff = map->pgoff,
                            .ino = m->ino,
                            .ino_generation = m->ino_generation,
                            .maj = m->maj,
                            .min = m->min,
                            .path = m->path,
                        });
}

/* Address of a frame at the time of a sample. The records written so far map the frame's module there:
 * readers remember a limited number of replaced mappings, so a map may have to be written again. */
uint64_t snapshot_address(struct snapshot *sn, const struct sample *sample, uint32_t frame)
{
    const struct world_thread *t = &sn->samples.threads[sample->thread];
    const struct module *m = snapshot_module(sn, sn->frame_module[frame]);
    struct copied_image *im = image_of(sn, t);
    bool created;
    if (m && module_is_absolute(m->kind))
        return sn->frame_offset[frame];
    if (!im)
        return 0;
    uint64_t *at = map_at(&sn->address_of, (uint64_t)t->image << 32 | frame, sn->addresses.n, &created);
    if (created)
        *VEC_PUSH(&sn->addresses) = (struct kept_address){ .n_written = UINT32_MAX };
    struct kept_address *a = &sn->addresses.items[*at];
    if (a->n_written == im->written.n && sample->time_ns < a->until_ns)
        return a->address;
    const struct world_map *map =
        map_of(im, sn->frame_module[frame], sn->frame_offset[frame], sample->time_ns, &a->until_ns);
    a->address = map ? map->start + (sn->frame_offset[frame] - map->pgoff) : 0;
    if (map && !is_in_force(im, map, a->address))
        write_map(sn, sample->time_ns, t->pid, im, (uint32_t)(map - im->maps));
    a->n_written = (uint32_t)im->written.n;
    return a->address;
}

void snapshot_maps_restart(struct snapshot *sn, uint32_t thread)
{
    struct copied_image *im = image_of(sn, &sn->samples.threads[thread]);
    if (im)
        im->next = 0;
    im->written.n = 0;
}

void snapshot_maps_until(struct snapshot *sn, uint64_t time_ns, uint32_t thread)
{
    const struct world_thread *t = &sn->samples.threads[thread];
    struct copied_image *im = image_of(sn, t);
    while (im && im->next < im->n_maps && im->maps[im->next].time_ns <= time_ns)
        write_map(sn, time_ns, t->pid, im, im->next++);
}
