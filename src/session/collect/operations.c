// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/collect/operations.h"

#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "profile/operation_data.h"
#include "session/collect/kept_stack.h"
#include "session/session_state.h"

/* What a begin and an end need of a record, made when it is needed. */
struct moment {
    const struct record *r;
    bool stack_made;
    uint64_t stack; /* kept_stack.h */
};

/* ---- records ---- */

/* False: the record is too short. */
static bool key_of(const struct operations_row *row, enum pair_side side, const struct record *r,
                   uint64_t *key)
{
    struct payload p = operation_payload(row, side, r);
    *key = 0;
    if (row->row->by_thread)
        *key = pairs_key(*key, r->id.tid);
    if (row->row->by_cpu)
        *key = pairs_key(*key, r->id.cpu);
    for (uint32_t i = 0; i < row->row->n_keys; i++) {
        int32_t field = row->fields.keys[side][i];
        if (!payload_has(&p, field))
            return false;
        /* A flush has no sector: the kernel says 0 when it is issued (blk_rq_trace_sector), and -1 at its
         * end. */
        uint64_t number = payload_number(&p, field);
        *key = pairs_key(*key, number == UINT64_MAX ? 0 : number);
    }
    return true;
}

/* True if the event meets the row's conditions (counts: those behind the semicolon). */
static bool meets(const struct operations_row *row, enum pair_side side, const struct record *r, bool counts)
{
    struct payload p = operation_payload(row, side, r);
    return pair_checks_pass(&row->fields.checks[side], &p, counts);
}

/* True if the row counts events of this thread. The idle tasks of all CPUs have the number 0. */
static bool is_thread(const struct operations_row *row, const struct record *r)
{
    if (row->row->by_process && r->id.tid != r->id.pid)
        return false;
    return !row->row->by_thread || row->row->by_cpu || r->id.tid;
}

static uint64_t stack_of(struct session *s, struct moment *m, uint32_t event)
{
    const struct record *r = m->r;
    if (m->stack_made)
        return m->stack;
    m->stack_made = true;
    if (!r->sample.chain_n && !r->sample.stack_size) /* without --call-graph */
        return m->stack = 0;
    uint32_t thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, r->id.time_ns, r->sample.cgroup);
    struct frame_owner owner = locate_owner(s, thread);
    struct stack_result stack = samplestack_of(s, r, &owner, false);
    struct sample sample = {
        .time_ns = r->id.time_ns,
        .thread = thread,
        .stack = stack.stack,
        .cpu = r->id.cpu % SAMPLE_CPUS,
        .event = event % SAMPLE_EVENTS,
        .flags = SAMPLE_KERNEL,
    };
    return m->stack = kept_stack_put(s, r, &sample, &stack);
}

/* Without getpid for each begin: that would be one more system call that begins. */
static bool is_own(const struct session *s, const struct record *r)
{
    return !s->load.file && (r->id.pid == s->collect.operations.self || child_is((pid_t)r->id.pid));
}

/* TRACE_FLAG_HARDIRQ, _SOFTIRQ and _NMI of the kernel's include/linux/trace_events.h. */
#define IN_INTERRUPT (0x08 | 0x10 | 0x40)

/* True if the operation's process caused the event, in this thread: not an interrupt, nor the idle task. */
static bool is_of_process(const struct operations_row *row, enum pair_side side, const struct record *r)
{
    struct payload p = operation_payload(row, side, r);
    return r->id.tid && !(payload_number(&p, row->fields.context[side]) & IN_INTERRUPT);
}

/* True if the thread is not in the scope, of an event that is open for all threads. */
static bool is_foreign(struct session *s, const struct operations_row *row, const struct record *r)
{
    if (s->source.scope.kind != SCOPE_CGROUP || !row->row->of_process)
        return r->foreign;
    uint32_t thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, r->id.time_ns, r->sample.cgroup);
    const struct world_thread *t = world_thread(s->store.world, thread);
    return !t || scope_cgroup_of(s, t) < 0;
}

/* Whose the operation is. Those of flametop and of threads outside the scope are not counted. */
static void set_process(struct session *s, const struct operations_row *row, struct moment *m,
                        struct pairs_operation *operation)
{
    const struct record *r = m->r;
    operation->pid = r->id.pid;
    operation->tid = r->id.tid;
    operation->unknown = false;
    operation->own = is_own(s, r) || is_foreign(s, row, r);
    if (operation->own)
        return;
    if (!s->load.file)
        scan_proc_of(s, r->id.pid);
    if (row->row->of_process || row->row->stack == PAIR_BEGIN)
        operation->stack = stack_of(s, m, row->event);
}

