// SPDX-License-Identifier: GPL-2.0-or-later
/* Tasks, processes, and the images that they run. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "process/world_state.h"

void space_changed(struct world *w, struct space *s, size_t bytes_before, bool changed)
{
    w->bytes += space_bytes(s) - bytes_before;
    if (changed)
        s->version = ++w->version;
}

struct task *task_find(const struct world *w, uint32_t tid)
{
    uint64_t value;

    return map_get(&w->tasks, tid, &value) ? (struct task *)(uintptr_t)value : NULL;
}

struct proc *proc_find(const struct world *w, uint32_t pid)
{
    uint64_t value;

    return map_get(&w->procs, pid, &value) ? (struct proc *)(uintptr_t)value : NULL;
}

const struct proc *proc_parent(const struct world *w, const struct proc *p)
{
    const struct proc *parent = p->ppid ? proc_find(w, p->ppid) : NULL;

    return parent == p ? NULL : parent;
}

/* ---- images ---- */

/* Takes ownership of space. */
static struct image *image_new(struct world *w, struct space *space)
{
    struct image *im = mem_zalloc(sizeof *im);

    im->refs = 1;
    im->serial = ++w->next_serial;
    im->space = space;
    w->bytes += sizeof *im;
    return im;
}

void world_put_space(struct world *w, struct space *s)
{
    if (s->refs == 1)
        w->bytes -= space_bytes(s);
    space_put(s, &w->modules);
}

void image_put(struct world *w, struct image *im)
{
    if (--im->refs)
        return;
    if (im->id)
        map_del(&w->images, im->id);
    world_put_space(w, im->space);
    image_runs(w, im);
    mem_free(im);
    w->bytes -= sizeof *im;
}

static struct space *empty_space(struct world *w, uint32_t pid, bool complete)
{
    struct space *s = space_new();

    s->version = ++w->version;
    s->complete = complete;
    s->owner_pid = pid;
    w->bytes += space_bytes(s);
    return s;
}

void image_runs(struct world *w, struct image *im)
{
    if (im->before)
        world_put_space(w, im->before);
    im->before = NULL;
}

void image_remember(struct world *w, struct image *im, uint32_t pid, const struct space_map *map)
{
    struct space *s = image_writable(w, im, pid);
    size_t before = space_bytes(s);

    space_remember(s, &w->modules, map);
    space_changed(w, s, before, false);
}

struct space *image_writable(struct world *w, struct image *im, uint32_t pid)
{
    struct space *shared = im->space;

    if (shared->refs == 1)
        return shared;
    if (w->limit && w->bytes + space_bytes(shared) > w->limit) {
        w->spaces_left_out++;
        im->space = empty_space(w, pid, true);
    } else {
        im->space = space_clone(shared);
        im->space->owner_pid = pid;
        im->space->version = ++w->version;
        w->bytes += space_bytes(im->space);
    }
    world_put_space(w, shared);
    return im->space;
}

/* ---- processes ---- */

struct proc *proc_new(struct world *w, uint32_t pid, struct space *space)
{
    struct proc *p = mem_zalloc(sizeof *p);

    p->pid = pid;
    p->uid = ~0u;
    p->losses = w->losses;
    /* idle tasks and ended processes have nothing in /proc */
    if (!space)
        space = empty_space(w, pid, !w->live || pid == 0 || pid == WORLD_NO_PID);
    p->image = image_new(w, space);
    map_put(&w->procs, pid, (uintptr_t)p);
    w->bytes += sizeof *p;
    return p;
}

void proc_exec(struct world *w, struct proc *p)
{
    struct space *before = p->image->space;

    before->refs++;
    image_put(w, p->image);
    p->namespaces_read = p->forked = false;
    p->losses = w->losses;
    p->image = image_new(w, w->as_perf ? before : empty_space(w, p->pid, true));
    if (!w->as_perf)
        p->image->before = before;
}

static void proc_leave(struct world *w, struct proc *p)
{
    if (--p->n_tasks)
        return;
    if (proc_find(w, p->pid) == p)
        map_del(&w->procs, p->pid);
    image_put(w, p->image);
    mem_free(p);
    w->bytes -= sizeof *p;
}

