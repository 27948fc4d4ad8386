// SPDX-License-Identifier: GPL-2.0-or-later
/* The inside of a snapshot: what is copied under the lock (snapshot.c) and then written (snapshot_write.c). */
#ifndef FLAMETOP_SESSION_SNAPSHOT_H
#define FLAMETOP_SESSION_SNAPSHOT_H

#include "base/buf.h"
#include "session/state.h"

struct copied_image {
    uint32_t image;
    struct world_map *maps;
    uint32_t n_maps;
};

struct snapshot {
    struct session *s;
    const struct view_query *q;
    struct query scan;
    uint32_t n_threads;

    struct sample *samples;
    size_t n_samples, samples_cap;
    struct buf raw; /* payloads: u32 size, bytes; sample.raw is 1 + offset */
    bool raw_seen, no_memory;

    /* copies */
    uint32_t *parent, *frame, *frame_module;
    uint64_t *frame_offset;
    uint32_t n_nodes, n_frames;
    struct world_thread *threads;
    struct copied_image *images;
    uint32_t n_images;
    size_t images_cap;
    struct map image_index, modules, cgroups; /* module id → struct module *, cgroup id → char * */
    uint64_t lost;
    struct session_event event;

    /* while writing */
    struct perfdata_writer *w;
    struct map pid_image, pid_maps; /* pid → image whose maps were last written, and how many of them */
    uint8_t *thread_told;
    struct map address;             /* (image, frame) → address */
};

struct module *snapshot_module(const struct snapshot *sn, uint32_t id); /* held; NULL if it had gone */
bool snapshot_write(struct snapshot *sn, const char *path, struct error *e);

#endif
