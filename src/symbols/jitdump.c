// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side: read the records of a jitdump. Most of a dump is machine code, which is skipped. */
#include "symbols/jitdump.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/map.h"

#define MAGIC         0x4a695444u /* "JiTD" */
#define MAGIC_SWAPPED 0x4454694au
#define DUMP_VERSION  1
#define HEADER_BYTES  40
#define FLAGS_AT      32
#define ARCH_TIMES    1 /* a flag: times are ticks of the CPU */
#define PREFIX_BYTES  16
#define LOAD_BYTES    56 /* with the prefix; the name follows it */
#define MOVE_BYTES    64
#define RECORDS_MAX   (2 * TABLE_ENTRIES_MAX)
#define WINDOW_BYTES  16384

_Static_assert(WINDOW_BYTES >= LOAD_BYTES + TABLE_NAME_MAX + 1, "a record's head and name come in one piece");

enum { CODE_LOAD = 0, CODE_MOVE = 1 };

/* The part of the file in memory. */
struct window {
    int fd;
    uint64_t at;
    size_t n;
    uint8_t bytes[WINDOW_BYTES];
};

/* Code to find: the latest with this address. */
struct search {
    /* at: offset in the file of n bytes from the address on. n 0: not found. */
    uint64_t address, at, n;
};

struct dump {
    struct window w;
    uint64_t size; /* of the file */
    bool swap, dated;
    uint16_t machine;
    uint64_t now_ns;
    struct search *search; /* NULL: names are wanted */
    struct map loads;      /* code index → offset of its latest load record */
    struct table_builder *b;
};

struct load {
    uint64_t address, size, index;
    const char *name; /* in the window */
    size_t name_n;
    /* Offset in the file, and the bytes that the record has room for. */
    uint64_t code_at, code_n;
};

static bool fill(struct window *w, uint64_t at)
{
    w->at = at;
    w->n = file_read_from(w->fd, w->bytes, sizeof w->bytes, at);
    return w->n > 0;
}

/* Return n bytes of the file, n at most a window; NULL: not in the file. */
static const uint8_t *bytes_at(struct dump *d, uint64_t at, size_t n)
{
    struct window *w = &d->w;

    if (at < w->at || at - w->at > w->n || w->n - (at - w->at) < n)
        if (!fill(w, at) || w->n < n)
            return NULL;
    return w->bytes + (at - w->at);
}

/* Read a load record. The code follows the name. */
static bool read_load(struct dump *d, uint64_t at, uint32_t size, struct load *out)
{
    size_t room = size - LOAD_BYTES < TABLE_NAME_MAX ? size - LOAD_BYTES : TABLE_NAME_MAX;
    const uint8_t *bytes = bytes_at(d, at, LOAD_BYTES + room);
    struct cursor c;

    if (!bytes)
        return false;
    c = cursor_of(bytes, LOAD_BYTES, d->swap);
    cursor_skip(&c, PREFIX_BYTES + 16); /* pid, tid, vma */
    out->address = cursor_u64(&c);
    out->size = cursor_u64(&c);
    out->index = cursor_u64(&c);
    out->name = (const char *)bytes + LOAD_BYTES;
    out->name_n = strnlen(out->name, room);
    out->code_at = at + LOAD_BYTES + out->name_n + 1;
    out->code_n = out->name_n < room ? size - LOAD_BYTES - out->name_n - 1 : 0;
    return true;
}

static void look_at(struct search *s, uint64_t start, uint64_t size, const struct load *l)
{
    uint64_t into = s->address - start, n = size < l->code_n ? size : l->code_n;

    if (into < size)
        *s = (struct search){ s->address, l->code_at + into, into < n ? n - into : 0 };
}

static void add(struct dump *d, uint64_t start, uint64_t size, const struct load *l)
{
    if (!size || start + size <= start)
        return;
    if (d->search)
        look_at(d->search, start, size, l);
    else
        table_add(d->b, start, size, UINT64_MAX, l->name, l->name_n, TABLE_GLOBAL);
}

static void take_load(struct dump *d, uint64_t at, uint32_t size)
{
    struct load l;

    if (size < LOAD_BYTES || !read_load(d, at, size, &l))
        return;
    add(d, l.address, l.size, &l);
    if (d->loads.n < TABLE_ENTRIES_MAX)
        map_put(&d->loads, l.index, at);
}

