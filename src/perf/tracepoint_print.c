// SPDX-License-Identifier: GPL-2.0-or-later
/* Print payloads of tracepoints through libtraceevent. */
#include <limits.h>
#include <string.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/tracepoint.h"
#include "perf/tracepoint_path.h"

#define FORMAT_MAX (1u << 20) /* the largest ones seen have about 50 KiB */

/* libtraceevent follows 16-bit offsets and lengths from the payload, and strings up to their NUL, without
 * knowing the payload's end. It gets a copy in a buffer (the room) in which they all lead to zeros. */
#define PAYLOAD_MAX 65536u
#define ROOM        (4 * PAYLOAD_MAX)

struct tracepoint_format {
    struct tep_handle *tep;
    struct tep_event *event;
    bool plain;           /* print field by field */
    uint32_t static_size; /* minimum payload size */
    uint32_t dirty;       /* bytes of the room used since the last print */
    unsigned char *room;
    tracepoint_name_fn *name;
    void *name_ctx;
};

static uint32_t fields_end(const struct tep_format_field *field, uint32_t end)
{
    for (; field; field = field->next) {
        int64_t past = (int64_t)field->offset + field->size;
        if (past > end && past <= PAYLOAD_MAX)
            end = (uint32_t)past;
    }
    return end;
}

/* True if a length in the print format is fixed, or that of a dynamic array (16 bits). */
static bool length_is_bounded(const struct tep_print_arg *arg)
{
    if (!arg || arg->type == TEP_PRINT_ATOM || arg->type == TEP_PRINT_DYNAMIC_ARRAY_LEN)
        return true;
    if (arg->type == TEP_PRINT_TYPE)
        return length_is_bounded(arg->typecast.item);
    return arg->type == TEP_PRINT_OP && !strcmp(arg->op.op, "/") && length_is_bounded(arg->op.left) &&
           length_is_bounded(arg->op.right);
}

/* True if printing the argument reads nothing outside of the room, for any payload. */
static bool arg_is_bounded(const struct tep_print_arg *arg)
{
    if (!arg)
        return true;
    switch (arg->type) {
    case TEP_PRINT_TYPE:
        return arg_is_bounded(arg->typecast.item);
    case TEP_PRINT_FLAGS:
        return arg_is_bounded(arg->flags.field);
    case TEP_PRINT_SYMBOL:
        return arg_is_bounded(arg->symbol.field);
    case TEP_PRINT_HEX:
    case TEP_PRINT_HEX_STR:
        return length_is_bounded(arg->hex.size);
    case TEP_PRINT_INT_ARRAY:
        return length_is_bounded(arg->int_array.count) && length_is_bounded(arg->int_array.el_size);
    case TEP_PRINT_OP:
        if (!strcmp(arg->op.op, "["))
            return arg->op.right && arg->op.right->type == TEP_PRINT_ATOM;
        return arg_is_bounded(arg->op.left) && arg_is_bounded(arg->op.right);
    case TEP_PRINT_DYNAMIC_ARRAY:
        return length_is_bounded(arg->dynarray.index);
    case TEP_PRINT_FUNC:
        return false;
    default:
        return true;
    }
}

static bool format_is_bounded(const struct tep_print_fmt *fmt)
{
    /* "%*d" prints with the width given by the payload; "%.*s" can only shorten. */
    for (const char *star = fmt->format; star && (star = strchr(star, '*')); star++)
        if (star == fmt->format || star[-1] != '.')
            return false;
    for (const struct tep_print_arg *arg = fmt->args; arg; arg = arg->next)
        if (!arg_is_bounded(arg))
            return false;
    return true;
}

static bool parse_format(struct tracepoint_format *f, const struct buf *text, const char *system,
                         const char *name)
{
    tep_set_loglevel(TEP_LOG_NONE);
    f->tep = tep_alloc();
    if (!f->tep)
        return false;
    tep_set_long_size(f->tep, sizeof(long));
    tep_set_page_size(f->tep, (int)sysconf(_SC_PAGESIZE));
    tep_parse_event(f->tep, text->data, text->len, system);
    f->event = tep_find_event_by_name(f->tep, system, name);
    if (!f->event)
        return false;
    f->static_size = fields_end(f->event->format.common_fields, sizeof(uint16_t));
    f->static_size = fields_end(f->event->format.fields, f->static_size);
    f->plain = !format_is_bounded(&f->event->print_fmt);
    return true;
}

