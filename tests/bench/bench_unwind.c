// SPDX-License-Identifier: GPL-2.0-or-later
/* bench_unwind FILE [-v]: unwinds all user stacks of a perf.data that was recorded with --call-graph dwarf, and prints
 * what it costs in CPU time. Not part of make check. Built with -DBENCH_LIBUNWIND (and -lunwind-x86_64 -lunwind) it does
 * the same with libunwind and compares stack by stack; -v shows the first stacks that differ. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "bench_unwind.h"
#include "perfdata/reader.h"
#include "symbols/elf.h"
#include "symbols/machine.h"
#include "unwind/rowformat.h"

static const char *const end_names[] = { "root",          "dump too small", "no table",         "pending",
                                         "in no mapping", "bad step",       "on another stack", "too deep" };
#define ENDS (sizeof end_names / sizeof *end_names)

struct bench {
    struct bench_world w;
    const struct perfdata_event *events;
    struct bench_sample batch[BENCH_BATCH];
    unsigned n;
    struct unwind_frame unwound[BENCH_BATCH][BENCH_FRAMES];
    uint32_t n_unwound[BENCH_BATCH];
    enum unwind_end ends[BENCH_BATCH];
    uint64_t samples, unmapped, frames, by_end[ENDS], spent_ns, find_ns, compile_ns, modules, rows,
        blob_bytes;
    bool verbose;
};

static uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static struct bench *bench_of(struct bench_world *w)
{
    return (struct bench *)((char *)w - offsetof(struct bench, w));
}

/* What the opener found is an O_PATH descriptor. */
static int readable(int handle)
{
    char link[40];
    int fd;

    if (handle < 0)
        return -1;
    snprintf(link, sizeof link, "/proc/self/fd/%d", handle);
    fd = open(link, O_RDONLY | O_CLOEXEC);
    close(handle);
    return fd;
}

struct bench_module *bench_module_at(struct bench_world *w, uint32_t id)
{
    struct bench_module *m;
    struct bench *b = bench_of(w);
    char link[ELF_LINK_MAX];
    struct module *module;
    uint64_t began;
    size_t size;

    if (id >= BENCH_MODULES)
        return NULL;
    m = &w->modules[id];
    if (m->tried)
        return m;
    m->tried = true;
    m->fd = -1;
    module = world_module(w->world, id);
    m->jit = !module || module->kind == MODULE_JIT;
    if (module && module->kind == MODULE_VDSO)
        m->fd = machine_open_vdso();
    else if (module && module->kind == MODULE_FILE)
        m->fd = readable(module_open(module, NULL));
    began = cpu_ns();
    struct error e = { 0 };
    if (m->fd >= 0 && elf_read_unwind(m->fd, -1, &m->blob, &size, link, &e) &&
        unwind_rows_view(&m->rows, m->blob, size, &e)) {
        m->has_rows = true;
        b->modules++;
        b->rows += m->rows.header->n_rows;
        b->blob_bytes += size;
    }
    if (b->verbose && !m->has_rows)
        printf("no table of %s: %s\n", module ? module->path : "?", e.text);
    b->compile_ns += cpu_ns() - began;
    return m;
}

static bool find(void *ctx, uint64_t addr, struct unwind_location *out)
{
    struct bench_sample *s = ctx;
    struct location place;
    struct bench_module *m;

    if (!world_resolve(s->w->world, s->thread, addr, false, &place))
        return false;
    m = bench_module_at(s->w, place.module);
    *out = (struct unwind_location){ .offset = place.offset, .frame = place.module, .jit = m && m->jit };
    if (m && m->has_rows)
        out->rows = &m->rows;
    else
        s->untabled = true;
    return true;
}

static void walk_batch(struct bench *b)
{
    for (unsigned i = 0; i < b->n; i++) {
        struct unwind_source src = { .ctx = &b->batch[i], .find = find };
        b->n_unwound[i] = unwind_stack(&b->batch[i].in, &src, b->unwound[i], BENCH_FRAMES, &b->ends[i]);
    }
}

/* What of it went into finding modules and offsets. */
static void find_again(struct bench *b)
{
    struct unwind_location place;
    uint64_t began = cpu_ns();

    for (unsigned i = 0; i < b->n; i++)
        for (uint32_t k = 0; k < b->n_unwound[i]; k++)
            find(&b->batch[i], b->unwound[i][k].addr, &place);
    b->find_ns += cpu_ns() - began;
}

