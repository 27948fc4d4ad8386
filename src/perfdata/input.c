// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps a file in windows. Mapping, not reading: only a few bytes of each stack dump in a DWARF recording are
 * used, and copying them all costs more than unwinding. Windows, not the whole file: mapped pages count as
 * flametop's memory. Each window overlaps the next by INPUT_GET_MAX, so that a record that starts in it is
 * contiguous. A merge reads forward at one location per CPU, and the records of a round are close together: a
 * few dozen windows suffice for any file. */
#include "perfdata/input.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/guard.h"
#include "base/mem.h"

#define WINDOW_BYTES ((size_t)256 << 10)
#define MAPPED_BYTES (WINDOW_BYTES + INPUT_GET_MAX)
#define WAYS         4
#define SETS         32 /* 40 MiB in total */
#define WINDOWS      (SETS * WAYS)
/* Of a held file: the file size is checked whenever another piece is used. */
#define PIECE_BYTES (UINT64_C(1) << 20)

struct input_window {
    uint64_t number; /* offset / WINDOW_BYTES, plus 1; 0: empty */
    uint32_t used;   /* tick of the last use */
    uint32_t n;      /* valid bytes */
};

static bool refuse_kind(mode_t mode, const char *path, struct error *e)
{
    const char *kind = S_ISDIR(mode)    ? "a folder"
                       : S_ISFIFO(mode) ? "a pipe"
                       : S_ISSOCK(mode) ? "a socket"
                       : S_ISCHR(mode)  ? "a terminal or another device"
                                        : "a device";
    return error_set(e, ERROR_ARGUMENT, "%s is %s, no perf.data file", path, kind);
}

static bool can_map(int fd)
{
    void *p = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED)
        munmap(p, 1);
    return p != MAP_FAILED;
}

bool input_open(struct input *in, int fd, const char *path, struct error *e)
{
    struct stat st;
    *in = (struct input){ .fd = fd };
    if (fstat(in->fd, &st))
        return error_sys(e, errno, "cannot access %s", path);
    if (!S_ISREG(st.st_mode))
        return refuse_kind(st.st_mode, path, e);
    if (!st.st_size)
        return error_set(e, ERROR_FORMAT, "%s is empty", path);
    in->size_bytes = (uint64_t)st.st_size;
    in->left_bytes = in->size_bytes;
    in->area_bytes = WINDOWS * MAPPED_BYTES;
    in->area = mmap(NULL, in->area_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (in->area == MAP_FAILED) {
        in->area = NULL;
        return error_sys(e, errno, "cannot map %s", path);
    }
    in->maps = can_map(in->fd);
    in->guard = guard_add(in->area, in->area_bytes);
    in->windows = mem_array(WINDOWS, sizeof *in->windows);
    return true;
}

void input_close(struct input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    guard_remove(in->guard);
    if (in->area)
        munmap(in->area, in->area_bytes);
    mem_free(in->windows);
    *in = (struct input){ .fd = -1 };
}

void input_hold(struct input *in)
{
    size_t n = (size_t)in->size_bytes;
    void *all = in->maps ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, in->fd, 0) : MAP_FAILED;

    if (all == MAP_FAILED)
        return;
    guard_remove(in->guard);
    munmap(in->area, in->area_bytes);
    in->area = all;
    in->area_bytes = n;
    in->guard = guard_add(all, n);
    in->held = true;
}

/* Checks whether the file was truncated since the last check. */
static void look_at_size(struct input *in)
{
    struct stat st;
    uint64_t size = fstat(in->fd, &st) || st.st_size < 0 ? 0 : (uint64_t)st.st_size;

    if (size < in->left_bytes) {
        in->left_bytes = size;
        in->shrank = true;
    }
}

static void note_hit(struct input *in)
{
    if (guard_was_hit(in->guard)) {
        in->shrank = true;
        look_at_size(in);
    }
}

bool input_shrank(struct input *in)
{
    note_hit(in);
    look_at_size(in);
    return in->shrank;
}

static size_t read_at(struct input *in, uint64_t offset, uint8_t *dst, size_t n)
{
    size_t got = file_read_from(in->fd, dst, n, offset);
    if (got < n)
        in->shrank = true;
    return got;
}

/* Maps the window, or reads it if the file system cannot map. */
static bool fill(struct input *in, uint64_t offset, uint8_t *dst, size_t n)
{
    if (in->maps)
        return mmap(dst, n, PROT_READ, MAP_PRIVATE | MAP_FIXED, in->fd, (off_t)offset) != MAP_FAILED;
    return mmap(dst, MAPPED_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
               MAP_FAILED &&
           read_at(in, offset, dst, n) == n;
}

static uint8_t *bytes_of(const struct input *in, const struct input_window *w)
{
    return in->area + (size_t)(w - in->windows) * MAPPED_BYTES;
}

static void load(struct input *in, struct input_window *w, uint64_t number)
{
    uint64_t offset = number * WINDOW_BYTES, left;

    look_at_size(in);
    left = in->left_bytes > offset ? in->left_bytes - offset : 0;
    *w = (struct input_window){ .number = number + 1,
                                .n = (uint32_t)(left < MAPPED_BYTES ? left : MAPPED_BYTES) };
    if (w->n && !fill(in, offset, bytes_of(in, w), w->n))
        w->n = 0;
}

static const struct input_window *window_of(struct input *in, uint64_t number)
{
    struct input_window *set = &in->windows[number % SETS * WAYS], *oldest = set;
    if (in->last && in->last->number == number + 1)
        return in->last;
    in->tick++;
    for (int i = 0; i < WAYS; i++) {
        if (set[i].number == number + 1) {
            set[i].used = in->tick;
            return in->last = &set[i];
        }
        if (in->tick - set[i].used > in->tick - oldest->used)
            oldest = &set[i];
    }
    load(in, oldest, number);
    oldest->used = in->tick;
    return in->last = oldest;
}

static bool inside(const struct input *in, uint64_t offset, size_t n)
{
    return offset <= in->left_bytes && n <= in->left_bytes - offset;
}

static const void *get_held(struct input *in, uint64_t offset, size_t n)
{
    uint64_t piece = (offset + n) / PIECE_BYTES + 1;
    if (piece != in->piece) {
        in->piece = piece;
        look_at_size(in);
    }
    return inside(in, offset, n) ? in->area + offset : NULL;
}

const void *input_get(struct input *in, uint64_t offset, size_t n)
{
    size_t at = offset % WINDOW_BYTES;
    note_hit(in);
    if (n > INPUT_GET_MAX || !n || !inside(in, offset, n))
        return NULL;
    if (in->held)
        return get_held(in, offset, n);
    const struct input_window *w = window_of(in, offset / WINDOW_BYTES);
    return at + n <= w->n ? bytes_of(in, w) + at : NULL;
}

bool input_copy(struct input *in, uint64_t offset, void *dst, size_t n)
{
    return inside(in, offset, n) && read_at(in, offset, dst, n) == n;
}
