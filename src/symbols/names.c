// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of symbols: each stored once, cleaned, and queued for demangling when it is first looked up.
 *
 * Each owner of files has its own queue, so that names made to crash or occupy the demangler delay only names
 * of the same owner's files. A name in files of several owners is in the queues of all of them. */
#include <string.h>

#include "base/text.h"
#include "symbols/demangle.h"
#include "symbols/kallsyms.h"
#include "symbols/symbolizer_state.h"

#define SHOWN_MAX   1024
#define CRASHES_MAX 16 /* of an owner's names */
#define HASH_SEED   0x666c616d65746f70

void names_init(struct names *names)
{
    *names = (struct names){ .raws = intern_new() };
}

void names_done(struct names *names)
{
    intern_free(names->raws);
    arena_done(&names->arena);
    map_done(&names->by_raw);
    for (unsigned i = 0; i < OWNERS_MAX; i++)
        mem_free(names->queues[i].items);
}

void names_forget(struct names *names)
{
    uint32_t epoch = names->epoch + 1;
    struct name_queue queues[OWNERS_MAX];

    memcpy(queues, names->queues, sizeof queues);
    names_done(names);
    names_init(names);
    names->epoch = epoch;
    for (unsigned i = 0; i < OWNERS_MAX; i++) {
        names->queues[i].crashes = queues[i].crashes;
        names->queues[i].slow = queues[i].slow;
    }
}

size_t names_bytes(const struct names *names)
{
    size_t bytes = intern_bytes(names->raws) + names->arena.held_bytes + map_bytes(&names->by_raw);

    for (unsigned i = 0; i < OWNERS_MAX; i++)
        bytes += names->queues[i].cap * sizeof *names->queues[i].items;
    return bytes;
}

const char *const symbol_class_names[SYMBOL_CLASSES] = {
    [SYMBOL_CLASS_USER] = "user",
    [SYMBOL_CLASS_CXX] = "C++",
    [SYMBOL_CLASS_RUST] = "Rust",
    [SYMBOL_CLASS_KERNEL] = "kernel",
    [SYMBOL_CLASS_JIT] = "JIT",
    [SYMBOL_CLASS_INLINED] = "inlined",
    [SYMBOL_CLASS_UNKNOWN] = "no name",
    [SYMBOL_CLASS_WAIT_LOCK] = "lock wait",
    [SYMBOL_CLASS_WAIT_DISK] = "disk wait",
    [SYMBOL_CLASS_WAIT_IO] = "pipe or socket wait",
    [SYMBOL_CLASS_WAIT_IDLE] = "idle wait",
    [SYMBOL_CLASS_WAIT_OTHER] = "other wait",
    [SYMBOL_CLASS_RUNNABLE] = "runnable",
};

static enum symbol_class class_of(const char *raw, enum module_kind kind)
{
    if (kind == MODULE_JIT)
        return SYMBOL_CLASS_JIT;
    if (kind == MODULE_KERNEL || kind == MODULE_KMOD || kind == MODULE_KSYM)
        return SYMBOL_CLASS_KERNEL;
    switch (demangle_language(raw)) {
    case DEMANGLE_CXX:
        return SYMBOL_CLASS_CXX;
    case DEMANGLE_RUST:
        return SYMBOL_CLASS_RUST;
    default:
        return SYMBOL_CLASS_USER;
    }
}

static uint64_t bit_of(unsigned owner)
{
    return UINT64_C(1) << owner;
}

_Static_assert(OWNERS_MAX <= 64, "a bit for each owner");

static void put_in_queue(struct names *names, struct name *n, unsigned owner)
{
    struct name_queue *q = &names->queues[owner];

    if (q->next > 1024 && q->next * 2 > q->n) {
        memmove(q->items, q->items + q->next, (q->n - q->next) * sizeof *q->items);
        q->n -= q->next;
        q->next = 0;
    }
    *VEC_PUSH(q) = n;
    names->queued += !n->queued;
    n->queued |= bit_of(owner);
    n->waits = true;
}

static void leave_queues(struct names *names, struct name *n, uint64_t owners)
{
    uint64_t left = n->queued & ~owners;

    names->queued -= n->queued && !left;
    n->queued = left;
    n->waits = left != 0;
}

/* Note that a file of this owner has the name. */
static void want(struct names *names, struct name *n, unsigned owner)
{
    if (!n->mangled || n->wanted & bit_of(owner) || names->queues[owner].crashes >= CRASHES_MAX)
        return;
    n->wanted |= bit_of(owner);
    put_in_queue(names, n, owner);
}

