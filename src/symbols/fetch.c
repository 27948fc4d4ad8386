// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to debuginfod servers, their results, and the thread that fetches. */
#include "symbols/fetch.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "symbols/linecache.h"

#define FAILURES_MAX 3    /* in a row, of the server and not of the file; then no more requests */
#define WANTED_MAX   4096 /* files in a run */

struct fetch_item {
    uint8_t id[20], id_size;
    enum progress progress;
    char *path; /* PROGRESS_READY */
    char *why;  /* PROGRESS_FAILED */
    char *name; /* of a module that wants it */
    struct fetch_item *next;
};

struct fetcher {
    char *urls;
    struct fetch_limits limits;
    pthread_cond_t work;
    struct map items; /* hash of build-id → struct fetch_item * */
    struct fetch_item *first, **end, *busy;
    unsigned pending, failures;
    uint64_t spent_ns, got, total;
};

struct fetcher *fetch_new(const char *urls, const struct fetch_limits *limits)
{
    struct fetcher *f = mem_zalloc(sizeof *f);

    f->urls = mem_strdup(urls);
    f->limits = *limits;
    f->end = &f->first;
    pthread_cond_init(&f->work, NULL);
    return f;
}

static struct fetch_item *item_at(uint64_t value)
{
    return (struct fetch_item *)(uintptr_t)value;
}

void fetch_free(struct fetcher *f)
{
    uint64_t value;

    if (!f)
        return;
    for (size_t pos = 0; map_next(&f->items, &pos, NULL, &value);) {
        mem_free(item_at(value)->path);
        mem_free(item_at(value)->why);
        mem_free(item_at(value)->name);
        mem_free(item_at(value));
    }
    map_done(&f->items);
    pthread_cond_destroy(&f->work);
    mem_free(f->urls);
    mem_free(f);
}

/* ---- requests ---- */

static uint64_t key_of(const uint8_t *id, unsigned id_size)
{
    return map_hash_bytes(id, id_size, id_size);
}

static bool has_id(const struct fetch_item *item, const uint8_t *id, unsigned id_size)
{
    return item->id_size == id_size && !memcmp(item->id, id, id_size);
}

static struct fetch_item *find(const struct symbolizer *sy, const uint8_t *id, unsigned id_size)
{
    uint64_t value;

    if (!sy->fetch || !id_size || !map_get(&sy->fetch->items, key_of(id, id_size), &value) ||
        !has_id(item_at(value), id, id_size))
        return NULL;
    return item_at(value);
}

static void want(struct fetcher *f, const struct symbol_module *mod, const uint8_t *id, unsigned id_size)
{
    char name[64];
    struct fetch_item *item;
    bool created;
    uint64_t *at;

    if (f->items.n >= WANTED_MAX)
        return;
    at = map_at(&f->items, key_of(id, id_size), 0, &created);
    if (!created)
        return; /* another id with the same hash was first */
    item = mem_zalloc(sizeof *item);
    *at = (uintptr_t)item;
    memcpy(item->id, id, id_size);
    item->id_size = (uint8_t)id_size;
    item->progress = PROGRESS_WAITING;
    text_clean(name, sizeof name, mod->module->name, strlen(mod->module->name));
    item->name = mem_strdup(name);
    *f->end = item;
    f->end = &item->next;
    f->pending++;
    pthread_cond_signal(&f->work);
}

static void say_why(struct symbol_module *mod, const struct fetch_item *item)
{
    struct symbol_task *task = &mod->tasks[TASK_NAMES];
    char text[sizeof(struct error)];

    if (task->trouble && strstr(task->trouble, "; debuginfod: "))
        return;
    snprintf(text, sizeof text, "%s; debuginfod: %s", task->trouble ? task->trouble : "", item->why);
    mods_trouble(task, text + (task->trouble ? 0 : 2));
}

static const struct table_header *incomplete(const struct symbol_module *mod)
{
    const struct table_header *h =
        mod->table && mod->module->kind == MODULE_FILE ? mod->table->view.header : NULL;

    return h && !(h->flags & TABLE_FULL) ? h : NULL;
}

void fetch_after_names(struct symbolizer *sy, struct symbol_module *mod)
{
    const struct table_header *h = sy->fetch ? incomplete(mod) : NULL;
    const struct fetch_item *item = h ? find(sy, h->build_id, h->build_id_size) : NULL;

    if (h && h->build_id_size > 1 && !item)
        want(sy->fetch, mod, h->build_id, h->build_id_size);
    if (item && item->progress == PROGRESS_FAILED)
        say_why(mod, item);
}

