// SPDX-License-Identifier: GPL-2.0-or-later
/* Internals of a snapshot: what is copied under store.lock (snapshot.c) and then written
 * (snapshot_write.c). */
#ifndef FLAMETOP_SESSION_SAVE_SNAPSHOT_H
#define FLAMETOP_SESSION_SAVE_SNAPSHOT_H

#include "profile/wait_summary.h"
#include "session/samples.h"
#include "session/session_state.h"

struct copied_image {
    uint32_t image;
    struct world_map *maps; /* in the order in which they were made */
    uint32_t n_maps;

    /* while writing, since the process was introduced with this image */
    uint32_t next;         /* maps below this index were written when they were due */
    VEC(uint32_t) written; /* indices of maps, in the order of their records */
};

struct kept_address {
    uint64_t address, until_ns; /* valid for samples before until_ns, */
    uint32_t n_written;         /* while the image has this number of written maps */
};

struct snapshot {
    struct session *s;
    const struct view_query *q;
    struct session_samples samples; /* and their threads */
    uint64_t n_held;                /* samples that the history had */

    /* copies */
    uint32_t *parent, *frame, *frame_module;
    uint64_t *frame_offset;
    uint8_t *frame_interrupted; /* see profile/stacks.h */
    uint32_t n_nodes, n_frames;
    VEC(struct copied_image) images;
    /* module id → struct module *, cgroup id → char * */
    struct map image_index, modules, cgroups;
    /* of threads that have them; indexed by thread of samples, n_threads entries */
    struct namespaces *namespaces;
    uint64_t lost;
    struct session_event *events;
    uint32_t n_events;

    /* while writing */
    struct perfdata_writer *w;
    struct map pid_image; /* pid → image whose maps were last written */
    uint8_t *thread_told;
    struct map address_of; /* (image, frame) → index in addresses */
    VEC(struct kept_address) addresses;
    VEC(struct jit_kept) jit; /* snapshot_jit.c */
    struct map pid_jit;       /* pid → its last jit entry + 1 */
    uint8_t *frame_jit;       /* NULL: no code made at run time */
    struct map scripts_told;  /* frames of MODULE_SCRIPT whose names are in scripts */
    struct buf scripts;
    struct buf aux; /* of the last sample of wakers */
};

/* A module of the copied frames and maps, held until the snapshot ends; NULL: it is gone. */
static inline struct module *snapshot_module(const struct snapshot *sn, uint32_t id)
{
    uint64_t v;
    return map_get(&sn->modules, id, &v) ? (struct module *)(uintptr_t)v : NULL;
}
/* snapshot_wakers.c: with the samples, also copies the threads that are only wakers. Under the lock. */
void snapshot_wakers_copy(struct snapshot *sn);
/* A sample of the event wakers as the two stacks that it consists of. */
struct woken {
    struct sample wait;  /* as a sample of off-cpu */
    struct sample waker; /* of the waker's thread, with all frames; thread 0: it is not known */
    uint32_t boundary;   /* node of the frame that names the waker: the waker's stack ends before it */
};
/* False: it is a sample of another event. */
bool snapshot_wakers_split(struct snapshot *sn, const struct sample *sample, struct woken *out);
/* The AUX data of such a sample: that of the wait, then the waker with its chain. Valid until the next
 * call. */
const void *snapshot_wakers_aux(struct snapshot *sn, const struct woken *w, const uint64_t *chain, uint32_t n,
                                uint32_t *size);
/* kernel.c: reads the addresses of _text (or _stext) and _etext from /proc/kallsyms. False: they are
 * hidden. */
bool kernel_text_range(uint64_t *start, uint64_t *end);
/* snapshot_maps.c: address of a frame at the time of a sample; 0: unknown. */
uint64_t snapshot_address(struct snapshot *sn, const struct sample *sample, uint32_t frame);
/* Writes maps of a thread's image at the time when they were made, so that two libraries that used the same
 * addresses get their own samples. */
void snapshot_maps_until(struct snapshot *sn, uint64_t time_ns, uint32_t thread);
void snapshot_maps_restart(struct snapshot *sn, uint32_t thread); /* none of them was written */
/* snapshot_jit.c: keep the names of code made at run time in the file, since its process will have ended or
 * renamed it when the file is read. */
void snapshot_jit_begin(struct snapshot *sn);
/* In order of time. end: the ancestor of the sample's stack before which its thread's frames end; 0: none. */
void snapshot_jit_sample(struct snapshot *sn, const struct sample *sample, uint32_t end);
void snapshot_jit_write(struct snapshot *sn);
/* Address that a chain contains for a frame of MODULE_SCRIPT. Keeps its name in the file as well. */
uint64_t snapshot_script(struct snapshot *sn, uint32_t frame);
void snapshot_jit_done(struct snapshot *sn);

/* snapshot_copy.c: True if all of a file is selected. Only a file that was read to its end can be. */
bool snapshot_is_whole(const struct snapshot *sn);
/* Replaces snapshot_write for a file that was read to its end, or as far as wanted. Unless it is whole, its
 * samples are numbered. */
bool snapshot_copy_file(struct snapshot *sn, const char *path, struct error *e);

/* snapshot_names.c: writes the names in the format of symbols/supplied.h */
void snapshot_names(struct snapshot *sn, struct buf *out);

/* snapshot_write.c: writes to path or, with fd, into an unnamed file in the folder of path; the caller closes
 * *fd. bytes (may be NULL): size of the file. */
bool snapshot_write(struct snapshot *sn, const char *path, int *fd, uint64_t *bytes, struct error *e);

#endif