struct tracepoint_format *tracepoint_format_open(const char *system, const char *name, struct error *e)
{
    char path[PATH_MAX];
    uint64_t id;
    struct buf text = { 0 };
    struct error why = { 0 };
    if (!tracepoint_id(system, name, &id, e))
        return NULL;
    struct tracepoint_format *f = mem_zalloc(sizeof *f);
    bool ok = tracepoint_path(path, system, name, "format") && file_read(path, FORMAT_MAX, &text, &why);
    if (!ok)
        error_set(e, why.class, "the format of '%s:%s': %s", system, name, why.text);
    else if (!(ok = parse_format(f, &text, system, name)))
        error_set(e, ERROR_FORMAT, "the format of '%s:%s' cannot be parsed (%s)", system, name, path);
    buf_done(&text);
    if (ok && !(f->room = mem_try_array(ROOM, 1)))
        ok = error_set(e, ERROR_LIMIT, "no memory to print '%s:%s'", system, name);
    if (ok)
        return f;
    tracepoint_format_close(f);
    return NULL;
}

struct payload_format *tracepoint_payload(const char *system, const char *name)
{
    char path[PATH_MAX];
    struct buf text = { 0 };
    bool ok = tracepoint_path(path, system, name, "format") && file_read(path, FORMAT_MAX, &text, NULL);
    struct payload_format *f = ok ? payload_format_new(buf_str(&text), text.len, false) : NULL;
    buf_done(&text);
    return f;
}

static char *name_of(void *format, unsigned long long *address, char **module)
{
    const struct tracepoint_format *f = format;
    uint64_t start = 0;
    const char *name = f->name(f->name_ctx, *address, &start);
    *module = NULL;
    if (name)
        *address = start;
    return (char *)name; /* libtraceevent only reads it */
}

void tracepoint_format_names(struct tracepoint_format *f, tracepoint_name_fn *name, void *ctx)
{
    f->name = name;
    f->name_ctx = ctx;
    tep_set_function_resolver(f->tep, name_of, f);
}

bool tracepoint_format_is(const char *system, const char *name, const char *text, size_t n)
{
    char path[PATH_MAX];
    struct buf ours = { 0 };
    bool same = tracepoint_path(path, system, name, "format") && file_read(path, FORMAT_MAX, &ours, NULL) &&
                ours.len == n && !memcmp(ours.data, text, n);
    buf_done(&ours);
    return same;
}

void tracepoint_format_close(struct tracepoint_format *f)
{
    if (!f)
        return;
    if (f->tep)
        tep_free(f->tep);
    mem_free(f->room);
    mem_free(f);
}

static void fill_room(struct tracepoint_format *f, const void *raw, uint32_t size)
{
    uint16_t type = (uint16_t)f->event->id;
    if (f->dirty > size)
        memset(f->room + size, 0, f->dirty - size);
    memcpy(f->room, raw, size);
    memcpy(f->room, &type, sizeof type); /* libtraceevent finds the event by it */
    f->dirty = size;
}

bool tracepoint_print(struct tracepoint_format *f, const void *raw, uint32_t size, uint32_t cpu,
                      struct buf *out)
{
    if (size < f->static_size || size > PAYLOAD_MAX)
        return false;
    fill_room(f, raw, size);
    struct tep_record record = { .data = f->room, .size = (int)size, .cpu = (int)cpu };
    struct trace_seq seq;
    trace_seq_init(&seq);
    tep_print_event(f->tep, &seq, &record, "%s", f->plain ? TEP_PRINT_INFO_RAW : TEP_PRINT_INFO);
    bool ok = seq.state == TRACE_SEQ__GOOD;
    if (ok) {
        trace_seq_terminate(&seq);
        char *clean = mem_alloc(seq.len + 1);
        size_t blanks = strspn(seq.buffer, " ");
        text_clean(clean, seq.len + 1, seq.buffer + blanks, seq.len - blanks);
        buf_puts(out, clean);
        mem_free(clean);
    }
    trace_seq_destroy(&seq);
    return ok;
}
