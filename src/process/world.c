// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/world.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "process/world_state.h"

#define KTHREADD_PID 2

struct world *world_new(bool live)
{
    struct world *w = mem_zalloc(sizeof *w);

    w->live = live;
    w->n_entries = 1;
    w->scratch = mem_zalloc(sizeof *w->scratch);
    w->kernel = space_new();
    w->cgroups = cgroups_new(live ? cgroup_root() : NULL);
    modtab_init(&w->modules, live);
    MEM_GROW(w->entries, w->entries_cap, 1);
    w->entries[0] = (struct entry){ 0 };
    if (live)
        (void)world_read_kernel_modules(w);
    return w;
}

static void free_tasks(struct world *w)
{
    struct task **tasks = mem_array(w->tasks.n, sizeof(struct task *));
    size_t n = 0;
    uint64_t value;

    for (size_t pos = 0; map_next(&w->tasks, &pos, NULL, &value);)
        tasks[n++] = (struct task *)(uintptr_t)value;
    while (n)
        task_free(w, tasks[--n]);
    mem_free(tasks);
}

void world_resync(struct world *w)
{
    if (w->live)
        free_tasks(w);
}

void world_set_with_data(struct world *w)
{
    w->with_data = true;
}

void world_set_as_perf(struct world *w)
{
    w->as_perf = true;
}

void world_set_limit(struct world *w, size_t bytes)
{
    w->limit = bytes;
}

uint64_t world_unseen(const struct world *w)
{
    return w->unseen;
}

uint64_t world_spaces_left_out(const struct world *w)
{
    return w->spaces_left_out;
}

void world_free(struct world *w)
{
    if (!w)
        return;
    free_tasks(w);
    for (uint32_t i = 1; i < w->n_entries; i++)
        image_put(w, w->entries[i].image);
    space_put(w->kernel, &w->modules);
    modtab_done(&w->modules);
    cgroups_free(w->cgroups);
    namespaces_done(&w->namespaces);
    memfds_done(&w->memfds);
    remaps_done(&w->remaps);
    VEC_FREE(&w->kernel_modules);
    map_done(&w->tasks);
    map_done(&w->procs);
    map_done(&w->images);
    mem_free(w->entries);
    mem_free(w->scratch->maps);
    mem_free(w->scratch);
    mem_free(w);
}

/* ---- records ---- */

static void inherit_comm(struct task *child, const struct task *parent)
{
    if (parent->guessed || parent->proc->pid == 0)
        return;
    memcpy(child->comm, parent->comm, sizeof child->comm);
    child->guessed = false;
}

static void set_parent(struct world *w, struct proc *p, uint32_t ppid)
{
    const char *name = world_process_comm(w, ppid);

    p->ppid = ppid;
    if (name)
        snprintf(p->parent, sizeof p->parent, "%.*s", WORLD_PARENT_MAX - 1, name);
}

void world_set_parent(struct world *w, uint32_t pid, uint32_t ppid, const char *name)
{
    struct proc *p = task_of(w, pid, pid)->proc;

    p->ppid = ppid;
    text_clean(p->parent, sizeof p->parent, name, strlen(name));
}

/* The child runs in a copy of its parent's memory, shared until one of them changes it. A FORK record that
 * perf synthesized for an earlier process means that the child has nothing of its parent. */
static struct proc *fork_process(struct world *w, const struct record *r, const struct task *parent)
{
    bool own = r->misc & PERF_RECORD_MISC_FORK_EXEC;
    struct space *space = own ? NULL : parent->proc->image->space;
    struct proc *p;

    if (space)
        space->refs++;
    p = proc_new(w, r->task.pid, space);
    set_parent(w, p, r->task.ppid);
    if (!own)
        p->losses = parent->proc->losses;
    p->forked = !own;
    p->uid = parent->proc->uid;
    p->cgroup = parent->proc->cgroup;
    p->namespaces = parent->proc->namespaces;
    p->namespaces_read = parent->proc->namespaces_read && p->namespaces;
    /* kernel threads have no memory, and their comm record follows at once */
    if (w->live && r->task.ppid == KTHREADD_PID)
        p->read = true;
    return p;
}

