// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the separate debug file of a stripped module may lie, as gdb and perf look for it. */
#ifndef FLAMETOP_SYMBOLS_DEBUGFILE_H
#define FLAMETOP_SYMBOLS_DEBUGFILE_H

#include <stddef.h>
#include <stdint.h>

#include "process/opener.h"

struct debugfile_search {
    struct opener_user user; /* with whose rights it is looked for */
    const char *root;        /* "/", a process's root or a symfs */
    const char *module_path; /* as the process sees it */
    const uint8_t *build_id;
    unsigned build_id_size; /* 0: not known */
    const char *debuglink;  /* NULL: none */
    unsigned next;          /* where to go on; start with 0 */
};

/* Opens the next candidate that exists: -1 when there are no more. Whether it belongs to the module is for the
 * worker to find out. */
int debugfile_open_next(struct debugfile_search *s);
/* The copy of a file of that build-id that perf record keeps (perf-buildid-cache(1)) in $PERF_BUILDID_DIR or ~/.debug;
 * name: "elf" or "vdso". -1: there is none. Of a folder that is not ours the files are read with the rights of the user
 * who started flametop. */
int debugfile_open_kept(const uint8_t *build_id, unsigned size, const char *name);

#endif
