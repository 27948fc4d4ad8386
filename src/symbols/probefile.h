// SPDX-License-Identifier: GPL-2.0-or-later
/* Parts of probefile_serve (symbols/probeformat.h). For the worker. */
#ifndef FLAMETOP_SYMBOLS_PROBEFILE_H
#define FLAMETOP_SYMBOLS_PROBEFILE_H

#include "symbols/elffile.h"
#include "symbols/probeformat.h"

struct probefile {
    const struct probefile_ask *ask;
    struct elffile file;
    int fd, debug_fd; /* debug_fd -1: none */
    struct buf places;
    uint32_t n_places;
    struct error refusal; /* of a place that would damage the program */
};

/* probeplaces.c: add a place, unless there is one at this offset. */
void probefile_add(struct probefile *p, uint64_t offset, uint64_t semaphore, const char *name, size_t name_n,
                   const char *details);

/* probecode.c: true if an instruction begins at the address, by decoding those from `start` on, where one
 * begins. False: around is where the one begins that contains the address, and the next one. */
bool probefile_begins_instruction(const struct elffile *f, uint64_t start, uint64_t address,
                                  uint64_t around[2]);

/* probemarkers.c: add the markers (.note.stapsdt) whose "provider:name" matches the glob. Returns how many
 * markers the file has. */
uint32_t probefile_add_markers(struct probefile *p);

/* probedwarf.c: add the addresses of a source line. False: there are none, e says why. */
bool probefile_add_line(struct probefile *p, struct error *e);
/* Describe the parameters of the function at this address: "fd:1:s32 path:2:x64"; "": not known. */
void probefile_parameters(struct probefile *p, uint64_t address, char dst[PROBEFILE_DETAILS_MAX]);
/* Describe the requested variables when the code at the address, which is at this offset in the file,
 * runs. */
void probefile_variables(struct probefile *p, uint64_t address, uint64_t offset,
                         char dst[PROBEFILE_DETAILS_MAX]);
/* True if debug information has a function of this name that was inlined everywhere. */
bool probefile_is_inlined(struct probefile *p, const char *name);

#endif
