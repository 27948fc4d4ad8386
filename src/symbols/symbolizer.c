// SPDX-License-Identifier: GPL-2.0-or-later
/* The symbolizer's interface: creation, lookups, trimming. The resolver's thread is in resolver.c. */
#include "symbols/symbolizer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "process/elfid.h"
#include "process/memory_limit.h"
#include "symbols/blob.h"
#include "symbols/fetch.h"
#include "symbols/linecache.h"
#include "symbols/machine.h"
#include "symbols/symbolizer_state.h"
#include "symbols/unnamed.h"

#define NAMES_BYTES_MAX (16u << 20)
/* Part of the cgroup's memory limit for the tables: one of TABLES_PARTS. */
#define TABLES_PARTS     6
#define FETCH_SILENCE_NS (20 * NS_PER_SEC)
#define FETCH_FILE_NS    (180 * NS_PER_SEC)
#define FETCH_ALL_NS     (900 * NS_PER_SEC)

static void init_condition(pthread_cond_t *c)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

/* Whether the file begins like kallsyms. A wrong file would silently give no names. A pipe cannot be checked
 * beforehand. */
static bool begins_as_kallsyms(int fd)
{
    struct stat st;
    char line[64] = "";
    ssize_t n = pread(fd, line, sizeof line - 1, 0);

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return !S_ISDIR(st.st_mode);
    size_t digits = n > 0 ? strspn(line, "0123456789abcdefABCDEF") : 0;
    return digits && digits <= 16 && line[digits] == ' ' && line[digits + 1] > ' ' && line[digits + 2] == ' ';
}

static bool is_folder(const char *path, struct error *e)
{
    struct stat st;

    if (stat(path, &st))
        return error_sys(e, errno, "cannot search for programs below %s", path);
    return S_ISDIR(st.st_mode) ||
           error_set(e, ERROR_ARGUMENT, "%s is not a folder: --symfs expects a copy of the root folder",
                     path);
}

/* Decide whose names fit the kernel: those of a given file, or this machine's, if the profile is of its
 * kernel. */
