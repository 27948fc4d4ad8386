// SPDX-License-Identifier: GPL-2.0-or-later
/* The resolver's threads, one for each lane (symbols/owners.h).
 * Each thread takes tasks, lets resolve.c and its worker do them unlocked, and installs the results. The slow
 * lane's thread is started with its first task. An idle worker is ended: its memory is worth more than its
 * start. With debug information that it has read it stays a little longer, because the next redraw may need
 * another function of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "symbols/codecache.h"
#include "symbols/fetch.h"
#include "symbols/linecache.h"
#include "symbols/symbolizer_state.h"

/* An idle worker holds half a megabyte, and new programs start all the time. */
#define WORKER_IDLE_NS    (120 * NS_PER_SEC)
#define JIT_RETRY_NS      (2 * NS_PER_SEC)
#define KERNEL_TABLES_MAX 8                /* modules that were unloaded keep the table with their names */
#define RETRY_COST        20               /* a map is read again after at least 20 times its reading time */
#define OPEN_LIMIT_NS     (2 * NS_PER_SEC) /* to open and check a file */
#define BATCH_MAX         48               /* names that fit in a reply, however long they become */
#define BATCH_LIMIT_NS    (NS_PER_SEC / 2) /* of CPU time; normally it takes a hundredth */

/* Set the offset of a profile from another boot of this kernel: the kernel was elsewhere, by whole pages. */
static void set_kernel_shift(struct symbolizer *sy, const struct module *m)
{
    uint64_t reference = sy->kernel ? sy->kernel->view.header->reference : 0;
    uint64_t shift = m->start - reference;

    if (m->kind == MODULE_KERNEL && !m->live && m->start && reference && shift % 4096 == 0)
        sy->kernel_shift = shift;
}

/* A kernel module keeps its table when a newer one is read, which has no names of unloaded modules. */
static void give_kernel_table(struct symbolizer *sy, struct symbol_module *mod)
{
    if (mod->module->kind != MODULE_KMOD || mod->table == sy->kernel)
        return;
    tables_drop(sy, mod->table);
    mod->table = sy->kernel;
    mod->table->users++;
}

static void limit_kernel_tables(struct symbolizer *sy)
{
    uint64_t value;
    for (size_t pos = 0; map_next(&sy->mods, &pos, NULL, &value);) {
        struct symbol_module *mod = (struct symbol_module *)(uintptr_t)value;
        if (mod->table && mod->module->kind == MODULE_KMOD &&
            sy->kernel->number - mod->table->number >= KERNEL_TABLES_MAX)
            give_kernel_table(sy, mod);
    }
}

static void set_kernel(struct symbolizer *sy, struct symbol_table *t, bool core_only)
{
    if (sy->kernel && !sy->kernel_hidden && t->view.header->flags & TABLE_HIDDEN) {
        tables_drop(sy, t); /* a vmlinux is used instead */
        return;
    }
    sy->kernel_core_only = core_only;
    sy->kernel_hidden = t->view.header->flags & TABLE_HIDDEN;
    t->number = sy->kernel ? sy->kernel->number + 1 : 0;
    tables_drop(sy, sy->kernel);
    sy->kernel = t;
    limit_kernel_tables(sy);
}

static void set_next_try(struct symbol_module *mod, uint64_t took_ns)
{
    mod->next_try_ns = 0;
    if (mod->module->live && !mod->over && mod->module->kind == MODULE_JIT)
        mod->next_try_ns =
            clock_now_ns() + (took_ns * RETRY_COST > JIT_RETRY_NS ? took_ns * RETRY_COST : JIT_RETRY_NS);
}

/* Whether the trouble is known: a JIT may fail the same way at each request for its map. */
static bool is_old_news(const struct symbol_task *task, const struct outcome *out)
{
    return !out->table && task->progress == PROGRESS_FAILED && task->trouble &&
           !strcmp(task->trouble, out->trouble.text);
}

