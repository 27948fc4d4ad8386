// SPDX-License-Identifier: GPL-2.0-or-later
/* A view that is updated while samples arrive equals a new one. */
#include "collector_fixture.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/sanitized.h"
#include "elf_maker.h"
#include "worker_test.h"
#include "profile/functions.h"
#include "session/query/view_parts.h"
#include "symbols/worker.h"

#define SECOND_NS UINT64_C(1000000000)

#define BUCKET_NS 64

#define FILES 40

#define ROUNDS (SANITIZED ? 500 : 2000)

static char dir[] = "/tmp/flametop-test-XXXXXX";
static pthread_t resolver;
static uint64_t random_state = 88172645463325252;

static void feed_record(const struct record *r)
{
    collector_record(s, r);
}

static uint32_t random_below(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)((random_state >> 16) % n);
}

static void path_of(char *dst, size_t cap, unsigned file)
{
    snprintf(dst, cap, "%s/file%u", dir, file);
}

/* Files with an even number have the same functions. */
static void make_file(unsigned file)
{
    static const struct elf_maker_symbol symbols[][2] = {
        { { "one", ELF_MAKER_VADDR + 0x10, 0x20, 0 }, { "_ZN3foo3barEi", ELF_MAKER_VADDR + 0x40, 0x40, 0 } },
        { { "two", ELF_MAKER_VADDR + 0x20, 0x30, 0 }, { "_ZN3foo3bazEv", ELF_MAKER_VADDR + 0x100, 0x40, 0 } },
    };
    struct elf_maker maker = { .symbols = symbols[file % 2],
                               .n_symbols = 2,
                               .symtab_type = SHT_SYMTAB,
                               .id = (unsigned char)(file + 1) };
    char path[64], bytes[4096];
    int from = elf_maker_open(&maker), to;
    ssize_t n;
    path_of(path, sizeof path, file);
    to = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(from >= 0 && to >= 0 && lseek(from, 0, SEEK_SET) == 0);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        assert_int_equal(write(to, bytes, (size_t)n), n);
    close(from);
    close(to);
}

static void *resolve(void *symbolizer)
{
    symbolizer_run(symbolizer);
    return NULL;
}

static int set_up_names(void **state)
{
    static const char *const comms[] = { "alpha", "beta", "gamma" };
    struct error e = { 0 };
    set_up(state);
    s->collect.budget_bytes = 64 * MB;
    s->store.symbolizer = symbolizer_new(&(struct symbolizer_config){ 0 }, &e);
    assert_non_null(s->store.symbolizer);
    assert_int_equal(pthread_create(&resolver, NULL, resolve, s->store.symbolizer), 0);
    assert_non_null(mkdtemp(dir));
    for (unsigned file = 0; file < FILES; file++)
        make_file(file);
    for (uint32_t pid = 1; pid <= 3; pid++) {
        do_comm(pid, comms[pid - 1], true);
        do_mmap(pid, TEXT, 0x10000, "/no/such/program", 1);
        do_mmap(pid, JIT, 0x10000, "/no/such/library.so", 2);
    }
    return 0;
}

static int tear_down_names(void **state)
{
    char path[64];
    symbolizer_stop(s->store.symbolizer);
    pthread_join(resolver, NULL);
    symbolizer_free(s->store.symbolizer);
    for (unsigned file = 0; file < FILES; file++) {
        path_of(path, sizeof path, file);
        unlink(path);
    }
    rmdir(dir);
    return tear_down(state);
}

static void add_random_sample(void)
{
    uint64_t chain[12] = { PERF_CONTEXT_USER };
    uint32_t depth = 2 + random_below(10), pid = random_below(4);
    struct record r = record(PERF_RECORD_SAMPLE, pid);
    for (uint32_t i = 1; i < depth; i++)
        chain[i] = (random_below(2) ? TEXT : JIT) + ELF_MAKER_OFFSET + 16 * random_below(i < 4 ? 40 : 4);
    r.misc = random_below(3) ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
    r.id.cpu = random_below(3);
    r.sample.ip = chain[1];
    r.sample.period = 1 + random_below(100);
    r.sample.chain = chain;
    r.sample.chain_n = depth;
    feed_record(&r);
}

static const struct function_row *find_row(const struct functions *f, const struct view *v,
                                           const struct view_function *as, const char *label)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (!strcmp(v->funcs[f->rows[i].func].name, as->name) && v->funcs[f->rows[i].func].key == as->key &&
            !strcmp(v->groups[f->rows[i].group].label, label))
            return &f->rows[i];
    return NULL;
}

static void assert_same_tables(const struct functions *f, const struct view *v, const struct functions *want,
                               const struct view *as)
{
    assert_int_equal(v->result.samples, as->result.samples);
    assert_int_equal(v->result.weight, as->result.weight);
    assert_int_equal(v->idle_samples, as->idle_samples);
    assert_int_equal(v->idle_weight, as->idle_weight);
    assert_int_equal(v->all_samples, as->all_samples);
    assert_int_equal(f->n, want->n);
    for (uint32_t i = 0; i < want->n; i++) {
        const struct function_row *w = &want->rows[i];
        const struct function_row *row = find_row(f, v, &as->funcs[w->func], as->groups[w->group].label);
        assert_non_null(row);
        assert_int_equal(row->self_weight, w->self_weight);
        assert_int_equal(row->total_weight, w->total_weight);
        assert_int_equal(row->self_count, w->self_count);
        assert_int_equal(row->total_count, w->total_count);
        assert_memory_equal(row->trend, w->trend, sizeof w->trend);
    }
}

