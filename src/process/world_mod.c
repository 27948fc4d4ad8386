// SPDX-License-Identifier: GPL-2.0-or-later
/* Modules of mappings, and mappings in an address space. */
#include "process/world_state.h"

/* A module's file is reached through a process that maps it. If that process has ended, uses this one. */
static void refresh_way(struct world *w, struct mod *m, const struct module *like)
{
    const struct module *old = m->module;

    if (!w->live || old->kind != MODULE_FILE || old->pid == like->pid || proc_find(w, old->pid))
        return;
    struct module changed = module_value(old);
    changed.pid = like->pid;
    changed.user = like->user;
    changed.map_start = like->map_start;
    changed.map_end = like->map_end;
    modtab_replace(&w->modules, m, &changed);
}

struct mod *user_mod(struct world *w, const struct proc *p, const struct module *like, bool program)
{
    struct module m = *like;
    struct mod *mod;

    m.live = w->live;
    m.pid = p->pid;
    m.user = p->uid == ~0u ? 0 : p->uid + 1;
    if (module_is_memfd(m.path) && (w->as_perf || program))
        m.kind = MODULE_FILE;
    else
        m.kind = module_classify(&m.path);
    /* a 32-bit process has another vdso than flametop */
    if (m.kind == MODULE_VDSO && w->live && sizeof(void *) == 8 && m.map_start <= UINT32_MAX)
        m.path = MODULE_VDSO32;
    if (m.kind != MODULE_FILE) {
        m.maj = m.min = 0;
        m.ino = m.ino_generation = 0;
        m.build_id_size = 0;
    }
    m.epoch = m.kind == MODULE_JIT ? p->jit_epoch : 0;
    mod = modtab_get(&w->modules, &m, m.kind == MODULE_JIT ? jit_serial(p->image->serial, m.epoch) : 0);
    refresh_way(w, mod, &m);
    return mod;
}

static void mapped(struct world *w, struct space *s, const struct space_map *map, size_t before, bool changed)
{
    if (!changed)
        modtab_drop_unused(&w->modules, map->mod);
    space_changed(w, s, before, changed);
}

void map_add(struct world *w, struct space *s, const struct space_map *map)
{
    size_t before = space_bytes(s);
    mapped(w, s, map, before, space_add(s, &w->modules, map));
}

void map_fill(struct world *w, struct space *s, const struct space_map *map)
{
    size_t before = space_bytes(s);
    mapped(w, s, map, before, space_fill(s, map));
}

void map_found(struct world *w, const struct proc *p, const struct module *like, struct space_map map,
               bool program)
{
    struct space *s = p->image->space;
    const struct space_map *now = space_find(s, map.start);

    if (!now || now->time_ns != map.time_ns || now->mod->module->kind != MODULE_JIT || now->end < map.end)
        return;
    map.mod = user_mod(w, p, like, program);
    map_add(w, s, &map);
}
