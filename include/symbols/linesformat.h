// SPDX-License-Identifier: GPL-2.0-or-later
/* WORKER_LINES: what is asked and what is answered. The worker keeps modules open between requests, by a key that
 * the asker chose; it forgets them when they take too much memory, and when it ends. The answer is a blob in host
 * byte order that is not trusted: header, rows, inlined functions, strings. */
#ifndef FLAMETOP_SYMBOLS_LINESFORMAT_H
#define FLAMETOP_SYMBOLS_LINESFORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "symbols/lines.h"

#define LINES_MAGIC       0x4e4c5446u /* FTLN */
#define LINES_OFFSETS_MAX 4096        /* in one request */

enum {                      /* which descriptors come with the request, in this order */
       LINES_OPEN = 1,      /* the file; the module is opened (anew) under the key */
       LINES_DEBUG = 2,     /* its separate debug file */
       LINES_ALT = 4,       /* the alternate file that was wanted … */
       LINES_NO_ALT = 8,    /* … or: there is none */
       LINES_SPLIT = 16,    /* the .dwo file of the unit `split_id` … */
       LINES_NO_SPLIT = 32, /* … or: there is none */
       /* Not of descriptors: no files and lines are wanted, but what is inlined, and that of whole units. */
       LINES_INLINED = 64,
       /* Without debug information, the table of a Go program is used. */
       LINES_GO = 128
};
struct lines_ask {                     /* the payload, with n offsets (u64) behind it */
    uint64_t key, split_id, reference; /* reference: as in struct lines_files */
    uint32_t flags, n;
};

enum lines_status {
    LINES_DONE,        /* n_rows of the offsets are answered, in order, at least one if any was asked */
    LINES_NOT_OPEN,    /* the key is not known: ask with LINES_OPEN */
    LINES_NO_DWARF,    /* try a debug file */
    LINES_GO_TABLE,    /* try a debug file, and if there is none, ask with LINES_GO */
    LINES_OTHER_BUILD, /* the debug file, or the alternate one, belongs to another file */
    LINES_WANTS_ALT,   /* the file `want_path` with this build-id */
    LINES_WANTS_SPLIT, /* the first offset needs the file `want_path`, relative to `want_folder`; id: 8 bytes */
};
struct lines_header {
    uint32_t magic, status;
    uint32_t n_rows, n_inlined, strings_n;
    uint32_t
        n_more; /* rows behind those of the offsets: of other places in the same units, in no order, those without
                          anything inlined joined to runs */
    uint32_t given_up; /* offsets of this answer whose unit took too long to read */
    uint32_t want_folder, want_path, want_id_n;
    uint8_t want_id[20];
    uint32_t lacking; /* rows of this answer whose unit lacks its .dwo file */
};
struct lines_row {
    uint64_t low, high; /* offsets at which the same is inlined */
    uint32_t file, line, first,
        n; /* file: a string, 0: not known; inlined functions [first, first + n), innermost first */
};
struct lines_call { /* an inlined function, and where it was called */
    uint32_t name, file, line;
};

struct lines_view { /* checked; the blob must stay mapped and unchanged */
    struct lines_header header;
    const struct lines_row *rows;
    const struct lines_call *calls;
    const char *strings;
};
bool lines_view(struct lines_view *v, const void *blob, size_t size, struct error *e);

struct lines_builder { /* zero-initialised is empty */
    struct lines_header header;
    struct buf rows, more, calls, strings;
    struct map by_text; /* hash → string */
};
/* False: no room for more in this answer; nothing was added. */
bool lines_build_row(struct lines_builder *b, const struct lines_place *place);
bool lines_build_more(struct lines_builder *b, const struct lines_place *place);
void lines_build_want(struct lines_builder *b, const struct lines_want *want);
void lines_build(struct lines_builder *b, struct buf *blob);
void lines_builder_done(struct lines_builder *b);

/* The worker's modules that are open. Zero-initialised has none. */
#define LINES_MODULES_MAX 32
struct lines_server {
    struct lines_slot {
        uint64_t key, used;
        struct lines_module *module;
    } slots[LINES_MODULES_MAX];
    uint64_t clock;
};
/* Answers a payload: fds are those that came with it. */
bool lines_serve(struct lines_server *s, const void *payload, size_t n, const int *fds, unsigned n_fds,
                 struct buf *blob, struct error *e);
void lines_server_done(struct lines_server *s);

#endif
