// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/modtab.h"

#include <string.h>

#include "base/mem.h"

#define PROBES          64
#define BUILD_IDS_MAX   (1u << 20)
#define KERNEL_BUILD_ID "[kernel.kallsyms]"

struct build_id_entry {
    char *path;
    uint8_t id[20], size;
};

static struct mod *mod_at(uint64_t value)
{
    return (struct mod *)(uintptr_t)value;
}

static size_t module_bytes(const struct module *m)
{
    return sizeof(struct mod) + sizeof *m + strlen(m->path) + strlen(m->name) + 2 + 32;
}

static struct mod *add(struct modtab *t, const struct module *like, uint32_t id)
{
    struct mod *m = mem_zalloc(sizeof *m);
    struct module with_id = *like;

    with_id.id = id;
    m->module = module_new(&with_id);
    map_put(&t->by_id, id, (uintptr_t)m);
    t->bytes += module_bytes(m->module);
    return m;
}

void modtab_init(struct modtab *t, bool live)
{
    static const struct {
        uint32_t id;
        enum module_kind kind;
        const char *path;
    } fixed[] = {
        { MODULE_ID_UNKNOWN, MODULE_UNKNOWN, "[unknown]" },
        { MODULE_ID_BROKEN, MODULE_BROKEN, "[broken]" },
        { MODULE_ID_KERNEL, MODULE_KERNEL, KERNEL_BUILD_ID },
        { MODULE_ID_GUEST, MODULE_GUEST, "[guest]" },
        { MODULE_ID_SCRIPT, MODULE_SCRIPT, "[interpreted]" },
        { MODULE_ID_WAIT, MODULE_WAIT, "[off-CPU]" },
        { MODULE_ID_OPERATION, MODULE_OPERATION, "[operation]" },
    };

    *t = (struct modtab){ .next_id = MODULE_ID_FIRST };
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        modtab_hold(add(t, &(struct module){ .kind = fixed[i].kind, .path = fixed[i].path, .live = live },
                        fixed[i].id));
}

void modtab_done(struct modtab *t)
{
    uint64_t value;

    for (size_t pos = 0; map_next(&t->by_id, &pos, NULL, &value);) {
        module_put(mod_at(value)->module);
        mem_free(mod_at(value));
    }
    for (uint32_t i = 0; i < t->build_ids.n; i++)
        mem_free(t->build_ids.items[i].path);
    mem_free(t->build_ids.items);
    map_done(&t->build_id_index);
    map_done(&t->by_key);
    map_done(&t->by_id);
}

static uint64_t hash_path(const char *path)
{
    return map_hash_bytes(path, strlen(path), 0);
}

static uint64_t key_of(const struct module *m, uint64_t serial)
{
    uint64_t seed = map_mix((uint64_t)m->maj << 32 | m->min) ^ map_mix(m->ino + 1) ^
                    map_mix(serial + m->kind) ^ map_mix(m->start ^ m->size << 40);

    if (!m->ino && m->build_id_size)
        seed ^= map_hash_bytes(m->build_id, m->build_id_size, 1);
    return map_hash_bytes(m->path, strlen(m->path), seed);
}

/* A record contains the generation of an inode, /proc does not. An unknown generation matches any, so both
 * mean one file. */
static bool same(const struct mod *m, const struct module *like, uint64_t serial)
{
    const struct module *a = m->module;

    if (a->kind != like->kind || m->serial != serial || a->maj != like->maj || a->min != like->min ||
        a->ino != like->ino || a->start != like->start || a->size != like->size ||
        strcmp(a->path, like->path))
        return false;
    if (m->generation && like->ino_generation && m->generation != like->ino_generation)
        return false;
    return a->ino || !like->build_id_size ||
           (a->build_id_size == like->build_id_size &&
            !memcmp(a->build_id, like->build_id, like->build_id_size));
}

static const struct build_id_entry *find_build_id(const struct modtab *t, const char *path)
{
    uint64_t index;

    if (!t->build_ids.n || !map_get(&t->build_id_index, hash_path(path), &index))
        return NULL;
    return strcmp(t->build_ids.items[index].path, path) ? NULL : &t->build_ids.items[index];
}

static void give_build_id(struct module *m, const struct build_id_entry *known)
{
    memcpy(m->build_id, known->id, sizeof m->build_id);
    m->build_id_size = known->size;
}

static struct mod *create(struct modtab *t, uint64_t key, const struct module *like, uint64_t serial)
{
    const struct build_id_entry *known = like->build_id_size ? NULL : find_build_id(t, like->path);
    struct module m = *like;
    struct mod *mod;