/* An event of an open operation, not its begin: the first one that its process causes tells the process. */
static void note_process(struct session *s, struct operations_row *row, enum pair_side side, struct moment *m)
{
    uint64_t key;
    struct pairs_operation *operation = key_of(row, side, m->r, &key) ? pairs_find(&row->pairs, key) : NULL;
    if (operation && operation->unknown && is_of_process(row, side, m->r))
        set_process(s, row, m, operation);
}

static uint64_t value_of(const struct operations_row *row, const struct record *r)
{
    struct payload p = operation_payload(row, PAIR_BEGIN, r);
    return row->value_key < row->row->n_keys
               ? payload_number(&p, row->fields.keys[PAIR_BEGIN][row->value_key])
               : r->id.tid;
}

static void complete(struct session *s, struct operations_row *row, const struct record *r)
{
    uint64_t key;
    struct pairs_operation *operation =
        is_thread(row, r) && key_of(row, PAIR_MORE, r, &key) ? pairs_find(&row->pairs, key) : NULL;
    if (operation)
        operation_complete(s, row, r, operation);
}

/* A begin of any operation, which represents as many as the period. */
static void count(struct session *s, struct operations_row *row, const struct record *r)
{
    row->counted += r->sample.period;
    if (!meets(row, PAIR_BEGIN, r, false))
        return;
    row->counted_met += r->sample.period;
    if (is_thread(row, r) && !row->row->slow && !is_own(s, r) && !r->foreign)
        estimates_count(&row->estimates, operation_name(s, row, r), r->sample.period);
}

/* The sample, or a copy of it, represents n more operations. */
static void add_to_sample(void *ctx, uint64_t number, uint64_t n)
{
    struct session *s = ctx;
    const struct sample *found = history_sample(s->store.history, number);
    struct operation_data data = { .magic = OPERATION_MAGIC };
    uint32_t size, more = n < UINT32_MAX / 2 ? (uint32_t)n : UINT32_MAX / 2;
    if (!found || !s->store.events[found->event].event.latency)
        return;
    struct sample sample = *found;
    void *raw = history_raw_of(s->store.history, found, &size);
    if (raw && size >= sizeof data) {
        memcpy(&data, raw, sizeof data);
        data.count = operation_data_count(&data) + (data.count < UINT32_MAX / 2 ? more : 0);
        memcpy(raw, &data, sizeof data);
    } else {
        data.count = more;
        sample.raw = 0;
        append_sample(s, &sample, &data, sizeof data);
    }
}

void operations_settle(struct session *s, uint32_t turn)
{
    struct session_operations *o = &s->collect.operations;
    for (size_t i = 0; i < o->rows.n; i++)
        estimates_settle(&o->rows.items[i].estimates, turn, add_to_sample, s);
}

/* Slow ones are not counted by name at their begin. Being sampled makes them no slower. */
static uint64_t represents(struct session *s, struct operations_row *row,
                           const struct pairs_operation *operation)
{
    if (!operation->selected)
        return 1;
    return row->row->slow ? row->one_in
                          : estimates_take(&row->estimates, operation->name, s->source.selection.turn);
}

/* False: operations of unknown processes may be outside the scope. */
static bool counts_unknown(const struct session *s)
{
    return s->source.scope.kind == SCOPE_ALL;
}

uint64_t operations_count_open(const struct session *s, const struct operations_row *row)
{
    return pairs_count_open(&row->pairs, counts_unknown(s));
}

/* The number of bytes of an operation, as its begin or its end has it. */
static uint64_t size_of(const struct operations_row *row, const struct record *r)
{
    struct payload p = operation_payload(row, row->row->size_side, r);
    return row->fields.size >= 0 ? payload_number(&p, row->fields.size) * row->row->size_unit : 0;
}

/* Makes the sample of an operation. */
static void append_operation(struct session *s, struct operations_row *row,
                             const struct pairs_operation *operation, const struct operation_end *end,
                             uint64_t ns, int error)
{
    struct operation_data data = { .magic = OPERATION_MAGIC, .size = operation->size };
    struct sample sample = {
        .time_ns = end->time_ns,
        .weight = sample_weight(ns ? ns : 1),
        .thread = operation->thread
                      ? operation->thread
                      : world_thread_of(s->store.world, operation->pid, operation->tid, end->time_ns, 0),
        .cpu = end->cpu % SAMPLE_CPUS,
        .event = row->event % SAMPLE_EVENTS,
        .flags = SAMPLE_KERNEL,
    };
    uint64_t n = represents(s, row, operation);
    data.count = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    uint64_t name = operation_name_at_end(s, row, operation, error);
    sample.stack = stacks_child(s->store.stacks, kept_stack_of(s, operation->stack),
                                stacks_frame(s->store.stacks, MODULE_ID_OPERATION, name));
    uint64_t number = append_sample(s, &sample, data.size || operation->selected ? &data : NULL, sizeof data);
    estimates_note(&row->estimates, operation->name, number);
    kept_stack_follow(s, operation->stack, number, false);
}