static void show(struct bench *b, unsigned i)
{
    printf("pid %u, ended: %s\n", b->batch[i].pid, end_names[b->ends[i]]);
    for (uint32_t k = 0; k < b->n_unwound[i]; k++) {
        struct location place;
        struct module *m = NULL;
        if (world_resolve(b->w.world, b->batch[i].thread, b->unwound[i][k].addr, false, &place))
            m = world_module(b->w.world, place.module);
        printf("   %2u %16llx %s %s+%llx\n", k, (unsigned long long)b->unwound[i][k].addr,
               b->unwound[i][k].exact ? "=" : " ", m ? m->name : "?", (unsigned long long)place.offset);
    }
}

static void flush(struct bench *b)
{
    uint64_t began, compiled = b->compile_ns;

    began = cpu_ns();
    walk_batch(b);
    if (b->compile_ns != compiled) { /* once more, with all tables there */
        began = cpu_ns();
        walk_batch(b);
    }
    b->spent_ns += cpu_ns() - began;
    find_again(b);
    for (unsigned i = 0; i < b->n; i++) {
        if (!b->n_unwound[i]) { /* the records that told of the mapping were lost */
            b->unmapped++;
            continue;
        }
        b->samples++;
        b->frames += b->n_unwound[i];
        b->by_end[b->ends[i]]++;
        if (!bench_compare(&b->batch[i], b->unwound[i], b->n_unwound[i], b->ends[i], b->verbose) &&
            b->verbose)
            show(b, i);
    }
    b->n = 0;
}

static void add_sample(struct bench *b, const struct record *r)
{
    const struct perf_event_attr *attr = &b->events[r->source].attr;
    struct bench_sample *s = &b->batch[b->n];
    uint64_t bytes = r->sample.stack_dyn_size;

    if (!r->sample.user_regs || !r->sample.stack || r->sample.user_abi != 2 || bytes > BENCH_STACK ||
        bytes > r->sample.stack_size)
        return;
    s->w = &b->w;
    s->untabled = false;
    s->pid = r->id.pid;
    s->thread = world_thread_of(b->w.world, r->id.pid, r->id.tid, r->id.time_ns, 0);
    s->in =
        (struct unwind_input){ .arch = b->w.arch, .stack = s->stack, .stack_bytes = bytes, .swap = r->swap };
    memcpy(s->stack, r->sample.stack, bytes);
    if (!unwind_arch_take_regs(b->w.arch, r->sample.user_regs, attr->sample_regs_user, r->swap, &s->in.regs))
        return;
    if (++b->n == BENCH_BATCH)
        flush(b);
}

static bool on_record(void *ctx, const struct record *r)
{
    struct bench *b = ctx;

    if (r->type == PERF_RECORD_SAMPLE) {
        add_sample(b, r);
    } else {
        flush(b);
        world_apply(b->w.world, r);
    }
    return true;
}

static void report(const struct bench *b)
{
    printf("%llu stacks, %.1f frames each; %llu more begin in no mapping\n", (unsigned long long)b->samples,
           b->samples ? (double)b->frames / (double)b->samples : 0.0, (unsigned long long)b->unmapped);
    printf(
        "rows: %.0f k stacks/s (%.3f s, of which %.3f s to find modules); %llu tables, %llu rows, %.1f MB, compiled in %.3f s\n",
        (double)b->samples * 1e6 / (double)(b->spent_ns + 1), (double)b->spent_ns / 1e9,
        (double)b->find_ns / 1e9, (unsigned long long)b->modules, (unsigned long long)b->rows,
        (double)b->blob_bytes / 1e6, (double)b->compile_ns / 1e9);
    for (unsigned i = 0; i < ENDS; i++)
        if (b->by_end[i])
            printf("  %-16s %7llu  %.2f %%\n", end_names[i], (unsigned long long)b->by_end[i],
                   100.0 * (double)b->by_end[i] / (double)b->samples);
    bench_compare_report();
}

int main(int argc, char **argv)
{
    struct bench *b = mem_zalloc(sizeof *b);
    struct error e = { 0 };
    struct perfdata *file;
    double progress;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_unwind FILE [-v]\n");
        return 2;
    }
    file = perfdata_open(argv[1], &e);
    if (!file) {
        fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    b->verbose = argc > 2;
    b->w.arch = unwind_arch_named(perfdata_info(file)->arch);
    b->w.world = world_new(false);
    perfdata_events(file, &b->events);
    perfdata_each(file, on_record, b, &progress, &e);
    flush(b);
    report(b);
    world_free(b->w.world);
    perfdata_close(file);
    return 0;
}
