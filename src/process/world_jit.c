// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a new module when the names of JIT code change: samples from after the change must not get the old
 * names. */
#include "process/world_state.h"

static struct mod *successor(struct world *w, const struct mod *old, uint32_t epoch)
{
    struct module like = module_value(old->module);

    like.epoch = epoch;
    return modtab_get(&w->modules, &like, jit_serial(old->serial & (jit_serial(0, 1) - 1), epoch));
}

/* Changes forked children too, as they run the same code. Mappings held for a sample stay as they are. */
static bool change_everywhere(struct world *w, struct mod *from, struct mod *to)
{
    bool changed = false;
    uint64_t value;

    for (size_t pos = 0; map_next(&w->procs, &pos, NULL, &value);) {
        struct image *im = ((struct proc *)(uintptr_t)value)->image;
        struct space *s;

        if (!space_maps_module(im->space, from))
            continue;
        s = image_writable(w, im, im->space->owner_pid);
        space_change_module(s, &w->modules, from, to);
        s->version = ++w->version;
        changed = true;
    }
    return changed;
}

uint32_t world_renew_jit(struct world *w, uint32_t module)
{
    struct mod *old = modtab_find(&w->modules, module), *new;
    struct proc *p;

    if (!old || old->module->kind != MODULE_JIT)
        return 0;
    old->asked = true;
    new = successor(w, old, ++w->jit_epochs);
    if (!change_everywhere(w, old, new)) {
        modtab_drop_unused(&w->modules, new);
        return 0;
    }
    p = proc_find(w, old->module->pid);
    if (p && jit_serial(p->image->serial, p->jit_epoch) == old->serial)
        p->jit_epoch = new->module->epoch;
    new->asked = true;
    return new->module->id;
}

uint32_t world_past_jit(struct world *w, uint32_t module)
{
    struct mod *of = modtab_find(&w->modules, module), *past;
    struct module like;

    if (!of || of->module->kind != MODULE_JIT)
        return 0;
    like = module_value(of->module);
    like.past = true;
    like.epoch = ++w->jit_epochs;
    past = modtab_get(&w->modules, &like, jit_serial(of->serial & (jit_serial(0, 1) - 1), like.epoch));
    past->asked = true;
    return past->module->id;
}

void world_set_jit_epoch(struct world *w, uint32_t pid, uint32_t epoch)
{
    struct proc *p = task_of(w, pid, pid)->proc;

    p->jit_epoch = epoch;
    for (uint32_t i = 0; i < p->image->space->n; i++) {
        struct mod *old = p->image->space->maps[i].mod;

        if (old->module->kind == MODULE_JIT && old->module->pid == pid && old->module->epoch != epoch) {
            old->asked = true;
            change_everywhere(w, old, successor(w, old, epoch));
        }
    }
}
