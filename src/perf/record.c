// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/record.h"

#include <string.h>

#include "base/cursor.h"

/* First record type of perf.data's own records (perf's PERF_RECORD_USER_TYPE_START): these never carry a
 * sample_id. */
#define RECORD_USER_TYPES 64

/* PERF_SAMPLE_BRANCH_COUNTERS, since Linux 6.8; headers may be older than the kernel. */
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

/* Fields of a sample_id behind its time. */
#define BEHIND_TIME (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define IN_ID       (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | BEHIND_TIME)

void record_layout_of(const struct perf_event_attr *attr, bool swap, struct record_layout *out)
{
    *out = (struct record_layout){
        .sample_type = attr->sample_type,
        .read_format = attr->read_format,
        .branch_type = attr->branch_sample_type,
        .regs_user = attr->sample_regs_user,
        .regs_intr = attr->sample_regs_intr,
        .id_all = attr->sample_id_all,
        .per_task = attr->inherit,
        .swap = swap,
    };
}

static unsigned count_bits(uint64_t bits)
{
    return (unsigned)__builtin_popcountll(bits);
}

static size_t id_bytes(const struct record_layout *l, uint32_t type)
{
    return l->id_all && type < RECORD_USER_TYPES ? 8 * count_bits(l->sample_type & IN_ID) : 0;
}

