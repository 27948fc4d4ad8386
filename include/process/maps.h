// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of /proc/PID/maps, of which only the executable mappings are kept. Format: proc(5). */
#ifndef FLAMETOP_PROCESS_MAPS_H
#define FLAMETOP_PROCESS_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

#define MAPS_MAX 65536u /* kept of one process */

#define MAPS_PATH_MAX 4096

struct maps_file {    /* a file, and an offset in it */
    const char *path; /* NULL: none */
    uint64_t pgoff, ino;
    uint32_t maj, min;
};
struct maps_entry {
    uint64_t start, end, pgoff, ino;
    uint32_t maj, min;
    bool exec;
    bool private_memory; /* that can be read and written, of no file */
    bool program;        /* a memfd that begins as an ELF file (proc_read): a program or a library */
    const char *path;    /* newlines unescaped; "" for anonymous memory */
    /* Of anonymous memory next to a file's mapping: that file, and what would be mapped here if it went on. */
    struct maps_file beside;
};

/* Parses one line of n bytes (without its newline). The path is unescaped in place; it ends at line[n], which
 * must be writable. False: this is no such line. */
bool maps_parse_line(char *line, size_t n, struct maps_entry *out);

struct maps {
    struct maps_entry *items; /* ascending as the kernel gave them */
    uint32_t n, cap;
    struct arena strings;
    bool cut;                 /* there was more than we keep */
    struct maps_entry before; /* the line before, of any memory; its path is … */
    char before_path[MAPS_PATH_MAX];
};
/* Takes the whole lines of text (one more byte behind it must be writable) and returns the bytes used;
 * `last`: what is left without a newline is a line as well. */
size_t maps_add_text(struct maps *m, char *text, size_t n, bool last);
void maps_read_fd(struct maps *m, int fd); /* until the end or an error: what was read stays */
void maps_done(struct maps *m);

#endif