bool fetch_for_lines(struct symbolizer *sy, struct symbol_module *mod, const uint8_t *id, unsigned id_size)
{
    const struct fetch_item *item;
    bool waits;

    pthread_mutex_lock(&sy->lock);
    if (sy->fetch && id_size > 1 && id_size <= sizeof item->id && !find(sy, id, id_size))
        want(sy->fetch, mod, id, id_size);
    item = find(sy, id, id_size);
    waits = item && item->progress == PROGRESS_WAITING;
    if (waits) {
        memcpy(mod->lines->awaits, id, id_size);
        mod->lines->awaits_size = (uint8_t)id_size;
    }
    pthread_mutex_unlock(&sy->lock);
    return waits;
}

bool fetch_has(const struct symbolizer *sy, const uint8_t *id, unsigned id_size)
{
    const struct fetch_item *item = find(sy, id, id_size);

    return item && item->progress == PROGRESS_READY;
}

static unsigned n_pending(const struct symbolizer *sy)
{
    return sy->fetch ? sy->fetch->pending : 0;
}

void fetch_wake(struct symbolizer *sy)
{
    if (sy->fetch)
        pthread_cond_broadcast(&sy->fetch->work);
}

void fetch_tell(const struct symbolizer *sy, char *dst, size_t cap)
{
    const struct fetcher *f = sy->fetch;
    char got[32], total[32], more[32] = "";

    dst[0] = '\0';
    if (!f || !f->busy)
        return;
    if (f->pending > 1)
        snprintf(more, sizeof more, " (%u more)", f->pending - 1);
    text_bytes(got, sizeof got, f->got);
    text_bytes(total, sizeof total, f->total);
    if (!f->got)
        snprintf(dst, cap, "debuginfod: requesting %s%s", f->busy->name, more);
    else
        snprintf(dst, cap, "debuginfod: %s %s%s%s%s", f->busy->name, got, f->total ? " of " : "",
                 f->total ? total : "", more);
}

int fetch_open(struct symbolizer *sy, const uint8_t *id, unsigned id_size)
{
    const struct fetch_item *item;
    char path[sizeof(struct fetch_report)] = "";
    struct stat st;
    int fd;

    pthread_mutex_lock(&sy->lock);
    item = find(sy, id, id_size);
    if (item && item->progress == PROGRESS_READY)
        snprintf(path, sizeof path, "%s", item->path);
    pthread_mutex_unlock(&sy->lock);
    fd = path[0] ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    return -1;
}

/* ---- results ---- */

static void fail(struct fetch_item *item, const char *why)
{
    char clean[200];

    text_clean(clean, sizeof clean, why, strlen(why));
    mem_free(item->why);
    item->why = mem_strdup(clean);
    item->progress = PROGRESS_FAILED;
    log_add("debuginfod: %s: %s", item->name, clean);
}

void fetch_refuse(struct symbolizer *sy, const uint8_t *id, unsigned id_size, const char *why)
{
    struct fetch_item *item;
    char text[200];

    snprintf(text, sizeof text, "the server sent an unusable file: %s", why);
    pthread_mutex_lock(&sy->lock);
    item = find(sy, id, id_size);
    if (item && item->progress == PROGRESS_READY)
        fail(item, text);
    pthread_mutex_unlock(&sy->lock);
}

/* Redo with the fetched file what failed or is incomplete without it. */
static void ask_again(struct symbolizer *sy, struct symbol_module *mod)
{
    struct symbol_task *unwind = &mod->tasks[TASK_UNWIND];

    mods_queue(sy, &mod->tasks[TASK_NAMES]);
    if (unwind->progress == PROGRESS_FAILED && !unwind->queued && !unwind->busy) {
        unwind->progress = PROGRESS_WAITING;
        mods_queue(sy, unwind);
    }
    if (mod->lines)
        mod->lines->none = mod->lines->disk_asked = false;
}

static void go_on_with_lines(struct symbolizer *sy, struct symbol_module *mod, const struct fetch_item *item)
{
    struct linecache *c = mod->lines;

    if (!c || !c->awaits_size || !has_id(item, c->awaits, c->awaits_size))
        return;
    c->awaits_size = 0;
    atomic_fetch_add_explicit(&sy->lines_changed, 1, memory_order_release);
    mods_queue(sy, &mod->tasks[TASK_LINES]);
}

