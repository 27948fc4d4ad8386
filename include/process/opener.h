// SPDX-License-Identifier: GPL-2.0-or-later
/* Opens files whose names or file systems another user controls. It uses that user's rights and runs in a
 * separate process, which can be abandoned when a file system hangs.
 *
 * The caller gets an O_PATH descriptor, because reading a file, or closing a readable descriptor, may block
 * for ever. opener_send passes the file itself to the symbol worker, and opened_facts returns what the opener
 * found out about it. Each thread has its own opener, started with the first file. */
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

#define OPENER_ARG "--file-opener" /* hidden argument that makes the program call opener_main */

enum opener_kind_of_user {
    OPENER_FOR_US,      /* a path that only flametop determines */
    OPENER_FOR_STARTER, /* a path from a recording or from the user who started flametop */
    OPENER_FOR_PROCESS, /* a path from a process or from a file that it has mapped */
};
struct opener_user { /* whose rights are used */
    enum opener_kind_of_user kind;
    uint32_t pid;
    uint32_t user;     /* user + 1 of a process that may have ended; 0: unknown */
    uint32_t named_by; /* owner of the file that contains this path; 0: root, or no such file */
};
struct opened { /* facts about an open file */
    struct stat st;
    uint8_t id[20], id_size; /* build-id; 0: none */
    bool elf;
    /* On a file system that a user may serve (FUSE): the reported owner cannot be trusted. */
    bool of_users;
    uint16_t machine;     /* EM_… of an ELF file; else 0 */
    struct rights rights; /* used to open it */
    uint64_t spent_ns;    /* CPU time of opener_touch; else 0 */
};

/* Returns whose rights open a module's file and the files it names. */
struct opener_user opener_user_of(const struct module *m);

/* Opens a regular file below the folder `root`; no path leads out of it. Refuses procfs and similar file
 * systems. links: follow symbolic links (within root). -1 with errno, which opener_error explains. */
int opener_open(const struct opener_user *u, const char *root, const char *path, bool links);
/* Same, but returns a readable copy of the first `most` bytes in memory. *of (may be NULL): facts about the
 * file. */
int opener_copy(const struct opener_user *u, const char *root, const char *path, size_t most,
                struct opened *of);
/* Opens the program of a process. */
int opener_program(uint32_t pid);
/* Copies `size` bytes of a process's memory from `address` on. Returns the number of bytes read; fewer than
 * `size`: errno is set, or the rest is not mapped. */
size_t opener_read_memory(uint32_t pid, uint64_t address, void *to, size_t size);
/* Same into an in-memory file, which can be sent. -1 with errno: nothing could be read. */
int opener_memory(uint32_t pid, uint64_t address, uint64_t size);
/* Pages in a stack: at most `size` bytes from `address` on, within its mapping. A process younger than age_ns
 * has only reused the pid and is left alone. *spent_ns: the CPU time that it took. False with errno. */
#define OPENER_TOUCH_MAX (256u << 10)
bool opener_touch(uint32_t pid, uint64_t age_ns, uint64_t address, uint64_t size, uint64_t *spent_ns);
/* See also module_open (process/module.h). */

/* Returns facts about a descriptor: those recorded by the opener, or read from flametop's own descriptor.
 * False: none. */
bool opened_facts(int fd, struct opened *out);
/* Same, with the file's present size: it may have grown. */
bool opener_look_again(int fd, struct opened *out);
/* Duplicates a descriptor with its facts; -1: failed. */
int opener_dup(int fd);
/* Sends bytes with descriptors over a socket. Files from the opener are sent as readable descriptors. False
 * with errno. */
#define OPENER_SEND_FDS   5
#define OPENER_SEND_BYTES (62u << 10)
bool opener_send(int socket, const void *head, size_t head_n, const void *payload, size_t payload_n,
                 const int *fds, unsigned n_fds);

/* Sets e from the errno of a function above, for a file of that name. Returns false. */
bool opener_error(struct error *e, int errnum, const char *path);

/* Enables the opener process; the program's main must call opener_main. Without this, files are opened in the
 * calling process with its own rights. */
void opener_enable(void);
/* Makes the calling thread stop waiting when stop_fd (-1: none) is readable, or after limit_ns. */
void opener_set_limits(int stop_fd, uint64_t limit_ns);
/* Ends the calling thread's opener; it restarts when needed. */
void opener_end(void);
pid_t opener_pid(void); /* of the calling thread's opener; 0: not running */

/* main() of the opener's process: serves requests on this socket until it closes. */
_Noreturn void opener_main(int socket);

#endif
