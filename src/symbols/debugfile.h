// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the separate debug file of a stripped module, in the places where gdb and perf search. */
#ifndef FLAMETOP_SYMBOLS_DEBUGFILE_H
#define FLAMETOP_SYMBOLS_DEBUGFILE_H

#include <stddef.h>
#include <stdint.h>

#include "process/opener.h"

struct debugfile_search {
    struct opener_user user; /* with the rights of this user */
    const char *root;        /* "/", a process's root or a symfs */
    const char *module_path; /* as the process sees it */
    const uint8_t *build_id;
    unsigned build_id_size; /* 0: not known */
    const char *debuglink;  /* NULL: none */
    unsigned next;          /* position of the search; start with 0 */
};

/* Open the next candidate that exists; -1: no more. The worker checks whether it belongs to the module. */
int debugfile_open_next(struct debugfile_search *s);
/* Open perf's cached copy of the file with this build-id (perf-buildid-cache(1)), in $PERF_BUILDID_DIR or
 * ~/.debug. name: "elf" or "vdso". -1: none. Files in a folder of another owner are read with the rights of
 * the user who started flametop. */
int debugfile_open_kept(const uint8_t *build_id, unsigned size, const char *name);

#endif
