// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens files whose names or file systems somebody else has chosen: with that user's rights, and in a process of its own
 * that can be left behind when a file system does not answer.
 *
 * What the caller gets is an O_PATH descriptor: reading it, or closing a readable one, may wait for ever. opener_send hands
 * the file itself to the symbol worker, and opened_facts tells what the opener has found out about it.
 * Each thread has an opener of its own, which is started with its first file. */
#ifndef FLAMETOP_PROCESS_OPENER_H
#define FLAMETOP_PROCESS_OPENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"
#include "process/module.h"
#include "process/rights.h"

#define OPENER_ARG "--file-opener" /* the hidden argument that makes a program call opener_main */

enum opener_kind_of_user {
    OPENER_FOR_US,      /* a path that is ours alone */
    OPENER_FOR_STARTER, /* a path that a recording, or the user who started flametop, names */
    OPENER_FOR_PROCESS, /* a path that a process, or a file that it has mapped, names */
};
struct opener_user { /* on behalf of whom */
    enum opener_kind_of_user kind;
    uint32_t pid;
    uint32_t user;     /* of a process that may have ended: its user + 1; 0: not known */
    uint32_t named_by; /* owner of the file that names this one; 0: root, or none does */
};
struct opened { /* what is known of an open file */
    struct stat st;
    uint8_t id[20], id_size; /* build-id; 0: none */
    bool elf;
    bool
        of_users; /* on a file system that a user may serve (FUSE): who owns the file is only what that says */
    uint16_t machine;     /* of an ELF file: EM_…; else 0 */
    struct rights rights; /* with which it was opened */
};

/* On behalf of whom a module's file, and what that names, is opened. */
struct opener_user opener_user_of(const struct module *m);

/* Opens a regular file below the folder `root`, out of which nothing leads; not in procfs and its like.
 * links: symbolic links are followed (within root). -1 with errno; opener_error tells of it. */
int opener_open(const struct opener_user *u, const char *root, const char *path, bool links);
/* The same, as a copy of its first `most` bytes in memory that can be read; *of (if given): what is known
 * of the file. */
int opener_copy(const struct opener_user *u, const char *root, const char *path, size_t most,
                struct opened *of);
/* The program of a process. */
int opener_program(uint32_t pid);
/* Copies the memory of a process: `size` bytes from `address` on. Returns how many bytes could be read; fewer
 * than `size`: errno, or what follows is not mapped. */
size_t opener_read_memory(uint32_t pid, uint64_t address, void *to, size_t size);
/* The same into a file in memory, which can be sent. -1 with errno: nothing could be read. */
int opener_memory(uint32_t pid, uint64_t address, uint64_t size);
/* Brings the pages of a stack into memory: at most `size` bytes from `address` on, and not beyond its mapping. age_ns: a
 * process that has not run for so long is another one, and is left alone. False with errno. */
#define OPENER_TOUCH_MAX (256u << 10)
bool opener_touch(uint32_t pid, uint64_t age_ns, uint64_t address, uint64_t size);
/* module_open (process/module.h) is the fifth of these. */

/* What is known of a descriptor: from when the opener opened the file, or by looking at one that is ours.
 * False: nothing. */
bool opened_facts(int fd, struct opened *out);
/* What is known of it by now: it may have grown. */
bool opener_look_again(int fd, struct opened *out);
/* A second descriptor of the same file; -1: none. */
int opener_dup(int fd);
/* Sends bytes with descriptors over a socket; files that the opener has found go as readable ones. False
 * with errno. */
#define OPENER_SEND_FDS   5
#define OPENER_SEND_BYTES (62u << 10)
bool opener_send(int socket, const void *head, size_t head_n, const void *payload, size_t payload_n,
                 const int *fds, unsigned n_fds);

/* Sets e from the errno of one of the above for a file of that name. False. */
bool opener_error(struct error *e, int errnum, const char *path);

/* For the program whose main calls opener_main; without, files are opened in the process itself, with its
 * own rights. */
void opener_enable(void);
/* The calling thread gives up waiting when stop_fd (-1: none) is readable, or after limit_ns. */
void opener_set_limits(int stop_fd, uint64_t limit_ns);
/* Ends the calling thread's opener; it is started anew when needed. */
void opener_end(void);
pid_t opener_pid(void); /* of the calling thread's; 0: it does not run */

/* main() of the opener's process: serves requests on this socket until it closes. */
_Noreturn void opener_main(int socket);

#endif