static void apply_fork(struct world *w, const struct record *r)
{
    bool synthesized = r->misc & PERF_RECORD_MISC_FORK_EXEC;
    uint32_t pid = r->task.pid, tid = r->task.tid;
    struct task *old = task_find(w, tid), *parent, *child;
    struct proc *p;

    if (tid == r->task.ptid)
        return;
    if (old && synthesized && old->proc->pid == pid && old->zombie < 0) {
        if (!old->proc->ppid && pid != r->task.ppid)
            set_parent(w, old->proc, r->task.ppid);
        return;
    }
    if (old) {
        if (old->version)
            w->entries[old->version].t.exited = true;
        task_free(w, old);
    }
    parent = task_of(w, r->task.ppid, r->task.ptid);
    p = pid == r->task.ppid ? parent->proc : fork_process(w, r, parent);
    child = task_new(w, p, tid);
    child->since_ns = r->id.time_ns ? r->id.time_ns : r->task.time_ns;
    if (!synthesized)
        inherit_comm(child, parent);
}

static void apply_comm(struct world *w, const struct record *r)
{
    struct task *t = task_of(w, r->comm.pid, r->comm.tid);
    const char *comm = r->comm.comm ? r->comm.comm : "";
    char before[sizeof t->comm];
    bool guessed = t->guessed;

    memcpy(before, t->comm, sizeof before);
    /* the version that was handed out keeps its name, unless that was a guess */
    uint32_t version = t->version;
    t->version = guessed && !r->comm.exec ? version : 0;
    task_set_comm(w, t, comm, strlen(comm));
    t->version = version;
    if (r->comm.exec)
        proc_exec(w, t->proc);
    if (!r->comm.exec && (guessed || !memcmp(before, t->comm, sizeof before)))
        return;
    task_supersede(w, t);
    t->since_ns = r->id.time_ns;
}

static void apply_exit(struct world *w, const struct record *r)
{
    struct task *t = task_find(w, r->task.tid);

    if (!t || t->proc->pid != r->task.pid)
        return;
    w->unseen += !t->version;
    task_exit(w, t);
}

static void apply_namespaces(struct world *w, const struct record *r)
{
    struct namespaces ns;

    if (r->namespaces.pid != r->namespaces.tid || !r->namespaces.n)
        return;
    task_of(w, r->namespaces.pid, r->namespaces.tid);
    namespaces_of_links(r->namespaces.links, r->namespaces.n, r->swap, &ns);
    world_set_namespaces(w, r->namespaces.pid, &ns);
}

const struct namespaces *world_namespaces(const struct world *w, uint32_t number)
{
    return namespaces_get(&w->namespaces, number);
}

void world_apply(struct world *w, const struct record *r)
{
    switch (r->type) {
    case PERF_RECORD_COMM:
        apply_comm(w, r);
        break;
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        apply_mmap(w, r);
        break;
    case PERF_RECORD_FORK:
        apply_fork(w, r);
        break;
    case PERF_RECORD_EXIT:
        apply_exit(w, r);
        break;
    case PERF_RECORD_CGROUP:
        cgroups_add(w->cgroups, r->cgroup.id, r->cgroup.path ? r->cgroup.path : "");
        break;
    case PERF_RECORD_KSYMBOL:
        apply_ksymbol(w, r);
        break;
    case PERF_RECORD_NAMESPACES:
        apply_namespaces(w, r);
        break;
    case PERF_RECORD_LOST:
        w->losses++;
        w->lost_ns = r->id.time_ns;
        break;
    default:
        break;
    }
}

/* ---- threads ---- */

/* Inherits what the parent did not have yet at the fork, because it had not been read. */
static void inherit_late(struct world *w, struct task *t)
{
    const struct proc *parent = proc_parent(w, t->proc);
    const struct task *leader = parent ? task_find(w, parent->pid) : NULL;

    if (!parent)
        return;
    if (t->proc->uid == ~0u)
        t->proc->uid = parent->uid;
    if (t->guessed && t->tid == t->proc->pid && leader)
        inherit_comm(t, leader);
}

