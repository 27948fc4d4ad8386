// SPDX-License-Identifier: GPL-2.0-or-later
/* Decompresses records. They are pieces of one stream, whose state continues from record to record. The
 * output is kept in memory, as sorting by time reads it more than once. */
#include "perfdata/perfdata_file.h"

#define STEP_BYTES  65536
#define LIMIT_BASE  (UINT64_C(16) << 20)
#define LIMIT_RATIO 128 /* stacks of DWARF recordings compress to a hundredth */
#define LIMIT_MAX   (UINT64_C(4) << 30)

static uint64_t limit_of(const struct perfdata *p)
{
    uint64_t limit = LIMIT_BASE + LIMIT_RATIO * p->all_bytes;
    return limit < LIMIT_MAX ? limit : LIMIT_MAX;
}

static bool make_room(struct perfdata *p)
{
    if (p->plain_cap - p->plain_n >= STEP_BYTES)
        return true;
    uint64_t limit = limit_of(p);
    if (p->plain_n + STEP_BYTES > limit)
        return false;
    size_t cap = mem_next_cap(p->plain_cap, p->plain_n + STEP_BYTES);
    if (cap > limit)
        cap = (size_t)limit;
    uint8_t *more = mem_try_resize(p->plain, cap, 1);
    if (!more)
        return false;
    p->plain = more;
    p->plain_cap = cap;
    return true;
}

static void expand(struct perfdata *p, const uint8_t *src, size_t n)
{
    size_t got = STEP_BYTES;
    while (n || got == STEP_BYTES) { /* with room left, all output was written */
        if (!make_room(p)) {
            p->zstd_full = true;
            damage_note(p, DAMAGE_MUCH_ZSTD, n);
            return;
        }
        enum unpack_state state = unpacker_run(p->zstd, &src, &n, p->plain + p->plain_n, STEP_BYTES, &got);
        p->plain_n += got;
        /* All later data depends on the missing data. */
        if (state != UNPACK_GOES_ON && state != UNPACK_ENDED) {
            p->zstd_broken = true;
            damage_note(p, DAMAGE_BAD_ZSTD, n);
            return;
        }
    }
}

void expand_record(struct perfdata *p, const struct raw_record *r)
{
    struct cursor c = cursor_of(r->bytes + 8, r->size - 8, p->swap);
    if (r->type == FORMAT_RECORD_COMPRESSED2) { /* padded: the size of the data precedes it */
        uint64_t n = cursor_u64(&c);
        if (n < cursor_left(&c))
            c.end = c.p + n;
    }
    if (!p->zstd_tried) {
        p->zstd_tried = true;
        p->zstd = unpacker_new(UNPACK_ZSTD, NULL);
    }
    if (!p->zstd)
        damage_note(p, DAMAGE_NO_ZSTD, 1);
    else if (p->zstd_full || p->zstd_broken)
        damage_note(p, p->zstd_full ? DAMAGE_MUCH_ZSTD : DAMAGE_BAD_ZSTD, cursor_left(&c));
    else
        expand(p, c.p, cursor_left(&c));
}

void expand_end(struct perfdata *p)
{
    unpacker_free(p->zstd);
    p->zstd = NULL;
    p->zstd_tried = p->zstd_broken = false;
}
