// SPDX-License-Identifier: GPL-2.0-or-later
/* Output of perf record on this machine: the reader and perf script find the same samples. */

#include <inttypes.h>

#include "perfdata_fixture.h"
#include "unit_test.h"

#define LOAD "sh -c 'i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done; ls / >/dev/null; true'"

struct lines {
    struct buf text;
    char **line;
    size_t n, cap;
};

static void lines_done(struct lines *l)
{
    buf_done(&l->text);
    free(l->line);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines, as two samples of the same nanosecond have no order. */
static void sort_lines(struct lines *l)
{
    for (char *s = l->text.data ? strtok(l->text.data, "\n") : NULL; s; s = strtok(NULL, "\n")) {
        if (l->n == l->cap) {
            l->cap = l->cap ? 2 * l->cap : 256;
            l->line = realloc(l->line, l->cap * sizeof *l->line);
        }
        l->line[l->n++] = s;
    }
    if (l->n)
        qsort(l->line, l->n, sizeof *l->line, by_text);
}

struct ours {
    struct lines lines;
    const struct perfdata_event *events;
    uint64_t last_ns, out_of_order;
};

static bool add_sample(void *ctx, const struct record *r)
{
    struct ours *o = ctx;
    if (r->type != PERF_RECORD_SAMPLE)
        return true;
    o->out_of_order += r->id.time_ns < o->last_ns;
    o->last_ns = r->id.time_ns;
    buf_printf(&o->lines.text, "%d/%d %" PRIu64 " %" PRIu64 " %s", (int)r->id.pid, (int)r->id.tid,
               r->id.time_ns, r->sample.period, o->events[r->source].name);
    buf_putc(&o->lines.text, '\n');
    return true;
}

static void read_ours(struct ours *o)
{
    struct error e = { 0 };
    const char *const *damage;
    struct perfdata *p = perfdata_open(fixture_path("data"), &e);
    if (!p)
        print_message("%s\n", e.text);
    assert_non_null(p);
    perfdata_events(p, &o->events);
    assert_true(perfdata_each(p, add_sample, o, NULL, &e));
    uint32_t n = perfdata_damage(p, &damage);
    for (uint32_t i = 0; i < n; i++)
        print_message("%s\n", damage[i]);
    assert_int_equal(n, 0);
    assert_int_equal(o->out_of_order, 0);
    perfdata_close(p);
    sort_lines(&o->lines);
}

/* "12/12 4040.586206869: 2004004 cpu-clock:ppp: " */
static void read_theirs(struct lines *l)
{
    char command[256], line[512], event[128];
    snprintf(command, sizeof command,
             "HOME='%s' PAGER=cat perf script -i '%s' --ns -G -F pid,tid,time,period,event 2>/dev/null",
             fixture_dir, fixture_path("data"));
    FILE *f = popen(command, "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        int pid, tid;
        unsigned long long sec, ns, period;
        if (sscanf(line, " %d/%d %llu.%llu: %llu %127s", &pid, &tid, &sec, &ns, &period, event) != 6)
            continue;
        event[strlen(event) - 1] = '\0'; /* the colon */
        buf_printf(&l->text, "%d/%d %llu %llu %s\n", pid, tid, sec * 1000000000 + ns, period, event);
    }
    pclose(f);
    sort_lines(l);
}

/* With all CPUs of a busy machine perf sometimes writes compressed data that it cannot read itself ("Can't
 * parse sample"). */
static bool perf_reads_it(void)
{
    char command[256];
    snprintf(command, sizeof command, "HOME='%s' perf script -i '%s' -F pid >/dev/null 2>&1", fixture_dir,
             fixture_path("data"));
    return system(command) == 0;
}

static bool record_until_perf_reads_it(const char *command)
{
    for (int i = 0; i < 8; i++) {
        if (system(command))
            return false;
        if (perf_reads_it())
            return true;
    }
    return false;
}

static void compare(const char *record)
{
    char command[512];
    struct ours ours = { 0 };
    struct lines theirs = { 0 };
    snprintf(command, sizeof command,
             "cd '%s' && HOME=. perf record -q --no-bpf-event %s -- %s >%s 2>/dev/null", fixture_dir, record,
             LOAD, strstr(record, "-o -") ? "data" : "/dev/null");
    if (!record_until_perf_reads_it(command)) {
        print_message("perf record %s does not work here\n", record);
        skip();
    }
    read_ours(&ours);
    read_theirs(&theirs);
    assert_true(ours.lines.n > 0);
    assert_int_equal(ours.lines.n, theirs.n);
    for (size_t i = 0; i < theirs.n; i++)
        assert_string_equal(ours.lines.line[i], theirs.line[i]);
    lines_done(&ours.lines);
    lines_done(&theirs);
}

TEST(one_event)
{
    compare("-F 999 -e cpu-clock -o data");
}

TEST(several_events_on_all_cpus)
{
    compare("-a -F 999 -e cpu-clock,task-clock,page-faults,context-switches -o data");
}

TEST(compressed)
{
#ifndef HAVE_ZSTD
    print_message("built without zstd\n");
    skip();
#endif
    compare("-a -z -F 1999 -e cpu-clock,page-faults --call-graph dwarf -o data");
}

TEST(through_a_pipe)
{
    compare("-F 999 -g -e cpu-clock -e page-faults -o -");
}

TEST(a_group_that_is_read)
{
    compare("-a -F 999 -e '{cpu-clock,page-faults}:S' -o data");
}

TEST(tracepoints_with_payload)
{
    compare("-a -e sched:sched_switch -e cpu-clock -R -o data");
}

TEST_MAIN(fixture_setup, fixture_teardown)
