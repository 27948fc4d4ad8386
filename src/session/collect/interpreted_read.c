// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads interpreter data from live processes: the layout, threads and code objects. The memory of another
 * process can be slow to read, so nothing is read under the lock, and the opener waits instead of this
 * thread. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/live.h"
#include "perf/targets.h"
#include "process/opener.h"
#include "process/proc.h"
#include "process/task.h"
#include "session/collect/interpreted.h"

#define BURST_NS  (400 * (int64_t)NS_PER_MS) /* limit for reading at once, */
#define SHARE     100                        /* then 1 % of a CPU */
#define ROUND_NS  (40 * NS_PER_MS)           /* after which samples are drained again */
#define TRIES_MAX 10
/* retry interval for a starting interpreter; doubles with each try */
#define TRY_NS       (4 * NS_PER_MS)
#define THREADS_NS   (100 * NS_PER_MS) /* between two reads of a process's threads */
#define THREADS_MAX  1024
#define BLOCK        1024
#define PREPARED_MAX 64 /* processes that are prepared before the start */

struct reader {
    uint32_t pid;
    uint64_t at; /* address of the block's data */
    size_t n;    /* bytes in the block */
    uint8_t block[BLOCK];
};

/* Reads through a one-block cache: objects are read header first, then the rest, and one block usually has
 * both. */
static bool read_block(void *ctx, uint64_t address, void *to, size_t n)
{
    struct reader *r = ctx;
    if (address + n < address)
        return false;
    if (n > BLOCK)
        return opener_read_memory(r->pid, address, to, n) == n;
    if (address < r->at || address - r->at > r->n || r->n - (address - r->at) < n) {
        r->at = address;
        r->n = opener_read_memory(r->pid, address, r->block, BLOCK);
    }
    if (r->n < n || address < r->at || address - r->at > r->n - n)
        return false;
    memcpy(to, r->block + (address - r->at), n);
    return true;
}

/* ---- the probe ---- */

static void open_probe(struct session *s)
{
    struct interpreted *in = s->unwind.interpreted;
    struct error e = { 0 };
    if (in->probe || in->refused[0])
        return;
    struct stackprobe *probe = stackprobe_open(&e);
    pthread_mutex_lock(&s->store.lock);
    in->probe = probe;
    if (!probe)
        snprintf(in->refused, sizeof in->refused, "%s", e.text);
    pthread_mutex_unlock(&s->store.lock);
    if (!probe)
        log_add("interpreted frames are not read: %s", e.text);
}

static void attach_probe(struct session *s)
{
    struct interpreted *in = s->unwind.interpreted;
    if (!in->probe || !s->source.live || in->source == s->source.n_sources)
        return;
    bool runs = live_run(s->source.live, in->probe);
    pthread_mutex_lock(&s->store.lock);
    in->source = s->source.n_sources;
    in->unable = runs ? 0 : in->source;
    pthread_mutex_unlock(&s->store.lock);
}

/* ---- processes and threads ---- */

/* Copies a process. The list may change whenever the lock is released, so nothing points into it. */
static bool copy_process(struct session *s, uint32_t index, struct script_process *out)
{
    struct interpreted *in = s->unwind.interpreted;
    pthread_mutex_lock(&s->store.lock);
    bool there = index < in->processes.n;
    if (there)
        *out = in->processes.items[index];
    pthread_mutex_unlock(&s->store.lock);
    return there;
}

static void put_process(struct session *s, uint32_t index, const struct script_process *p)
{
    struct interpreted *in = s->unwind.interpreted;
    pthread_mutex_lock(&s->store.lock);
    if (index < in->processes.n && in->processes.items[index].image == p->image &&
        in->processes.items[index].base == p->base) {
        in->processes.items[index] = *p;
        if (p->state == SCRIPT_READY && in->probe)
            stackprobe_follow(in->probe, p->pid, &p->process.layout);
    }
    pthread_mutex_unlock(&s->store.lock);
}

static uint64_t waiting_sp(uint32_t pid, uint32_t tid)
{
    int dir = task_open(pid, tid);
    struct task_call call = { 0 };
    if (dir >= 0) {
        call = task_read_call(dir, "syscall");
        close(dir);
    }
    return call.stack;
}

/* All threads with their tids. `all` has room for THREADS_MAX; returns their number. */
static uint32_t list_threads(const struct interpreter *of, const struct interpreter_process *p, uint32_t pid,
                             struct interpreter_thread *all)
{
    struct reader r = { .pid = pid };
    const struct interpreter_memory m = { &r, read_block };
    uint32_t n = of->threads(&m, p, all, THREADS_MAX);
    interpreter_tids(&m, p, pid, all, n);
    return n;
}