/* Ends the operation with this key. by_end: by its end; else by the next begin. */
static void finish(struct session *s, struct operations_row *row, struct moment *m, uint64_t key, bool by_end)
{
    const struct record *r = m->r;
    struct pairs_operation operation;
    uint64_t ns;
    if (!pairs_end(&row->pairs, key, r->id.time_ns, r->id.cpu, &operation, &ns) || operation.own ||
        (by_end && !meets(row, PAIR_END, r, true)) || (operation.unknown && !counts_unknown(s)))
        return;
    if (row->row->slow && (ns < PAIR_SLOW_NS || !slow_file_name(s, row, r, &operation)))
        return;
    if (row->row->stack == PAIR_END)
        operation.stack = stack_of(s, m, row->event);
    if (row->row->size_side == PAIR_END && by_end)
        operation.size = size_of(row, r);
    row->incomplete += row->row->command && !operation.complete && !operation.selected;
    append_operation(s, row, &operation,
                     &(struct operation_end){ .time_ns = r->id.time_ns, .cpu = r->id.cpu }, ns,
                     OPERATION_NO_ERROR);
}

/* ---- ends whose error may follow ---- */

/* The kernel reports the error of a socket right after its last state, without its address. */
#define ERROR_AFTER_NS (100 * NS_PER_MS)

/* True if the errors of all operations are sampled. */
static bool sees_errors(const struct operations_row *row)
{
    return row->parts[PAIR_ERROR] != UINT32_MAX && row->one_in <= 1;
}

/* Keeps the end of an operation until its error follows. It stays among the open ones, so that its stack and
 * its thread are kept. False: nothing follows. */
static bool keep_end(struct session *s, struct operations_row *row, struct moment *m, uint64_t key)
{
    const struct record *r = m->r;
    struct pairs_operation *operation = pairs_find(&row->pairs, key);
    if (!operation || operation->own || !sees_errors(row) || !meets(row, PAIR_END, r, true))
        return false;
    if (row->row->stack == PAIR_END)
        operation->stack = stack_of(s, m, row->event);
    if (row->row->size_side == PAIR_END)
        operation->size = size_of(row, r);
    *VEC_PUSH(&row->ending) = (struct operation_end){
        .key = key,
        .time_ns = r->id.time_ns,
        .connection = operation_connection(row, PAIR_END, r),
        .cpu = r->id.cpu,
        .by_process = is_of_process(row, PAIR_END, r),
    };
    return true;
}

/* Ends an operation whose end was kept, and removes it. */
static void finish_kept(struct session *s, struct operations_row *row, size_t i, int error)
{
    struct operation_end end = row->ending.items[i];
    struct pairs_operation operation;
    uint64_t ns;
    row->ending.items[i] = row->ending.items[--row->ending.n];
    if (error == OPERATION_NO_ERROR && end.by_process && sees_errors(row))
        error = OPERATION_GIVEN_UP;
    if (pairs_end(&row->pairs, end.key, end.time_ns, end.cpu, &operation, &ns) && !operation.own &&
        (!operation.unknown || counts_unknown(s)))
        append_operation(s, row, &operation, &end, ns, error);
}

/* Before the key begins or ends again. */
static void settle_key(struct session *s, struct operations_row *row, uint64_t key)
{
    for (size_t i = row->ending.n; i-- > 0;)
        if (row->ending.items[i].key == key)
            finish_kept(s, row, i, OPERATION_NO_ERROR);
}

/* As operations_settle_ends, of a row. */
static void settle_until(struct session *s, struct operations_row *row, uint64_t seen_ns)
{
    for (size_t i = row->ending.n; i-- > 0;)
        if (seen_ns > row->ending.items[i].time_ns + ERROR_AFTER_NS)
            finish_kept(s, row, i, OPERATION_NO_ERROR);
}

