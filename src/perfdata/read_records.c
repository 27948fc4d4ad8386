// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads record after record and skips data between them that is not a record: zeroed pages (a crash before
 * the data reached the disk), text that a program wrote into perf's pipe, a damaged size. */
#include <byteswap.h>
#include <string.h>

#include "perfdata/perfdata_file.h"

#define SCAN_BYTES      4096
#define LOOK_CHUNKS     256
#define KERNEL_TYPE_MAX 40 /* the newest known is 22 */
#define CHAIN_LENGTH    3

enum verdict { RECORD_OK, RECORD_CUT, RECORD_BAD };

struct head {
    uint32_t type, size;
    uint16_t misc;
};

const uint8_t *read_bytes_at(struct perfdata *p, uint64_t place, size_t n)
{
    uint64_t offset = place & PLACE_OFFSET, part = place >> PLACE_PART_SHIFT;
    if (!part)
        return input_get(&p->in, place, n);
    if (!(place & PLACE_PLAIN))
        return input_get(&p->parts[part - 1], offset, n);
    offset = place & ~PLACE_PLAIN;
    return offset <= p->plain_n && n <= p->plain_n - offset ? p->plain + offset : NULL;
}

void await_bytes_at(const struct perfdata *p, uint64_t place, size_t n)
{
    uint64_t part = place >> PLACE_PART_SHIFT;
    if (!(place & PLACE_PLAIN))
        input_await(part ? &p->parts[part - 1] : &p->in, place & PLACE_OFFSET, n);
}

const uint8_t *read_record_at(struct perfdata *p, uint64_t place, uint32_t type, size_t n)
{
    const uint8_t *bytes = read_bytes_at(p, place, n);
    return bytes && type != PERF_RECORD_SAMPLE && n <= sizeof p->copy ? memcpy(p->copy, bytes, n) : bytes;
}

static struct head head_of(const struct perfdata *p, const uint8_t *bytes)
{
    struct perf_event_header h;
    memcpy(&h, bytes, sizeof h);
    struct head out = { h.type, h.size, h.misc };
    if (p->swap)
        out = (struct head){ bswap_32(h.type), bswap_16(h.size), bswap_16(h.misc) };
    /* simpleperf's own records store the upper half of a 32-bit size in misc. */
    if (out.type >= FORMAT_RECORD_SIMPLEPERF && out.type < FORMAT_RECORD_SIMPLEPERF + 64)
        out.size |= (uint32_t)out.misc << 16;
    return out;
}

/* True if a known writer would write this header. The kernel and perf pad each record to 8 bytes; hiperf does
 * not (`unpadded`). */
static bool is_usual(struct head h, bool unpadded)
{
    if (h.size < sizeof(struct perf_event_header))
        return false;
    if (h.type >= 1 && h.type <= KERNEL_TYPE_MAX)
        return (unpadded || h.size % 8 == 0) &&
               (h.misc & PERF_RECORD_MISC_CPUMODE_MASK) <= PERF_RECORD_MISC_GUEST_USER;
    if (h.type >= FORMAT_RECORD_USER && h.type < FORMAT_RECORD_USER_END)
        return true;
    return h.type >= FORMAT_RECORD_SIMPLEPERF && h.type < FORMAT_RECORD_SIMPLEPERF + 64;
}

/* Returns the number of bytes after the record that belong to it. simpleperf counts tracing data in the
 * record's size: nothing follows. */
static uint64_t payload_of(struct perfdata *p, uint64_t place, struct head h)
{
    bool aux = h.type == FORMAT_RECORD_AUXTRACE;
    size_t n = aux ? 16 : 12;
    if ((!aux && h.type != FORMAT_RECORD_TRACING_DATA) || h.size < n)
        return 0;
    const uint8_t *bytes = read_bytes_at(p, place, n);
    if (!bytes)
        return 0;
    struct cursor c = cursor_of(bytes + 8, n - 8, p->swap);
    uint64_t size = aux ? cursor_u64(&c) : cursor_u32(&c);
    if (aux)
        return size;
    return size <= h.size - n ? 0 : (size + 7) & ~UINT64_C(7);
}

/* True if CHAIN_LENGTH usual records follow each other from pos, or fewer up to the end. */
static bool is_chain(struct record_reader *w, uint64_t pos, bool unpadded)
{
    for (int i = 0; i < CHAIN_LENGTH; i++) {
        if (i && pos == w->end)
            return true;
        const uint8_t *bytes = w->end - pos >= 8 ? read_bytes_at(w->p, pos, 8) : NULL;
        if (!bytes)
            return false;
        struct head h = head_of(w->p, bytes);
        if (!is_usual(h, unpadded))
            return false;
        if (h.size > w->end - pos)
            return i >= 2;
        uint64_t payload = payload_of(w->p, pos, h);
        pos += h.size;
        if (payload > w->end - pos)
            return i >= 2;
        pos += payload;
    }
    return true;
}

