// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side of WORKER_LINES. A reply covers what could be done in a short time, because others wait
 * for the worker. */
#include <malloc.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "symbols/linesformat.h"

#define SLICE_NS    (100 * NS_PER_MS)
#define OPEN_MAX_NS (5 * NS_PER_SEC)
#define FIND_MAX_NS (2 * NS_PER_SEC)
#define MORE_MAX    1024                  /* extra rows of one unit that were not requested */
#define MORE_NS     (100 * NS_PER_MS)     /* time limit for them */
#define HELD_MAX    (UINT64_C(256) << 20) /* memory, beyond which modules are closed */

struct call {
    struct lines_server *server;
    struct lines_ask ask;
    const char *offsets;
    const int *fds;
    unsigned n_fds, next_fd;
    struct lines_builder builder;
};

static struct lines_slot *find_slot(struct lines_server *s, uint64_t key)
{
    unsigned i;

    for (i = 0; i < LINES_MODULES_MAX; i++)
        if (s->slots[i].module && s->slots[i].key == key) {
            s->slots[i].used = ++s->clock;
            return &s->slots[i];
        }
    return NULL;
}

static void empty_slot(struct lines_slot *slot)
{
    lines_close(slot->module);
    *slot = (struct lines_slot){ 0 };
}

/* Return a free slot, else the least recently used one: free slots were never used. */
static struct lines_slot *oldest_slot(struct lines_server *s)
{
    struct lines_slot *oldest = &s->slots[0];
    unsigned i;

    for (i = 1; i < LINES_MODULES_MAX; i++)
        if (s->slots[i].used < oldest->used)
            oldest = &s->slots[i];
    return oldest;
}

void lines_server_done(struct lines_server *s)
{
    unsigned i;

    for (i = 0; i < LINES_MODULES_MAX; i++)
        empty_slot(&s->slots[i]);
}

static uint64_t held_bytes(void)
{
    struct mallinfo2 m = mallinfo2();

    return (uint64_t)m.uordblks + m.hblkhd;
}

/* Close modules beyond the memory limit, the least recently used first: libdw keeps everything that it has
 * read of a file until it is closed. Freed slots become the newest, so that each is visited once. */
static void bound_memory(struct lines_server *s)
{
    unsigned i;

    for (i = 0; i < LINES_MODULES_MAX && held_bytes() > HELD_MAX; i++) {
        struct lines_slot *slot = oldest_slot(s);
        empty_slot(slot);
        slot->used = ++s->clock;
    }
}

static int next_fd(struct call *c, uint32_t flag)
{
    if (!(c->ask.flags & flag))
        return -1;
    return c->next_fd < c->n_fds ? c->fds[c->next_fd++] : -1;
}

static enum lines_status status_of(enum lines_open_result result)
{
    switch (result) {
    case LINES_OPEN_READY:
        return LINES_DONE;
    case LINES_OPEN_OTHER_BUILD:
        return LINES_OTHER_BUILD;
    case LINES_OPEN_WANTS_ALT:
        return LINES_WANTS_ALT;
    case LINES_OPEN_GO_TABLE:
        return LINES_GO_TABLE;
    default:
        return LINES_NO_DWARF;
    }
}

/* Open the module. True with *slot NULL: the reply says why it is not open. */
static bool open_module(struct call *c, struct lines_slot **slot, struct error *e)
{
    struct lines_files files = { .fd = next_fd(c, LINES_OPEN),
                                 .debug_fd = next_fd(c, LINES_DEBUG),
                                 .alt_fd = next_fd(c, LINES_ALT),
                                 .reference = c->ask.reference,
                                 .without_alt = c->ask.flags & LINES_NO_ALT,
                                 .go_table = c->ask.flags & LINES_GO };
    struct lines_module *module = NULL;
    struct lines_want *want = mem_zalloc(sizeof *want);
    enum lines_open_result result = lines_open(&files, clock_now_ns() + OPEN_MAX_NS, &module, want, e);

    *slot = NULL;
    if (result == LINES_OPEN_WANTS_ALT)
        lines_build_want(&c->builder, want);
    mem_free(want);
    if (result == LINES_OPEN_FAILED)
        return false;
    c->builder.header.status = status_of(result);
    if (result != LINES_OPEN_READY)
        return true;
    *slot = oldest_slot(c->server);
    empty_slot(*slot);
    **slot = (struct lines_slot){ c->ask.key, ++c->server->clock, module };
    return true;
}

