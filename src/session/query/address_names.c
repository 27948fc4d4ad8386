// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/address_names.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "session/session_state.h"

#define NAMES_MAX 65536 /* cached addresses; a file may contain any number */

struct session_address_names {
    struct session *s;
    struct map by_address; /* hash of address space and address → struct session_name */
    struct arena names;
    VEC(struct module *) modules; /* references that the names hold */
    bool impatient;               /* names did not come in time */
};

struct session_address_names *session_address_names_new(struct session *s)
{
    struct session_address_names *n = mem_zalloc(sizeof *n);
    n->s = s;
    return n;
}

static void forget(struct session_address_names *n)
{
    for (size_t i = 0; i < n->modules.n; i++)
        module_put(n->modules.items[i]);
    n->modules.n = 0;
    map_clear(&n->by_address);
    arena_clear(&n->names);
}

void session_address_names_free(struct session_address_names *n)
{
    if (!n)
        return;
    forget(n);
    map_done(&n->by_address);
    arena_done(&n->names);
    mem_free(n->modules.items);
    mem_free(n);
}

/* Looks up the module and its symbol; NULL: no module. Under lock. */
static struct module *look_up(struct session *s, uint32_t thread, uint64_t address, bool kernel,
                              struct symbol *out, uint64_t *offset)
{
    struct location location = { 0 };
    bool there = world_resolve(s->store.world, thread, address, kernel, &location);
    struct module *m = there ? world_module(s->store.world, location.module) : NULL;
    *offset = location.offset;
    if (m)
        symbolizer_lookup(s->store.symbolizer, m, location.offset, out);
    return m;
}

/* Holds one reference per module. Searches from the end, since consecutive addresses are mostly in the
 * same module. */
static const struct module *hold(struct session_address_names *n, struct module *m)
{
    for (size_t i = n->modules.n; i-- > 0;)
        if (n->modules.items[i] == m)
            return m;
    return *VEC_PUSH(&n->modules) = module_get(m);
}

static struct session_name *name_anew(struct session_address_names *n, uint32_t thread, uint64_t address,
                                      bool kernel)
{
    struct session *s = n->s;
    struct symbol symbol = { 0 };
    uint64_t offset;
    pthread_mutex_lock(&s->store.lock);
    struct module *m = look_up(s, thread, address, kernel, &symbol, &offset);
    if (m && symbol.state == SYMBOL_PENDING && !n->impatient) {
        pthread_mutex_unlock(&s->store.lock);
        session_settle(s, session_patience_ns(s));
        pthread_mutex_lock(&s->store.lock);
        m = look_up(s, thread, address, kernel, &symbol, &offset);
        n->impatient = m && symbol.state == SYMBOL_PENDING;
    }
    struct session_name *name = arena_alloc(&n->names, sizeof *name);
    bool found = m && symbol.state == SYMBOL_FOUND;
    name->module = m ? hold(n, m) : NULL;
    name->start = found ? address - (offset - symbol.start) : 0;
    name->text = found ? arena_strndup(&n->names, symbol.name, strlen(symbol.name)) : NULL;
    pthread_mutex_unlock(&s->store.lock);
    return name;
}

const struct session_name *session_name_at(struct session_address_names *n, uint32_t thread, uint64_t address,
                                           bool kernel)
{
    uint64_t location[] = { kernel ? 0 : thread, address, kernel };
    uint64_t key = map_hash_bytes(location, sizeof location, 0), known;
    if (map_get(&n->by_address, key, &known))
        return (const struct session_name *)(uintptr_t)known;
    if (n->by_address.n == NAMES_MAX)
        forget(n);
    struct session_name *name = name_anew(n, thread, address, kernel);
    map_put(&n->by_address, key, (uintptr_t)name);
    return name;
}