static uint32_t new_version(struct world *w, struct task *t, uint64_t since_ns, uint64_t cgroup)
{
    struct image *im = t->proc->image;
    uint32_t id = w->n_entries++;
    struct entry *en;

    task_supersede(w, t);
    if (!*t->proc->parent && t->proc->ppid)
        set_parent(w, t->proc, t->proc->ppid);
    while (!im->id) {
        im->id = ++w->next_image;
        if (!im->id || map_get(&w->images, im->id, NULL))
            im->id = 0;
        else
            map_put(&w->images, im->id, (uintptr_t)im);
    }
    im->refs++;
    MEM_GROW(w->entries, w->entries_cap, w->n_entries);
    en = &w->entries[id];
    *en = (struct entry){
        .t = { .pid = t->proc->pid,
               .tid = t->tid,
               .uid = t->proc->uid,
               .image = im->id,
               .cgroup = cgroup,
               .namespaces = t->proc->namespaces,
               .start_ns = since_ns,
               .ppid = t->proc->ppid,
               .exited = t->zombie >= 0 },
        .image = im,
        .task = t,
    };
    memcpy(en->t.comm, t->comm, sizeof en->t.comm);
    memcpy(en->t.parent, t->proc->parent, sizeof en->t.parent);
    t->version = id;
    return id;
}

uint32_t world_thread_of(struct world *w, uint32_t pid, uint32_t tid, uint64_t time_ns, uint64_t cgroup)
{
    struct task *t = task_of(w, pid, tid);
    struct entry *en = t->version ? &w->entries[t->version] : NULL;

    if (!cgroup)
        cgroup = t->proc->cgroup;
    if (en && en->image == t->proc->image) {
        if (!en->t.cgroup)
            en->t.cgroup = cgroup;
        if (!cgroup || en->t.cgroup == cgroup)
            return t->version;
        t->since_ns = time_ns;
    }
    if (t->guessed || t->proc->uid == ~0u)
        inherit_late(w, t);
    return new_version(w, t, t->since_ns, cgroup);
}

uint32_t world_thread_count(const struct world *w)
{
    return w->n_entries;
}

const struct world_thread *world_thread(const struct world *w, uint32_t thread)
{
    return thread && thread < w->n_entries ? &w->entries[thread].t : NULL;
}

/* ---- addresses ---- */

/* True if the kernel is in the upper half of the address space, so that lower addresses are not the kernel's.
 * A file may come from another architecture: its kernel's start address decides. */
static bool has_upper_half(const struct world *w)
{
#if defined(__x86_64__) || defined(__aarch64__)
    if (w->live)
        return true;
#endif
    return modtab_find(&w->modules, MODULE_ID_KERNEL)->module->start >> 63;
}

static bool kernel_location(struct world *w, uint64_t addr, struct location *out)
{
    const struct space_map *m = space_find(w->kernel, addr);

    *out = (struct location){ MODULE_ID_KERNEL, addr };
    if (m) {
        m->mod->asked = true;
        out->module = m->mod->module->id;
        return true;
    }
    if (addr >> 63 || !has_upper_half(w))
        return true;
    out->module = MODULE_ID_UNKNOWN;
    return false;
}

bool world_resolve(struct world *w, uint32_t thread, uint64_t addr, bool kernel, struct location *out)
{
    struct image *im;

    if (kernel)
        return kernel_location(w, addr, out);
    im = thread && thread < w->n_entries ? w->entries[thread].image : NULL;
    if (!world_resolve_held(im ? im->space : NULL, addr, out))
        return false;
    image_runs(w, im);
    return true;
}

/* During an exec a thread is still sampled when the new program is already mapped; its kernel entry is an
 * address of the previous program. */
