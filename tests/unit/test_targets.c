// SPDX-License-Identifier: GPL-2.0-or-later
#include <pthread.h>
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

static void threads_that_began_since_a_list_are_counted(void **state)
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

/* Children of a child: those of flametop itself are left out. */
static void children_that_began_since_a_list_are_added(void **state)
{
    uint32_t child = 0, grandchild = 0, n;
    int end[2], told[2];
    assert_true(pipe(end) == 0 && pipe(told) == 0);
    child = (uint32_t)fork();
    if (!child) {
        char c;
        grandchild = (uint32_t)fork();
        close(end[1]);
        if (grandchild && write(told[1], &grandchild, sizeof grandchild) < 0)
            _exit(1);
        _exit(read(end[0], &c, 1) != 0);
    }
    struct scope scope = { .kind = SCOPE_PIDS, .ids = &child, .n_ids = 1 };
    struct targets t;
    targets_init(&t, &scope, true);
    uint32_t *tids = targets_threads(&t, &n);
    assert_int_equal(read(told[0], &grandchild, sizeof grandchild), sizeof grandchild);
    assert_true(n > 0 && targets_began(&t, &scope, tids, n) > 0);
    mem_free(tids);
    tids = targets_ids(&t, &n);
    assert_int_equal(n, 2);
    assert_true(tids[0] == grandchild || tids[1] == grandchild);
    mem_free(tids);
    targets_done(&t);
    close(end[1]); /* both end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_began_since_a_list_are_counted),
        cmocka_unit_test(children_that_began_since_a_list_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
