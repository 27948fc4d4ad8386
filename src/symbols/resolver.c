// SPDX-License-Identifier: GPL-2.0-or-later
/* The resolver's thread: takes what was asked for, lets resolve.c and the worker do it unlocked, installs what
 * came. The worker does not stay when there is nothing to do: its memory is worth more than its start. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "symbols/state.h"

#define WORKER_IDLE_NS  NS_PER_SEC
#define JIT_RETRY_NS    (2 * NS_PER_SEC)
#define KERNEL_RETRY_NS (10 * NS_PER_SEC)
#define RETRY_COST      20 /* a map is read again after 20 times what reading it took, or later */
#define BATCH_MAX       48 /* names that fit in an answer, however long they become */
#define BATCH_LIMIT_NS  (2 * NS_PER_SEC)

static void bump(struct symbolizer *sy)
{
    atomic_fetch_add_explicit(&sy->generation, 1, memory_order_release);
}

static void set_table(struct symbolizer *sy, struct mod *mod, struct symbol_table *t)
{
    tables_drop(sy, mod->table);
    mod->table = mod->module->kind == MODULE_JIT ? t : tables_share(sy, t);
}

/* A profile of another boot of this kernel: the kernel lay elsewhere, by whole pages. */
static void set_kernel_shift(struct symbolizer *sy, const struct module *m)
{
    uint64_t reference = sy->kernel ? sy->kernel->view.header->reference : 0;
    uint64_t shift = m->start - reference;

    if (m->kind == MODULE_KERNEL && !m->live && m->start && reference && shift % 4096 == 0)
        sy->kernel_shift = shift;
}

static void set_kernel(struct symbolizer *sy, struct symbol_table *t)
{
    sy->kernel_read_ns = clock_now_ns();
    sy->kernel_hidden = t->view.header->flags & TABLE_HIDDEN;
    tables_drop(sy, sy->kernel);
    sy->kernel = t;
}

static void set_next_try(struct mod *mod, uint64_t took_ns)
{
    uint64_t least = mod->module->kind == MODULE_JIT ? JIT_RETRY_NS : KERNEL_RETRY_NS;

    mod->next_try_ns = 0;
    if (!mod->module->live || (mod->module->kind != MODULE_JIT && mod->module->kind != MODULE_KMOD))
        return;
    mod->next_try_ns = clock_now_ns() + (took_ns * RETRY_COST > least ? took_ns * RETRY_COST : least);
}

/* The same trouble again, when a JIT was asked again for its map, is no news. */
static bool is_old_news(const struct mod *mod, const struct outcome *out)
{
    return !out->table && mod->progress == PROGRESS_FAILED && mod->trouble &&
           !strcmp(mod->trouble, out->trouble.text);
}

static void fail(struct mod *mod, const struct outcome *out)
{
    mod->progress = PROGRESS_FAILED;
    if (out->trouble.text[0])
        log_add("%s: %s", mod->module->name, out->trouble.text);
}

static void install(struct symbolizer *sy, struct mod *mod, struct outcome *out, uint64_t took_ns)
{
    mod->blame = (uint8_t)(mod->blame + out->blame < BLAME_MAX ? mod->blame + out->blame : BLAME_MAX);
    if (out->retry && mod->blame < BLAME_MAX) {
        if (out->table)
            tables_discard(out->table);
        mods_queue(sy, mod);
        return;
    }
    set_next_try(mod, took_ns);
    if (out->unchanged || is_old_news(mod, out))
        return;
    if (out->table && out->table->view.header->flags & TABLE_HIDDEN)
        error_set(&out->trouble, ERROR_PERMISSION, "the kernel hides its addresses from us");
    mods_trouble(mod, out->trouble.text);
    mod->progress = PROGRESS_READY;
    mod->map_size = out->map_size;
    mod->blame = out->table ? 0 : mod->blame;
    if (!out->table)
        fail(mod, out);
    else if (mods_is_kernel(mod))
        set_kernel(sy, out->table);
    else
        set_table(sy, mod, out->table);
    bump(sy);
}

/* What is at hand already: the kernel's table, or one of the same build. A kernel module that is not in the
 * kernel's table may have been loaded since. */
