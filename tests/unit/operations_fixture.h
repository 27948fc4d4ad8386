// SPDX-License-Identifier: GPL-2.0-or-later
/* A session for rows of latencies, with the tracepoints of a made tracefs. */
#ifndef TESTS_OPERATIONS_FIXTURE_H
#define TESTS_OPERATIONS_FIXTURE_H

#include "collector_fixture.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf/tracepoint.h"
#include "unit_test.h"
#include "files.h"

static char tracefs[64];

static void feed_record(const struct record *r)
{
    collector_record(s, r);
}

/* Writes a file of the event SYSTEM/NAME. */
static inline void put_event(const char *system, const char *name, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/events/%s", tracefs, system);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/events/%s/%s", tracefs, system, name);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/events/%s/%s/%s", tracefs, system, name, file);
    write_text(path, text);
}

static inline void operations_set_up(void **state, void (*make_tracefs)(void), uint32_t n_events)
{
    struct error e = { 0 };
    char path[80];
    strcpy(tracefs, "/tmp/test_operations.XXXXXX");
    assert_non_null(mkdtemp(tracefs));
    snprintf(path, sizeof path, "%s/events", tracefs);
    mkdir(path, 0700);
    make_tracefs();
    tracepoint_set_root(tracefs);
    set_up(state);
    s->store.symbolizer = symbolizer_new(&(struct symbolizer_config){ .live = true }, &e);
    assert_non_null(s->store.symbolizer);
    while (s->store.n_events < n_events)
        session_add_event(s);
}

static inline int operations_tear_down(void **state)
{
    char command[128];
    operations_done(s);
    symbolizer_free(s->store.symbolizer);
    tear_down(state);
    tracepoint_set_root(NULL);
    snprintf(command, sizeof command, "rm -r '%s'", tracefs);
    return system(command);
}

/* Measures the row whose events are in place. latency: number of latency:ROW. */
static inline void operations_start(uint32_t latency)
{
    operations_open(s, 0);
    assert_false(s->store.events[latency].left_out);
    operations_adopt(s);
    assert_int_equal(s->collect.operations.rows.n, 1);
}

#endif
