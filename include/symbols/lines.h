// SPDX-License-Identifier: GPL-2.0-or-later
/* Source lines and inlined functions out of DWARF, or out of a Go program's own table. For the worker. Whatever a
 * file says, the work on one address is bounded by a deadline; libdw itself may crash or end the process. */
#ifndef FLAMETOP_SYMBOLS_LINES_H
#define FLAMETOP_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Inlined functions at one address; of more, the outermost is LINES_MORE and stands for the rest. */
#define LINES_DEPTH_MAX 512
#define LINES_MORE      "[more inlined functions]"

struct lines_files {  /* borrowed for the call; -1: none */
    int fd;           /* the file that was mapped: its segments turn offsets into addresses */
    int debug_fd;     /* its separate debug file */
    int alt_fd;       /* what several debug files share (dwz; .gnu_debugaltlink) */
    bool without_alt; /* there is none to be had: do without its names */
    bool go_table;    /* without debug information, use the table of a Go program */
    uint64_t
        reference; /* not 0: fd is a kernel, offsets are addresses, and its text began there when it ran */
};
enum lines_open_result {
    LINES_OPEN_READY,
    LINES_OPEN_NO_DWARF,    /* no debug information in it */
    LINES_OPEN_GO_TABLE,    /* the same, but it has the table of a Go program */
    LINES_OPEN_OTHER_BUILD, /* debug_fd or alt_fd does not belong to the file */
    LINES_OPEN_WANTS_ALT,   /* the alternate file that `want` names, or to be told to do without */
    LINES_OPEN_FAILED,      /* the error says why */
};
struct lines_want {     /* another file that is needed */
    const char *folder; /* "": unknown; what `path` is relative to. Both valid until the module is closed */
    char path[4096];
    uint8_t id[20]; /* build-id of an alternate file, 8 bytes of dwo_id of a split unit; 0 bytes: not known */
    unsigned id_size;
};

struct lines_inlined {
    const char *name;          /* linkage name where there is one, else with its scopes; NULL: not known */
    const char *folder, *file; /* of the call, in the next function outwards; file NULL: not known */
    uint32_t line;
};
struct lines_place {           /* strings are valid until the module is closed */
    const char *folder, *file; /* file may be relative to folder (NULL: there is none); NULL: not known */
    uint32_t line;             /* 0: not known */
    uint32_t n;                /* innermost first */
    struct lines_inlined inlined[LINES_DEPTH_MAX];
    uint64_t low, high;           /* offsets around this one, at which the same is inlined */
    uint64_t unit_low, unit_high; /* and those that are of the same unit; both 0: none is known */
    bool lacking;                 /* the unit's .dwo file was not given, and what is inlined is not known */
};
enum lines_find_result {
    LINES_FIND_DONE,        /* a place that may be empty: nothing is known of this address */
    LINES_FIND_LATE,        /* the deadline came first; the unit at this address is given up */
    LINES_FIND_WANTS_SPLIT, /* the .dwo file that `want` names */
};

struct lines_module;
/* *m is set, for lines_close, with LINES_OPEN_READY. The descriptors may be closed afterwards. */
enum lines_open_result lines_open(const struct lines_files *files, uint64_t deadline_ns,
                                  struct lines_module **m, struct lines_want *want, struct error *e);
void lines_close(struct lines_module *m);
/* only_inlined: without files and lines, whose tables are most of what is to be read and kept. */
enum lines_find_result lines_find(struct lines_module *m, uint64_t offset, bool only_inlined,
                                  uint64_t deadline_ns, struct lines_place *place, struct lines_want *want);
/* Answers LINES_FIND_WANTS_SPLIT: gives the unit with that id its .dwo file, or (fd -1) tells that it has none. */
void lines_give_split(struct lines_module *m, uint64_t id, int fd);

#endif