/* Signal new names. Without a symbol table, the bounds of functions say where they begin. */
static void tell_news(struct symbolizer *sy, const struct symbol_task *task)
{
    enum task_kind kind = symbol_task_kind(task);

    mods_news(sy, kind == TASK_NAMES || kind == TASK_UNWIND ? task->mod : NULL);
}

static void finish(struct symbolizer *sy, struct symbol_task *task, bool ok, const struct outcome *out)
{
    if ((!ok || out->given_up) && out->trouble.text[0] &&
        (!task->trouble || strcmp(task->trouble, out->trouble.text)))
        log_add("%s: %s", task->mod->module->name, out->trouble.text);
    sy->given_up += out->given_up;
    mods_trouble(task, out->trouble.text);
    task->progress = ok ? PROGRESS_READY : PROGRESS_FAILED;
    task->blame = ok ? 0 : task->blame;
    tell_news(sy, task);
}

/* Request the unwind table: its function bounds replace missing names (symbolizer.c). It is requested here,
 * so that waiting for all names includes it. */
static void ask_for_bounds(struct symbolizer *sy, struct symbol_module *mod)
{
    if (!mods_is_kernel(mod) && (!mod->table || !(mod->table->view.header->flags & TABLE_FULL)))
        mods_ask(sy, mod, TASK_UNWIND);
}

static void install_names(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    struct symbol_task *task = &mod->tasks[TASK_NAMES];
    bool ok = out->table != NULL;

    set_next_try(mod, out->took_ns);
    if (out->unchanged || is_old_news(task, out))
        return;
    sy->jit_of_now |= out->of_now;
    if (out->table && out->table->view.header->flags & TABLE_HIDDEN && !out->trouble.text[0])
        error_set(&out->trouble, ERROR_PERMISSION, "the kernel hides its addresses");
    mod->map_stamp = out->map_stamp;
    if (out->table && mods_is_kernel(mod)) {
        set_kernel(sy, out->table, out->kept || out->kernel_modified != sy->kernel_modified);
        give_kernel_table(sy, mod);
    } else if (out->table && mod->module->kind == MODULE_JIT)
        ok = jit_install(sy, mod, out->table, &out->trouble);
    else if (out->table) {
        tables_drop(sy, mod->table);
        mod->table = tables_share(sy, out->table, mod);
    }
    ask_for_bounds(sy, mod);
    finish(sy, task, ok, out);
    fetch_after_names(sy, mod);
}

static void install_unwind(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    if (out->table)
        mod->unwind = tables_share(sy, out->table, mod);
    /* A plugin, or memory with a name: a later request for its names would be too late. */
    if (out->deleted)
        mods_ask(sy, mod, TASK_NAMES);
    finish(sy, &mod->tasks[TASK_UNWIND], out->table != NULL, out);
}

static void install_calls(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    if (out->table)
        mod->calls = tables_share(sy, out->table, mod);
    finish(sy, &mod->tasks[TASK_CALLS], out->table != NULL, out);
}

static void install_jit_rows(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    jitrows_install(sy, mod, out);
    error_clear(&out->trouble); /* such stacks show themselves what is missing */
    finish(sy, &mod->tasks[TASK_JIT_ROWS], true, out);
}

static void install_lines(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    if (!out->later)
        finish(sy, &mod->tasks[TASK_LINES], linecache_install(sy, mod, out), out);
}

static void install_code(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    finish(sy, &mod->tasks[TASK_CODE], codecache_install(sy, mod, out), out);
}

static void install_package(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    if (out->package[0])
        mod->package = mem_strdup(out->package);
    error_clear(&out->trouble); /* the names' trouble says why the file cannot be opened */
    finish(sy, &mod->tasks[TASK_PACKAGE], true, out);
}

/* Return another module's table: of the build that was profiled, or a full one of the build that the file had
 * when it was opened for another table: it may be deleted by now. */
