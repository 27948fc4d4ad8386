// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the tracing data section (trace-cmd.dat.v6(5), as in tools/perf/util/trace-event-info.c). perf
 * refuses a file with a tracepoint whose format is missing, so a tracepoint without a format in tracefs gets
 * an empty one. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/tracepoint.h"
#include "perfdata/write.h"

#define FORMAT_FILE_MAX (1u << 20)

struct tracepoint {
    char system[64], name[64];
    uint64_t id;
};

static bool is_tracepoint(const struct written_event *ev)
{
    return ev->attr.type == PERF_TYPE_TRACEPOINT;
}

/* Parses "sched:sched_switch", maybe followed by modifiers. */
static struct tracepoint tracepoint_of(const struct written_event *ev)
{
    struct tracepoint t = { .id = ev->attr.config };
    const char *name = *ev->tracepoint ? ev->tracepoint : ev->name, *colon = strchr(name, ':');
    if (colon && colon != name && colon[1] && !strchr(name, '/')) {
        snprintf(t.system, sizeof t.system, "%.*s", (int)(colon - name), name);
        snprintf(t.name, sizeof t.name, "%.*s", (int)strcspn(colon + 1, ":"), colon + 1);
    } else {
        snprintf(t.system, sizeof t.system, "unknown");
        snprintf(t.name, sizeof t.name, "tracepoint_%" PRIu64, t.id);
    }
    return t;
}

static void add_file(struct buf *out, const char *bytes, size_t n)
{
    write_add_u64(out, n);
    buf_add(out, bytes, n);
}

static void add_tracefs_file(struct buf *out, const char *name)
{
    char path[PATH_MAX];
    const char *root = tracepoint_root();
    struct buf text = { 0 };
    if (root && snprintf(path, sizeof path, "%s/events/%s", root, name) < PATH_MAX)
        file_read(path, FORMAT_FILE_MAX, &text, NULL);
    add_file(out, buf_str(&text), text.len);
    buf_done(&text);
}

/* On another kernel the same tracepoint has another id and maybe other fields. */
static bool format_of(const struct tracepoint *t, struct buf *text)
{
    char path[PATH_MAX];
    const char *root = tracepoint_root(), *id;
    if (!root ||
        snprintf(path, sizeof path, "%s/events/%s/%s/format", root, t->system, t->name) >= PATH_MAX ||
        !file_read(path, FORMAT_FILE_MAX, text, NULL))
        return false;
    id = strstr(buf_str(text), "\nID: ");
    return id && strtoull(id + 5, NULL, 10) == t->id;
}

static void add_format(struct buf *out, const struct tracepoint *t)
{
    struct buf text = { 0 };
    if (!format_of(t, &text)) {
        buf_clear(&text);
        buf_printf(&text,
                   "name: %s\nID: %" PRIu64 "\nformat:\n"
                   "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                   "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                   "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                   "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
                   "\n\tfield:int unknown;\toffset:8;\tsize:4;\tsigned:1;\n"
                   "\nprint fmt: \"\"\n",
                   t->name, t->id);
    }
    add_file(out, text.data, text.len);
    buf_done(&text);
}

static bool same_system(const struct perfdata_writer *w, uint32_t i, uint32_t j)
{
    return is_tracepoint(&w->events[i]) && is_tracepoint(&w->events[j]) &&
           !strcmp(tracepoint_of(&w->events[i]).system, tracepoint_of(&w->events[j]).system);
}

static bool is_first_of_system(const struct perfdata_writer *w, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (same_system(w, i, j))
            return false;
    return is_tracepoint(&w->events[i]);
}

static void add_system(const struct perfdata_writer *w, uint32_t first, struct buf *out)
{
    struct tracepoint t = tracepoint_of(&w->events[first]);
    uint32_t n = 0;
    for (uint32_t i = first; i < w->n_events; i++)
        n += same_system(w, first, i);
    buf_add(out, t.system, strlen(t.system) + 1);
    write_add_u32(out, n);
    for (uint32_t i = first; i < w->n_events; i++)
        if (same_system(w, first, i)) {
            t = tracepoint_of(&w->events[i]);
            add_format(out, &t);
        }
}

static void add_systems(const struct perfdata_writer *w, struct buf *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_events; i++)
        n += is_first_of_system(w, i);
    write_add_u32(out, n);
    for (uint32_t i = 0; i < w->n_events; i++)
        if (is_first_of_system(w, i))
            add_system(w, i, out);
}

void write_tracing(const struct perfdata_writer *w, struct buf *out)
{
    static const char none[16];
    uint32_t tracepoints = 0;
    for (uint32_t i = 0; i < w->n_events; i++)
        tracepoints += is_tracepoint(&w->events[i]);
    if (!tracepoints)
        return;
    size_t size;
    const void *supplied = w->from ? perfdata_feature(w->from, FORMAT_TRACING_DATA, &size) : NULL;
    if (supplied) {
        buf_add(out, supplied, size); /* it contains its own byte order */
        return;
    }
    buf_puts(out, FORMAT_TRACING_MAGIC);
    buf_add(out, FORMAT_TRACING_VERSION, sizeof FORMAT_TRACING_VERSION);
    buf_putc(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    buf_putc(out, sizeof(long));
    write_add_u32(out, (uint32_t)sysconf(_SC_PAGESIZE));
    buf_add(out, "header_page", sizeof "header_page");
    add_tracefs_file(out, "header_page");
    buf_add(out, "header_event", sizeof "header_event");
    add_tracefs_file(out, "header_event");
    buf_add(out, none, 4); /* no formats of ftrace itself */
    add_systems(w, out);
    buf_add(out, none, 4 + 4 + 8); /* no kallsyms, printk formats, command lines */
}
