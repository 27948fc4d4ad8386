// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of symbols: each kept once, cleaned, and queued for demangling when it is first looked up. */
#include <string.h>

#include "base/text.h"
#include "symbols/demangle.h"
#include "symbols/kallsyms.h"
#include "symbols/state.h"

#define SHOWN_MAX   1024
#define CRASHES_MAX 32
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
    mem_free(names->mangled);
}

void names_forget(struct names *names)
{
    uint32_t epoch = names->epoch + 1;
    unsigned crashes = names->crashes;

    names_done(names);
    names_init(names);
    names->epoch = epoch;
    names->crashes = crashes;
}

size_t names_bytes(const struct names *names)
{
    return intern_bytes(names->raws) + names->arena.held_bytes + map_bytes(&names->by_raw) +
           names->cap * sizeof *names->mangled;
}

const char *const symbol_class_names[SYMBOL_CLASSES] = {
    [SYMBOL_CLASS_USER] = "user",       [SYMBOL_CLASS_CXX] = "C++",   [SYMBOL_CLASS_RUST] = "Rust",
    [SYMBOL_CLASS_KERNEL] = "kernel",   [SYMBOL_CLASS_JIT] = "JIT",   [SYMBOL_CLASS_INLINED] = "inlined",
    [SYMBOL_CLASS_UNKNOWN] = "no name",
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

static void queue_mangled(struct names *names, struct name *n)
{
    if (names->next > 1024 && names->next * 2 > names->n) {
        memmove(names->mangled, names->mangled + names->next,
                (names->n - names->next) * sizeof(struct name *));
        names->n -= names->next;
        names->next = 0;
    }
    MEM_GROW(names->mangled, names->cap, names->n + 1);
    names->mangled[names->n++] = n;
    n->waits = true;
}

static const char *cleaned(struct names *names, const char *raw)
{
    char text[SHOWN_MAX];
    size_t n = text_clean(text, sizeof text, raw, strlen(raw));

    return strcmp(text, raw) ? arena_strndup(&names->arena, text, n) : raw;
}

struct name *names_get(struct names *names, const char *raw, enum module_kind kind)
{
    uint32_t id = intern_add(names->raws, raw, strlen(raw));
    enum symbol_class class = class_of(raw, kind);
    bool created;
    /* The class belongs to the key: a JIT may have a function of a kernel function's name. */
    uint64_t *slot = map_at(&names->by_raw, (uint64_t) class << 32 | id, 0, &created);
    struct name *n;

    if (!created)
        return (struct name *)(uintptr_t)*slot;
    n = arena_alloc(&names->arena, sizeof *n);
    *slot = (uintptr_t)n;
    *n = (struct name){ .raw = intern_str(names->raws, id), .class = class };
    n->text = cleaned(names, n->raw);
    n->hash = map_hash_bytes(n->raw, strlen(n->raw), HASH_SEED);
    n->idle = class == SYMBOL_CLASS_KERNEL && kallsyms_is_idle(n->raw);
    if (kind != MODULE_JIT && demangle_language(raw) != DEMANGLE_NONE && names->crashes < CRASHES_MAX)
        queue_mangled(names, n);
    return n;
}

size_t names_take_mangled(struct names *names, struct name **batch, size_t max, char *payload, size_t cap,
                          size_t *payload_n)
{
    size_t taken = 0;

    for (*payload_n = 0; names->next < names->n && taken < max; names->next++) {
        struct name *n = names->mangled[names->next];
        size_t size = strlen(n->raw) + 1;

        n->waits = n->blame < BLAME_MAX && size <= cap && names->crashes < CRASHES_MAX;
        if (!n->waits)
            continue;
        /* One that was there when the demangler died goes alone, to find the culprit. */
        if (taken && (size > cap - *payload_n || n->blame))
            break;
        memcpy(payload + *payload_n, n->raw, size);
        *payload_n += size;
        batch[taken++] = n;
        if (n->blame) {
            names->next++;
            break;
        }
    }
    return taken;
}

void names_put_back(struct names *names, struct name **batch, size_t n, unsigned blame)
{
    size_t i;

    if (blame >= BLAME_CRASH)
        names->crashes++;
    for (i = 0; i < n; i++) {
        unsigned all = batch[i]->blame + blame;
        /* In company the blame is a mark to go alone next time, no proof. */
        if (n > 1)
            all = batch[i]->blame ? batch[i]->blame : 1;
        batch[i]->blame = (uint8_t)(all < BLAME_MAX ? all : BLAME_MAX);
        queue_mangled(names, batch[i]);
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

        batch[i]->waits = false;
        if (shown)
            batch[i]->text = arena_strndup(&names->arena, text, shown);
        texts += length + 1;
    }
}
