// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses feature sections: facts about the recorded machine (tools/perf/util/header.c). In a pipe-mode file
 * the same bytes come as records. */
#include <string.h>

#include "base/text.h"
#include "perfdata/embedded.h"
#include "perfdata/perfdata_file.h"

#define FEATURE_KNOWN_END 64 /* perf counts up from 1 and has reached 33; other tools start at 128 */

/* Reads a u32 length, then the string with its NUL and padding. */
static bool take_string(struct cursor *c, const char **s, size_t *n)
{
    uint32_t size = cursor_u32(c);
    *s = cursor_bytes(c, size);
    if (c->bad || !*s)
        return false;
    *n = strnlen(*s, size);
    return true;
}

static void read_text(struct cursor *c, char *dst, size_t cap)
{
    const char *s;
    size_t n;
    if (take_string(c, &s, &n))
        text_clean(dst, cap, s, n);
}

static void read_cpus(struct perfdata *p, struct cursor *c)
{
    p->info.cpus_available = cursor_u32(c);
    p->info.cpus_online = cursor_u32(c);
}

static void read_cmdline(struct perfdata *p, struct cursor *c)
{
    char *dst = p->info.cmdline;
    size_t len = 0, cap = sizeof p->info.cmdline, n;
    const char *s;
    uint32_t words = cursor_u32(c);
    for (uint32_t i = 0; i < words && take_string(c, &s, &n) && len + 2 < cap; i++) {
        if (i)
            dst[len++] = ' ';
        len += text_clean(dst + len, cap - len, s, n);
    }
    dst[len] = '\0';
}

void feature_name_event(struct perfdata *p, uint32_t event, const char *name, size_t n)
{
    if (event < p->events.n && n && *name)
        text_clean(p->events.items[event].name, sizeof p->events.items[event].name, name, n);
}

static void read_event_desc(struct perfdata *p, struct cursor *c)
{
    uint32_t events = cursor_u32(c), attr_n = cursor_u32(c);
    for (uint32_t i = 0; i < events && !c->bad; i++) {
        const char *name;
        size_t n;
        cursor_skip(c, attr_n);
        uint32_t ids = cursor_u32(c);
        if (!take_string(c, &name, &n))
            return;
        feature_name_event(p, i, name, n);
        cursor_skip(c, (size_t)ids * sizeof(uint64_t));
    }
}

/* Reads event groups: name, leader and number of members, which are adjacent. */
static void read_groups(struct perfdata *p, struct cursor *c)
{
    uint32_t n = cursor_u32(c);
    for (uint32_t i = 0; i < n && !c->bad; i++) {
        const char *name;
        size_t len;
        if (!take_string(c, &name, &len))
            return;
        uint32_t leader = cursor_u32(c), members = cursor_u32(c);
        for (uint32_t k = 1; !c->bad && k < members && leader < p->events.n && k < p->events.n - leader; k++)
            p->events.items[leader + k].leader = leader;
    }
}

void feature_add_build_id(struct perfdata *p, const uint8_t *record, size_t n)
{
    struct cursor c = cursor_of(record, n, p->swap);
    cursor_skip(&c, 4);
    uint16_t misc = cursor_u16(&c);
    cursor_skip(&c, 2);
    struct perfdata_build_id b = { .pid = cursor_u32(&c), .misc = misc, .size = FORMAT_BUILD_ID_BYTES };
    const uint8_t *id = cursor_bytes(&c, FORMAT_BUILD_ID_BYTES);
    uint8_t size = cursor_u8(&c);
    cursor_skip(&c, 3);
    size_t left = cursor_left(&c);
    const char *path = cursor_bytes(&c, left);
    if (c.bad || !left || !*path)
        return;
    if (misc & FORMAT_MISC_BUILD_ID_SIZE)
        b.size = size < FORMAT_BUILD_ID_BYTES ? size : FORMAT_BUILD_ID_BYTES;
    memcpy(b.id, id, b.size);
    b.misc = misc & (uint16_t)~FORMAT_MISC_BUILD_ID_SIZE;
    b.path = arena_strndup(&p->strings, path, strnlen(path, left));
    *VEC_PUSH(&p->build_ids) = b;
}

static void read_build_ids(struct perfdata *p, struct cursor *c)
{
    while (cursor_left(c) >= sizeof(struct perf_event_header)) {
        struct cursor peek = *c;
        cursor_skip(&peek, 6);
        uint16_t size = cursor_u16(&peek);
        const uint8_t *record = size > sizeof(struct perf_event_header) ? cursor_bytes(c, size) : NULL;
        if (!record) {
            damage_note(p, DAMAGE_SECTION, 1);
            return;
        }
        feature_add_build_id(p, record, size);
    }
}

/* The total is limited: overlapping or repeated sections must not multiply the memory. */
void feature_keep(struct perfdata *p, unsigned feature, const uint8_t *bytes, size_t n)
{
    struct kept_feature *k = &p->kept[feature];
    if (n > p->in.size_bytes - p->kept_bytes)
        return;
    uint8_t *more = mem_try_resize(k->bytes, k->n + n + 1, 1);
    if (!more)
        return;
    if (n)
        memcpy(more + k->n, bytes, n);
    k->bytes = more;
    k->n += n;
    p->kept_bytes += n;
}

void feature_apply(struct perfdata *p, unsigned feature, const uint8_t *bytes, size_t n)
{
    struct cursor c = cursor_of(bytes, n, p->swap);
    struct perfdata_info *info = &p->info;
    if (!p->kept[feature].bytes)
        feature_keep(p, feature, bytes, n);
    switch (feature) {
    case FORMAT_BUILD_ID:
        read_build_ids(p, &c);
        break;
    case FORMAT_HOSTNAME:
        read_text(&c, info->hostname, sizeof info->hostname);
        break;
    case FORMAT_OSRELEASE:
        read_text(&c, info->release, sizeof info->release);
        break;
    case FORMAT_VERSION:
        read_text(&c, info->version, sizeof info->version);
        break;
    case FORMAT_ARCH:
        read_text(&c, info->arch, sizeof info->arch);
        break;
    case FORMAT_NRCPUS:
        read_cpus(p, &c);
        break;
    case FORMAT_CPUDESC:
        read_text(&c, info->cpudesc, sizeof info->cpudesc);
        break;
    case FORMAT_TOTAL_MEM:
        info->total_mem_kb = cursor_u64(&c);
        break;
    case FORMAT_CMDLINE:
        read_cmdline(p, &c);
        break;
    case FORMAT_EVENT_DESC:
        read_event_desc(p, &c);
        break;
    case FORMAT_GROUP_DESC:
        read_groups(p, &c);
        break;
    case FORMAT_SAMPLE_TIME:
        info->sample_first_ns = cursor_u64(&c);
        info->sample_last_ns = cursor_u64(&c);
        break;
    case FORMAT_COMPRESSED:
        cursor_skip(&c, 4); /* version */
        info->compressed_by = cursor_u32(&c);
        info->compressed_level = cursor_u32(&c);
        info->compressed_ratio = cursor_u32(&c);
        break;
    default:
        if (embedded_is(feature))
            c.bad = !embedded_read(feature, bytes, n, p->swap, NULL, NULL);
        else if (feature >= FEATURE_KNOWN_END)
            damage_note(p, DAMAGE_UNKNOWN_FEATURE, 1);
    }
    if (c.bad)
        damage_note(p, DAMAGE_SECTION, 1);
}
