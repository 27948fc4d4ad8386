// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests for locations of probes in a file, and their replies, between flametop and the symbol worker. */
#ifndef FLAMETOP_SYMBOLS_PROBEFORMAT_H
#define FLAMETOP_SYMBOLS_PROBEFORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

#define PROBEFILE_NAME_MAX    256
#define PROBEFILE_DETAILS_MAX 512
#define PROBEFILE_PLACES_MAX  8192

enum probefile_kind {
    PROBEFILE_FUNCTION,
    PROBEFILE_OFFSET,
    PROBEFILE_LINE,
    PROBEFILE_MARKERS,
    PROBEFILE_KINDS
};
struct probefile_ask { /* the payload of WORKER_PROBE */
    uint32_t kind;
    uint32_t line; /* of PROBEFILE_LINE */
    uint32_t wants_parameters, zero;
    char variables
        [PROBEFILE_NAME_MAX]; /* names, separated by blanks, that are read away from a function's entry */
    uint64_t offset;          /* of PROBEFILE_OFFSET: in the file. Of PROBEFILE_FUNCTION: from its start */
    /* functions or globs joined by |; the source file; a glob of "provider:name" */
    char name[PROBEFILE_NAME_MAX];
};

struct probefile_place {
    uint64_t offset, semaphore;          /* in the file; semaphore 0: none */
    char name[PROBEFILE_NAME_MAX];       /* cleaned */
    char details[PROBEFILE_DETAILS_MAX]; /* as probe_place.details (perf/probe.h), cleaned */
};
#define PROBEFILE_MAGIC 0x46525046u
struct probefile_header { /* n_places places follow */
    uint32_t magic, n_places;
    uint32_t wide, go;
};
struct probefile_view {
    struct probefile_header header;
    const struct probefile_place *places; /* borrowed from the reply */
};
/* Checks a reply: every string ends. False: e says so. */
bool probefile_view(struct probefile_view *v, const void *blob, size_t size, struct error *e);

/* In the worker: find the locations in the file; fds[1], if there is one, is its debug file. False: there are
 * none, e says why. */
bool probefile_serve(const void *ask, size_t ask_n, const int *fds, unsigned n_fds, struct buf *reply,
                     struct error *e);

#endif