/* Add rows for the rest of the unit: more requests for it will follow, and all rows at once are cheaper than
 * a few each second. */
static void reply_unit(struct call *c, struct lines_module *m, const struct lines_location *asked,
                       struct lines_want *want)
{
    struct lines_location *location = mem_alloc(sizeof *location);
    uint64_t at = asked->high, end_ns = clock_now_ns() + MORE_NS;
    uint32_t before = c->builder.header.n_more;

    for (; c->builder.header.n_more - before < MORE_MAX && clock_now_ns() < end_ns; at = location->high) {
        if (at >= asked->unit_high)
            at = asked->unit_low;
        if (at == asked->low || lines_find(m, at, true, end_ns, location, want) != LINES_FIND_DONE ||
            !lines_build_more(&c->builder, location))
            break;
    }
    mem_free(location);
}

static void reply_offsets(struct call *c, struct lines_module *m)
{
    uint64_t end_ns = clock_now_ns() + SLICE_NS, offset, now = 0, unit = UINT64_MAX;
    bool only_inlined = c->ask.flags & LINES_INLINED;
    struct lines_location location;
    struct lines_want *want = mem_zalloc(sizeof *want);
    uint32_t i;

    for (i = 0; i < c->ask.n && now < end_ns; i++, now = clock_now_ns()) {
        enum lines_find_result result;
        memcpy(&offset, c->offsets + i * sizeof offset, sizeof offset);
        result = lines_find(m, offset, only_inlined, clock_now_ns() + FIND_MAX_NS, &location, want);
        if (result == LINES_FIND_WANTS_SPLIT && i)
            break;
        if (result == LINES_FIND_WANTS_SPLIT) {
            lines_build_want(&c->builder, want);
            c->builder.header.status = LINES_WANTS_SPLIT;
            break;
        }
        if (!lines_build_row(&c->builder, &location))
            break;
        c->builder.header.given_up += result == LINES_FIND_LATE;
        if (only_inlined && location.unit_high && location.unit_low != unit) {
            unit = location.unit_low;
            reply_unit(c, m, &location, want);
        }
    }
    mem_free(want);
}

static bool reply(struct call *c, struct error *e)
{
    struct lines_slot *slot;

    if (c->ask.flags & LINES_OPEN) {
        slot = find_slot(c->server, c->ask.key);
        if (slot)
            empty_slot(slot);
        if (!open_module(c, &slot, e))
            return false;
        if (!slot)
            return true;
    } else if (!(slot = find_slot(c->server, c->ask.key))) {
        c->builder.header.status = LINES_NOT_OPEN;
        return true;
    }
    if (c->ask.flags & (LINES_SPLIT | LINES_NO_SPLIT))
        lines_give_split(slot->module, c->ask.split_id, next_fd(c, LINES_SPLIT));
    c->builder.header.status = LINES_DONE;
    reply_offsets(c, slot->module);
    return true;
}

bool lines_serve(struct lines_server *s, const void *payload, size_t n, const int *fds, unsigned n_fds,
                 struct buf *blob, struct error *e)
{
    struct call c = {
        .server = s, .offsets = (const char *)payload + sizeof c.ask, .fds = fds, .n_fds = n_fds
    };
    bool ok;

    if (n < sizeof c.ask)
        return error_set(e, ERROR_FORMAT, "a request for source lines is too short");
    memcpy(&c.ask, payload, sizeof c.ask);
    if (c.ask.n > LINES_OFFSETS_MAX || n != sizeof c.ask + c.ask.n * sizeof(uint64_t))
        return error_set(e, ERROR_FORMAT, "a request for source lines has a wrong size");
    ok = reply(&c, e);
    if (ok)
        lines_build(&c.builder, blob);
    lines_builder_done(&c.builder);
    bound_memory(s);
    return ok;
}
