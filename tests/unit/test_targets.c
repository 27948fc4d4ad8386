// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "perf/count_target.h"
#include "perf/targets.h"
#include "unit_test.h"

static void *wait_for_end(void *end)
{
    pthread_mutex_lock(end);
    pthread_mutex_unlock(end);
    return NULL;
}

TEST(threads_that_began_since_a_list_are_counted)
{
    pthread_mutex_t end = PTHREAD_MUTEX_INITIALIZER;
    pthread_t threads[2];
    uint32_t pid = (uint32_t)getpid(), n;
    struct scope scope = { .kind = SCOPE_PIDS, .ids = &pid, .n_ids = 1 };
    struct targets t;
    struct count_targets counted;
    targets_init(&t, &scope, true);
    pthread_mutex_lock(&end);
    /* a sanitizer may start a thread of its own now */
    assert_int_equal(pthread_create(&threads[0], NULL, wait_for_end, &end), 0);
    uint32_t *tids = targets_threads(&t, &n);
    assert_true(n > 0 && count_targets_of(&counted, &scope, 0, NULL));
    assert_int_equal(targets_began(&t, &scope, tids, n), 0);
    assert_false(count_targets_began(&counted, &scope));
    assert_int_equal(pthread_create(&threads[1], NULL, wait_for_end, &end), 0);
    assert_int_equal(targets_began(&t, &scope, tids, n), 1);
    assert_true(count_targets_began(&counted, &scope));
    pthread_mutex_unlock(&end);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    mem_free(tids);
    targets_done(&t);
    count_targets_done(&counted);
}

/* A child and its child: children of flametop itself are left out. Both end when `end` is closed. */
static uint32_t child_with_a_child(uint32_t *grandchild, int *end)
{
    int ends[2], told[2];
    assert_true(pipe(ends) == 0 && pipe(told) == 0);
    uint32_t child = (uint32_t)fork();
    if (!child) {
        char c;
        *grandchild = (uint32_t)fork();
        close(ends[1]);
        if (*grandchild && write(told[1], grandchild, sizeof *grandchild) < 0)
            _exit(1);
        _exit(read(ends[0], &c, 1) != 0);
    }
    assert_int_equal(read(told[0], grandchild, sizeof *grandchild), sizeof *grandchild);
    close(ends[0]);
    close(told[0]);
    close(told[1]);
    *end = ends[1];
    return child;
}

TEST(children_that_began_since_a_list_are_added)
{
    uint32_t grandchild, n;
    int end;
    uint32_t child = child_with_a_child(&grandchild, &end);
    struct scope scope = { .kind = SCOPE_PIDS, .ids = &child, .n_ids = 1 };
    struct targets t;
    targets_init(&t, &scope, true);
    uint32_t *tids = targets_threads(&t, &n);
    assert_true(n > 0 && targets_began(&t, &scope, tids, n) > 0);
    mem_free(tids);
    tids = targets_ids(&t, &n);
    assert_int_equal(n, 2);
    assert_true(tids[0] == grandchild || tids[1] == grandchild);
    mem_free(tids);
    targets_done(&t);
    close(end);
}

static bool takes_sample_of(struct targets *t, uint32_t pid)
{
    return targets_take(t, &(struct record){ .type = PERF_RECORD_SAMPLE, .id = { .pid = pid, .tid = pid } });
}

static void lose(struct targets *t)
{
    assert_true(targets_take(t, &(struct record){ .type = PERF_RECORD_LOST }));
}

TEST(a_child_whose_fork_record_was_lost_is_found)
{
    for (int command = 0; command < 2; command++) {
        uint32_t grandchild;
        int end;
        uint32_t child = child_with_a_child(&grandchild, &end);
        struct scope scope = { .kind = SCOPE_PIDS, .ids = &child, .n_ids = 1, .command = command };
        struct targets t;
        targets_init(&t, &scope, true);
        targets_catch_up(&t, &scope);
        assert_false(takes_sample_of(&t, grandchild));
        lose(&t);
        targets_catch_up(&t, &scope);
        assert_true(takes_sample_of(&t, grandchild));
        targets_done(&t);
        close(end);
    }
}

TEST(a_process_whose_owner_changed_unseen_is_looked_up_again)
{
    struct scope scope = { .kind = SCOPE_USER, .uid = 0 };
    struct targets t;
    int go[2], done[2];
    char c;
    if (geteuid())
        skip();
    assert_true(pipe(go) == 0 && pipe(done) == 0);
    uint32_t child = (uint32_t)fork();
    if (!child) {
        close(go[1]);
        _exit(read(go[0], &c, 1) != 1 || setuid(65534) || write(done[1], "", 1) != 1 ||
              read(go[0], &c, 1) != 0);
    }
    uint32_t ended = (uint32_t)fork();
    if (!ended) {
        close(go[1]);
        _exit(read(done[0], &c, 1) != 1);
    }
    targets_init(&t, &scope, true);
    assert_true(takes_sample_of(&t, child) && takes_sample_of(&t, ended));
    assert_true(write(done[1], "", 1) == 1 && waitpid((pid_t)ended, NULL, 0) == (pid_t)ended);
    assert_true(write(go[1], "", 1) == 1 && read(done[0], &c, 1) == 1);
    assert_true(takes_sample_of(&t, child)); /* as known */
    lose(&t);
    targets_catch_up(&t, &scope);
    assert_false(takes_sample_of(&t, child));
    assert_true(takes_sample_of(&t, ended)); /* /proc does not tell any more */
    close(go[1]);
    waitpid((pid_t)child, NULL, 0);
    targets_done(&t);
}

TEST_MAIN(NULL, NULL)