/* ---- tasks ---- */

static void guess_comm(struct task *t)
{
    t->guessed = t->tid != 0;
    if (t->guessed)
        snprintf(t->comm, sizeof t->comm, t->tid == WORLD_NO_PID ? ":-1" : ":%u", t->tid);
    else
        snprintf(t->comm, sizeof t->comm, "swapper");
}

struct task *task_new(struct world *w, struct proc *p, uint32_t tid)
{
    struct task *t = mem_zalloc(sizeof *t);

    t->tid = tid;
    t->zombie = -1;
    t->proc = p;
    p->n_tasks++;
    p->n_live++;
    guess_comm(t);
    map_put(&w->tasks, tid, (uintptr_t)t);
    w->bytes += sizeof *t;
    return t;
}

void task_supersede(struct world *w, struct task *t)
{
    if (t->version)
        w->entries[t->version].task = NULL;
    t->version = 0;
}

void task_free(struct world *w, struct task *t)
{
    if (t->zombie >= 0)
        w->zombies[t->zombie] = NULL;
    else
        t->proc->n_live--;
    task_supersede(w, t);
    if (task_find(w, t->tid) == t)
        map_del(&w->tasks, t->tid);
    proc_leave(w, t->proc);
    mem_free(t);
    w->bytes -= sizeof *t;
}

void task_exit(struct world *w, struct task *t)
{
    uint32_t location;

    if (t->zombie >= 0)
        return;
    location = w->next_zombie++ % WORLD_ZOMBIES;
    if (t->version)
        w->entries[t->version].t.exited = true;
    t->proc->n_live--;
    if (w->zombies[location])
        task_free(w, w->zombies[location]);
    t->zombie = (int32_t)location;
    w->zombies[location] = t;
}

const char *world_process_comm(const struct world *w, uint32_t pid)
{
    const struct task *leader = task_find(w, pid);

    return leader && leader->proc->pid == pid && !leader->guessed ? leader->comm : NULL;
}

const char *world_id_text(uint32_t id, char *dst, size_t cap)
{
    (void)snprintf(dst, cap, id == WORLD_ENDED ? "[ended]" : "%u", id);
    return dst;
}

const char *world_task_label(const char *comm, uint32_t id, char *dst, size_t cap)
{
    char number[16];
    (void)snprintf(dst, cap, "%s/%s", comm, world_id_text(id, number, sizeof number));
    return dst;
}

const char *world_parent_label(uint32_t ppid, const char *parent, char *dst, size_t cap)
{
    if (!ppid)
        (void)snprintf(dst, cap, "[unknown]");
    else if (!*parent)
        (void)snprintf(dst, cap, "pid %u", ppid);
    else
        (void)world_task_label(parent, ppid, dst, cap);
    return dst;
}

bool world_is_forked(const struct world *w, uint32_t pid)
{
    const struct proc *p = proc_find(w, pid);

    return p && p->forked;
}

/* An unknown thread gets the name of its process's first thread. */
static void borrow_comm(struct world *w, struct task *t)
{
    const struct task *leader = task_find(w, t->proc->pid);

    if (w->as_perf || !leader || leader == t || leader->guessed || leader->proc != t->proc)
        return;
    memcpy(t->comm, leader->comm, sizeof t->comm);
}

struct task *task_of(struct world *w, uint32_t pid, uint32_t tid)
{
    struct task *t = task_find(w, tid);
    struct proc *p;

    if (t && t->proc->pid == pid)
        return t;
    /* Another process has this tid now: the exit of the previous task was missed. */
    if (t) {
        if (t->version)
            w->entries[t->version].t.exited = true;
        task_free(w, t);
    }
    p = proc_find(w, pid);
    t = task_new(w, p ? p : proc_new(w, pid, NULL), tid);
    borrow_comm(w, t);
    return t;
}

void task_set_comm(struct world *w, struct task *t, const char *comm, size_t n)
{
    text_clean(t->comm, sizeof t->comm, comm, n);
    t->guessed = false;
    if (t->version)
        memcpy(w->entries[t->version].t.comm, t->comm, sizeof t->comm);
}
