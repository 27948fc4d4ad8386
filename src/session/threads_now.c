// SPDX-License-Identifier: GPL-2.0-or-later
/* First all of /proc is read, since a stopped thread has another state; then the stacks are copied; then rows
 * are made, and each row's frames get names. */
#include "session/threads_now.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "process/world.h"
#include "session/threads_parts.h"
#include "symbols/symbolizer.h"

#define NAMES_NS (10 * NS_PER_SEC)
#ifdef __x86_64__
#define CALL_BYTES 2 /* of the instruction of a system call */
#else
#define CALL_BYTES 4
#endif

/* ---- rows ---- */

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return map_hash_bytes(text, strlen(text), seed);
}

/* A thread that is stopped in a system call is at the call's counter, or, on some machines, one instruction
 * before it: it will start the call again. */
static bool has_moved(const struct task_now *t, const struct livestack *s)
{
    uint64_t counter = t->call.counter;
    if (t->call.state == TASK_CALL_RUNNING)
        return s && s->n && t->stat.state != 'R';
    return s && s->n && counter && s->frames[0] != counter && s->frames[0] != counter - CALL_BYTES;
}

static uint64_t key_of(const struct task_now *t, const struct livestack *s)
{
    uint64_t numbers[] = { (uint64_t)t->stat.state, t->call.state,
                           t->call.number,          s ? s->n : 0,
                           s ? s->end : 0,          s ? (uint64_t)s->refused : 0,
                           has_moved(t, s) };
    uint64_t key = map_hash_bytes(numbers, sizeof numbers, t->call.of_32_bits);
    for (uint32_t i = 0; i < t->n_functions; i++)
        key = hash_text(t->functions[i], key);
    for (uint32_t i = 0; s && i < s->n_scripts; i++)
        key = hash_text(s->scripts[i].text, key);
    return s ? map_hash_bytes(s->frames, s->n * sizeof *s->frames, key) : key;
}

static enum wait_reason reason_of(const struct task_now *t)
{
    if (t->stat.state == 'R') /* it may run: /proc does not tell the difference */
        return WAIT_UNKNOWN;
    if (t->stat.state == 'T' || t->stat.state == 't')
        return WAIT_STOPPED;
    enum wait_reason r = wait_reason_of(t->functions, t->n_functions);
    return !r && t->call_name ? wait_reason_of_call(t->call_name, t->file) : r;
}