bool world_resolve_before(struct world *w, uint32_t thread, uint64_t addr, struct location *out)
{
    struct image *im = thread && thread < w->n_entries ? w->entries[thread].image : NULL;

    if (!im || !im->before || !world_resolve_held(im->before, addr, out))
        return false;
    image_remember(w, im, w->entries[thread].t.pid, space_find(im->before, addr));
    return true;
}

struct space *world_hold_maps(struct world *w, uint32_t thread)
{
    if (!thread || thread >= w->n_entries)
        return NULL;
    w->entries[thread].image->space->refs++;
    return w->entries[thread].image->space;
}

void world_let_maps(struct world *w, struct space *held)
{
    if (held)
        world_put_space(w, held);
}

uint32_t world_held_version(const struct space *held)
{
    return held->version;
}

bool world_resolve_held(struct space *held, uint64_t addr, struct location *out)
{
    const struct space_map *m = held ? space_find(held, addr) : NULL;

    if (!m) {
        *out = (struct location){ MODULE_ID_UNKNOWN, addr };
        return false;
    }
    m->mod->asked = true;
    *out = (struct location){ m->mod->module->id, m->pgoff + (addr - m->start) };
    return true;
}

static const struct image *image_find(const struct world *w, uint32_t image)
{
    uint64_t value;

    return image && map_get(&w->images, image, &value) ? (const struct image *)(uintptr_t)value : NULL;
}

uint32_t world_image_version(const struct world *w, uint32_t image)
{
    const struct image *im = image_find(w, image);

    return im ? im->space->version : 0;
}

struct module *world_module(const struct world *w, uint32_t id)
{
    const struct mod *m = modtab_find(&w->modules, id);

    return m ? m->module : NULL;
}

const char *world_cgroup_path(struct world *w, uint64_t id)
{
    return cgroups_path(w->cgroups, id);
}

uint32_t world_image_maps(const struct world *w, uint32_t image, const struct world_map **maps)
{
    const struct image *im = image_find(w, image);

    *maps = NULL;
    if (!im)
        return 0;
    MEM_GROW(w->scratch->maps, w->scratch->cap, im->space->n + im->space->n_retired);
    *maps = w->scratch->maps;
    return space_list(im->space, w->scratch->maps);
}

bool world_image_has_maps(const struct world *w, uint32_t image)
{
    const struct image *im = image_find(w, image);

    return im && im->space->n + im->space->n_retired;
}

/* Not that of a stack, which is above 4 GiB at first in any program. */
static bool tells_width(enum module_kind kind)
{
    return kind == MODULE_FILE || kind == MODULE_VDSO;
}

bool world_image_is_32_bits(const struct world *w, uint32_t image)
{
    const struct image *im = image_find(w, image);
    uint32_t n = sizeof(void *) > 4 && im ? im->space->n : 0;
    while (n && !tells_width(im->space->maps[n - 1].mod->module->kind))
        n--;
    return n && im->space->maps[n - 1].end <= UINT32_MAX;
}

bool world_address(const struct world *w, uint32_t image, uint32_t module, uint64_t offset, uint64_t time_ns,
                   struct world_address *out)
{
    const struct mod *m = modtab_find(&w->modules, module);
    const struct image *im = image_find(w, image);

    if (!m)
        return false;
    *out = (struct world_address){ offset, UINT64_MAX };
    if (module_is_absolute(m->module->kind))
        return true;
    return im && space_address(im->space, module, offset, time_ns, out);
}

size_t world_bytes(const struct world *w)
{
    return sizeof *w + w->bytes + w->entries_cap * sizeof *w->entries + map_bytes(&w->tasks) +
           map_bytes(&w->procs) + map_bytes(&w->images) + map_bytes(&w->modules.by_id) +
           map_bytes(&w->modules.by_key) + w->modules.bytes + cgroups_bytes(w->cgroups) +
           space_bytes(w->kernel) + w->scratch->cap * sizeof *w->scratch->maps;
}

void world_set_build_id(struct world *w, const char *path, const uint8_t *id, unsigned size, bool kernel)
{
    modtab_set_build_id(&w->modules, path, id, size, kernel);
}