static struct symbol_table *known_table(struct symbolizer *sy, const struct symbol_module *mod,
                                        enum cache_kind kind)
{
    const struct module *m = mod->module;
    struct symbol_table *t = tables_find(sy, kind, m->build_id, m->build_id_size, mod->owner, false);

    return t ? t : tables_find(sy, kind, mod->id, mod->id_size, mod->owner, true);
}

/* Use available names: the kernel's table, or one of the same build. */
static bool have_names(struct symbolizer *sy, struct symbol_module *mod)
{
    const struct module *m = mod->module;
    struct symbol_table *t;

    if (mods_is_kernel(mod)) {
        if (!sy->kernel || (sy->kernel_hidden && m->kind == MODULE_KERNEL) ||
            (sy->kernel_core_only && (sy->kernel_wanted || m->kind == MODULE_KMOD)))
            return false;
        give_kernel_table(sy, mod);
        return true;
    }
    t = m->kind == MODULE_JIT ? NULL : known_table(sy, mod, CACHE_NAMES);
    if (!t)
        return false;
    tables_drop(sy, mod->table);
    mod->table = t;
    if (!(t->view.header->flags & TABLE_FULL) && fetch_has(sy, m->build_id, m->build_id_size))
        return false; /* a file fetched since has more */
    ask_for_bounds(sy, mod);
    fetch_after_names(sy, mod);
    return true;
}

static bool have_unwind(struct symbolizer *sy, struct symbol_module *mod)
{
    mod->unwind = known_table(sy, mod, CACHE_UNWIND);
    return mod->unwind;
}

static bool have_calls(struct symbolizer *sy, struct symbol_module *mod)
{
    mod->calls = known_table(sy, mod, CACHE_CALLS);
    return mod->calls;
}

/* How each kind of task is done: `have` (locked) uses what is already there (NULL: nothing ever is). Else
 * `resolve` (unlocked) gets the result and `install` (locked) installs it. */
static const struct {
    bool (*have)(struct symbolizer *, struct symbol_module *);
    void (*resolve)(struct symbolizer *, struct symbol_module *, struct outcome *);
    void (*install)(struct symbolizer *, struct symbol_module *, struct outcome *);
} kinds[TASK_KINDS] = {
    [TASK_UNWIND] = { have_unwind, resolve_unwind, install_unwind },
    [TASK_CALLS] = { have_calls, resolve_calls, install_calls },
    [TASK_JIT_ROWS] = { jitrows_take, resolve_jit_rows, install_jit_rows },
    [TASK_NAMES] = { have_names, resolve_names, install_names },
    [TASK_PACKAGE] = { NULL, resolve_package, install_package },
    [TASK_CODE] = { codecache_take, resolve_code, install_code },
    [TASK_LINES] = { linecache_take, resolve_lines, install_lines },
};

/* Whether to repeat the task: the worker died or was killed, and the result is incomplete. */
static bool try_again(struct symbolizer *sy, struct symbol_task *task, struct outcome *out)
{
    task->blame = (uint8_t)(task->blame + out->blame < BLAME_MAX ? task->blame + out->blame : BLAME_MAX);
    if (!out->retry || task->blame >= BLAME_MAX)
        return false;
    tables_drop(sy, out->table);
    *mods_slow(task->mod, symbol_task_kind(task)) |= out->slow;
    mods_queue(sy, task);
    return true;
}

static void take_over(struct symbolizer *sy, struct symbol_task *task, struct outcome *out)
{
    struct symbol_module *mod = task->mod;

    if (out->id_size) {
        memcpy(mod->id, out->id, sizeof mod->id);
        mod->id_size = out->id_size;
    }
    if (out->owner)
        mod->owner = out->owner;
    if (!try_again(sy, task, out))
        kinds[symbol_task_kind(task)].install(sy, mod, out);
}

