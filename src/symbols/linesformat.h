// SPDX-License-Identifier: GPL-2.0-or-later
/* Format of WORKER_LINES requests and replies.
 * The worker keeps modules open between requests, by a key that the client chose. It closes them when they
 * use too much memory, and when it ends. The reply is a blob in host byte order that is not trusted: header,
 * rows, inlined functions, strings. */
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

/* Flags: which descriptors come with the request, in this order. */
enum {
    LINES_OPEN = 1,      /* the file; the module is (re)opened under the key */
    LINES_DEBUG = 2,     /* its separate debug file */
    LINES_ALT = 4,       /* the alternate file that was wanted */
    LINES_NO_ALT = 8,    /* there is no alternate file */
    LINES_SPLIT = 16,    /* the .dwo file of the unit `split_id` */
    LINES_NO_SPLIT = 32, /* there is no such .dwo file */
    /* No descriptor: return no files and lines, only inlined functions, of whole units. */
    LINES_INLINED = 64,
    /* No descriptor: without debug information, use the table of a Go program. */
    LINES_GO = 128
};
struct lines_ask {                     /* payload, followed by n offsets (u64) */
    uint64_t key, split_id, reference; /* reference: as in struct lines_files */
    uint32_t flags, n;
};

enum lines_status {
    /* The first n_rows of the offsets have rows, in order; at least one if any was requested. */
    LINES_DONE,
    LINES_NOT_OPEN, /* the key is not known: send LINES_OPEN */
    LINES_NO_DWARF, /* try a debug file */
    /* Try a debug file; if there is none, send LINES_GO. */
    LINES_GO_TABLE,
    /* The debug file, or the alternate one, belongs to another file. */
    LINES_OTHER_BUILD,
    LINES_WANTS_ALT, /* the file `want_path` with this build-id */
    /* The first offset needs the file `want_path`, relative to `want_folder`; id: 8 bytes. */
    LINES_WANTS_SPLIT,
};
struct lines_header {
    uint32_t magic, status;
    uint32_t n_rows, n_inlined, strings_n;
    /* Rows after those of the offsets: for other offsets of the same units, unordered. Offsets without
     * inlined functions are joined to ranges. */
    uint32_t n_more;
    /* Offsets of this reply whose unit took too long to read. */
    uint32_t given_up;
    uint32_t want_folder, want_path, want_id_n;
    uint8_t want_id[20];
    uint32_t lacking; /* rows of this reply whose unit lacks its .dwo file */
};
struct lines_row {
    uint64_t low, high; /* offsets with the same inlined functions */
    /* file: a string, 0: not known. Inlined functions [first, first + n), innermost first. */
    uint32_t file, line, first, n;
};
struct lines_call { /* an inlined function, and its call site */
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
/* Add a row. False: the reply is full; nothing was added. */
bool lines_build_row(struct lines_builder *b, const struct lines_location *location);
bool lines_build_more(struct lines_builder *b, const struct lines_location *location);
void lines_build_want(struct lines_builder *b, const struct lines_want *want);
void lines_build(struct lines_builder *b, struct buf *blob);
void lines_builder_done(struct lines_builder *b);

/* The worker's open modules. Zero-initialised has none. */
#define LINES_MODULES_MAX 32
struct lines_server {
    struct lines_slot {
        uint64_t key, used;
        struct lines_module *module;
    } slots[LINES_MODULES_MAX];
    uint64_t clock;
};
/* Serve a request's payload. fds: the descriptors that came with it. */
bool lines_serve(struct lines_server *s, const void *payload, size_t n, const int *fds, unsigned n_fds,
                 struct buf *blob, struct error *e);
void lines_server_done(struct lines_server *s);

#endif
