// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/tar.h"
#include "base/unpack.h"

#define STEP_BYTES  65536
#define NAMES_MAX   (512u << 20)
#define FILE_MAX    (32u << 20) /* for members that are only carried along */
#define FILES_MAX   64
#define LIMIT_BASE  (UINT64_C(256) << 20)
#define LIMIT_RATIO 256 /* compressed chains can shrink to a fiftieth */

struct opening {
    struct bundle *b;
    struct tar_reader tar;
    struct outfile profile;
    struct buf names, *to; /* to: destination of the current member; NULL: none, or the profile */
    size_t to_max;
    bool to_profile, has_profile, has_names, failed;
    uint64_t unpacked, limit;
    struct error *e;
};

/* Name below the archive's one folder. */
static const char *name_of(const char *name)
{
    const char *slash = strchr(name, '/');
    return slash ? slash + 1 : name;
}

static bool is_plain(const char *name)
{
    return *name && *name != '/' && !strstr(name, "..") &&
           strlen(name) < sizeof((struct bundle_file *)0)->name;
}

static bool begin_profile(struct opening *o)
{
    const char *tmp = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof path, "%s/flametop-bundle", tmp && *tmp ? tmp : "/tmp");
    o->has_profile = o->to_profile = outfile_open(&o->profile, path, o->e);
    o->failed |= !o->has_profile;
    return o->has_profile;
}

static bool on_member(void *ctx, const char *full, uint64_t size)
{
    struct opening *o = ctx;
    struct bundle *b = o->b;
    const char *name = name_of(full);
    o->to_profile = false;
    o->to = NULL;
    o->to_max = FILE_MAX;
    if (!strcmp(name, BUNDLE_PROFILE) && !o->has_profile)
        return begin_profile(o);
    if (!strcmp(name, BUNDLE_NAMES) && !o->has_names) {
        o->to = &o->names;
        o->to_max = NAMES_MAX;
        o->has_names = true;
    } else if (b->files.n < FILES_MAX && size <= FILE_MAX && is_plain(name)) {
        struct bundle_file *f = VEC_PUSH(&b->files);
        *f = (struct bundle_file){ 0 };
        snprintf(f->name, sizeof f->name, "%s", name);
        o->to = &f->bytes;
    }
    return true;
}

static bool on_bytes(void *ctx, const void *bytes, size_t n)
{
    struct opening *o = ctx;
    if (o->to_profile)
        return outfile_write(&o->profile, bytes, n);
    if (o->to && o->to->len + n <= o->to_max)
        buf_add(o->to, bytes, n);
    return true;
}

/* ---- the decompressed bytes of the archive ---- */