void operations_settle_ends(struct session *s, uint64_t seen_ns)
{
    for (size_t i = 0; i < s->collect.operations.rows.n; i++)
        settle_until(s, &s->collect.operations.rows.items[i], seen_ns);
}

static void take_error(struct session *s, struct operations_row *row, const struct record *r)
{
    struct payload p = operation_payload(row, PAIR_ERROR, r);
    uint64_t connection = operation_connection(row, PAIR_ERROR, r);
    for (size_t i = 0; i < row->ending.n; i++)
        if (row->ending.items[i].connection == connection) {
            finish_kept(s, row, i, (int)payload_number(&p, row->fields.error));
            return;
        }
}

/* ---- begins and ends ---- */

/* True if the key had no begin: the process has not executed a program of its own, or the thread is new. */
static bool has_begun_nothing(struct session *s, const struct operations_row *row, const struct record *r,
                              uint64_t key)
{
    bool may_be = row->row->by_process || row->fields.call >= 0;
    return may_be && !map_get(&row->pairs.index, key, NULL) &&
           (row->row->by_process ? world_is_forked(s->store.world, r->id.pid)
                                 : operation_is_birth(s, row, r));
}

static void end(struct session *s, struct operations_row *row, struct moment *m)
{
    uint64_t key;
    if (is_thread(row, m->r) && meets(row, PAIR_END, m->r, false) && key_of(row, PAIR_END, m->r, &key) &&
        !has_begun_nothing(s, row, m->r, key)) {
        settle_key(s, row, key);
        if (!keep_end(s, row, m, key))
            finish(s, row, m, key, true);
    }
}

static void begin(struct session *s, struct operations_row *row, struct moment *m)
{
    const struct record *r = m->r;
    struct payload p = operation_payload(row, PAIR_BEGIN, r);
    struct pairs_operation operation = {
        .begin_ns = r->id.time_ns,
        .value = value_of(row, r),
        .selected = (r->id.time_ns < row->one_in_ns ? row->one_in_before : row->one_in) > 1,
        .pid = WORLD_NO_PID,
        .tid = WORLD_NO_PID,
        .cpu = r->id.cpu,
        .unknown = true,
    };
    row->begins++;
    if (!is_thread(row, r) || !meets(row, PAIR_BEGIN, r, false) ||
        !key_of(row, PAIR_BEGIN, r, &operation.key))
        return;
    settle_key(s, row, operation.key);
    if (row->row->successive && pairs_find(&row->pairs, operation.key))
        finish(s, row, m, operation.key, false);
    if (!row->row->of_process || is_of_process(row, PAIR_BEGIN, r))
        set_process(s, row, m, &operation);
    if (!operation.own && row->row->slow) {
        operation.name = payload_number(&p, row->fields.name_fields[0]);
        operation.size = payload_element(&p, row->fields.args, 0);
    } else if (!operation.own) {
        operation.name = operation_name(s, row, r);
        if (row->row->successive) /* at the end, it may be another program */
            operation.thread = world_thread_of(s->store.world, r->id.pid, r->id.tid, r->id.time_ns, 0);
        operation.size = row->row->size_side == PAIR_BEGIN ? size_of(row, r) : 0;
    }
    pairs_begin(&row->pairs, &operation);
}

static void take_record(struct session *s, struct operations_row *row, struct moment *m, bool begins,
                        bool ends)
{
    if (row->row->of_process)
        note_process(s, row, ends ? PAIR_END : PAIR_BEGIN, m);
    if (ends)
        end(s, row, m);
    if (begins)
        begin(s, row, m);
}

static void take_more(struct session *s, struct operations_row *row, const struct record *r, uint32_t event)
{
    if (!r->counting && row->parts[PAIR_MORE] == event)
        complete(s, row, r);
    if (!r->counting && row->parts[PAIR_ERROR] == event)
        take_error(s, row, r);
}

bool operations_sample(struct session *s, const struct record *r)
{
    struct session_operations *o = &s->collect.operations;
    uint32_t event = session_event_of(s, r);
    struct moment m = { .r = r };
    if (s->load.file || event >= s->store.n_events || !s->store.events[event].event.of_pair)
        return false;
    o->records++;
    for (size_t i = 0; i < o->rows.n; i++) {
        struct operations_row *row = &o->rows.items[i];
        bool begins = row->parts[PAIR_BEGIN] == event, ends = row->parts[PAIR_END] == event;
        pairs_set_gap(&row->pairs, row->row->by_cpu ? 0 : r->gap_ns);
        settle_until(s, row, r->id.time_ns);
        if (r->counting && begins)
            count(s, row, r);
        else if (!r->counting && (begins || ends))
            take_record(s, row, &m, begins, ends);
        take_more(s, row, r, event);
    }
    return true;
}