/* Move code. Its old address keeps the name until other code replaces it: samples there are of this code. */
static void take_move(struct dump *d, uint64_t at, uint32_t size)
{
    const uint8_t *bytes = size < MOVE_BYTES ? NULL : bytes_at(d, at, MOVE_BYTES);
    struct cursor c;
    struct load l;
    uint64_t to, n, index, load_at;
    uint32_t load_size;

    if (!bytes)
        return;
    c = cursor_of(bytes, MOVE_BYTES, d->swap);
    cursor_skip(&c, PREFIX_BYTES + 24); /* pid, tid, vma, old address */
    to = cursor_u64(&c);
    n = cursor_u64(&c);
    index = cursor_u64(&c);
    if (!map_get(&d->loads, index, &load_at) || !(bytes = bytes_at(d, load_at, PREFIX_BYTES)))
        return;
    c = cursor_of(bytes + 4, 4, d->swap);
    load_size = cursor_u32(&c);
    if (load_size >= LOAD_BYTES && read_load(d, load_at, load_size, &l))
        add(d, to, n, &l);
}

/* Read the header. False: not a valid one. */
static bool read_header(struct dump *d, uint64_t *first)
{
    const uint8_t *bytes = bytes_at(d, 0, HEADER_BYTES);
    struct cursor c;
    uint32_t magic;

    if (!bytes)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    d->swap = magic == MAGIC_SWAPPED;
    c = cursor_of(bytes + 4, HEADER_BYTES - 4, d->swap);
    if ((magic != MAGIC && !d->swap) || cursor_u32(&c) != DUMP_VERSION)
        return false;
    *first = cursor_u32(&c);
    d->machine = (uint16_t)cursor_u32(&c);
    c = cursor_of(bytes + FLAGS_AT, 8, d->swap);
    d->dated = !(cursor_u64(&c) & ARCH_TIMES);
    return *first >= HEADER_BYTES;
}

/* Zero or future times are of an unknown clock: then no time in this dump is trusted. */
static void take_time(struct dump *d, uint64_t time_ns)
{
    d->dated = d->dated && time_ns && time_ns <= d->now_ns;
    if (d->b)
        d->b->since_ns = time_ns;
}

static void read_records(struct dump *d, uint64_t at)
{
    uint32_t records = 0;

    while (d->size - at >= PREFIX_BYTES) {
        const uint8_t *bytes = bytes_at(d, at, PREFIX_BYTES);
        struct cursor c = cursor_of(bytes, bytes ? PREFIX_BYTES : 0, d->swap);
        uint32_t id = cursor_u32(&c), size = cursor_u32(&c);
        uint64_t time_ns = cursor_u64(&c);

        if (!bytes || size > d->size - at)
            return; /* being written, or truncated */
        if (size < PREFIX_BYTES || ++records > RECORDS_MAX) {
            if (d->b)
                d->b->header.flags |= TABLE_CUT;
            return;
        }
        if (id == CODE_LOAD || id == CODE_MOVE)
            take_time(d, time_ns);
        if (id == CODE_LOAD)
            take_load(d, at, size);
        else if (id == CODE_MOVE)
            take_move(d, at, size);
        at += size;
    }
}

bool jitdump_is_one(int fd)
{
    uint32_t magic;

    return pread(fd, &magic, sizeof magic, 0) == sizeof magic && (magic == MAGIC || magic == MAGIC_SWAPPED);
}

bool jitdump_read(int fd, struct table_builder *b, struct error *e)
{
    struct dump d = { .w = { .fd = fd }, .b = b };
    struct stat st;
    uint64_t first = 0;

    d.now_ns = clock_now_ns();
    if (fstat(fd, &st))
        return error_sys(e, errno, "cannot read it");
    d.size = (uint64_t)st.st_size;
    if (!read_header(&d, &first))
        return error_set(e, ERROR_FORMAT, "it is not a jitdump of version %d", DUMP_VERSION);
    if (first <= d.size)
        read_records(&d, first);
    b->header.flags |= TABLE_FULL | (d.dated ? TABLE_DATED : 0);
    b->since_ns = 0;
    map_done(&d.loads);
    return true;
}

bool jitdump_find_code(int fd, uint64_t address, uint64_t size, struct buf *out, uint16_t *machine,
                       bool *swapped, struct error *e)
{
    struct search found = { .address = address };
    struct dump d = { .w = { .fd = fd }, .search = &found };
    struct stat st;
    uint64_t first = 0, done, n;
    const uint8_t *bytes;

    if (fstat(fd, &st))
        return error_sys(e, errno, "cannot read it");
    d.size = (uint64_t)st.st_size;
    if (read_header(&d, &first) && first <= d.size)
        read_records(&d, first);
    map_done(&d.loads);
    n = found.n < size ? found.n : size;
    for (done = 0; done < n; done += bytes ? WINDOW_BYTES : n) {
        size_t part = n - done < WINDOW_BYTES ? (size_t)(n - done) : WINDOW_BYTES;
        bytes = bytes_at(&d, found.at + done, part);
        if (bytes)
            buf_add(out, bytes, part);
    }
    *machine = d.machine;
    *swapped = d.swap;
    return out->len || error_set(e, ERROR_MISSING, "the jitdump has no code there");
}
