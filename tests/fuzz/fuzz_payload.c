// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes tracepoint payloads with a format from a file: the format up to the first NUL, then the payload. All
 * output is printable. The same payload is read as a command line, as a summary of waits, and as the data of
 * an operation. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "perf/pair_rows.h"
#include "perf/payload_field.h"
#include "profile/operation_data.h"
#include "profile/wait_summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_fields(const struct payload *p, struct buf *out)
{
    static const char *const names[] = { "id", "ret", "comm", "name", "a" };
    uint64_t number = 0;
    bool is_negative = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (payload_value(p, payload_field_find(p->format, names[i]), &number, &is_negative, out) ==
                PAYLOAD_VALUE_NUMBER &&
            is_negative && number >> 63 == 0)
            abort();
    for (int32_t i = 0; payload_field_name(p->format, i); i++)
        (void)payload_put_field(p, i, out);
}

static void read_command(const struct payload *p, struct buf *out)
{
    static const char file[] = "/bin/x";
    struct pair_command c = { .argc = 0 };
    uint32_t n = p->format->n;
    for (uint32_t i = 0; i < PAIR_COMMAND_WORDS && n; i++)
        c.words[i] = (int32_t)(i % n);
    for (uint32_t i = 0; i < PAIR_COMMAND_WORDS + 2 && n; i++)
        c.at[i] = (int32_t)((i + 1) % n);
    struct buf text = { 0 };
    if (n)
        pair_command_put(&c, p, file, &text);
    if (text.len > PAIR_COMMAND_MAX || (n && !text_begins_with(buf_str(&text), file)))
        abort();
    buf_add(out, buf_str(&text), text.len);
    buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = strnlen((const char *)data, size), rest = size - n - (n < size);
    const uint8_t *payload = data + size - rest;
    struct buf out = { 0 };
    for (int swap = 0; swap < 2; swap++) {
        struct payload_format *f = payload_format_new((const char *)data, n, swap);
        struct payload p = { f, payload, (uint32_t)rest, NULL, NULL };
        payload_print(&p, &out);
        read_fields(&p, &out);
        read_command(&p, &out);
        payload_format_free(f);
    }
    for (size_t i = 0; i < out.len;) {
        uint32_t c;
        i += text_decode(out.data + i, out.len - i, &c);
        if (text_is_unsafe(c))
            abort();
    }
    buf_done(&out);
    struct wait_summary w;
    wait_summary_read(&w, payload, (uint32_t)rest, 1000);
    if (w.n > DURATION_BUCKETS || wait_summary_size(&w) > sizeof w)
        abort();
    for (uint32_t i = 0; i < w.n; i++)
        if (w.durations[i].bucket >= DURATION_BUCKETS)
            abort();
    struct operation_data data_of;
    char name[OPERATION_NAME_MAX];
    if (operation_data_read(payload, (uint32_t)rest, &data_of, name) && strlen(name) > data_of.name_size)
        abort();
    return 0;
}
