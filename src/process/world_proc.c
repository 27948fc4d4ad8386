// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes that started before the first record: chooses what to read from /proc and merges it with the
 * records. */
#include <string.h>

#include "process/proc.h"
#include "process/world_state.h"

/* Returns the forked-from process whose memory p still shares, if that process can be read. */
static uint32_t owner_to_read(const struct world *w, const struct proc *p)
{
    const struct space *s = p->image->space;
    const struct proc *owner = s->owner_pid == p->pid ? NULL : proc_find(w, s->owner_pid);

    return owner && !owner->read && owner->n_live && owner->image->space == s ? owner->pid : p->pid;
}

uint32_t world_wants_proc(const struct world *w, uint32_t pid)
{
    const struct proc *p = proc_find(w, pid), *parent;

    if (!w->live || pid == 0 || pid == WORLD_NO_PID)
        return 0;
    if (!p)
        return pid;
    if (p->read || !p->n_live)
        return 0;
    if (!p->image->space->complete)
        return owner_to_read(w, p);
    if (p->uid != ~0u)
        return 0;
    parent = proc_parent(w, p);
    if (!parent)
        return pid;
    if (parent->uid != ~0u)
        return 0;
    return parent->read || !parent->n_live ? pid : parent->pid;
}

bool world_is_stale(const struct world *w, uint32_t pid)
{
    const struct proc *p = w->live && w->losses ? proc_find(w, pid) : NULL;

    return p && p->losses != w->losses && p->n_live && pid != 0 && pid != WORLD_NO_PID;
}

struct proc_snapshot *world_read_proc(uint32_t pid)
{
    return proc_read(pid);
}

bool world_wants_namespaces(const struct world *w, uint32_t pid)
{
    const struct proc *p = proc_find(w, pid);

    return w->live && pid != 0 && p && !p->namespaces_read && p->n_live;
}

/* Uses the namespaces of the process's first thread: other threads rarely have their own. */
void world_set_namespaces(struct world *w, uint32_t pid, const struct namespaces *ns)
{
    struct proc *p = proc_find(w, pid);
    const struct task *leader = task_find(w, pid);

    if (!p)
        return;
    p->namespaces_read = true;
    if (!ns)
        return;
    p->namespaces = namespaces_number(&w->namespaces, ns);
    if (leader && leader->proc == p && leader->version)
        w->entries[leader->version].t.namespaces = p->namespaces;
}

/* A mapping next to a file's mapping may be a copy of the file: only a comparison of the bytes can tell. */
static void note_copy(struct world *w, const struct proc *p, const struct maps_entry *e,
                      const struct space_map *map)
{
    struct module file = { .kind = MODULE_FILE,
                           .path = e->group_sums.path,
                           .maj = e->group_sums.maj,
                           .min = e->group_sums.min,
                           .ino = e->group_sums.ino };
    struct space_map copy = *map;
    struct module *m;

    if (!e->group_sums.path)
        return;
    copy.pgoff = e->group_sums.pgoff;
    m = module_new(&file);
    remap_wait(w, p, m, &copy);
    module_put(m);
}

static struct space_map map_of(struct world *w, const struct proc *p, const struct maps_entry *e)
{
    struct module like = {
        .path = e->path, .maj = e->maj, .min = e->min, .ino = e->ino, .map_start = e->start, .map_end = e->end
    };
    struct space_map map = { .start = e->start, .end = e->end, .mod = user_mod(w, p, &like, e->program) };

    if (e->program)
        memfd_learn(w, e->ino, true);
    if (map.mod->module->kind == MODULE_JIT)
        map.pgoff = map.start;
    else if (map.mod->module->kind == MODULE_FILE)
        map.pgoff = e->pgoff;
    return map;
}

static void install_maps(struct world *w, struct proc *p, const struct proc_snapshot *snap)
{
    struct space *s = p->image->space;

    if (s->complete)
        return;
    /* Children that still share their parent's memory get what is read for the parent; a child's data does
     * not change its parent. */
    if (s->owner_pid != p->pid)
        s = image_writable(w, p->image, p->pid);
    for (uint32_t i = 0; i < snap->maps.n; i++) {
        const struct maps_entry *e = &snap->maps.items[i];
        struct space_map map = map_of(w, p, e);

        note_copy(w, p, e, &map);
        map_fill(w, s, &map);
    }
    s->complete = true;
}

/* ---- after records were lost ---- */

/* True if the process has called exec: that maps the vDSO anew, at a random address. Without randomisation,
 * the new program's mappings replace those of the previous one. */
static bool runs_another_program(const struct space *s, const struct proc_snapshot *snap)
{
    const struct maps_entry *now = NULL;
    bool known = false;

    for (uint32_t i = 0; i < snap->maps.n && !now; i++)
        if (!strcmp(snap->maps.items[i].path, "[vdso]"))
            now = &snap->maps.items[i];
    for (uint32_t i = 0; i < s->n && now; i++) {
        bool vdso = s->maps[i].mod->module->kind == MODULE_VDSO;
        if (vdso && s->maps[i].start == now->start)
            return false;
        known |= vdso;
    }
    return known;
}

