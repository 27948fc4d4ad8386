// SPDX-License-Identifier: GPL-2.0-or-later
/* Files: small ones read whole (procfs, sysfs), output written so that nothing half-made is ever seen. */
#ifndef FLAMETOP_BASE_FILE_H
#define FLAMETOP_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"

/* Reads at most max bytes into b (cleared first; empty on failure). Refuses what is larger. Works for
 * procfs (no size). */
bool file_read(const char *path, size_t max, struct buf *b, struct error *e);
bool file_read_at(int dirfd, const char *path, size_t max, struct buf *b, struct error *e);
/* From where the descriptor stands to its end; `name` stands in messages. */
bool file_read_fd(int fd, const char *name, size_t max, struct buf *b, struct error *e);
bool file_read_u64(const char *path, uint64_t *v); /* a number in a small file, decimal or 0x… */
bool file_is_elf(int fd); /* by its first bytes; the descriptor stays where it stands */

/* Output under a temporary name beside `path` (O_EXCL|O_NOFOLLOW, 0600), renamed into place by commit.
 * A path that is a symbolic link, a folder or a disk is refused. To "-" (standard output), /dev/fd/N, a FIFO or a
 * device of characters (/dev/null), commit copies what a file without a name held. Buffered; the first failure sticks and is what commit
 * reports. abort (or a failed commit) leaves nothing behind. */
struct outfile {
    int fd, dirfd;
    char *path, *tmp;    /* tmp: the temporary's name in the folder dirfd */
    uint64_t size_bytes; /* written so far */
    int through;         /* where commit copies it to, in place of a rename; -1: nowhere */
    bool failed;
    struct error error;
    unsigned char *pending;
    size_t pending_n;
};
bool outfile_open(struct outfile *o, const char *path, struct error *e); /* failed: nothing to abort */
bool outfile_write(struct outfile *o, const void *bytes, size_t n);
bool outfile_rewrite(struct outfile *o, uint64_t offset, const void *bytes,
                     size_t n);                          /* fix up what was written */
bool outfile_commit(struct outfile *o, struct error *e); /* flush, fsync, rename; frees in any case */
/* In place of commit: the file, which never gets a name; *fd is the caller's. Frees in any case. */
bool outfile_take(struct outfile *o, int *fd, struct error *e);
void outfile_abort(struct outfile *o);
const char *file_temporary_folder(void); /* $TMPDIR, if it is an absolute path; /var/tmp or /tmp */
/* There, for what is read and written at any offset; -1: e says why. */
int file_open_nameless(const char *folder, struct error *e);
/* write(2) until done; for descriptors that are not ours to rename (standard output). */
bool file_write_all(int fd, const void *bytes, size_t n, struct error *e);
/* A file that is only in memory (memfd_create(2)) and holds these bytes, to be sent or read by offset. The caller
 * closes it. -1: no memory. */
int file_in_memory(const char *name, const void *bytes, size_t n);

#endif