static int open_regular(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

static ssize_t read_some(int fd, uint8_t *dst, size_t cap)
{
    ssize_t n;
    do
        n = read(fd, dst, cap);
    while (n < 0 && errno == EINTR);
    return n;
}

typedef bool take_fn(void *ctx, const uint8_t *bytes, size_t n); /* false: stop */

static bool unpack_piece(struct unpacker *u, const uint8_t *src, size_t n, take_fn *take, void *ctx,
                         bool *broken)
{
    uint8_t plain[STEP_BYTES];
    size_t got;
    do {
        enum unpack_state state = unpacker_run(u, &src, &n, plain, sizeof plain, &got);
        if (got && !take(ctx, plain, got))
            return false;
        if (state == UNPACK_BROKEN || state == UNPACK_LIMIT) {
            *broken = true;
            return false;
        }
    } while (n || got == sizeof plain);
    return true;
}

/* False: not readable, or not decompressible; `take` has received the bytes before the error. */
static bool read_all(int fd, take_fn *take, void *ctx, struct error *e)
{
    uint8_t bytes[STEP_BYTES];
    ssize_t n = read_some(fd, bytes, sizeof bytes);
    enum unpack_kind kind = n > 0 ? unpack_kind_of(bytes, (size_t)n) : UNPACK_NONE;
    struct unpacker *u = kind ? unpacker_new(kind, e) : NULL;
    bool broken = false, more = !kind || u;
    if (!more)
        return false;
    for (; n > 0 && more; n = more ? read_some(fd, bytes, sizeof bytes) : 0)
        more = u ? unpack_piece(u, bytes, (size_t)n, take, ctx, &broken) : take(ctx, bytes, (size_t)n);
    unpacker_free(u);
    return (n >= 0 && !broken) ||
           error_set(e, ERROR_FORMAT,
                     n < 0 ? "it cannot be read to its end" : "it is damaged: it cannot be decompressed");
}

/* ---- detection ---- */

struct head {
    uint8_t bytes[TAR_BLOCK];
    size_t n;
};

static bool take_head(void *ctx, const uint8_t *bytes, size_t n)
{
    struct head *h = ctx;
    size_t take = n < sizeof h->bytes - h->n ? n : sizeof h->bytes - h->n;
    memcpy(h->bytes + h->n, bytes, take);
    h->n += take;
    return h->n < sizeof h->bytes;
}

int bundle_find(const char *path)
{
    struct head h = { .n = 0 };
    int fd = open_regular(path);
    if (fd < 0)
        return -1;
    read_all(fd, take_head, &h, NULL);
    if (h.n == sizeof h.bytes && tar_is_head(h.bytes))
        return fd;
    close(fd);
    return -1;
}

/* ---- opening ---- */

static bool take_archive(void *ctx, const uint8_t *bytes, size_t n)
{
    struct opening *o = ctx;
    o->unpacked += n;
    if (o->unpacked > o->limit) {
        o->failed = true;
        return error_set(o->e, ERROR_LIMIT, "it decompresses to far more than flametop writes");
    }
    if (!tar_read(&o->tar, bytes, n)) {
        if (!o->failed && !(o->has_profile && o->profile.failed))
            error_set(o->e, ERROR_FORMAT, "it is damaged: a member has no valid header");
        o->failed = true;
    }
    return !o->failed && !o->tar.ended;
}

static bool read_archive(struct opening *o, int fd, const char *name, struct error *e)
{
    struct stat st = { 0 };
    if (fstat(fd, &st) || lseek(fd, 0, SEEK_SET))
        return error_sys(e, errno, "cannot read %s", name);
    o->limit = LIMIT_BASE + LIMIT_RATIO * (uint64_t)st.st_size;
    bool ok = read_all(fd, take_archive, o, e) && !o->failed;
    if (ok && !o->has_profile)
        ok = error_set(e, ERROR_FORMAT,
                       "%s is an archive without a " BUNDLE_PROFILE ": flametop did not make it", name);
    else if (ok && !o->tar.ended)
        ok = error_set(e, ERROR_FORMAT, "%s is truncated: its end is missing", name);
    return ok;
}

struct bundle *bundle_open(int fd, const char *name, struct error *e)
{
    struct error why = { 0 };
    struct bundle *b = mem_zalloc(sizeof *b);
    struct opening o = { .b = b, .e = &why };
    b->fd = -1;
    o.tar = (struct tar_reader){ .member = on_member, .bytes = on_bytes, .ctx = &o };
    bool ok = read_archive(&o, fd, name, &why);
    if (ok)
        ok = outfile_take(&o.profile, &b->fd, &why);
    else if (o.has_profile && o.profile.failed)
        outfile_take(&o.profile, &b->fd, &why); /* sets why */
    else if (o.has_profile)
        outfile_abort(&o.profile);
    if (ok && o.has_names)
        ok = (b->supplied = supplied_parse(buf_str(&o.names), o.names.len, &why)) != NULL;
    buf_done(&o.names);
    if (ok)
        return b;
    if (strstr(why.text, name))
        error_set(e, why.class, "%s", why.text);
    else
        error_set(e, why.class, "cannot open %s: %s", name, why.text);
    bundle_free(b);
    return NULL;
}

void bundle_free(struct bundle *b)
{
    if (!b)
        return;
    if (b->fd >= 0)
        close(b->fd);
    supplied_free(b->supplied);
    for (size_t i = 0; i < b->files.n; i++)
        buf_done(&b->files.items[i].bytes);
    mem_free(b->files.items);
    mem_free(b);
}