/* Read names beyond the kept table if they were requested before the kept table was there. */
static void look_beyond_kept(struct symbolizer *sy, struct symbol_module *mod)
{
    if (mod->module->kind == MODULE_KERNEL && sy->kernel && sy->kernel_lowest <= sy->kernel_highest) {
        (void)mods_kernel_tells(sy, mod, sy->kernel_lowest - sy->kernel_shift);
        (void)mods_kernel_tells(sy, mod, sy->kernel_highest - sy->kernel_shift);
    }
}

static void do_task(struct lane *lane, struct symbol_task *task)
{
    struct symbolizer *sy = lane->sy;
    enum task_kind kind = symbol_task_kind(task);
    struct symbol_module *mod = task->mod;
    struct outcome *out;
    uint64_t began_ns;

    if (kinds[kind].have && kinds[kind].have(sy, mod)) {
        task->progress = PROGRESS_READY;
        tell_news(sy, task);
    } else {
        out = mem_zalloc(sizeof *out);
        out->lane = lane;
        out->owner = mod->owner;
        out->owner_known = mod->owner != OWNER_UNKNOWN;
        out->of_kernel = mods_is_kernel(mod);
        out->map_stamp = mod->map_stamp;
        out->has_table = mod->table != NULL;
        pthread_mutex_unlock(&sy->lock);
        began_ns = clock_now_ns();
        kinds[kind].resolve(sy, mod, out);
        pthread_mutex_lock(&sy->lock);
        out->took_ns = clock_now_ns() - began_ns;
        take_over(sy, task, out);
        mem_free(out);
    }
    set_kernel_shift(sy, mod->module);
    task->busy = false;
    look_beyond_kept(sy, mod);
    sy->waiting--;
    pthread_cond_broadcast(&sy->settled);
}

/* Demangle a batch. All names may be forgotten meanwhile: then the reply is dropped. */
static void demangle_batch(struct lane *lane, unsigned owner, struct name **batch, size_t n,
                           struct worker_request *r)
{
    struct symbolizer *sy = lane->sy;
    struct worker_reply *a = mem_alloc(sizeof *a);
    uint32_t epoch = sy->names.epoch;
    enum worker_result result;

    sy->waiting++;
    pthread_mutex_unlock(&sy->lock);
    result = worker_ask(&lane->worker, r, a, NULL);
    pthread_mutex_lock(&sy->lock);
    sy->waiting--;
    owners_spend(&sy->owners, lane->kind, owner, lane->worker.used_ns);
    sy->names.queues[owner].slow |= result == WORKER_LATE;
    if (epoch == sy->names.epoch && result == WORKER_DONE)
        names_set_texts(&sy->names, batch, n, a->payload, a->payload_n);
    else if (epoch == sy->names.epoch && (result == WORKER_DIED || result == WORKER_LATE)) {
        /* One name that took too long would do so again, and delays others meanwhile. */
        names_put_back(&sy->names, owner, batch, n,
                       result == WORKER_LATE ? BLAME_MAX : resolve_blame(&lane->worker, result));
        mods_wake(sy); /* it may be the other lane's now */
    }
    mods_news(sy, NULL);
    mem_free(a);
}

/* Demangle some names. Slow names of an owner's files delay only other slow names. */
static bool demangle_some(struct lane *lane)
{
    struct symbolizer *sy = lane->sy;
    uint64_t owners = names_waiting(&sy->names, lane->kind == LANE_SLOW);
    unsigned owner = owners ? owners_fairest(&sy->owners, lane->kind, owners) : 0;
    char *payload;
    struct name *batch[BATCH_MAX];
    struct worker_request r = { .kind = WORKER_DEMANGLE, .limit_ns = BATCH_LIMIT_NS };
    size_t n;

    if (!owners || owners_must_wait(&sy->owners, lane->kind, owner))
        return false;
    payload = mem_alloc(WORKER_MESSAGE_MAX);
    r.payload = payload;
    n = names_take_mangled(&sy->names, owner, batch, BATCH_MAX, payload, WORKER_MESSAGE_MAX, &r.payload_n);
    if (n)
        demangle_batch(lane, owner, batch, n, &r);
    mem_free(payload);
    return true;
}