static bool install_known(struct symbolizer *sy, struct mod *mod)
{
    const struct module *m = mod->module;
    struct symbol_table *t;

    if (mods_is_kernel(mod)) {
        if (!sy->kernel || (mod->next_try_ns && clock_now_ns() - sy->kernel_read_ns > KERNEL_RETRY_NS))
            return false;
        set_next_try(mod, 0);
    } else {
        t = m->kind == MODULE_JIT ? NULL : tables_find(sy, m->build_id, m->build_id_size);
        if (!t)
            return false;
        tables_drop(sy, mod->table);
        mod->table = t;
    }
    mod->progress = PROGRESS_READY;
    bump(sy);
    return true;
}

static void resolve_one(struct symbolizer *sy, struct mod *mod)
{
    struct outcome *out = mem_alloc(sizeof *out);
    uint64_t began_ns;

    if (!install_known(sy, mod)) {
        pthread_mutex_unlock(&sy->lock);
        began_ns = clock_now_ns();
        resolve_module(sy, mod, out);
        pthread_mutex_lock(&sy->lock);
        install(sy, mod, out, clock_now_ns() - began_ns);
    }
    set_kernel_shift(sy, mod->module);
    mod->busy = false;
    sy->waiting--;
    mem_free(out);
}

/* All names may be forgotten while the worker is busy with some: then the answer is of no use. */
static void demangle_batch(struct symbolizer *sy, struct name **batch, size_t n, struct worker_request *r)
{
    struct worker_answer *a = mem_alloc(sizeof *a);
    uint32_t epoch = sy->names.epoch;
    enum worker_result result;

    sy->waiting++;
    pthread_mutex_unlock(&sy->lock);
    result = worker_ask(&sy->worker, r, a, NULL);
    pthread_mutex_lock(&sy->lock);
    sy->waiting--;
    if (epoch == sy->names.epoch && result == WORKER_DONE)
        names_set_texts(&sy->names, batch, n, a->payload, a->payload_n);
    else if (epoch == sy->names.epoch && (result == WORKER_DIED || result == WORKER_LATE))
        /* One alone that took so long would again: what it holds up meanwhile is dearer. */
        names_put_back(&sy->names, batch, n,
                       result == WORKER_LATE ? BLAME_MAX : resolve_blame(&sy->worker, result));
    bump(sy);
    mem_free(a);
}

static bool demangle_some(struct symbolizer *sy)
{
    char *payload = mem_alloc(WORKER_MESSAGE_MAX);
    struct name *batch[BATCH_MAX];
    struct worker_request r = { .kind = WORKER_DEMANGLE, .payload = payload, .limit_ns = BATCH_LIMIT_NS };
    size_t n = names_take_mangled(&sy->names, batch, BATCH_MAX, payload, WORKER_MESSAGE_MAX, &r.payload_n);

    if (n)
        demangle_batch(sy, batch, n, &r);
    mem_free(payload);
    return n > 0;
}

static void wait_for_work(struct symbolizer *sy)
{
    uint64_t end = clock_now_ns() + WORKER_IDLE_NS;
    struct timespec until = { .tv_sec = (time_t)(end / NS_PER_SEC), .tv_nsec = (long)(end % NS_PER_SEC) };

    pthread_cond_broadcast(&sy->settled);
    if (sy->worker.fd < 0)
        pthread_cond_wait(&sy->work, &sy->lock);
    else if (pthread_cond_timedwait(&sy->work, &sy->lock, &until) == ETIMEDOUT) {
        pthread_mutex_unlock(&sy->lock);
        worker_end(&sy->worker);
        pthread_mutex_lock(&sy->lock);
    }
}

void symbolizer_run(struct symbolizer *sy)
{
    pthread_mutex_lock(&sy->lock);
    while (!sy->stopping) {
        struct mod *mod = mods_take(sy);
        bool did = mod != NULL;
        if (mod)
            resolve_one(sy, mod);
        if (!sy->stopping && sy->names.next < sy->names.n)
            did |= demangle_some(sy);
        sy->worker_starts = sy->worker.starts;
        if (!did && !sy->stopping)
            wait_for_work(sy);
    }
    pthread_mutex_unlock(&sy->lock);
    worker_end(&sy->worker);
}