uint64_t record_u64(const void *array, uint32_t i, bool swap)
{
    uint64_t v;
    memcpy(&v, (const char *)array + 8 * (size_t)i, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}

/* Where the sample_id of a record other than a sample ends. In records of BPF programs and kernel symbols the
 * kernel (6.18, perf_event_bpf_output and perf_event_ksymbol_output) adds its size once more for each
 * listener before this one. The bytes behind it are not written: perf, which looks for the sample_id there,
 * refuses the rest of the file. */
static uint16_t used_size(const char *bytes, const struct perf_event_header *h, const struct record_layout *l)
{
    size_t used = sizeof *h + 16, name_n = h->size > used ? h->size - used : 0;
    if (h->type == PERF_RECORD_KSYMBOL)
        used += (strnlen(bytes + used, name_n) + 8) & ~(size_t)7; /* with its end, in units of 8 */
    else if (h->type != PERF_RECORD_BPF_EVENT)
        return h->size;
    used += id_bytes(l, h->type);
    return used < h->size ? (uint16_t)used : h->size;
}

/* Read the header in native byte order. False if it is incomplete or its size is invalid. */
static bool read_header(const void *bytes, size_t avail, const struct record_layout *l,
                        struct perf_event_header *h)
{
    if (avail < sizeof *h)
        return false;
    memcpy(h, bytes, sizeof *h);
    if (l->swap) {
        h->type = __builtin_bswap32(h->type);
        h->misc = __builtin_bswap16(h->misc);
        h->size = __builtin_bswap16(h->size);
    }
    if (h->size < sizeof *h || h->size > avail)
        return false;
    h->size = used_size(bytes, h, l);
    return true;
}

/* Read a u64 `front` bytes behind the header, or (read_back) one that ends `back` bytes before the record's
 * end. */
static bool read_at(const void *bytes, const struct perf_event_header *h, size_t front, bool swap,
                    uint64_t *v)
{
    if (sizeof *h + front + sizeof *v > h->size)
        return false;
    *v = record_u64((const char *)bytes + sizeof *h + front, 0, swap);
    return true;
}

static bool read_back(const void *bytes, const struct perf_event_header *h, size_t back, bool swap,
                      uint64_t *v)
{
    if (sizeof *h + back + sizeof *v > h->size)
        return false;
    *v = record_u64((const char *)bytes + h->size - back - sizeof *v, 0, swap);
    return true;
}

/* Runs for each merged record: counting bits is a function call on baseline CPUs. */
static size_t bytes_before_time(uint64_t t)
{
    return 8 * (size_t)(!!(t & PERF_SAMPLE_IDENTIFIER) + !!(t & PERF_SAMPLE_IP) + !!(t & PERF_SAMPLE_TID));
}

bool record_time(const void *bytes, size_t avail, const struct record_layout *l, uint64_t *time_ns)
{
    struct perf_event_header h;
    if (!(l->sample_type & PERF_SAMPLE_TIME) || !read_header(bytes, avail, l, &h))
        return false;
    if (h.type == PERF_RECORD_SAMPLE)
        return read_at(bytes, &h, bytes_before_time(l->sample_type), l->swap, time_ns);
    if (!l->id_all || h.type >= RECORD_USER_TYPES)
        return false;
    return read_back(bytes, &h, 8 * count_bits(l->sample_type & BEHIND_TIME), l->swap, time_ns);
}

static void parse_id(struct cursor *c, uint64_t sample_type, struct record_id *id)
{
    id->has = sample_type & IN_ID;
    if (sample_type & PERF_SAMPLE_TID) {
        id->pid = cursor_u32(c);
        id->tid = cursor_u32(c);
    }
    if (sample_type & PERF_SAMPLE_TIME)
        id->time_ns = cursor_u64(c);
    if (sample_type & PERF_SAMPLE_ID)
        id->id = cursor_u64(c);
    if (sample_type & PERF_SAMPLE_STREAM_ID)
        id->stream_id = cursor_u64(c);
    if (sample_type & PERF_SAMPLE_CPU) {
        id->cpu = cursor_u32(c);
        cursor_skip(c, 4);
    }
    if (sample_type & PERF_SAMPLE_IDENTIFIER)
        id->id = cursor_u64(c);
}

/* An array of n elements, borrowed; sets c->bad if it is incomplete. */
static const void *take_array(struct cursor *c, uint64_t n, size_t element)
{
    if (n > cursor_left(c) / element) {
        c->bad = true;
        return NULL;
    }
    return cursor_bytes(c, (size_t)n * element);
}

static void parse_read(struct cursor *c, const struct record_layout *l, struct record_sample *s)
{
    uint64_t f = l->read_format;
    unsigned times = count_bits(f & (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING));
    unsigned each = 1 + count_bits(f & (PERF_FORMAT_ID | PERF_FORMAT_LOST));
    const uint8_t *start = c->p;
    if (f & PERF_FORMAT_GROUP) {
        uint64_t n = cursor_u64(c);
        cursor_skip(c, 8 * (size_t)times);
        take_array(c, n, 8 * (size_t)each);
    } else {
        cursor_skip(c, 8 * (size_t)(times + each));
    }
    if (c->bad)
        return;
    s->read = start;
    s->read_size = (uint32_t)(c->p - start);
}

static void parse_branches(struct cursor *c, const struct record_layout *l, struct record_sample *s)
{
    uint64_t n = cursor_u64(c);
    if (l->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX)
        cursor_skip(c, 8);
    s->branch = take_array(c, n, sizeof(struct perf_branch_entry));
    s->branch_n = s->branch ? (uint32_t)n : 0;
    if (l->branch_type & BRANCH_COUNTERS)
        take_array(c, n, 8);
}

static const void *parse_regs(struct cursor *c, uint64_t mask, uint64_t *abi)
{
    *abi = cursor_u64(c);
    return *abi == PERF_SAMPLE_REGS_ABI_NONE ? NULL : take_array(c, count_bits(mask), 8);
}

static void parse_stack(struct cursor *c, struct record_sample *s)
{
    uint64_t size = cursor_u64(c);
    if (size == 0)
        return; /* no dyn_size follows */
    s->stack = take_array(c, size, 1);
    s->stack_size = size;
    s->stack_dyn_size = cursor_u64(c);
    if (s->stack_dyn_size > size)
        s->stack_dyn_size = size;
}

/* The order is that of the kernel's perf_output_sample(); perf_event.h does not say where CGROUP is. */
static void parse_sample_tail(struct cursor *c, const struct record_layout *l, struct record_sample *s)
{
    uint64_t t = l->sample_type;
    if (t & PERF_SAMPLE_BRANCH_STACK)
        parse_branches(c, l, s);
    if (t & PERF_SAMPLE_REGS_USER)
        s->user_regs = parse_regs(c, l->regs_user, &s->user_abi);
    if (t & PERF_SAMPLE_STACK_USER)
        parse_stack(c, s);
    if (t & PERF_SAMPLE_WEIGHT_TYPE)
        s->weight = cursor_u64(c);
    if (t & PERF_SAMPLE_WEIGHT_STRUCT) {
        s->ins_lat = s->weight >> 32 & UINT16_MAX;
        s->weight &= UINT32_MAX;
    }
    if (t & PERF_SAMPLE_DATA_SRC)
        s->data_src = cursor_u64(c);
    if (t & PERF_SAMPLE_TRANSACTION)
        s->transaction = cursor_u64(c);
    if (t & PERF_SAMPLE_REGS_INTR)
        s->intr_regs = parse_regs(c, l->regs_intr, &s->intr_abi);
    if (t & PERF_SAMPLE_PHYS_ADDR)
        s->phys_addr = cursor_u64(c);
    if (t & PERF_SAMPLE_CGROUP)
        s->cgroup = cursor_u64(c);
    if (t & PERF_SAMPLE_DATA_PAGE_SIZE)
        s->data_page_size = cursor_u64(c);
    if (t & PERF_SAMPLE_CODE_PAGE_SIZE)
        s->code_page_size = cursor_u64(c);
    if (t & PERF_SAMPLE_AUX) {
        uint64_t n = cursor_u64(c);
        s->aux = take_array(c, n, 1);
        s->aux_size = s->aux ? (uint32_t)n : 0;
    }
}

/* PERIOD, READ, CALLCHAIN and RAW. */
static void parse_sample_middle(struct cursor *c, const struct record_layout *l, struct record_sample *s)
{
    uint64_t t = l->sample_type;
    if (t & PERF_SAMPLE_PERIOD)
        s->period = cursor_u64(c);
    if (t & PERF_SAMPLE_READ)
        parse_read(c, l, s);
    if (t & PERF_SAMPLE_CALLCHAIN) {
        uint64_t n = cursor_u64(c);
        s->chain = take_array(c, n, 8);
        s->chain_n = s->chain ? (uint32_t)n : 0;
    }
    if (t & PERF_SAMPLE_RAW) {
        uint32_t n = cursor_u32(c);
        s->raw = take_array(c, n, 1);
        s->raw_size = s->raw ? n : 0;
    }
}

static void parse_sample(struct cursor *c, const struct record_layout *l, struct record *r)
{
    uint64_t t = l->sample_type, identifier = 0;
    struct record_sample *s = &r->sample;
    if (t & PERF_SAMPLE_IDENTIFIER)
        identifier = cursor_u64(c);
    if (t & PERF_SAMPLE_IP)
        s->ip = cursor_u64(c);
    parse_id(c, t & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME), &r->id);
    if (t & PERF_SAMPLE_ADDR)
        s->addr = cursor_u64(c);
    parse_id(c, t & (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU), &r->id);
    if (t & PERF_SAMPLE_IDENTIFIER)
        r->id.id = identifier;
    parse_sample_middle(c, l, s);
    parse_sample_tail(c, l, s);
    r->id.has = t;
}

