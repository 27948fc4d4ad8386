// SPDX-License-Identifier: GPL-2.0-or-later
/* The report of the process that stops threads: a head, then one record per thread, each followed by its
 * frames, its path and the frames of its interpreter. Private to livestacks. */
#ifndef FLAMETOP_SYMBOLS_LIVESTACKS_REPORT_H
#define FLAMETOP_SYMBOLS_LIVESTACKS_REPORT_H

#include <stdint.h>

#define LIVESTACKS_FD    3 /* the child's pipe */
#define LIVESTACKS_MAGIC 0x73746b31u

#define LIVESTACKS_PATH_MAX 1024u /* bytes; only these of a longer one */

struct livestacks_head {
    uint32_t magic, class; /* class: enum error_class, ERROR_NONE for success */
    char text[240];
};
struct livestacks_record {
    uint32_t tid, refused, end, n, holder, path; /* path: bytes */
    uint64_t stopped_ns, path_at;
    uint32_t groups, truncated; /* of interpreter_frames.h; truncated: 1, there are more */
    uint32_t script_bytes;      /* of all its livestacks_script with their texts */
    uint32_t unused;
};
struct livestacks_script { /* a frame, innermost first; followed by its text */
    uint32_t group, bytes;
};

#endif
