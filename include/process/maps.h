// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses /proc/PID/maps and keeps the executable mappings. Format: proc(5). */
#ifndef FLAMETOP_PROCESS_MAPS_H
#define FLAMETOP_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define MAPS_MAX 65536u /* kept per process */

#define MAPS_PATH_MAX 4096

struct maps_file {    /* a file and an offset in it */
    const char *path; /* NULL: none */
    uint64_t pgoff, ino;
    uint32_t maj, min;
};
struct maps_entry {
    uint64_t start, end, pgoff, ino;
    uint32_t maj, min;
    bool exec;
    bool private_memory; /* anonymous, private, readable and writable */
    bool program;        /* a memfd that starts as an ELF file (proc_read): a program or library */
    const char *path;    /* newlines unescaped; "" for anonymous memory */
    /* For anonymous memory next to a file's mapping: that file, and the offset at which the file's mapping
     * would continue here. */
    struct maps_file group_sums;
};

/* Parses one line of n bytes (without its newline). The path is unescaped in place; it ends at line[n], which
 * must be writable. False: not a line of maps. */
bool maps_parse_line(char *line, size_t n, struct maps_entry *out);

struct maps {
    VEC(struct maps_entry); /* in the kernel's order: ascending */
    struct arena strings;
    bool cut;                 /* mappings beyond the limits were dropped */
    struct maps_entry before; /* the previous line, of any memory; path = baseline_path */
    char baseline_path[MAPS_PATH_MAX];
};
/* Parses the complete lines of text (one byte after it must be writable) and returns the bytes used. `last`:
 * the rest without a newline is a line too. */
size_t maps_add_text(struct maps *m, char *text, size_t n, bool last);
void maps_read_fd(struct maps *m, int fd); /* to the end or an error; keeps what was read */
void maps_done(struct maps *m);

#endif