static enum verdict judge(struct record_reader *w, struct head h)
{
    uint64_t left = w->end - w->pos;
    /* One unpadded record proves nothing: its size may be damaged. Several in a row show that the writer does
     * not pad. */
    if (!w->p->unpadded && h.size % 8 && is_usual(h, true) && h.type <= KERNEL_TYPE_MAX &&
        is_chain(w, w->pos, true))
        w->p->unpadded = true;
    if (is_usual(h, w->p->unpadded))
        return h.size <= left ? RECORD_OK : RECORD_CUT;
    /* Accepts an unknown type if another record follows it. */
    if (!h.type || h.size < 8 || (h.size % 8 && !w->p->unpadded) || h.size > left)
        return RECORD_BAD;
    return h.size == left || is_chain(w, w->pos + h.size, w->p->unpadded) ? RECORD_OK : RECORD_BAD;
}

/* zeros: how many of the bytes are 0. A few other bytes among zeros are the rest of a record whose start is
 * lost; a few zeros among others are part of that data. */
static void note_lost(struct record_reader *w, uint64_t bytes, uint64_t zeros)
{
    bool blank = zeros && zeros + 8 >= bytes - bytes / 8;
    if (!w->quiet)
        damage_note(w->p, blank ? DAMAGE_ZEROS : DAMAGE_GARBAGE, bytes);
}

/* Searches byte by byte: records after a compressed or a tracing data record are not aligned. */
static bool find_chain(struct record_reader *w, uint64_t *zeros)
{
    uint8_t chunk[SCAN_BYTES];
    uint64_t chunks = 0;
    for (uint64_t pos = w->pos + 1; w->end - pos >= 8;) {
        if (++chunks % LOOK_CHUNKS == 0 && w->go_on && (w->stopped = !w->go_on(w->ctx, pos)))
            return false;
        size_t n = w->end - pos < sizeof chunk ? (size_t)(w->end - pos) : sizeof chunk;
        const uint8_t *bytes = read_bytes_at(w->p, pos, n);
        if (!bytes)
            return false;
        memcpy(chunk, bytes, n);
        for (size_t i = 0; i + 8 <= n; i++) {
            if (is_usual(head_of(w->p, chunk + i), w->p->unpadded) && is_chain(w, pos + i, w->p->unpadded)) {
                w->pos = pos + i;
                return true;
            }
            *zeros += !chunk[i];
        }
        pos += n - 7;
    }
    return false;
}

static void end_cut(struct record_reader *w)
{
    w->cut = w->pos;
    if (!w->quiet)
        damage_note(w->p, DAMAGE_CUT_RECORD, w->end - w->pos);
    w->pos = w->end;
}

/* Moves past data that is not a record to the next record. False: none; pos is then at the end. */
static bool resync(struct record_reader *w, enum verdict why)
{
    uint64_t from = w->pos, zeros = 0;
    if (find_chain(w, &zeros)) {
        note_lost(w, w->pos - from, zeros);
        return true;
    }
    if (w->stopped) {
        w->pos = w->end;
        return false;
    }
    if (why == RECORD_CUT) {
        end_cut(w);
        return false;
    }
    note_lost(w, w->end - w->pos, zeros);
    w->pos = w->end;
    return false;
}

static void take_payload(struct record_reader *w, struct head h, struct raw_record *out)
{
    uint64_t left = w->end - w->pos - h.size;
    out->payload = payload_of(w->p, w->pos, h);
    if (out->payload > left) {
        if (!w->quiet)
            damage_note(w->p, DAMAGE_CUT_RECORD, left);
        out->payload = left;
    }
    if (h.type == FORMAT_RECORD_AUXTRACE && !w->quiet)
        damage_note(w->p, DAMAGE_AUXTRACE, out->payload);
}

/* False at the end; otherwise *out is the record at pos. A type of 0 means no record yet: call again. */
static bool step(struct record_reader *w, struct raw_record *out)
{
    const uint8_t *bytes = w->end - w->pos >= 8 ? read_bytes_at(w->p, w->pos, 8) : NULL;
    struct head h = { 0 };
    enum verdict v = RECORD_CUT;
    out->type = 0;
    if (bytes) {
        h = head_of(w->p, bytes);
        v = judge(w, h);
    }
    if (v == RECORD_CUT && w->more)
        return false;
    if (v == RECORD_CUT && (h.type == FORMAT_RECORD_COMPRESSED || h.type == FORMAT_RECORD_COMPRESSED2)) {
        end_cut(w); /* apparent records inside are compressed data */
        return false;
    }
    if (v != RECORD_OK)
        return resync(w, v);
    if (h.type >= FORMAT_RECORD_SIMPLEPERF && h.size > UINT16_MAX) {
        if (!w->quiet) {
            damage_note(w->p, DAMAGE_UNKNOWN_TYPE, 1);
            counts_add(w->p, h.type);
        }
        w->pos += h.size;
        return true;
    }
    *out = (struct raw_record){ .place = w->pos, .type = h.type, .size = h.size, .misc = h.misc };
    take_payload(w, h, out);
    out->bytes = read_record_at(w->p, w->pos, h.type, h.size);
    w->pos += h.size + out->payload;
    if (h.type == PERF_RECORD_SAMPLE) /* most samples have the same size */
        await_bytes_at(w->p, w->pos + h.size, 64);
    return out->bytes; /* else the file shrank */
}

bool next_record(struct record_reader *w, struct raw_record *out)
{
    while (w->pos < w->end) {
        if (!step(w, out))
            return false;
        if (out->type)
            return true;
    }
    return false;
}