static bool choose_kernel(struct symbolizer *sy, const struct symbolizer_config *cfg, struct error *e)
{
    uint8_t own[20];
    unsigned own_size = machine_kernel_build_id(own);
    bool same =
        own_size && own_size == cfg->kernel_build_id_size && !memcmp(own, cfg->kernel_build_id, own_size);

    if (cfg->live) {
        memcpy(sy->kernel_build_id, own, own_size);
        sy->kernel_build_id_size = own_size;
    } else if (cfg->kernel_build_id_size <= sizeof sy->kernel_build_id) {
        memcpy(sy->kernel_build_id, cfg->kernel_build_id, cfg->kernel_build_id_size);
        sy->kernel_build_id_size = cfg->kernel_build_id_size;
    }
    /* perf writes no build-id into a pipe */
    sy->kernel_ours = cfg->live || same || (!cfg->kernel_build_id_size && cfg->recorded_ns);
    sy->kernel_usable = sy->kernel_ours || cfg->kallsyms;
    if (!sy->kernel_usable)
        return true;
    sy->kallsyms_supplied = cfg->kallsyms != NULL;
    /* The kernel checks the rights of the process that opens the file, not of the one that reads it: the
     * worker may read it. */
    sy->kallsyms_fd =
        open(cfg->kallsyms ? cfg->kallsyms : "/proc/kallsyms", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (sy->kallsyms_fd < 0 && cfg->kallsyms)
        return error_sys(e, errno, "cannot open %s", cfg->kallsyms);
    return !cfg->kallsyms || begins_as_kallsyms(sy->kallsyms_fd) ||
           error_set(e, ERROR_ARGUMENT,
                     "%s is not a list of kernel symbols: --kallsyms expects the format of /proc/kallsyms",
                     cfg->kallsyms);
}

/* Open the named vmlinux. It must be the recorded kernel, as far as build-ids show. */
static bool open_vmlinux(struct symbolizer *sy, const char *path, struct error *e)
{
    uint8_t id[20];
    struct stat st;

    if (!path)
        return true;
    sy->vmlinux_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (sy->vmlinux_fd < 0)
        return error_sys(e, errno, "cannot open %s", path);
    if (fstat(sy->vmlinux_fd, &st) || !S_ISREG(st.st_mode))
        return error_set(e, ERROR_ARGUMENT, "%s is not a file: --vmlinux expects the kernel as an ELF file",
                         path);
    if (!file_is_elf(sy->vmlinux_fd))
        return error_set(e, ERROR_ARGUMENT,
                         "%s is not an ELF file: --vmlinux expects the uncompressed kernel, not a vmlinuz",
                         path);
    unsigned n = elfid_read(sy->vmlinux_fd, id);
    if (n && sy->kernel_build_id_size &&
        (n != sy->kernel_build_id_size || memcmp(id, sy->kernel_build_id, n)))
        return error_set(e, ERROR_ARGUMENT,
                         "%s is another kernel than the one that was profiled: their build-ids differ", path);
    return true;
}

static void open_fetcher(struct symbolizer *sy, const struct symbolizer_config *cfg)
{
    struct fetch_limits limits = { .silence_ns =
                                       cfg->fetch_silence_ns ? cfg->fetch_silence_ns : FETCH_SILENCE_NS,
                                   .file_ns = FETCH_FILE_NS,
                                   .all_ns = FETCH_ALL_NS };

    if (cfg->debuginfod)
        sy->fetch = fetch_new(cfg->debuginfod, &limits);
}

static void init_lanes(struct symbolizer *sy)
{
    for (int kind = 0; kind < LANES; kind++) {
        struct lane *lane = &sy->lanes[kind];
        *lane = (struct lane){ .sy = sy, .kind = (enum lane_kind)kind, .worker = WORKER_INIT };
        lane->worker.path = sy->worker_path;
        lane->worker.stop_fd = sy->stop_fd;
        init_condition(&lane->work);
    }
}

struct symbolizer *symbolizer_new(const struct symbolizer_config *cfg, struct error *e)
{
    struct symbolizer *sy = mem_zalloc(sizeof *sy);

    pthread_mutex_init(&sy->lock, NULL);
    init_condition(&sy->settled);
    names_init(&sy->names);
    owners_init(&sy->owners);
    sy->symfs = cfg->symfs ? mem_strdup(cfg->symfs) : NULL;
    sy->worker_path = cfg->worker_path ? mem_strdup(cfg->worker_path) : NULL;
    sy->recorded_ns = cfg->recorded_ns;
    sy->epochs = cfg->epochs;
    sy->n_epochs = cfg->n_epochs;
    sy->supplied = cfg->supplied;
    sy->embedded = cfg->embedded;
    sy->keep_tables = cfg->keep_tables;
    sy->as_perf = cfg->as_perf;
    sy->kallsyms_fd = sy->vmlinux_fd = -1;
    sy->kernel_lowest = UINT64_MAX;
    sy->other_machine = cfg->other_machine;
    sy->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    init_lanes(sy);
    blob_limit(memory_limit() / TABLES_PARTS);
    if (sy->stop_fd < 0) {
        error_sys(e, errno, "cannot make an event descriptor for the symbolizer");
        goto fail;
    }
    open_fetcher(sy, cfg);
    if ((!sy->symfs || is_folder(sy->symfs, e)) && choose_kernel(sy, cfg, e) &&
        open_vmlinux(sy, cfg->vmlinux, e))
        return sy;
fail:
    symbolizer_free(sy);
    return NULL;
}

void symbolizer_stop(struct symbolizer *sy)
{
    const uint64_t one = 1;

    pthread_mutex_lock(&sy->lock);
    sy->stopping = true;
    mods_wake(sy);
    pthread_cond_broadcast(&sy->settled);
    fetch_wake(sy);
    pthread_mutex_unlock(&sy->lock);
    while (write(sy->stop_fd, &one, sizeof one) < 0 && errno == EINTR)
        ;
}

void symbolizer_free(struct symbolizer *sy)
{
    if (!sy)
        return;
    for (int kind = 0; kind < LANES; kind++) {
        worker_end(&sy->lanes[kind].worker);
        pthread_cond_destroy(&sy->lanes[kind].work);
    }
    cache_free(sy->cache);
    fetch_free(sy->fetch);
    mods_done(sy);
    tables_drop(sy, sy->kernel);
    map_done(&sy->tables);
    names_done(&sy->names);
    intern_free(sy->scripts);
    if (sy->kallsyms_fd >= 0)
        close(sy->kallsyms_fd);
    if (sy->vmlinux_fd >= 0)
        close(sy->vmlinux_fd);
    if (sy->stop_fd >= 0)
        close(sy->stop_fd);
    pthread_cond_destroy(&sy->settled);
    pthread_mutex_destroy(&sy->lock);
    mem_free(sy->symfs);
    for (size_t i = 0; i < sy->dumps.n; i++)
        mem_free(sy->dumps.items[i].path);
    mem_free(sy->dumps.items);
    mem_free(sy->worker_path);
    mem_free(sy);
}

/* Return the bounds of the function at an offset, cached: a long function has many rows, and each redraw
 * requests the same addresses again. */
static void extent_of(struct symbol_module *mod, uint64_t offset, uint64_t *start, uint64_t *size)
{
    bool created = true;
    uint64_t *known = mod->extents.n < UNNAMED_MAX ? map_at(&mod->extents, offset, 0, &created) : NULL;

    if (created) {
        unwind_rows_function(&mod->unwind->rows, offset, start, size);
        if (known)
            *known = *size ? (offset - *start) << 32 | *size : 0;
    } else if (*known) {
        *start = offset - (*known >> 32);
        *size = (uint32_t)*known;
    }
}

/* Find the function's bounds by the unwind table, which has them even without names: samples of one function
 * are then attributed to one entry. */
static bool find_function(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset, uint64_t *start,
                          uint64_t *size)
{
    const struct symbol_task *task = mods_ask(sy, mod, TASK_UNWIND);

    *start = *size = 0;
    if (mod->unwind)
        extent_of(mod, offset, start, size);
    return task->progress != PROGRESS_WAITING;
}

static void tell_unnamed(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset,
                         struct symbol *out)
{
    uint64_t start = 0, size = 0, known = offset;
    bool pending =
        mod->tasks[TASK_NAMES].progress == PROGRESS_WAITING || !find_function(sy, mod, offset, &start, &size);

    if (size)
        known = start;
    *out = (struct symbol){ .state = pending ? SYMBOL_PENDING : SYMBOL_NONE,
                            .class = SYMBOL_CLASS_UNKNOWN,
                            .name = unnamed_name(sy, mod, known),
                            .start = start,
                            .size = size,
                            .key = map_mix(mod->name_hash + map_mix(known)) };
}

static void tell_name(const struct symbol_module *mod, const struct name *n, uint64_t start, uint64_t size,
                      struct symbol *out)
{
    *out = (struct symbol){ .state = SYMBOL_FOUND,
                            .class = n->class,
                            .name = n->text,
                            .start = start,
                            .size = size,
                            .key = map_mix(mod->name_hash + 3 * n->hash),
                            .idle = n->idle,
                            .mangled = n->waits };
}

static struct symbol_table *kernel_table(struct symbolizer *sy, struct symbol_module *mod, uint64_t addr)
{
    if (!sy->kernel) {
        sy->kernel_lowest = addr < sy->kernel_lowest ? addr : sy->kernel_lowest;
        sy->kernel_highest = addr > sy->kernel_highest ? addr : sy->kernel_highest;
    }
    return sy->kernel && mods_kernel_tells(sy, mod, addr) ? sy->kernel : NULL;
}

/* Return the table for an offset. Kernel modules have other addresses after another boot: their names are
 * valid only if the kernel has not moved. */
static struct symbol_table *table_for(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset,
                                      uint64_t *shift)
{
    *shift = 0;
    if (!mods_is_kernel(mod))
        return mod->table;
    if (mod->module->kind == MODULE_KMOD)
        return sy->kernel_shift ? NULL : mod->table;
    *shift = sy->kernel_shift;
    return kernel_table(sy, mod, offset - *shift);
}

/* Request names that may have changed, as a JIT continues its map. The resolver detects changes. */
static void ask_again(struct symbolizer *sy, struct symbol_module *mod)
{
    struct symbol_task *task = &mod->tasks[TASK_NAMES];

    if (mod->next_try_ns && !task->queued && !task->busy && clock_now_ns() >= mod->next_try_ns)
        mods_queue(sy, task);
}

/* Use the supplied name: the name on the recording machine, even if that was none. */
static bool tell_given(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset, struct symbol *out)
{
    if (!mod->supplied || !supplied_symbol(mod->supplied, offset, out))
        return false;
    if (out->state == SYMBOL_NONE)
        out->name = unnamed_name(sy, mod, out->size > 1 ? out->start : offset);
    return true;
}

/* Use a symbol that the recording tool stored. Its name is raw, like those of a symbol table. */
static bool tell_embedded(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset,
                          struct symbol *out)
{
    struct symbol found;

    if (!mod->embedded || !supplied_symbol(mod->embedded, offset, &found) || found.state != SYMBOL_FOUND)
        return false;
    tell_name(mod, names_get(&sy->names, found.name, mod->module->kind, mods_owner(mod)), found.start,
              found.size, out);
    return true;
}

void symbolizer_lookup(struct symbolizer *sy, struct module *m, uint64_t offset, struct symbol *out)
{
    struct table_entry entry;
    struct symbol_table *t;
    struct symbol_module *mod;
    uint64_t shift;

    pthread_mutex_lock(&sy->lock);
    mod = mods_get(sy, m);
    if (scripts_tell(sy, mod, offset, out) || tell_given(sy, mod, offset, out) ||
        tell_embedded(sy, mod, offset, out)) {
        pthread_mutex_unlock(&sy->lock);
        return;
    }
    mods_ask(sy, mod, TASK_NAMES);
    t = table_for(sy, mod, offset, &shift);
    if (m->kind == MODULE_KSYM) {
        tell_name(mod, names_get(&sy->names, m->path, m->kind, OWNER_TRUSTED), m->start, m->size, out);
    } else if (t && table_find(&t->view, offset - shift, &entry)) {
        tell_name(mod, names_get(&sy->names, entry.name, m->kind, mods_owner(mod)), entry.start + shift,
                  entry.size, out);
    } else {
        ask_again(sy, mod);
        tell_unnamed(sy, mod, offset, out);
    }
    if (sy->names.queued)
        mods_wake(sy);
    pthread_mutex_unlock(&sy->lock);
}

uint32_t symbolizer_generation(const struct symbolizer *sy)
{
    return atomic_load_explicit(&sy->generation, memory_order_acquire);
}

uint32_t symbolizer_changed(struct symbolizer *sy, const struct module *m)
{
    const struct symbol_module *mod;
    uint64_t value;
    uint32_t changed;

    pthread_mutex_lock(&sy->lock);
    mod = map_get(&sy->mods, m->id, &value) ? (const struct symbol_module *)(uintptr_t)value : NULL;
    changed = !mod ? 0 : mods_is_kernel(mod) ? sy->kernel_changed : mod->changed;
    pthread_mutex_unlock(&sy->lock);
    return changed;
}

void symbolizer_kernel_modified(struct symbolizer *sy)
{
    pthread_mutex_lock(&sy->lock);
    sy->kernel_modified++;
    sy->kernel_core_only = true;
    sy->kernel_changed = atomic_fetch_add_explicit(&sy->generation, 1, memory_order_release) + 1;
    pthread_mutex_unlock(&sy->lock);
}

uint32_t symbolizer_lines_changed(const struct symbolizer *sy)
{
    return atomic_load_explicit(&sy->lines_changed, memory_order_acquire);
}

bool symbolizer_settle(struct symbolizer *sy, uint64_t timeout_ns)
{
    struct timespec until = clock_deadline(CLOCK_MONOTONIC, timeout_ns);
    int late = 0;
    bool settled;

    pthread_mutex_lock(&sy->lock);
    while (!(settled = !sy->waiting && !sy->names.queued) && !sy->stopping && !late)
        late = pthread_cond_timedwait(&sy->settled, &sy->lock, &until);
    pthread_mutex_unlock(&sy->lock);
    return settled;
}

static void forget_names(struct symbolizer *sy)
{
    size_t pos = 0;
    uint64_t value;

    linecache_forget(sy, true);
    names_forget(&sy->names);
    while (map_next(&sy->mods, &pos, NULL, &value)) {
        struct symbol_module *mod = (struct symbol_module *)(uintptr_t)value;
        map_done(&mod->unnamed);
    }
}

void symbolizer_trim(struct symbolizer *sy, const uint8_t *keep, uint32_t n_keep)
{
    pthread_mutex_lock(&sy->lock);
    mods_trim(sy, keep, n_keep);
    linecache_forget(sy, false);
    if (names_bytes(&sy->names) > NAMES_BYTES_MAX)
        forget_names(sy);
    pthread_mutex_unlock(&sy->lock);
}

static unsigned copy_id(uint8_t dst[20], const uint8_t *id, unsigned size)
{
    size = size <= 20 ? size : 20;
    memcpy(dst, id, size);
    return size;
}

unsigned symbolizer_build_id(struct symbolizer *sy, struct module *m, uint8_t id[20])
{
    uint64_t found;
    const struct symbol_module *mod;
    unsigned n = copy_id(id, m->build_id, m->build_id_size);

    pthread_mutex_lock(&sy->lock);
    mod = map_get(&sy->mods, m->id, &found) ? (struct symbol_module *)(uintptr_t)found : NULL;
    if (!n && m->kind == MODULE_KERNEL)
        n = copy_id(id, sy->kernel_build_id, sy->kernel_build_id_size);
    if (!n && mod && mod->id_size)
        n = copy_id(id, mod->id, mod->id_size);
    pthread_mutex_unlock(&sy->lock);
    return n;
}

void symbolizer_request(struct symbolizer *sy, struct module *m)
{
    pthread_mutex_lock(&sy->lock);
    mods_ask(sy, mods_get(sy, m), TASK_NAMES);
    pthread_mutex_unlock(&sy->lock);
}

static void tell_trouble(struct symbolizer *sy, const struct module *m, enum task_kind kind, char *dst,
                         size_t cap)
{
    uint64_t found;
    const struct symbol_module *mod;

    pthread_mutex_lock(&sy->lock);
    mod = map_get(&sy->mods, m->id, &found) ? (struct symbol_module *)(uintptr_t)found : NULL;
    snprintf(dst, cap, "%s", mod && mod->tasks[kind].trouble ? mod->tasks[kind].trouble : "");
    pthread_mutex_unlock(&sy->lock);
}

void symbolizer_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap)
{
    tell_trouble(sy, m, TASK_NAMES, dst, cap);
}