/* By the tid, or by the stack pointer; 0: not known. sp 0: of a thread that waits. */
static uint64_t state_of(const struct interpreter_process *p, const struct interpreter_thread *all,
                         uint32_t n, uint32_t pid, uint32_t tid, uint64_t sp)
{
    bool is_main = tid == pid;
    for (uint32_t i = 0; i < n && !is_main; i++)
        if (all[i].tid == tid)
            return all[i].state;
    if (!is_main && !sp)
        sp = waiting_sp(pid, tid);
    return is_main || sp ? interpreter_state_of(p, all, n, is_main, sp) : 0;
}

/* Sets the states of all threads. A thread that waits or runs other code has released the interpreter's lock,
 * which then names another thread: without this, its first samples and waits would have no frames. */
static void find_states(struct session *s, uint32_t pid, const struct interpreter *of,
                        const struct interpreter_process *p)
{
    struct interpreter_thread *states = mem_array(THREADS_MAX, sizeof *states);
    uint32_t n, n_states = list_threads(of, p, pid, states);
    uint32_t *tids = targets_threads_of(pid, &n);
    for (uint32_t i = 0; i < n && i < THREADS_MAX; i++) {
        uint64_t state = state_of(p, states, n_states, pid, tids[i], 0);
        if (!state)
            continue;
        pthread_mutex_lock(&s->store.lock);
        stackprobe_set_thread(s->unwind.interpreted->probe, tids[i], state);
        pthread_mutex_unlock(&s->store.lock);
    }
    mem_free(tids);
    mem_free(states);
}

static void find_one(struct session *s, uint32_t index, struct script_process *p)
{
    struct reader r = { .pid = p->pid };
    const struct interpreter_memory m = { &r, read_block };
    struct error e = { 0 };
    bool found = p->of->find(&m, p->module, p->base, &p->process, &e);
    p->process.layout.tag = p->image;
    if (found)
        p->state = SCRIPT_READY;
    else if (++p->tries >= TRIES_MAX)
        p->state = SCRIPT_FAILED;
    p->next_ns = clock_now_ns() + (TRY_NS << p->tries);
    snprintf(p->why, sizeof p->why, "%s", e.text);
    put_process(s, index, p);
    if (found && s->unwind.interpreted->probe)
        find_states(s, p->pid, p->of, &p->process);
}

/* False: some are left for later. */
static bool find_processes(struct session *s, uint64_t end_ns)
{
    struct script_process p;
    bool all = true;
    for (uint32_t i = 0; copy_process(s, i, &p); i++) {
        uint64_t now_ns = clock_now_ns();
        if (p.state == SCRIPT_WANTED && now_ns < end_ns && now_ns >= p.next_ns)
            find_one(s, i, &p);
        all &= p.state != SCRIPT_WANTED;
    }
    return all;
}

static void find_thread(struct session *s, const struct script_thread *wanted,
                        struct interpreter_thread *room)
{
    struct script_process p;
    if (!copy_process(s, wanted->process, &p) || p.state != SCRIPT_READY)
        return;
    uint32_t n = list_threads(p.of, &p.process, p.pid, room);
    uint64_t state = state_of(&p.process, room, n, wanted->pid, wanted->tid, wanted->sp);
    pthread_mutex_lock(&s->store.lock);
    stackprobe_set_thread(s->unwind.interpreted->probe, wanted->tid, state);
    pthread_mutex_unlock(&s->store.lock);
}

static void find_threads(struct session *s)
{
    struct interpreted *in = s->unwind.interpreted;
    struct script_thread wanted[SCRIPT_THREADS_WANTED];
    uint64_t now_ns = clock_now_ns();
    pthread_mutex_lock(&s->store.lock);
    unsigned n = in->probe && now_ns >= in->threads_ns ? in->n_threads : 0;
    memcpy(wanted, in->threads, n * sizeof *wanted);
    in->n_threads -= n;
    pthread_mutex_unlock(&s->store.lock);
    if (!n)
        return;
    struct interpreter_thread *room = mem_array(THREADS_MAX, sizeof *room);
    for (unsigned i = 0; i < n; i++)
        find_thread(s, &wanted[i], room);
    mem_free(room);
    in->threads_ns = clock_now_ns() + THREADS_NS;
}

/* ---- code ---- */

static bool copy_code(struct session *s, struct script_code *c, struct script_process *p, size_t *index,
                      uint32_t *cleared)
{
    struct interpreted *in = s->unwind.interpreted;
    pthread_mutex_lock(&s->store.lock);
    *index = in->n_read;
    *cleared = in->cleared;
    bool more = *index < in->codes.n;
    if (more) {
        *c = in->codes.items[*index];
        *p = in->processes.items[c->process];
    }
    pthread_mutex_unlock(&s->store.lock);
    return more;
}