void operations_sample_of_file(struct session *s, const struct record *r, uint32_t stack)
{
    struct session_operations *o = &s->collect.operations;
    uint32_t event = session_event_of(s, r);
    struct moment m = { .r = r, .stack_made = true, .stack = stack };
    for (size_t i = 0; i < o->rows.n; i++) {
        struct operations_row *row = &o->rows.items[i];
        bool begins = row->parts[PAIR_BEGIN] == event, ends = row->parts[PAIR_END] == event;
        settle_until(s, row, r->id.time_ns);
        if (begins || ends)
            take_record(s, row, &m, begins, ends);
        take_more(s, row, r, event);
    }
}

static bool is_thread_only(const struct pair_row *row)
{
    return row->by_thread && !row->by_cpu && !row->n_keys;
}

void operations_record(struct session *s, const struct record *r)
{
    struct session_operations *o = &s->collect.operations;
    bool lost = r->type == PERF_RECORD_LOST || r->type == PERF_RECORD_LOST_SAMPLES;
    for (size_t i = 0; i < o->rows.n; i++) {
        struct operations_row *row = &o->rows.items[i];
        if (lost)
            pairs_lost(&row->pairs, r->id.cpu, row->row->by_cpu);
        else if (r->type == PERF_RECORD_EXIT && is_thread_only(row->row))
            pairs_thread_ended(&row->pairs, pairs_key(0, r->task.tid));
    }
}

/* ---- bounds ---- */

struct renewal {
    struct session *s;
    bool all;
    uint8_t *stacks, *threads;
    const uint32_t *new_stack, *new_thread;
};

static void each_operation(struct session *s, void (*each)(void *ctx, struct pairs_operation *operation),
                           struct renewal *w)
{
    struct session_operations *o = &s->collect.operations;
    w->s = s;
    for (size_t i = 0; i < o->rows.n; i++)
        pairs_each(&o->rows.items[i].pairs, each, w);
}

static void keep_one(void *ctx, struct pairs_operation *operation)
{
    const struct renewal *w = ctx;
    operation->stack = kept_stack_before_drop(w->s, operation->stack, w->all);
}

void operations_before_drop(struct session *s, bool all)
{
    for (size_t i = 0; i < s->collect.operations.rows.n && all; i++)
        estimates_forget_samples(&s->collect.operations.rows.items[i].estimates);
    each_operation(s, keep_one, &(struct renewal){ .all = all });
}

static void mark_one(void *ctx, struct pairs_operation *operation)
{
    const struct renewal *w = ctx;
    w->stacks[kept_stack_of(w->s, operation->stack)] = 1;
    w->threads[operation->thread] = 1;
}

void operations_mark(struct session *s, uint8_t *stacks, uint8_t *threads)
{
    each_operation(s, mark_one, &(struct renewal){ .stacks = stacks, .threads = threads });
}

static void renumber_one(void *ctx, struct pairs_operation *operation)
{
    const struct renewal *w = ctx;
    operation->stack = kept_stack_renumber(operation->stack, w->new_stack);
    operation->thread = w->new_thread[operation->thread];
}

void operations_renumber(struct session *s, const uint32_t *new_stack, const uint32_t *new_thread)
{
    each_operation(s, renumber_one, &(struct renewal){ .new_stack = new_stack, .new_thread = new_thread });
}

/* ---- files ---- */

bool operations_are_saved(const char *name, const struct perf_event_attr *attr)
{
    return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT &&
           !strncmp(name, "latency:", strlen("latency:"));
}

uint64_t operations_load(struct session *s, const struct record *r, struct sample *sample)
{
    struct operation_data data = { 0 };
    char name[OPERATION_NAME_MAX];
    bool told = operation_data_read(r->sample.aux, r->sample.aux_size, &data, name);
    if (!r->sample.chain_n && !r->sample.ip) /* recorded without stacks */
        sample->stack = 0;
    uint32_t frame =
        stacks_frame(s->store.stacks, MODULE_ID_OPERATION,
                     symbolizer_script(s->store.symbolizer, told && *name ? name : "[operation]"));
    sample->stack = stacks_child(s->store.stacks, sample->stack, frame);
    sample->flags = SAMPLE_KERNEL;
    data.name_size = 0;
    return append_sample(s, sample, told && (data.size || data.count > 1) ? &data : NULL, sizeof data);
}
