// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwind rows of code generated at run time.
 * The worker deduces them from the process's memory: for a whole function if its bounds are known, else for
 * single sampled addresses. */
#include <stdlib.h>
#include <unistd.h>

#include "process/opener.h"
#include "symbols/symbolizer_state.h"

#define FUNCTIONS_MAX 32768             /* of a module; later functions get no rows */
#define CODE_MAX      (64u << 10)       /* bytes read of one function */
#define TABLES_MAX    ((size_t)8 << 20) /* bytes, of a module */
#define PAGE          UINT64_C(4096)
#define AHEAD_BYTES   (3 * PAGE) /* bytes read from the start of an address's page */
/* Bytes read before that page, if mapped: a method may begin there. */
#define BEHIND_BYTES (8 * PAGE)
#define SPAN_MAX     (UINT64_C(1) << 31) /* addresses in one reply */

struct function {
    struct worker_code code;
    enum progress progress;
    const struct symbol_table *table; /* NULL: none (yet) */
};
struct jit_rows {
    struct map by_address; /* start of a function, or a sampled address → index in functions */
    VEC(struct function) functions;
    size_t next; /* functions from here on are not requested yet */
    VEC(struct symbol_table *) tables;
    size_t bytes;
    struct worker_code batch[WORKER_FDS_MAX]; /* batch in progress, until it is installed; sorted */
    unsigned n_batch;
};

void jitrows_free(struct symbol_module *mod)
{
    struct jit_rows *j = mod->jit_rows;

    if (!j)
        return;
    for (size_t i = 0; i < j->tables.n; i++)
        tables_drop(NULL, j->tables.items[i]);
    mem_free(j->tables.items);
    mem_free(j->functions.items);
    map_done(&j->by_address);
    mem_free(j);
    mod->jit_rows = NULL;
}

static uint64_t address_of(const struct worker_code *code)
{
    return code->pc ? code->pc : code->start;
}

static uint64_t key_of(const struct worker_code *code)
{
    return code->pc ? ~code->pc : code->start;
}

static int by_address(const void *a, const void *b)
{
    const struct worker_code *x = a, *y = b;

    return address_of(x) < address_of(y) ? -1 : address_of(x) > address_of(y);
}

/* Sort the batch, and clip each function at the start of the next one. */
static void sort_batch(struct jit_rows *j)
{
    qsort(j->batch, j->n_batch, sizeof *j->batch, by_address);
    for (unsigned i = 0; i + 1 < j->n_batch; i++)
        if (!j->batch[i].pc && j->batch[i].size > j->batch[i + 1].start - j->batch[i].start)
            j->batch[i].size = j->batch[i + 1].start - j->batch[i].start;
}

bool jitrows_take(struct symbolizer *sy, struct symbol_module *mod)
{
    struct jit_rows *j = mod->jit_rows;

    (void)sy;
    if (j && j->n_batch) /* repeat the batch */
        return false;
    if (!j || j->next == j->functions.n)
        return true;
    for (; j->n_batch < WORKER_FDS_MAX && j->next < j->functions.n; j->n_batch++) {
        const struct worker_code *code = &j->functions.items[j->next].code;
        if (j->n_batch &&
            (!code->pc != !j->batch[0].pc || code->start - j->batch[0].start + SPAN_MAX > 2 * SPAN_MAX))
            break;
        j->batch[j->n_batch] = *code;
        j->next++;
    }
    sort_batch(j);
    return false;
}

/* Return a copy of the code. For a single address, include the bytes before it. */
static int open_code(const struct symbol_module *mod, struct worker_code *code)
{
    uint64_t more = code->pc && code->start > BEHIND_BYTES ? BEHIND_BYTES : 0;
    int fd = more ? opener_memory(mod->module->pid, code->start - more, code->size + more) : -1;

    if (fd < 0)
        return opener_memory(mod->module->pid, code->start, code->size);
    code->start -= more;
    code->size += more;
    return fd;
}