static void tell_modules(struct symbolizer *sy, const struct fetch_item *item)
{
    uint64_t value;

    for (size_t pos = 0; map_next(&sy->mods, &pos, NULL, &value);) {
        struct symbol_module *mod = (struct symbol_module *)(uintptr_t)value;
        const struct table_header *h = incomplete(mod);
        go_on_with_lines(sy, mod, item);
        if (!h || !has_id(item, h->build_id, h->build_id_size))
            continue;
        if (item->progress == PROGRESS_READY)
            ask_again(sy, mod);
        else
            say_why(mod, item);
    }
    mods_news(sy, NULL);
}

static void settle(struct symbolizer *sy, struct fetch_item *item)
{
    sy->fetch->pending--;
    tell_modules(sy, item);
    pthread_cond_broadcast(&sy->settled);
}

/* Whether to fail without a request: a server that does not respond would delay each of a hundred modules. */
static bool is_hopeless(struct fetcher *f, struct fetch_item *item)
{
    if (f->failures >= FAILURES_MAX)
        fail(item, "not requested: the last fetches failed");
    else if (f->spent_ns >= f->limits.all_ns)
        fail(item, "not requested: fetches took too long in total");
    else
        return false;
    return true;
}

static void install(struct fetcher *f, struct fetch_item *item, enum fetch_end end,
                    const struct fetch_report *r)
{
    static const char *const ends[] = { [FETCH_SILENT] = "the server does not respond",
                                        [FETCH_LATE] = "the server takes too long",
                                        [FETCH_DIED] = "the fetching process ended without a result" };

    bool answered = end == FETCH_ANSWERED && r->kind != FETCH_FAILED;

    f->failures = answered ? 0 : f->failures + 1;
    if (end != FETCH_ANSWERED)
        fail(item, ends[end]);
    else if (!answered)
        fail(item, r->text);
    else if (r->kind == FETCH_MISSING)
        fail(item, "no server has it");
    else {
        item->path = mem_strdup(r->text);
        item->progress = PROGRESS_READY;
        log_add("debuginfod: %s: fetched", item->name);
    }
}

/* ---- the thread ---- */

static void note_progress(void *ctx, uint64_t got, uint64_t total)
{
    struct symbolizer *sy = ctx;

    pthread_mutex_lock(&sy->lock);
    sy->fetch->got = got;
    sy->fetch->total = total;
    pthread_mutex_unlock(&sy->lock);
}

/* Fetch one file, unlocked meanwhile: items live until the fetcher is freed. */
static void fetch_one(struct symbolizer *sy, struct fetch_item *item)
{
    struct fetcher *f = sy->fetch;
    struct fetch_process p = { .path = sy->worker_path,
                               .urls = f->urls,
                               .stop_fd = sy->stop_fd,
                               .limits = &f->limits,
                               .progress = note_progress,
                               .ctx = sy };
    uint64_t began_ns = clock_now_ns();
    struct fetch_report report;
    enum fetch_end end;
    char id[2 * sizeof item->id + 1] = "";

    for (unsigned i = 0; i < item->id_size; i++)
        sprintf(id + 2 * i, "%02x", item->id[i]);
    f->busy = item;
    f->got = f->total = 0;
    pthread_mutex_unlock(&sy->lock);
    end = fetch_run(&p, id, &report);
    pthread_mutex_lock(&sy->lock);
    f->busy = NULL;
    f->spent_ns += clock_now_ns() - began_ns;
    if (end != FETCH_STOPPED)
        install(f, item, end, &report);
}

void symbolizer_fetch(struct symbolizer *sy)
{
    struct fetcher *f = sy->fetch;

    pthread_mutex_lock(&sy->lock);
    while (f && !sy->stopping) {
        struct fetch_item *item = f->first;
        if (!item) {
            pthread_cond_wait(&f->work, &sy->lock);
            continue;
        }
        f->first = item->next;
        if (!f->first)
            f->end = &f->first;
        if (!is_hopeless(f, item))
            fetch_one(sy, item);
        if (!sy->stopping)
            settle(sy, item);
    }
    pthread_mutex_unlock(&sy->lock);
}

bool symbolizer_settle_fetches(struct symbolizer *sy, uint64_t timeout_ns)
{
    struct timespec until = clock_deadline(CLOCK_MONOTONIC, timeout_ns);
    int late = 0;
    bool settled;

    pthread_mutex_lock(&sy->lock);
    while (!(settled = !n_pending(sy)) && !sy->stopping && !late)
        late = pthread_cond_timedwait(&sy->settled, &sy->lock, &until);
    pthread_mutex_unlock(&sy->lock);
    return settled;
}