void symbolizer_lines_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap)
{
    tell_trouble(sy, m, TASK_LINES, dst, cap);
}

void symbolizer_unwind_trouble(struct symbolizer *sy, const struct module *m, char *dst, size_t cap)
{
    tell_trouble(sy, m, TASK_UNWIND, dst, cap);
}

/* Say how to show the kernel's addresses. kptr_restrict and perf_event_paranoid decide together; see
 * kallsyms_show_value() in the kernel. */
static void note_hidden(char *dst, size_t cap)
{
    uint64_t restricted = 0;

    file_read_u64("/proc/sys/kernel/kptr_restrict", &restricted);
    if (restricted >= 2)
        snprintf(dst, cap, "kernel names are hidden from everybody: as root, sysctl kernel.kptr_restrict=1");
    else
        snprintf(dst, cap, "kernel names are hidden from this user: run as root, give CAP_SYSLOG%s",
                 restricted ? "" : ", or sysctl kernel.perf_event_paranoid=1");
    if (restricted == 1)
        snprintf(dst + strlen(dst), cap - strlen(dst), ", or sysctl kernel.kptr_restrict=0");
}

void symbolizer_stats(struct symbolizer *sy, struct symbolizer_stats *out)
{
    size_t pos = 0;
    uint64_t value;

    pthread_mutex_lock(&sy->lock);
    *out = (struct symbolizer_stats){ .modules = (uint32_t)sy->mods.n,
                                      .pending = sy->waiting,
                                      .mangled = (uint32_t)sy->names.queued,
                                      .worker_starts = sy->worker_starts,
                                      .given_up = sy->given_up,
                                      .jit_of_now = sy->jit_of_now,
                                      .kernel_hidden = sy->kernel_hidden };
    while (map_next(&sy->mods, &pos, NULL, &value)) {
        const struct symbol_module *mod = (struct symbol_module *)(uintptr_t)value;
        bool failed = mod->tasks[TASK_NAMES].progress == PROGRESS_FAILED;
        out->failed += failed;
        out->kernel_foreign |= failed && !sy->kernel_usable && mod->module->kind == MODULE_KERNEL;
    }
    fetch_tell(sy, out->fetching, sizeof out->fetching);
    memcpy(out->worker_note, sy->worker_note, sizeof out->worker_note);
    pthread_mutex_unlock(&sy->lock);
    if (out->kernel_hidden)
        note_hidden(out->kernel_note, sizeof out->kernel_note);
}