static void wait_for_work(struct lane *lane)
{
    struct symbolizer *sy = lane->sy;
    struct timespec until = clock_deadline(CLOCK_MONOTONIC, WORKER_IDLE_NS);

    pthread_cond_broadcast(&sy->settled);
    if (lane->worker.fd < 0 && !opener_pid())
        pthread_cond_wait(&lane->work, &sy->lock);
    else if (pthread_cond_timedwait(&lane->work, &sy->lock, &until) == ETIMEDOUT) {
        pthread_mutex_unlock(&sy->lock);
        worker_end(&lane->worker);
        opener_end();
        pthread_mutex_lock(&sy->lock);
    }
}

/* Open the disk cache. Another build of flametop may make other tables of the same file, so its entries are
 * not used. */
static void open_cache(struct symbolizer *sy)
{
    struct error e = { 0 };
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

    if (self >= 0)
        sy->cache_version = (unsigned)cache_stamp(self);
    if (self >= 0 && sy->cache_version)
        sy->cache = cache_open(NULL, CACHE_BYTES_DEFAULT, &e);
    if (!sy->cache && e.text[0])
        log_add("no cache: %s", e.text);
    if (self >= 0)
        close(self);
}

/* With the lock held. */
static bool work(struct lane *lane)
{
    struct symbolizer *sy = lane->sy;
    struct symbol_task *task = mods_take(sy, lane->kind);
    bool did = task != NULL, urgent = task && symbol_task_kind(task) <= TASK_JIT_ROWS;
    unsigned starts = lane->worker.starts;

    if (task)
        do_task(lane, task);
    if (!sy->stopping && !urgent)
        did |= demangle_some(lane);
    sy->worker_starts += lane->worker.starts - starts;
    if (lane->worker.refusal[0])
        snprintf(sy->worker_note, sizeof sy->worker_note, "%s", lane->worker.refusal);
    return did;
}

static void *run_slow(void *arg)
{
    struct lane *lane = arg;
    struct symbolizer *sy = lane->sy;

    opener_set_limits(sy->stop_fd, OPEN_LIMIT_NS);
    pthread_mutex_lock(&sy->lock);
    while (!sy->stopping)
        if (!work(lane) && !sy->stopping)
            wait_for_work(lane);
    pthread_mutex_unlock(&sy->lock);
    opener_end();
    return NULL;
}

/* With the lock held. If no thread can be created now, the next task tries again. */
static void start_slow(struct symbolizer *sy)
{
    struct lane *slow = &sy->lanes[LANE_SLOW];

    if (!slow->running && (names_waiting(&sy->names, true) || owners_have(&sy->owners, LANE_SLOW)))
        slow->running = !pthread_create(&slow->thread, NULL, run_slow, slow);
}

void symbolizer_run(struct symbolizer *sy)
{
    struct lane *quick = &sy->lanes[LANE_QUICK], *slow = &sy->lanes[LANE_SLOW];

    opener_set_limits(sy->stop_fd, OPEN_LIMIT_NS);
    if (sy->keep_tables)
        open_cache(sy);
    pthread_mutex_lock(&sy->lock);
    while (!sy->stopping) {
        bool did = work(quick);
        start_slow(sy);
        if (!did && !sy->stopping)
            wait_for_work(quick);
    }
    pthread_mutex_unlock(&sy->lock);
    if (slow->running)
        pthread_join(slow->thread, NULL);
    slow->running = false;
    pthread_mutex_lock(&sy->lock);
    linesdisk_save(sy);
    pthread_mutex_unlock(&sy->lock);
    opener_end();
    worker_end(&quick->worker);
    worker_end(&slow->worker);
}