static bool is_same_file(const struct module *a, const struct module *b)
{
    return a->kind == MODULE_FILE && b->kind == MODULE_FILE && a->ino && a->ino == b->ino &&
           a->maj == b->maj && a->min == b->min;
}

/* Adds the mappings whose records were lost. What anonymous memory contains is known from its record only. */
static void correct_maps(struct world *w, struct proc *p, const struct proc_snapshot *snap)
{
    for (uint32_t i = 0; i < snap->maps.n; i++) {
        const struct maps_entry *e = &snap->maps.items[i];
        struct space_map map = map_of(w, p, e);
        bool jit = map.mod->module->kind == MODULE_JIT;
        const struct space_map *known = space_find(p->image->space, map.start);

        /* a record has the path that the process sees */
        if (known && known->mod != map.mod && is_same_file(known->mod->module, map.mod->module)) {
            modtab_drop_unused(&w->modules, map.mod);
            map.mod = known->mod;
        }
        map.time_ns = w->lost_ns;
        if (space_covers(p->image->space, &map, !jit)) {
            modtab_drop_unused(&w->modules, map.mod);
            continue;
        }
        struct space *s = image_writable(w, p->image, p->pid);
        note_copy(w, p, e, &map);
        (jit ? map_fill : map_add)(w, s, &map);
    }
}

/* /proc adds what a worker of the kernel does to its name: "kworker/0:1-events" and "kworker/0:1+events" are
 * "kworker/0:1". */
static bool is_same_comm(const char *a, const char *b)
{
    size_t n = strcspn(a, "-+");

    return !strcmp(a, b) ||
           (!strncmp(a, "kworker/", strlen("kworker/")) && n == strcspn(b, "-+") && !strncmp(a, b, n));
}

static void correct_comm(struct world *w, struct task *t, const char *comm)
{
    if (t->guessed || t->zombie >= 0 || is_same_comm(t->comm, comm))
        return;
    task_supersede(w, t);
    task_set_comm(w, t, comm, strlen(comm));
    t->since_ns = w->lost_ns;
}

/* Corrects what is known of a process. */
static void correct(struct world *w, struct proc *p, const struct proc_snapshot *snap)
{
    if (runs_another_program(p->image->space, snap)) {
        proc_exec(w, p);
        p->image->space->complete = false; /* and is filled */
    } else {
        correct_maps(w, p, snap);
    }
    for (uint32_t i = 0; i < snap->n_threads; i++) {
        struct task *t = task_find(w, snap->threads[i].tid);
        if (t && t->proc == p)
            correct_comm(w, t, snap->threads[i].comm);
    }
}

static void install_threads(struct world *w, struct proc *p, const struct proc_snapshot *snap)
{
    for (uint32_t i = 0; i < snap->n_threads; i++) {
        const struct proc_thread *from = &snap->threads[i];
        struct task *t = task_find(w, from->tid);

        /* the tid belongs to another process now or did before: records will tell */
        if (t && t->proc != p)
            continue;
        if (!t)
            t = task_new(w, p, from->tid);
        if (t->guessed)
            task_set_comm(w, t, from->comm, strlen(from->comm));
        if (t->version && w->entries[t->version].t.uid == ~0u)
            w->entries[t->version].t.uid = p->uid;
        if (t->version && !w->entries[t->version].t.namespaces)
            w->entries[t->version].t.namespaces = p->namespaces;
    }
}

/* The record of its start, if there was one, has its parent of that time. */
static void install_parent(struct world *w, struct proc *p, const struct proc_snapshot *snap)
{
    const struct task *leader = task_find(w, p->pid);

    if (p->ppid)
        return;
    p->ppid = snap->ppid;
    memcpy(p->parent, snap->parent, sizeof p->parent);
    if (leader && leader->proc == p && leader->version) {
        struct world_thread *t = &w->entries[leader->version].t;
        t->ppid = p->ppid;
        memcpy(t->parent, p->parent, sizeof t->parent);
    }
}

void world_install(struct world *w, uint32_t pid, struct proc_snapshot *snap)
{
    struct proc *p = proc_find(w, pid);

    if (!w->live || pid == 0 || pid == WORLD_NO_PID || snap->pid != pid) {
        proc_snapshot_free(snap);
        return;
    }
    if (!p) {
        struct task *leader = task_of(w, pid, pid);

        p = leader->proc;
        /* the record of its exit may never come */
        if (snap->gone)
            task_exit(w, leader);
    }
    if (!snap->gone && p->losses != w->losses)
        correct(w, p, snap);
    p->losses = w->losses;
    p->read = p->namespaces_read = true;
    if (!snap->gone) {
        p->uid = snap->uid;
        install_parent(w, p, snap);
        if (snap->cgroup)
            p->cgroup = snap->cgroup;
        if (snap->has_namespaces)
            p->namespaces = namespaces_number(&w->namespaces, &snap->namespaces);
        install_maps(w, p, snap);
        install_threads(w, p, snap);
    }
    proc_snapshot_free(snap);
}