static void parse_mmap(struct cursor *c, struct record *r)
{
    r->mmap.pid = cursor_u32(c);
    r->mmap.tid = cursor_u32(c);
    r->mmap.addr = cursor_u64(c);
    r->mmap.len = cursor_u64(c);
    r->mmap.pgoff = cursor_u64(c);
    if (r->type == PERF_RECORD_MMAP) {
        /* PROT_EXEC, unless the record is marked as a data mapping. */
        r->mmap.prot = r->misc & PERF_RECORD_MISC_MMAP_DATA ? 0 : 4;
    } else if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        uint8_t n = cursor_u8(c);
        cursor_skip(c, 3);
        const void *id = cursor_bytes(c, sizeof r->mmap.build_id);
        if (id)
            memcpy(r->mmap.build_id, id, sizeof r->mmap.build_id);
        r->mmap.build_id_size = n < sizeof r->mmap.build_id ? n : sizeof r->mmap.build_id;
    } else {
        r->mmap.maj = cursor_u32(c);
        r->mmap.min = cursor_u32(c);
        r->mmap.ino = cursor_u64(c);
        r->mmap.ino_generation = cursor_u64(c);
    }
    if (r->type == PERF_RECORD_MMAP2) {
        r->mmap.prot = cursor_u32(c);
        r->mmap.flags = cursor_u32(c);
    }
    r->mmap.path = cursor_str(c, cursor_left(c));
}

static void parse_comm(struct cursor *c, struct record *r)
{
    r->comm.pid = cursor_u32(c);
    r->comm.tid = cursor_u32(c);
    r->comm.exec = r->misc & PERF_RECORD_MISC_COMM_EXEC;
    r->comm.comm = cursor_str(c, cursor_left(c));
}

static void parse_task(struct cursor *c, struct record *r)
{
    r->task.pid = cursor_u32(c);
    r->task.ppid = cursor_u32(c);
    r->task.tid = cursor_u32(c);
    r->task.ptid = cursor_u32(c);
    r->task.time_ns = cursor_u64(c);
}

