// SPDX-License-Identifier: GPL-2.0-or-later
/* Output of a file that is written: numbers in its byte order, strings, and records, compressed or not. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/unpack.h"
#include "perfdata/write.h"

#define ROUND_BYTES (4u << 20) /* amount of records that perf buffers to sort them */

uint16_t write_u16(const struct perfdata_writer *w, uint16_t v)
{
    return w->swap ? __builtin_bswap16(v) : v;
}

uint32_t write_u32(const struct perfdata_writer *w, uint32_t v)
{
    return w->swap ? __builtin_bswap32(v) : v;
}

uint64_t write_u64(const struct perfdata_writer *w, uint64_t v)
{
    return w->swap ? __builtin_bswap64(v) : v;
}

void write_add_u32(struct buf *b, uint32_t v)
{
    buf_add(b, &v, sizeof v);
}

void write_add_u64(struct buf *b, uint64_t v)
{
    buf_add(b, &v, sizeof v);
}

void write_string(struct buf *b, const char *s)
{
    static const char zeros[FORMAT_NAME_ALIGN];
    size_t len = strlen(s);
    uint32_t padded = (uint32_t)(len + FORMAT_NAME_ALIGN) & ~(uint32_t)(FORMAT_NAME_ALIGN - 1);
    write_add_u32(b, padded);
    buf_add(b, s, len);
    buf_add(b, zeros, padded - len);
}

struct perfdata_writer *write_open(const char *path, struct error *e)
{
    struct perfdata_writer *w = mem_zalloc(sizeof *w);
    if (outfile_open(&w->out, path, e))
        return w;
    mem_free(w);
    return NULL;
}

void write_begin(struct perfdata_writer *w, uint64_t header_bytes)
{
    void *blank = mem_zalloc((size_t)header_bytes);
    outfile_write(&w->out, blank, (size_t)header_bytes);
    mem_free(blank);
    w->data_start = w->out.size_bytes;
}

/* No later record is earlier than this point: perf need not buffer more to sort them. */
static void end_round(struct perfdata_writer *w)
{
    struct perf_event_header h = { .type = write_u32(w, FORMAT_RECORD_FINISHED_ROUND),
                                   .size = write_u16(w, sizeof h) };
    write_flush(w);
    outfile_write(&w->out, &h, sizeof h);
    w->round_bytes = 0;
}

/* The compressed stream continues from record to record: data beyond one record's room goes into the next. */
void write_flush(struct perfdata_writer *w)
{
    struct buf packed = { 0 };
    const size_t room = WRITE_RECORD_MAX - sizeof(struct perf_event_header);
    if (w->plain.len && !w->trouble.class)
        zstd_pack(w->plain.data, w->plain.len, &packed, &w->trouble);
    for (size_t at = 0; at < packed.len;) {
        size_t n = packed.len - at < room ? packed.len - at : room;
        struct perf_event_header h = { .type = write_u32(w, FORMAT_RECORD_COMPRESSED),
                                       .size = write_u16(w, (uint16_t)(sizeof h + n)) };
        outfile_write(&w->out, &h, sizeof h);
        outfile_write(&w->out, packed.data + at, n);
        at += n;
    }
    w->plain_bytes += w->plain.len;
    w->packed_bytes += packed.len;
    buf_clear(&w->plain);
    buf_done(&packed);
}

void write_record(struct perfdata_writer *w)
{
    uint16_t size = write_u16(w, (uint16_t)w->record.len);
    memcpy(w->record.data + offsetof(struct perf_event_header, size), &size, sizeof size);
    if (w->packs)
        buf_add(&w->plain, w->record.data, w->record.len);
    else
        outfile_write(&w->out, w->record.data, w->record.len);
    if (w->plain.len >= WRITE_PLAIN_BYTES)
        write_flush(w);
    w->round_bytes += w->record.len;
    if (w->round_bytes > ROUND_BYTES)
        end_round(w);
}