void resolve_jit_rows(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    struct jit_rows *j = mod->jit_rows;
    struct worker_reply *a = mem_alloc(sizeof *a);
    struct worker_code code[WORKER_FDS_MAX];
    struct worker_request r = { .kind = WORKER_JIT_ROWS, .payload = code };

    for (unsigned i = 0; i < j->n_batch; i++) {
        code[r.n_fds] = j->batch[i];
        int fd = open_code(mod, &code[r.n_fds]);
        if (fd < 0)
            continue;
        r.fds[r.n_fds++] = fd;
    }
    r.payload_n = r.n_fds * sizeof *code;
    if (r.n_fds && resolve_send(sy, &r, a, out) == WORKER_DONE && a->blob)
        out->table = tables_new(CACHE_UNWIND, a->blob, a->blob_size, &out->trouble);
    for (unsigned i = 0; i < r.n_fds; i++)
        close(r.fds[i]);
    mem_free(a);
}

static void keep(struct jit_rows *j, struct symbol_table *t)
{
    j->bytes += t->size;
    *VEC_PUSH(&j->tables) = t;
}

void jitrows_install(struct symbolizer *sy, struct symbol_module *mod, struct outcome *out)
{
    struct jit_rows *j = mod->jit_rows;
    uint64_t index;

    if (out->table)
        keep(j, out->table);
    for (unsigned i = 0; i < j->n_batch; i++)
        if (map_get(&j->by_address, key_of(&j->batch[i]), &index)) {
            j->functions.items[index].progress = PROGRESS_READY;
            j->functions.items[index].table = out->table;
        }
    j->n_batch = 0;
    if (j->next < j->functions.n)
        mods_queue(sy, &mod->tasks[TASK_JIT_ROWS]);
}

static struct function *function_of(struct symbolizer *sy, struct symbol_module *mod,
                                    const struct worker_code *code)
{
    struct symbol_task *task = &mod->tasks[TASK_JIT_ROWS];
    struct jit_rows *j = mod->jit_rows;
    uint64_t index;

    if (!j)
        j = mod->jit_rows = mem_zalloc(sizeof *j);
    if (map_get(&j->by_address, key_of(code), &index))
        return &j->functions.items[index];
    if (j->functions.n == FUNCTIONS_MAX || j->bytes > TABLES_MAX)
        return NULL;
    map_put(&j->by_address, key_of(code), j->functions.n);
    struct function *f = VEC_PUSH(&j->functions);
    *f = (struct function){ .code = *code, .progress = PROGRESS_WAITING };
    if (task->progress != PROGRESS_UNASKED)
        task->progress = PROGRESS_WAITING;
    mods_ask(sy, mod, TASK_JIT_ROWS);
    if (!task->busy)
        mods_queue(sy, task);
    return f;
}

static enum symbol_state rows_of(struct symbolizer *sy, struct module *m, const struct worker_code *code,
                                 const struct unwind_rows **out)
{
    enum symbol_state state = SYMBOL_NONE;
    const struct function *f;

    *out = NULL;
    pthread_mutex_lock(&sy->lock);
    f = function_of(sy, mods_get(sy, m), code);
    if (f && f->table) {
        *out = &f->table->rows;
        state = SYMBOL_FOUND;
    } else if (f && f->progress == PROGRESS_WAITING) {
        state = SYMBOL_PENDING;
    }
    pthread_mutex_unlock(&sy->lock);
    return state;
}

enum symbol_state symbolizer_jit_rows(struct symbolizer *sy, struct module *m, uint64_t start, uint64_t size,
                                      const struct unwind_rows **out)
{
    const struct worker_code code = { .start = start, .size = size < CODE_MAX ? size : CODE_MAX };

    return rows_of(sy, m, &code, out);
}

enum symbol_state symbolizer_jit_row(struct symbolizer *sy, struct module *m, uint64_t pc, bool exact,
                                     const struct unwind_rows **out)
{
    const struct worker_code code = {
        .start = pc & ~(PAGE - 1), .size = AHEAD_BYTES, .pc = pc, .exact = exact
    };

    return rows_of(sy, m, &code, out);
}
