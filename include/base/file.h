// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads small files whole (procfs, sysfs) and writes output files that never appear half-written. */
#ifndef FLAMETOP_BASE_FILE_H
#define FLAMETOP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* Reads at most max bytes into b (cleared first; empty on failure). Refuses a larger file. Works for procfs,
 * where files have no size. */
bool file_read(const char *path, size_t max, struct buf *b, struct error *e);
bool file_read_at(int dirfd, const char *path, size_t max, struct buf *b, struct error *e);
/* Reads from the descriptor's position to its end; `name` is for messages. */
bool file_read_fd(int fd, const char *name, size_t max, struct buf *b, struct error *e);
/* pread(2) until n bytes are read, or the end of the file or an error. Returns the bytes read. */
size_t file_read_from(int fd, void *bytes, size_t n, uint64_t offset);
bool file_read_u64(const char *path, uint64_t *v); /* a number in a small file, decimal or 0x… */
bool file_is_elf(int fd);                          /* by its first bytes; does not move the file position */

/* Output file with a temporary name in the folder of `path` (O_EXCL|O_NOFOLLOW, 0600); commit renames it into
 * place. A path that is a symbolic link, a folder or a disk is refused. For "-" (standard output), /dev/fd/N,
 * a FIFO or a character device (/dev/null), the output goes to an unnamed file, which commit copies to the
 * target. Writes are buffered. The first failure sticks, and commit reports it. abort, or a failed commit,
 * leaves nothing behind. */
struct outfile {
    int fd, dirfd;
    char *path, *tmp;    /* tmp: name of the temporary file in dirfd */
    uint64_t size_bytes; /* written so far */
    int through;         /* descriptor that commit copies to, instead of a rename; -1: none */
    bool failed;
    struct error error;
    unsigned char *pending;
    size_t pending_n;
};
/* Starts the output. On failure there is nothing to abort. */
bool outfile_open(struct outfile *o, const char *path, struct error *e);
bool outfile_write(struct outfile *o, const void *bytes, size_t n);
bool outfile_rewrite(struct outfile *o, uint64_t offset, const void *bytes,
                     size_t n);                          /* replaces bytes already written */
bool outfile_commit(struct outfile *o, struct error *e); /* flush, fsync, rename; always frees */
/* Instead of commit: returns the file, which never gets a name, in *fd. The caller owns *fd. Always frees. */
bool outfile_take(struct outfile *o, int *fd, struct error *e);
void outfile_abort(struct outfile *o);
const char *file_temporary_folder(void); /* $TMPDIR if it is an absolute path, else /var/tmp or /tmp */
/* Opens an unnamed file in that folder for reads and writes at any offset. -1: failed, see e. */
int file_open_nameless(const char *folder, struct error *e);
/* write(2) until all is written; for descriptors that cannot be renamed (standard output). */
bool file_write_all(int fd, const void *bytes, size_t n, struct error *e);
/* Returns an in-memory file (memfd_create(2)) that holds these bytes, to be sent or read by offset. The
 * caller closes it. -1: no memory. */
int file_in_memory(const char *name, const void *bytes, size_t n);

#endif