static void parse_lost(struct cursor *c, struct record *r)
{
    if (r->type == PERF_RECORD_LOST)
        r->lost.id = cursor_u64(c);
    r->lost.lost = cursor_u64(c);
}

static void parse_throttle(struct cursor *c, struct record *r)
{
    r->throttle.time_ns = cursor_u64(c);
    r->throttle.id = cursor_u64(c);
    r->throttle.stream_id = cursor_u64(c);
}

static void parse_ksymbol(struct cursor *c, struct record *r)
{
    r->ksymbol.addr = cursor_u64(c);
    r->ksymbol.len = cursor_u32(c);
    r->ksymbol.ksym_type = cursor_u16(c);
    r->ksymbol.flags = cursor_u16(c);
    r->ksymbol.name = cursor_str(c, cursor_left(c));
}

static void parse_cgroup(struct cursor *c, struct record *r)
{
    r->cgroup.id = cursor_u64(c);
    r->cgroup.path = cursor_str(c, cursor_left(c));
}

static void parse_namespaces(struct cursor *c, struct record *r)
{
    r->namespaces.pid = cursor_u32(c);
    r->namespaces.tid = cursor_u32(c);
    uint64_t n = cursor_u64(c);
    r->namespaces.links = take_array(c, n, sizeof(struct perf_ns_link_info));
    r->namespaces.n = r->namespaces.links ? n : 0;
}

static void parse_switch(struct cursor *c, struct record *r)
{
    if (r->type != PERF_RECORD_SWITCH_CPU_WIDE)
        return;
    r->cpu_switch.next_prev_pid = cursor_u32(c);
    r->cpu_switch.next_prev_tid = cursor_u32(c);
}

static void (*const parsers[PERF_RECORD_MAX])(struct cursor *, struct record *) = {
    [PERF_RECORD_MMAP] = parse_mmap,           [PERF_RECORD_MMAP2] = parse_mmap,
    [PERF_RECORD_COMM] = parse_comm,           [PERF_RECORD_FORK] = parse_task,
    [PERF_RECORD_EXIT] = parse_task,           [PERF_RECORD_LOST] = parse_lost,
    [PERF_RECORD_LOST_SAMPLES] = parse_lost,   [PERF_RECORD_THROTTLE] = parse_throttle,
    [PERF_RECORD_UNTHROTTLE] = parse_throttle, [PERF_RECORD_KSYMBOL] = parse_ksymbol,
    [PERF_RECORD_CGROUP] = parse_cgroup,       [PERF_RECORD_NAMESPACES] = parse_namespaces,
    [PERF_RECORD_SWITCH] = parse_switch,       [PERF_RECORD_SWITCH_CPU_WIDE] = parse_switch,
};

/* Parse a record other than a sample: a body by type, then the sample_id at the end. */
static bool parse_other(struct record *r, size_t body_n, const struct record_layout *l)
{
    size_t id_n = id_bytes(l, r->type);
    if (id_n > body_n)
        return false;
    struct cursor c = cursor_of((const uint8_t *)r->body + body_n - id_n, id_n, l->swap);
    if (id_n)
        parse_id(&c, l->sample_type, &r->id);
    c = cursor_of(r->body, body_n - id_n, l->swap);
    if (r->type < PERF_RECORD_MAX && parsers[r->type]) {
        r->known = true;
        parsers[r->type](&c, r);
    }
    return !c.bad;
}

bool record_parse(const void *bytes, size_t avail, const struct record_layout *l, struct record *out,
                  struct error *e)
{
    struct perf_event_header h = { 0 };
    if (!read_header(bytes, avail, l, &h))
        return error_set(e, ERROR_FORMAT, "a record of %u bytes where %zu are left", h.size, avail);
    memset(out, 0, sizeof *out);
    out->type = h.type;
    out->misc = h.misc;
    out->size = h.size;
    out->swap = l->swap;
    out->body = (const uint8_t *)bytes + sizeof h;
    size_t body_n = h.size - sizeof h;
    bool ok;
    if (h.type == PERF_RECORD_SAMPLE) {
        struct cursor c = cursor_of(out->body, body_n, l->swap);
        out->known = true;
        parse_sample(&c, l, out);
        ok = !c.bad;
    } else {
        ok = parse_other(out, body_n, l);
    }
    return ok || error_set(e, ERROR_FORMAT, "a record of type %u and %u bytes is truncated", h.type, h.size);
}