    if (known)
        give_build_id(&m, known);
    mod = add(t, &m, t->next_id++);
    mod->key = key;
    mod->serial = serial;
    mod->generation = like->ino_generation;
    map_put(&t->by_key, key, (uintptr_t)mod);
    return mod;
}

struct mod *modtab_get(struct modtab *t, const struct module *like, uint64_t serial)
{
    struct module *cut = NULL;
    uint64_t key, value;
    struct mod *found = NULL;

    /* a file is the same module before and after its deletion */
    if (like->path[0] == '/' && strstr(like->path, " (deleted)"))
        like = cut = module_new(like);
    key = key_of(like, serial);
    for (int i = 0; i < PROBES && map_get(&t->by_key, key, &value); i++, key++) {
        if (same(mod_at(value), like, serial)) {
            found = mod_at(value);
            break;
        }
    }
    if (!found)
        found = create(t, key, like, serial);
    if (!found->generation)
        found->generation = like->ino_generation;
    module_put(cut);
    return found;
}

struct mod *modtab_find(const struct modtab *t, uint32_t id)
{
    uint64_t value;

    return map_get(&t->by_id, id, &value) ? mod_at(value) : NULL;
}

void modtab_hold(struct mod *m)
{
    m->holds++;
}

static void forget(struct modtab *t, struct mod *m)
{
    uint64_t value;

    if (map_get(&t->by_key, m->key, &value) && mod_at(value) == m)
        map_del(&t->by_key, m->key);
    map_del(&t->by_id, m->module->id);
    t->bytes -= module_bytes(m->module);
    module_put(m->module);
    mem_free(m);
}

void modtab_drop_unused(struct modtab *t, struct mod *m)
{
    if (!m->holds && !m->asked)
        forget(t, m);
}

void modtab_drop(struct modtab *t, struct mod *m)
{
    m->holds--;
    modtab_drop_unused(t, m);
}

void modtab_replace(struct modtab *t, struct mod *m, const struct module *like)
{
    struct module with_id = *like;
    struct module *old = m->module;

    with_id.id = old->id;
    t->bytes -= module_bytes(old);
    m->module = module_new(&with_id);
    t->bytes += module_bytes(m->module);
    module_put(old);
}

void modtab_collect(struct modtab *t, const uint8_t *keep, uint32_t n_keep)
{
    struct mod **gone = mem_array(t->by_id.n, sizeof *gone);
    size_t n = 0;
    uint64_t id, value;

    for (size_t pos = 0; map_next(&t->by_id, &pos, &id, &value);)
        if (!mod_at(value)->holds && !(keep && id < n_keep && keep[id]))
            gone[n++] = mod_at(value);
    while (n)
        forget(t, gone[--n]);
    mem_free(gone);
}

static bool is_of_path(const struct module *m, const char *path, bool kernel)
{
    return kernel == (m->kind == MODULE_KERNEL || m->kind == MODULE_KMOD) && !strcmp(m->path, path);
}

static struct build_id_entry *build_id_slot(struct modtab *t, const char *path)
{
    bool created;
    uint64_t *index = map_at(&t->build_id_index, hash_path(path), t->build_ids.n, &created);

    if (!created)
        return &t->build_ids.items[*index];
    struct build_id_entry *new = VEC_PUSH(&t->build_ids);
    *new = (struct build_id_entry){ .path = mem_strdup(path) };
    return new;
}

void modtab_set_build_id(struct modtab *t, const char *path, const uint8_t *id, unsigned size, bool kernel)
{
    struct build_id_entry *known;
    uint64_t value;

    if (!size || size > sizeof known->id || t->build_ids.n >= BUILD_IDS_MAX)
        return;
    /* the kernel core has several spellings ("[kernel.kallsyms]_text", "[kernel.vmlinux]") */
    if (kernel && !strncmp(path, "[kernel.", 8))
        path = KERNEL_BUILD_ID;
    known = build_id_slot(t, path);
    if (strcmp(known->path, path))
        return;
    memset(known->id, 0, sizeof known->id);
    memcpy(known->id, id, size);
    known->size = (uint8_t)size;
    for (size_t pos = 0; map_next(&t->by_id, &pos, NULL, &value);) {
        struct mod *m = mod_at(value);
        struct module changed = module_value(m->module);

        if (!is_of_path(m->module, path, kernel))
            continue;
        give_build_id(&changed, known);
        modtab_replace(t, m, &changed);
    }
}