static int by_tid(const void *a, const void *b)
{
    const struct task_now *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* Position of a state in the list; a state that is not in it comes last. */
static size_t rank_of(char state)
{
    return strcspn("DRSTtIZX", (char[]){ state, '\0' });
}

static int by_urgency(const void *a, const void *b)
{
    const struct threads_now_row *x = a, *y = b;
    size_t rank_x = rank_of(x->threads[0]->stat.state), rank_y = rank_of(y->threads[0]->stat.state);
    bool idle_x = wait_reason_is_for_work(x->reason), idle_y = wait_reason_is_for_work(y->reason);
    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    if (idle_x != idle_y)
        return idle_x ? 1 : -1;
    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return x->threads[0]->tid < y->threads[0]->tid ? -1 : 1;
}

/* ---- holders of locks ---- */

static struct task_now *find_task(const struct threads_now *t, uint32_t tid)
{
    struct task_now key = { .tid = tid };
    return t->tasks.n ? bsearch(&key, t->tasks.items, t->tasks.n, sizeof key, by_tid) : NULL;
}

static uint32_t inner_id(uint32_t pid, uint32_t tid)
{
    struct buf text = { 0 };
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u/status", pid, tid);
    uint32_t id = file_read(path, 64 << 10, &text, NULL) ? task_parse_inner_id(buf_str(&text)) : 0;
    buf_done(&text);
    return id;
}

/* Maps ids in the pid namespace of the process, as in a container, to those of this system. */
static void map_ids(const struct threads_now *t, struct map *ids)
{
    bool same = t->tasks.n && inner_id(t->pid, t->tasks.items[0].tid) == t->tasks.items[0].tid;
    for (uint32_t i = 0; i < t->tasks.n; i++) {
        uint32_t tid = t->tasks.items[i].tid;
        map_put(ids, same ? tid : inner_id(t->pid, tid), tid);
    }
}

static void find_holders(struct threads_now *t)
{
    struct map ids = { 0 };
    for (uint32_t i = 0; i < t->stacks.n; i++) {
        const struct livestack *s = &t->stacks.items[i];
        struct task_now *task = s->holder ? find_task(t, s->tid) : NULL;
        uint64_t tid;
        if (!task)
            continue;
        if (!ids.n)
            map_ids(t, &ids);
        task->holder = map_get(&ids, s->holder, &tid) ? (uint32_t)tid : 0;
    }
    map_done(&ids);
}

/* ---- paths ---- */

/* A thread may have made another call between /proc and the copy of its memory. */
static void find_paths(struct threads_now *t)
{
    for (uint32_t i = 0; i < t->stacks.n; i++) {
        const struct livestack *s = &t->stacks.items[i];
        struct task_now *task = s->path ? find_task(t, s->tid) : NULL;
        if (task && task_call_path(&task->call) == s->path_at)
            task->path = arena_strndup(&t->strings, s->path, strlen(s->path));
    }
}

/* ---- rows ---- */

static void make_rows(struct threads_now *t)
{
    struct map rows = { 0 };
    uint32_t *row_of = mem_array(t->tasks.n + 1, sizeof *row_of);
    size_t cap = 0;
    for (uint32_t i = 0; i < t->tasks.n; i++) {
        const struct task_now *task = &t->tasks.items[i];
        const struct livestack *s = livestacks_of(&t->stacks, task->tid);
        bool created;
        row_of[i] = (uint32_t)*map_at(&rows, key_of(task, s), t->n, &created);
        if (created) {
            MEM_GROW(t->rows, cap, t->n + 1);
            t->rows[t->n++] = (struct threads_now_row){ .key = key_of(task, s),
                                                        .reason = reason_of(task),
                                                        .stack = s && !s->refused ? s : NULL,
                                                        .refused = s ? s->refused : 0,
                                                        .moved = has_moved(task, s) };
        }
        t->rows[row_of[i]].n++;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        t->rows[i].threads = arena_alloc(&t->strings, t->rows[i].n * sizeof *t->rows[i].threads);
        t->rows[i].n = 0;
    }
    for (uint32_t i = 0; i < t->tasks.n; i++) {
        struct threads_now_row *row = &t->rows[row_of[i]];
        row->threads[row->n++] = &t->tasks.items[i];
    }
    map_done(&rows);
    mem_free(row_of);
    if (t->n)
        qsort(t->rows, t->n, sizeof *t->rows, by_urgency);
}

/* ---- names ---- */

struct naming {
    struct threads_now *t;
    struct world *world;
    uint32_t thread; /* any of the process: all have the same mappings */
    struct symbolizer *symbolizer;
};

static void *resolve(void *symbolizer)
{
    symbolizer_run(symbolizer);
    return NULL;
}

/* Returns the first thread, or another one if it has ended: only a living one has mappings in /proc. */
static uint32_t living_thread(const struct threads_now *t)
{
    for (uint32_t i = 0; i < t->tasks.n; i++)
        if (t->tasks.items[i].stat.state != 'Z')
            return t->tasks.items[i].tid;
    return t->pid;
}

static void read_mappings(struct naming *n)
{
    uint32_t tid = living_thread(n->t);
    world_install(n->world, tid, world_read_proc(tid));
    for (struct world_memfd m; world_wants_memfd(n->world, &m);) {
        bool elf, known = world_read_memfd(&m, &elf);
        world_tell_memfd(n->world, &m, known, elf);
    }
    for (struct world_remap r; world_wants_remap(n->world, &r);)
        world_tell_remap(n->world, &r, world_read_remap(&r));
    n->thread = world_thread_of(n->world, tid, tid, 0, 0);
}

/* keep: store the name; else it is only requested. */
static void name_frame(struct naming *n, struct threads_now_frame *f, bool keep)
{
    struct location at;
    struct symbol symbol;
    world_resolve(n->world, n->thread, f->address, false, &at);
    struct module *m = world_module(n->world, at.module);
    if (!m)
        return;
    symbolizer_lookup(n->symbolizer, m, at.offset, &symbol);
    if (!keep)
        return;
    f->name = arena_strndup(&n->t->strings, symbol.name, strlen(symbol.name));
    f->module = m->kind == MODULE_UNKNOWN ? "" : arena_strndup(&n->t->strings, m->name, strlen(m->name));
}

static void name_rows(struct naming *n, bool keep)
{
    for (uint32_t i = 0; i < n->t->n; i++) {
        struct threads_now_row *row = &n->t->rows[i];
        for (uint32_t k = 0; k < row->n_frames; k++)
            name_frame(n, &row->frames[k], keep);
        if (keep)
            threads_scripts_merge(row, &n->t->strings);
    }
}

static void make_frames(struct threads_now *t)
{
    for (uint32_t i = 0; i < t->n; i++) {
        struct threads_now_row *row = &t->rows[i];
        row->n_frames = row->stack ? row->stack->n : 0;
        row->frames = arena_alloc(&t->strings, (row->n_frames + 1) * sizeof *row->frames);
        for (uint32_t k = 0; k < row->n_frames; k++)
            row->frames[k] = (struct threads_now_frame){ row->stack->frames[k], "[unknown]", "" };
    }
}

static void make_names(struct threads_now *t, bool no_cache)
{
    struct symbolizer_config config = { .live = true, .keep_tables = !no_cache };
    struct naming n = { .t = t };
    struct error e = { 0 };
    pthread_t thread;
    make_frames(t);
    n.symbolizer = symbolizer_new(&config, &e);
    int failed = n.symbolizer ? pthread_create(&thread, NULL, resolve, n.symbolizer) : 0;
    if (failed)
        error_sys(&e, failed, "cannot start a thread");
    if (*e.text)
        buf_printf(&t->notes, "Functions have no names: %s.\n", e.text);
    else {
        n.world = world_new(true);
        read_mappings(&n);
        name_rows(&n, false);
        symbolizer_settle(n.symbolizer, NAMES_NS);
        name_rows(&n, false); /* names that are known now are demangled on request */
        if (!symbolizer_settle(n.symbolizer, NAMES_NS))
            buf_puts(&t->notes, "Some functions have no names: reading them takes too long.\n");
        name_rows(&n, true);
        symbolizer_stop(n.symbolizer);
        pthread_join(thread, NULL);
    }
    if (n.symbolizer)
        symbolizer_free(n.symbolizer);
    if (n.world)
        world_free(n.world);
}

/* ---- all ---- */

bool threads_now_take(uint32_t pid, struct threads_now_how how, const atomic_bool *cancelled,
                      struct threads_now *out, struct error *e)
{
    struct error failed = { 0 };
    *out = (struct threads_now){ .pid = pid, .comm = "" };
    out->read_ns = clock_now_ns();
    if (!tasks_read(pid, &out->tasks))
        return error_set(e, ERROR_MISSING, "there is no process %u", pid);
    qsort(out->tasks.items, out->tasks.n, sizeof *out->tasks.items, by_tid);
    for (uint32_t i = out->tasks.n; i-- > 0;)
        if (out->tasks.items[i].tid == pid || i == 0) {
            out->comm = out->tasks.items[i].stat.comm;
            break;
        }
    if (threads_notes_before(out)) {
        livestacks_take(pid, cancelled, &out->stacks, &failed);
        threads_notes_after(out, &failed);
    }
    for (uint32_t i = 0; how.no_interpreted && i < out->stacks.n; i++)
        out->stacks.items[i].n_scripts = out->stacks.items[i].n_groups = 0;
    find_holders(out);
    find_paths(out);
    make_rows(out);
    if (out->stacks.n && !(cancelled && *cancelled))
        make_names(out, how.no_cache);
    return true;
}

/* A stop is a wait for the tracer; then the thread waits again. */
#define WAITS_OF_STOP 2

void threads_now_follow(struct threads_now *t, const struct threads_now *earlier)
{
    for (uint32_t i = 0; i < earlier->stacks.n; i++) {
        const struct livestack *s = &earlier->stacks.items[i];
        const struct task_now *before = s->stopped_ns ? find_task(earlier, s->tid) : NULL;
        struct task_now *now = before ? find_task(t, s->tid) : NULL;
        if (now && now->waits && before->waits && now->since_ns && before->since_ns &&
            now->waits == before->waits + WAITS_OF_STOP)
            now->since_ns = before->since_ns + (t->read_ns - earlier->read_ns);
    }
}

void threads_now_done(struct threads_now *t)
{
    livestacks_done(&t->stacks);
    tasks_done(&t->tasks);
    mem_free(t->rows);
    buf_done(&t->notes);
    arena_done(&t->strings);
}
