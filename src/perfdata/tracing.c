// SPDX-License-Identifier: GPL-2.0-or-later
/* Extracts names and formats of tracepoints from the tracing data of a perf.data file, which contains the
 * format files of tracefs (trace-cmd.dat.v6(5)). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "perfdata/perfdata_file.h"

/* Finds the value after "key" at the start of a line in a format: "name: sched_switch\nID: 314\n…". */
static bool find_line(const char *text, size_t n, const char *key, char *dst, size_t cap)
{
    size_t key_n = strlen(key);
    for (const char *line = text, *end = text + n; line && line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t line_n = (size_t)((stop ? stop : end) - line);
        if (line_n >= key_n && !memcmp(line, key, key_n)) {
            text_clean(dst, cap, line + key_n, line_n - key_n);
            return true;
        }
        line = stop ? stop + 1 : NULL;
    }
    return false;
}

static bool format_matches(const char *text, size_t n, uint64_t id)
{
    char number[32];
    return find_line(text, n, "ID: ", number, sizeof number) && strtoull(number, NULL, 10) == id;
}

struct found {
    const char *text; /* NULL: not found */
    size_t n;
    char system[64];
};

/* Reads a u32 count of files, then each file after its u64 size. */
static bool search_files(struct cursor *c, const char *system, uint64_t id, struct found *out)
{
    uint32_t files = cursor_u32(c);
    for (uint32_t i = 0; i < files && !c->bad; i++) {
        uint64_t size = cursor_u64(c);
        const char *text = size <= cursor_left(c) ? cursor_bytes(c, (size_t)size) : NULL;
        if (!text)
            return false;
        if (!format_matches(text, (size_t)size, id))
            continue;
        out->text = text;
        out->n = (size_t)size;
        text_clean(out->system, sizeof out->system, system, strlen(system));
        return true;
    }
    return false;
}

static const char *take_name(struct cursor *c)
{
    size_t n = strnlen((const char *)c->p, cursor_left(c));
    return cursor_str(c, n + 1);
}

/* Skips "header_page" or "header_event": a name, a u64 size and that many bytes. */
static void skip_named_file(struct cursor *c)
{
    if (!take_name(c))
        return;
    uint64_t size = cursor_u64(c);
    if (size > cursor_left(c))
        c->bad = true;
    else
        cursor_skip(c, (size_t)size);
}

static bool find_format(const struct perfdata *p, uint64_t id, struct found *out)
{
    const struct kept_feature *k = &p->kept[FORMAT_TRACING_DATA];
    struct cursor c = cursor_of(k->bytes, k->n, p->swap);
    cursor_skip(&c, strlen(FORMAT_TRACING_MAGIC));
    if (c.bad || memcmp(k->bytes, FORMAT_TRACING_MAGIC, strlen(FORMAT_TRACING_MAGIC)) || !take_name(&c))
        return false;
    c.swap = cursor_u8(&c) != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    cursor_skip(&c, 1 + 4); /* size of long, page size */
    skip_named_file(&c);
    skip_named_file(&c);
    if (search_files(&c, "ftrace", id, out))
        return true;
    uint32_t systems = cursor_u32(&c);
    for (uint32_t i = 0; i < systems && !c.bad; i++) {
        const char *name = take_name(&c);
        if (!name)
            return false;
        if (search_files(&c, name, id, out))
            return true;
    }
    return false;
}

bool tracing_name(const struct perfdata *p, uint64_t id, char *dst, size_t cap)
{
    struct found f;
    char name[96];
    if (!find_format(p, id, &f) || !find_line(f.text, f.n, "name: ", name, sizeof name))
        return false;
    snprintf(dst, cap, "%s:%s", f.system, name);
    return true;
}

const char *perfdata_tracepoint(const struct perfdata *p, uint64_t id, size_t *n)
{
    struct found f = { 0 };
    *n = find_format(p, id, &f) ? f.n : 0;
    return *n ? f.text : NULL;
}