/* The window over the latest samples. */
static void move_range(struct view_query *q)
{
    q->to_ns = (now_ns / BUCKET_NS + 1) * BUCKET_NS - 1;
    q->from_ns = q->to_ns + 1 - QUERY_TREND * BUCKET_NS;
}

static void change_something(struct view_query *q)
{
    char path[64];
    static const enum view_group groups[] = { VIEW_GROUP_SYMBOL, VIEW_GROUP_SYMBOL, VIEW_GROUP_CPU,
                                              VIEW_GROUP_COMM_SYMBOL, VIEW_GROUP_MODULE };
    switch (random_below(30)) {
    case 0:
        q->group = groups[random_below(5)];
        break;
    case 1:
        q->mode = (enum view_mode)random_below(3);
        break;
    case 2:
        q->show_idle = !q->show_idle;
        break;
    case 3:
        snprintf(q->filter, sizeof q->filter, "%s", random_below(2) ? "x3" : "");
        break;
    case 4:
        q->n_zooms = random_below(2);
        q->zooms[0] = (struct zoom){ .kind = ZOOM_MODULE, .text = "library.so" };
        break;
    case 5:
        q->n_zooms = random_below(2);
        q->zooms[0] = (struct zoom){ .kind = ZOOM_CPU, .number = random_below(3) };
        break;
    case 6:
        s->collect.budget_bytes =
            history_bytes(s->store.history) + stacks_bytes(s->store.stacks); /* the oldest eighth leaves */
        bounds_enforce(s);
        s->collect.budget_bytes = 64 * MB;
        break;
    case 7:
        do_exit(2);
        do_comm(2, random_below(2) ? "delta" : "beta", true);
        do_mmap(2, TEXT, 0x10000, random_below(2) ? "/no/such/program" : "/no/such/other",
                1 + random_below(3));
        break;
    case 8:
    case 9:
    case 10:
    case 11:
    case 12:
        path_of(path, sizeof path, random_below(FILES));
        do_mmap(1 + random_below(3), random_below(2) ? TEXT : JIT, 0x10000, path, 0);
        break;
    case 13:
        q->from_ns = 1 + random_below(2000);
        q->to_ns = SECOND_NS;
        break;
    case 14:
    case 15:
    case 16:
        move_range(q);
        break;
    }
}

static bool has_name(const struct view *v, const char *name)
{
    for (uint32_t i = 1; i < v->n_funcs; i++)
        if (!strcmp(v->funcs[i].name, name))
            return true;
    return false;
}

/* Functions hot enough to look up inlined ones, if the query requests that: they are not counted for each
 * result. */
static bool assert_same_heat(const struct view *v, const struct view *as)
{
    const struct inlines *in = &v->memory->inlines, *want = &as->memory->inlines;
    if (!want->reply || in->results)
        return false;
    assert_int_equal(in->all, want->all);
    for (uint32_t i = 1, k = 1; i < want->n_samples; i++, k = 1) {
        while (k < in->n_samples && v->funcs[k].key != as->funcs[i].key)
            k++;
        assert_true(k < in->n_samples);
        assert_int_equal(in->samples.items[k], want->samples.items[i]);
    }
    return true;
}

static void redraw(const struct view_query *q, struct view *v, struct functions *f, bool by_group)
{
    session_query(s, q, v);
    functions_build(f, &v->result, v->frame_func, v->n_funcs, by_group);
}

TEST_WITH(an_updated_view_equals_a_new_one, set_up_names, tear_down_names)
{
    struct view_query q = { .from_ns = 1, .to_ns = SECOND_NS, .hot_inlines = true };
    struct view v = { 0 };
    struct functions f = { 0 };
    uint32_t gone_on = 0, moved = 0, heat = 0, generation, named = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct view as = { 0 };
        struct functions want = { 0 };
        for (uint32_t n = random_below(40); n; n--)
            add_random_sample();
        uint64_t from_ns = q.from_ns;
        if (q.to_ns < SECOND_NS)
            move_range(&q);
        change_something(&q);
        bool by_group = q.group == VIEW_GROUP_COMM_SYMBOL || q.group == VIEW_GROUP_CPU;
        redraw(&q, &v, &f, by_group);
        moved += q.from_ns != from_ns;
        do { /* while names arrive */
            assert_true(symbolizer_settle(s->store.symbolizer, 60 * SECOND_NS));
            generation = symbolizer_generation(s->store.symbolizer);
            redraw(&q, &v, &f, by_group);
        } while (!symbolizer_settle(s->store.symbolizer, 0) ||
                 symbolizer_generation(s->store.symbolizer) != generation);
        named += has_name(&v, "one");
        gone_on += v.result.since != 0;
        redraw(&q, &as, &want, by_group);
        assert_same_tables(&f, &v, &want, &as);
        functions_done(&want);
        heat += assert_same_heat(&v, &as);
        view_done(&as);
    }
    assert_true(gone_on > ROUNDS / 20);
    assert_true(moved > ROUNDS / 100);
    assert_true(heat > ROUNDS / 40);
    assert_true(named > ROUNDS / 66);
    functions_done(&f);
    view_done(&v);
}

WORKER_TEST_MAIN(NULL, NULL)
