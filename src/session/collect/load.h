// SPDX-License-Identifier: GPL-2.0-or-later
/* The recorded file of a session, and how far it is read.
 *
 * The session owns all of it. session_open sets what describes the file; then only the thread that reads it
 * (load.c) writes, under the store's lock, and the screen may set `stop`. Without a file (`file` is NULL) the
 * rest is zero, and `loaded` is true. */
#ifndef FLAMETOP_SESSION_COLLECT_LOAD_H
#define FLAMETOP_SESSION_COLLECT_LOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "perfdata/reader.h"
#include "session/bundle.h"
#include "session/collect/offcpu_file.h"
#include "session/collect/operations_file.h"

struct session;

/* for all mappings of a file's processes: this, and WORLD_TIMES times the file's size */
#define WORLD_BYTES (UINT64_C(64) << 20)
#define WORLD_TIMES 16

struct session_load {
    struct perfdata *file;
    struct perfdata_info info;         /* the file's own copy changes while it is read */
    struct bundle *bundle;             /* that the file came from; NULL: none */
    struct supplied_symbols *embedded; /* symbols inside the file; NULL: none */
    char stacks[24];                   /* Stack mode of the file, if flametop wrote it; "": unknown. */
    bool cuts;                         /* its chains contain the reason for truncation (snapshot_write.c) */
    uint64_t first_ns, last_ns;        /* times of its samples, as far as it is read */
    uint64_t left_out;                 /* samples of events beyond what a history can distinguish */
    struct session_offcpu_file offcpu;
    struct session_operations_file operations;
    bool elsewhere, other_arch; /* of another machine, of another architecture */

    double progress;  /* 0 to 1, of both passes over the file */
    atomic_bool stop; /* stop reading: what is read so far is enough */
    bool stopped;     /* reading was stopped, at this share of the file */
    double stopped_at;
    bool event_chosen;  /* by the user, while the file was read */
    atomic_bool loaded; /* nothing more will be read */
};

/* load.c */
/* Opens cfg.input, a perf.data or a bundle, and adds its events. False: e says why; session_close closes what
 * is open. */
bool load_open(struct session *s, struct error *e);
bool load_is_of_this_machine(const struct session *s); /* by host name, as far as the file has one */
/* Passes the build IDs that the file has so far to the world, and sets kernel_id to the kernel's. Returns its
 * size in bytes; 0: none, and kernel_id is unchanged. */
unsigned load_build_ids(struct session *s, uint8_t kernel_id[20]);
void *load_main(void *session);
/* embedded_symbols.c: symbols that the recording tool put into the file (perfdata/embedded.h), as supplied
 * symbols. NULL: none. Free with supplied_free. */
struct supplied_symbols *embedded_symbols(const struct perfdata *p);

#endif
