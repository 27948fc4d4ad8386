// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes a compiled program a module of a symbolizer that runs in a thread. The test program is also its
 * worker. */
#ifndef FLAMETOP_TESTS_SYMBOLIZER_LINES_FIXTURE_H
#define FLAMETOP_TESTS_SYMBOLIZER_LINES_FIXTURE_H

#include <pthread.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "lines_fixture.h"
#include "symbols/symbolizer.h"
#include "worker_test.h"

#define LONG_ENOUGH (60 * NS_PER_SEC)
#define MODULE_ID   (MODULE_ID_FIRST + 1)

struct setup {
    struct symbolizer *sy;
    pthread_t thread;
    char dir[64];
    struct module *module;
    uint64_t start, size; /* of the function `work` */
};

static inline void *run(void *sy)
{
    symbolizer_run(sy);
    return NULL;
}

static inline int set_up(void **state)
{
    struct setup *s = mem_zalloc(sizeof *s);
    struct symbolizer_config cfg = { .live = true };

    strcpy(s->dir, "/tmp/flametop-test-XXXXXX");
    s->sy = symbolizer_new(&cfg, NULL);
    if (!mkdtemp(s->dir) || !s->sy || pthread_create(&s->thread, NULL, run, s->sy))
        return -1;
    *state = s;
    return 0;
}

static inline int tear_down(void **state)
{
    struct setup *s = *state;

    symbolizer_stop(s->sy);
    pthread_join(s->thread, NULL);
    symbolizer_free(s->sy);
    module_put(s->module);
    lines_run(s->dir, "rm -rf %s", s->dir);
    mem_free(s);
    return 0;
}

/* Compiles the program, runs the command on it, and makes it the module. */
static inline bool make(struct setup *s, const char *options, const char *command)
{
    struct module like = { .id = MODULE_ID, .kind = MODULE_FILE, .name = "program" };
    char path[128];
    int fd;

    if (!lines_compile(s->dir, "cc", options, "program"))
        return false;
    fd = lines_open_file(s->dir, "program");
    assert_true(lines_find_work(fd, &s->start, &s->size));
    close(fd);
    if (!lines_run(s->dir, "%s", command))
        return false;
    snprintf(path, sizeof path, "%s/program", s->dir);
    like.path = path;
    s->module = module_new(&like);
    return true;
}

#endif
