// SPDX-License-Identifier: GPL-2.0-or-later
/* Read source lines and inlined functions from DWARF, or from a Go program's own table. For the worker.
 * A deadline bounds the work on one address, whatever the file contains. libdw itself may crash or end the
 * process. */
#ifndef FLAMETOP_SYMBOLS_LINES_H
#define FLAMETOP_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Limit of inlined functions at one address. Beyond it, LINES_MORE replaces all outer ones. */
#define LINES_DEPTH_MAX 512
#define LINES_MORE      "[more inlined functions]"

struct lines_files { /* borrowed for the call; -1: none */
    /* The file that was mapped: its segments translate offsets to addresses. */
    int fd;
    int debug_fd;     /* its separate debug file */
    int alt_fd;       /* shared by several debug files (dwz; .gnu_debugaltlink) */
    bool without_alt; /* not available: go on without its names */
    bool go_table;    /* without debug information, use the table of a Go program */
    /* Not 0: fd is a kernel, offsets are addresses, and its text began at this address when it ran. */
    uint64_t reference;
};
enum lines_open_result {
    LINES_OPEN_READY,
    LINES_OPEN_NO_DWARF,    /* no debug information in it */
    LINES_OPEN_GO_TABLE,    /* the same, but it has the table of a Go program */
    LINES_OPEN_OTHER_BUILD, /* debug_fd or alt_fd does not belong to the file */
    /* Needs the alternate file that `want` names, or without_alt. */
    LINES_OPEN_WANTS_ALT,
    LINES_OPEN_FAILED, /* the error says why */
};
struct lines_want { /* another file that is needed */
    /* Folder that `path` is relative to; "": unknown. Valid until the module is closed, like `path`. */
    const char *folder;
    char path[4096];
    /* Build-id of an alternate file, or 8 bytes of dwo_id of a split unit; 0 bytes: not known. */
    uint8_t id[20];
    unsigned id_size;
};

struct lines_inlined {
    /* Linkage name if there is one, else the name with its scopes; NULL: not known. */
    const char *name;
    /* Call site, in the next outer function; file NULL: not known. */
    const char *folder, *file;
    uint32_t line;
};
struct lines_location { /* strings are valid until the module is closed */
    /* file NULL: not known. It may be relative to folder (NULL: none). */
    const char *folder, *file;
    uint32_t line; /* 0: not known */
    uint32_t n;    /* innermost first */
    struct lines_inlined inlined[LINES_DEPTH_MAX];
    /* Range of offsets around this one with the same inlined functions. */
    uint64_t low, high;
    /* Offsets of the same unit; both 0: no unit. */
    uint64_t unit_low, unit_high;
    /* The unit's .dwo file was not supplied: inlined functions are not known. */
    bool lacking;
};
/* Nothing is known of this offset. `inlined` stays: it has n valid elements. */
static inline void lines_location_reset(struct lines_location *location, uint64_t offset)
{
    location->folder = location->file = NULL;
    location->line = location->n = 0;
    location->low = offset;
    location->high = offset + 1;
    location->unit_low = location->unit_high = 0;
    location->lacking = false;
}
enum lines_find_result {
    LINES_FIND_DONE,        /* the result may be empty: nothing is known of this address */
    LINES_FIND_LATE,        /* the deadline passed; the unit at this address is given up */
    LINES_FIND_WANTS_SPLIT, /* needs the .dwo file that `want` names */
};

struct lines_module;
/* Open a module. LINES_OPEN_READY sets *m, for lines_close. The descriptors may be closed afterwards. */
enum lines_open_result lines_open(const struct lines_files *files, uint64_t deadline_ns,
                                  struct lines_module **m, struct lines_want *want, struct error *e);
void lines_close(struct lines_module *m);
/* Look up an offset. only_inlined: without files and lines, whose tables are most of the data to read and
 * keep. */
enum lines_find_result lines_find(struct lines_module *m, uint64_t offset, bool only_inlined,
                                  uint64_t deadline_ns, struct lines_location *location,
                                  struct lines_want *want);
/* Supply the .dwo file of the unit with this id after LINES_FIND_WANTS_SPLIT; fd -1: there is none. */
void lines_give_split(struct lines_module *m, uint64_t id, int fd);

#endif