uint64_t names_waiting(const struct names *names, bool slow)
{
    uint64_t owners = 0;

    for (unsigned i = 0; names->queued && i < OWNERS_MAX; i++)
        if (names->queues[i].slow == slow && names->queues[i].next < names->queues[i].n)
            owners |= bit_of(i);
    return owners;
}

static const char *cleaned(struct names *names, const char *raw)
{
    char text[SHOWN_MAX];
    size_t n = text_clean(text, sizeof text, raw, strlen(raw));

    return strcmp(text, raw) ? arena_strndup(&names->arena, text, n) : raw;
}

struct name *names_get(struct names *names, const char *raw, enum module_kind kind, unsigned owner)
{
    uint32_t id = intern_add(names->raws, raw, strlen(raw));
    enum symbol_class class = class_of(raw, kind);
    bool created;
    /* The class is part of the key: a JIT may have a function with the name of a kernel function. */
    uint64_t *slot = map_at(&names->by_raw, (uint64_t) class << 32 | id, 0, &created);
    struct name *n;

    if (!created) {
        n = (struct name *)(uintptr_t)*slot;
        want(names, n, owner);
        return n;
    }
    n = arena_alloc(&names->arena, sizeof *n);
    *slot = (uintptr_t)n;
    *n = (struct name){ .raw = intern_str(names->raws, id), .class = class };
    n->text = cleaned(names, n->raw);
    n->hash = map_hash_bytes(n->raw, strlen(n->raw), HASH_SEED);
    n->idle = class == SYMBOL_CLASS_KERNEL && kallsyms_is_idle(n->raw);
    n->mangled = kind != MODULE_JIT && demangle_language(raw) != DEMANGLE_NONE;
    want(names, n, owner);
    return n;
}

/* Whether the demangler gets a name of this queue; if not, the name leaves the queue. */
static bool may_be_taken(struct names *names, unsigned owner, struct name *n, size_t cap)
{
    if (!(n->queued & bit_of(owner)))
        return false;
    if (n->blame >= BLAME_MAX || strlen(n->raw) >= cap) {
        n->mangled = false;
        leave_queues(names, n, n->queued);
    } else if (names->queues[owner].crashes >= CRASHES_MAX) {
        leave_queues(names, n, bit_of(owner));
    }
    return n->queued & bit_of(owner);
}

size_t names_take_mangled(struct names *names, unsigned owner, struct name **batch, size_t max, char *payload,
                          size_t cap, size_t *payload_n)
{
    struct name_queue *q = &names->queues[owner];
    size_t taken = 0;

    for (*payload_n = 0; q->next < q->n && taken < max && !(taken && batch[0]->blame); q->next++) {
        struct name *n = q->items[q->next];
        size_t size = strlen(n->raw) + 1;

        if (!may_be_taken(names, owner, n, cap))
            continue;
        /* A name that was in a batch when the demangler died goes alone, to find the culprit. */
        if (taken && (size > cap - *payload_n || n->blame))
            break;
        memcpy(payload + *payload_n, n->raw, size);
        *payload_n += size;
        batch[taken++] = n;
        leave_queues(names, n, n->queued);
        n->waits = true; /* until the reply comes */
    }
    return taken;
}

void names_put_back(struct names *names, unsigned owner, struct name **batch, size_t n, unsigned blame)
{
    if (blame >= BLAME_CRASH)
        names->queues[owner].crashes++;
    for (size_t i = 0; i < n; i++) {
        unsigned all = batch[i]->blame + blame;
        /* In a batch the blame only marks the name to go alone next time; it proves nothing. */
        if (n > 1)
            all = batch[i]->blame ? batch[i]->blame : 1;
        batch[i]->blame = (uint8_t)(all < BLAME_MAX ? all : BLAME_MAX);
        for (unsigned o = 0; o < OWNERS_MAX; o++)
            if (batch[i]->wanted & bit_of(o))
                put_in_queue(names, batch[i], o);
    }
}

void names_set_texts(struct names *names, struct name **batch, size_t n, const char *texts, size_t texts_n)
{
    const char *end = texts + texts_n;
    char text[DEMANGLE_OUTPUT_MAX];
    size_t i;

    for (i = 0; i < n && texts < end; i++) {
        size_t length = strnlen(texts, (size_t)(end - texts));
        size_t shown = text_clean(text, sizeof text, texts, length);

        batch[i]->mangled = false;
        leave_queues(names, batch[i], batch[i]->queued);
        if (shown)
            batch[i]->text = arena_strndup(&names->arena, text, shown);
        texts += length + 1;
    }
}