/* False: nothing is left to read. */
static bool read_code(struct session *s)
{
    struct interpreted *in = s->unwind.interpreted;
    struct script_process p;
    struct script_code c;
    uint32_t cleared;
    size_t index;
    if (!copy_code(s, &c, &p, &index, &cleared))
        return false;
    struct reader r = { .pid = p.pid };
    const struct interpreter_memory m = { &r, read_block };
    c.state = p.state == SCRIPT_READY && p.of->read_code(&m, &p.process, c.address, &c.code) ? SCRIPT_READY
                                                                                             : SCRIPT_FAILED;
    pthread_mutex_lock(&s->store.lock);
    bool keep = c.state == SCRIPT_READY && in->cleared == cleared;
    if (!keep)
        interpreter_code_done(&c.code);
    if (in->cleared == cleared) {
        in->codes.items[index] = c;
        in->n_read++;
        in->line_bytes += c.code.n_lines;
        s->unwind.jit_frames.fresh = true;
    }
    pthread_mutex_unlock(&s->store.lock);
    return true;
}

/* ---- rounds ---- */

static bool may_read(struct interpreted *in, uint64_t now_ns)
{
    if (!in->credit_at_ns)
        in->credit_ns = BURST_NS;
    else
        in->credit_ns += (int64_t)((now_ns - in->credit_at_ns) / SHARE);
    if (in->credit_ns > BURST_NS)
        in->credit_ns = BURST_NS;
    in->credit_at_ns = now_ns;
    return in->credit_ns > 0;
}

static void read_round(struct session *s, uint64_t end_ns)
{
    struct interpreted *in = s->unwind.interpreted;
    bool all = in->refused[0] || find_processes(s, end_ns);
    find_threads(s);
    while (clock_now_ns() < end_ns && read_code(s))
        ;
    pthread_mutex_lock(&s->store.lock);
    in->wants = !in->refused[0] && (!all || in->n_read < in->codes.n || in->n_threads);
    pthread_mutex_unlock(&s->store.lock);
}

static bool wants(struct session *s)
{
    pthread_mutex_lock(&s->store.lock);
    bool is = interpreted_waits(s);
    pthread_mutex_unlock(&s->store.lock);
    return is;
}

void interpreted_read(struct session *s)
{
    struct interpreted *in = s->unwind.interpreted;
    uint64_t begun_ns = clock_now_ns();
    if (!in)
        return;
    if (in->probe)
        attach_probe(s);
    if (!wants(s))
        return;
    pthread_mutex_lock(&in->reading);
    if (may_read(in, begun_ns)) {
        open_probe(s);
        attach_probe(s);
        read_round(s, begun_ns + ROUND_NS);
        in->credit_ns -= (int64_t)(clock_now_ns() - begun_ns);
    }
    pthread_mutex_unlock(&in->reading);
}

void interpreted_settle(struct session *s)
{
    struct interpreted *in = s->unwind.interpreted;
    if (!in || !wants(s))
        return;
    pthread_mutex_lock(&in->reading);
    read_round(s, clock_now_ns() + ROUND_NS);
    pthread_mutex_unlock(&in->reading);
}

/* ---- before the first sample ---- */

static void prepare_process(struct session *s, uint32_t pid)
{
    struct interpreted *in = s->unwind.interpreted;
    struct proc_snapshot *proc = proc_read(pid);
    const char *name = "";
    const struct maps_entry *e = proc ? interpreter_mapping(&proc->maps, &name) : NULL;
    struct interpreter_process p;
    struct reader r = { .pid = pid };
    const struct interpreter_memory m = { &r, read_block };
    if (e)
        open_probe(s);
    const struct interpreter *of = e ? interpreter_of_module(name) : NULL;
    if (e && in->probe && of->find(&m, name, e->start - e->pgoff, &p, NULL)) {
        stackprobe_follow(in->probe, pid, &p.layout); /* without a tag: it has no image yet */
        find_states(s, pid, of, &p);
    }
    if (proc)
        proc_snapshot_free(proc);
}

void interpreted_prepare(struct session *s)
{
    const struct scope *scope = &s->cfg.scope;
    if (!s->unwind.interpreted || s->command.argv || scope->kind != SCOPE_PIDS)
        return;
    for (uint32_t i = 0; i < scope->n_ids && i < PREPARED_MAX; i++)
        prepare_process(s, scope->ids[i]);
}
