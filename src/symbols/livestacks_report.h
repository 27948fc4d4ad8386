// SPDX-License-Identifier: GPL-2.0-or-later
/* The report of the process that stops threads: a head, then one record per thread, each followed by its
 * frames and its path. Private to livestacks. */
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
};

#endif
