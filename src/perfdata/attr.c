// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads a perf_event_attr of any age and byte order, and derives its name as perf does. */
#include <stdio.h>
#include <string.h>

#include "perf/event_table.h"
#include "perfdata/perfdata_file.h"

/* Mirrors the bits of a byte: bit fields are allocated from the other end in the other byte order. */
static uint8_t mirror(uint8_t b)
{
    b = (uint8_t)(b << 4 | b >> 4);
    b = (uint8_t)((b & 0x33) << 2 | (b & 0xcc) >> 2);
    return (uint8_t)((b & 0x55) << 1 | (b & 0xaa) >> 1);
}

static void read_flags(struct cursor *c, struct perf_event_attr *out)
{
    uint8_t *flags = (uint8_t *)&out->read_format + sizeof out->read_format;
    for (size_t i = 0; i < sizeof(uint64_t); i++) {
        uint8_t b = cursor_u8(c);
        flags[i] = c->swap ? mirror(b) : b;
    }
}

void attr_read(struct cursor *c, struct perf_event_attr *out)
{
    memset(out, 0, sizeof *out);
    out->type = cursor_u32(c);
    out->size = cursor_u32(c);
    out->config = cursor_u64(c);
    out->sample_period = cursor_u64(c);
    out->sample_type = cursor_u64(c);
    out->read_format = cursor_u64(c);
    read_flags(c, out);
    out->wakeup_events = cursor_u32(c);
    out->bp_type = cursor_u32(c);
    out->config1 = cursor_u64(c);
    /* Attrs of older kernels end somewhere below: the cursor then returns zeros. */
    out->config2 = cursor_u64(c);
    out->branch_sample_type = cursor_u64(c);
    out->sample_regs_user = cursor_u64(c);
    out->sample_stack_user = cursor_u32(c);
    out->clockid = (int32_t)cursor_u32(c);
    out->sample_regs_intr = cursor_u64(c);
    out->aux_watermark = cursor_u32(c);
    out->sample_max_stack = cursor_u16(c);
    cursor_skip(c, 2);
    out->aux_sample_size = cursor_u32(c);
    cursor_skip(c, 4);
    out->sig_data = cursor_u64(c);
}

struct wanted {
    const struct perf_event_attr *attr;
    char *dst;
    size_t cap;
};

static bool match_row(void *ctx, const struct event_row *row)
{
    const struct wanted *w = ctx;
    struct event ev = { 0 };
    /* On machines with two kinds of cores the upper half of config selects the kind. */
    uint64_t config = w->attr->type == PERF_TYPE_SOFTWARE ? w->attr->config : (uint32_t)w->attr->config;
    if (event_table_find(row->name, &ev) != EVENT_MATCH_FOUND || ev.attr.type != w->attr->type ||
        ev.attr.config != config)
        return true;
    snprintf(w->dst, w->cap, "%s", row->name);
    return false;
}

static void base_name(const struct perf_event_attr *a, char *dst, size_t cap)
{
    static const char *const access[] = { "", ":r", ":w", ":rw", ":x", ":rx", ":wx", ":rwx" };
    struct wanted wanted = { a, dst, cap };
    switch (a->type) {
    case PERF_TYPE_RAW:
        snprintf(dst, cap, "raw 0x%llx", (unsigned long long)a->config);
        return;
    case PERF_TYPE_TRACEPOINT:
        snprintf(dst, cap, "tracepoint 0x%llx", (unsigned long long)a->config);
        return;
    case PERF_TYPE_BREAKPOINT:
        snprintf(dst, cap, "mem:0x%llx%s", (unsigned long long)a->bp_addr, access[a->bp_type & 7]);
        return;
    case PERF_TYPE_HARDWARE:
    case PERF_TYPE_SOFTWARE:
    case PERF_TYPE_HW_CACHE:
        if (!event_table_each(match_row, &wanted))
            return;
    }
    snprintf(dst, cap, "type %u config 0x%llx", a->type, (unsigned long long)a->config);
}

/* Follows evsel__add_modifiers() in tools/perf/util/evsel.c: once anything is excluded or precise, excluding
 * guests is perf's default. */
static void modifiers(const struct perf_event_attr *a, char *dst, size_t cap)
{
    char m[16];
    size_t n = 0;
    bool guest_default = false;
    if (a->exclude_kernel || a->exclude_user || a->exclude_hv) {
        if (!a->exclude_kernel)
            m[n++] = 'k';
        if (!a->exclude_user)
            m[n++] = 'u';
        if (!a->exclude_hv)
            m[n++] = 'h';
        guest_default = true;
    }
    for (unsigned i = 0; i < a->precise_ip; i++) {
        m[n++] = 'p';
        guest_default = true;
    }
    if (a->exclude_host || a->exclude_guest == guest_default) {
        if (!a->exclude_host)
            m[n++] = 'H';
        if (!a->exclude_guest)
            m[n++] = 'G';
    }
    size_t len = strlen(dst);
    if (n)
        snprintf(dst + len, cap - len, ":%.*s", (int)n, m);
}

void attr_name(const struct perf_event_attr *attr, char *dst, size_t cap)
{
    base_name(attr, dst, cap);
    if (attr->type != PERF_TYPE_TRACEPOINT)
        modifiers(attr, dst, cap);
}
