// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfdata/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/tar.h"
#include "base/text.h"
#include "base/unpack.h"
#include "perfdata/perfdata_file.h"

#define PIECE_BYTES   65536
#define LOOK_MS       200
#define LOOK_PIECES   64
#define SPOOL_MAX     (UINT64_C(16) << 30)
#define DISK_CHECK    (UINT64_C(16) << 20) /* bytes between two checks */
#define DISK_LEFT_MIN (UINT64_C(64) << 20) /* free space left to other users */

struct spooling {
    struct spool *s;
    const struct spool_wait *wait;
    struct error *e;
    bool pipe, nonblocking;
    const char *folder;
    int out;
    enum unpack_kind kind;
    struct unpacker *unpacker;
    bool between; /* all compressed streams so far have ended */
    uint64_t read_bytes, of_bytes, written, pieces;
    uint8_t *in_piece, *out_piece;
};

/* Records why the copy is incomplete. */
static bool give_up(struct spooling *sp, const char *why)
{
    char size[32];
    text_bytes(size, sizeof size, sp->written);
    snprintf(sp->s->trouble, sizeof sp->s->trouble, "%s; read %s of it", why, size);
    return false;
}

static bool may_go_on(struct spooling *sp)
{
    enum spool_wish wish =
        sp->wait ? sp->wait->look(sp->wait->ctx, sp->s->name, sp->read_bytes, sp->of_bytes) : SPOOL_GO_ON;
    if (wish == SPOOL_GO_ON || (wish == SPOOL_END && sp->pipe))
        return true;
    return give_up(sp, "reading it was stopped");
}

/* Waits for a pipe's writer until the caller stops it. */
static bool await(struct spooling *sp)
{
    struct pollfd p = { .fd = sp->s->fd, .events = POLLIN };
    int ready = !sp->pipe;
    if (ready)
        return sp->pieces++ % LOOK_PIECES || may_go_on(sp);
    while (ready <= 0) {
        ready = poll(&p, 1, LOOK_MS);
        if ((ready <= 0 || sp->pieces % LOOK_PIECES == 0) && !may_go_on(sp))
            return false;
    }
    sp->pieces++;
    return true;
}

static ssize_t read_piece(struct spooling *sp, size_t cap)
{
    /* For read(2), a FIFO that was never opened for writing is at its end; poll(2) would wait for ever. */
    ssize_t n = sp->nonblocking ? read(sp->s->fd, sp->in_piece, cap) : -1;
    bool again = !sp->nonblocking || (n < 0 && (errno == EINTR || errno == EAGAIN));
    while (again) {
        if (!await(sp))
            return 0;
        n = read(sp->s->fd, sp->in_piece, cap);
        again = n < 0 && (errno == EINTR || errno == EAGAIN);
    }
    if (n < 0) {
        char why[160];
        snprintf(why, sizeof why, "%.60s cannot be read: %s", sp->s->name, strerror(errno));
        give_up(sp, why);
    }
    sp->read_bytes += n > 0 ? (uint64_t)n : 0;
    return n > 0 ? n : 0;
}

static bool has_room(struct spooling *sp, size_t n)
{
    struct statvfs fs;
    char why[200];
    if (sp->written + n > SPOOL_MAX) {
        snprintf(why, sizeof why, "%.60s is larger than 16G", sp->s->name);
        return give_up(sp, why);
    }
    if (sp->written / DISK_CHECK == (sp->written + n) / DISK_CHECK || fstatvfs(sp->out, &fs) ||
        (uint64_t)fs.f_bavail * fs.f_frsize > DISK_LEFT_MIN)
        return true;
    snprintf(why, sizeof why, "the disk of %.60s is full (set TMPDIR to another folder)", sp->folder);
    return give_up(sp, why);
}

static bool keep(struct spooling *sp, const uint8_t *bytes, size_t n)
{
    struct error e = { 0 };
    char why[200];
    if (!sp->written && n >= TAR_BLOCK && tar_is_head(bytes))
        sp->s->archive = true;
    /* decompression bombs and most foreign files end here */
    if (!sp->written && n >= FORMAT_PIPE_BYTES && !sp->s->archive &&
        !header_is_ours(bytes, sp->s->name, sp->e))
        return false;
    if (!has_room(sp, n))
        return false;
    if (!file_write_all(sp->out, bytes, n, &e)) {
        snprintf(why, sizeof why, "cannot write to a file in %.60s: %.40s (set TMPDIR to another folder)",
                 sp->folder, e.sys ? strerror(e.sys) : e.text);
        return give_up(sp, why);
    }
    sp->written += n;
    return true;
}

static bool unpack_failed(struct spooling *sp, enum unpack_state state)
{
    char why[120];
    snprintf(why, sizeof why,
             sp->between             ? "data that is not %s follows the compressed data"
             : state == UNPACK_LIMIT ? "decompressing the %s data needs too much memory"
                                     : "the %s data is damaged",
             unpack_name(sp->kind));
    return give_up(sp, why);
}

static bool unpack_piece(struct spooling *sp, size_t n)
{
    const uint8_t *src = sp->in_piece;
    size_t got = PIECE_BYTES, before;
    while (n || got == PIECE_BYTES) {
        before = n;
        enum unpack_state state = unpacker_run(sp->unpacker, &src, &n, sp->out_piece, PIECE_BYTES, &got);
        if (got && !keep(sp, sp->out_piece, got))
            return false;
        if (state != UNPACK_GOES_ON && state != UNPACK_ENDED)
            return unpack_failed(sp, state);
        if (state == UNPACK_ENDED || got || n != before)
            sp->between = state == UNPACK_ENDED;
    }
    return true;
}

static void copy_rest(struct spooling *sp, size_t n)
{
    while (n && (sp->unpacker ? unpack_piece(sp, n) : keep(sp, sp->in_piece, n)))
        n = (size_t)read_piece(sp, PIECE_BYTES);
    if (!n && sp->unpacker && !sp->between && !*sp->s->trouble) {
        char why[80];
        snprintf(why, sizeof why, "the %s data is truncated", unpack_name(sp->kind));
        give_up(sp, why);
    }
}

/* Returns how many bytes are needed to detect the format. Reads no more: a recording in progress may not
 * deliver more yet. */
static size_t head_bytes(const struct spooling *sp, size_t n)
{
    struct error e = { 0 };
    if (n < FORMAT_PIPE_BYTES)
        return FORMAT_PIPE_BYTES;
    return !header_is_ours(sp->in_piece, sp->s->name, &e) ? TAR_BLOCK : FORMAT_PIPE_BYTES;
}

static size_t read_head(struct spooling *sp)
{
    size_t n = 0;
    for (ssize_t got = 1; n < head_bytes(sp, n) && got > 0; n += got > 0 ? (size_t)got : 0) {
        uint8_t head[TAR_BLOCK];
        memcpy(head, sp->in_piece, n);
        got = read_piece(sp, n ? TAR_BLOCK - n : PIECE_BYTES);
        if (n && got > 0)
            memmove(sp->in_piece + n, sp->in_piece, (size_t)got);
        memcpy(sp->in_piece, head, n);
    }
    return n;
}

static bool has_come(struct spooling *sp)
{
    const char *name = sp->s->name;
    if (sp->e->class != ERROR_NONE)
        return false;
    if (sp->written)
        return true;
    if (*sp->s->trouble)
        return error_set(sp->e, ERROR_FORMAT, "%s: %s", name, sp->s->trouble);
    if (sp->pipe && strcmp(name, "standard input"))
        return error_set(sp->e, ERROR_FORMAT, "%s is a pipe without a writer", name);
    return error_set(sp->e, ERROR_FORMAT, "%s is empty", name);
}

static bool run(struct spooling *sp)
{
    size_t n = read_head(sp);
    sp->kind = unpack_kind_of(sp->in_piece, n);
    if (sp->kind && !(sp->unpacker = unpacker_new(sp->kind, sp->e)))
        return false;
    if (n && (sp->out = file_open_nameless(sp->folder, sp->e)) < 0)
        return false;
    copy_rest(sp, n);
    return has_come(sp);
}

static bool spool_it(struct spool *s, bool pipe, uint64_t of_bytes, const struct spool_wait *wait,
                     struct error *e)
{
    struct error local = { 0 };
    struct spooling sp = { .s = s,
                           .wait = wait,
                           .e = &local,
                           .pipe = pipe,
                           .nonblocking = pipe && fcntl(s->fd, F_GETFL) & O_NONBLOCK,
                           .folder = file_temporary_folder(),
                           .out = -1,
                           .of_bytes = of_bytes,
                           .in_piece = mem_alloc(PIECE_BYTES),
                           .out_piece = mem_alloc(PIECE_BYTES) };
    bool ok = run(&sp);
    unpacker_free(sp.unpacker);
    mem_free(sp.in_piece);
    mem_free(sp.out_piece);
    close(s->fd);
    s->fd = sp.out;
    if (!ok && s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
    if (!ok && e)
        *e = local;
    return ok;
}

static bool is_packed(int fd)
{
    uint8_t head[UNPACK_HEAD_BYTES];
    ssize_t n = pread(fd, head, sizeof head, 0);
    return n > 0 && unpack_kind_of(head, (size_t)n) != UNPACK_NONE;
}

static bool is_archive(int fd)
{
    uint8_t head[TAR_BLOCK];
    return pread(fd, head, sizeof head, 0) == sizeof head && tar_is_head(head);
}

bool spool_open(struct spool *s, const char *path, const struct spool_wait *wait, struct error *e)
{
    bool standard = !strcmp(path, SPOOL_STANDARD_INPUT);
    struct stat st;
    *s = (struct spool){ .name = standard ? "standard input" : path };
    s->fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                     : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0)
        return error_sys(e, errno, "cannot open %s", s->name);
    if (fstat(s->fd, &st)) {
        error_sys(e, errno, "cannot access %s", s->name);
        close(s->fd);
        s->fd = -1;
        return false;
    }
    bool pipe = S_ISFIFO(st.st_mode) || (standard && S_ISSOCK(st.st_mode));
    if (pipe)
        return spool_it(s, true, 0, wait, e);
    if (S_ISREG(st.st_mode) && is_packed(s->fd))
        return spool_it(s, false, (uint64_t)st.st_size, wait, e);
    s->archive = S_ISREG(st.st_mode) && is_archive(s->fd);
    return true;
}
