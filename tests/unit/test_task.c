// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/task.h"
#include "unit_test.h"

TEST(stat_is_read_after_the_last_bracket)
{
    struct task_stat s;
    assert_true(
        task_parse_stat("7 (a) R (b) S 1 7 7 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 44 2 408 1 2 3 4 0 0 "
                        "0 0 0 0 0 0 0 17 3 0 0 0 0 0\n",
                        &s));
    assert_string_equal(s.comm, "a) R (b");
    assert_int_equal(s.state, 'S');
    assert_int_equal(s.cpu, 3);
    assert_false(s.kernel);
    assert_true(task_parse_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0", &s));
    assert_true(s.kernel);
    assert_true(task_parse_stat("2 (\033[31m) S 0 0 0 0 -1 0 0", &s));
    assert_string_equal(s.comm, "?[31m");
    assert_false(task_parse_stat("", &s));
    assert_false(task_parse_stat("7 )a( S", &s));
    assert_false(task_parse_stat("7 (a)", &s));
}

TEST(a_call_has_its_number_and_arguments)
{
    struct task_call c = task_parse_call("202 0x7f01 0x80 0x0 0x0 0x0 0xff 0x7ffca8d9df38 0x7fe686ea3503\n");
    assert_int_equal(c.state, TASK_CALL_IN);
    assert_int_equal(c.number, 202);
    assert_int_equal(c.arguments[0], 0x7f01);
    assert_int_equal(c.arguments[5], 0xff);
    assert_false(c.of_32_bits);
    assert_int_equal(c.counter, 0x7fe686ea3503);
    assert_true(task_parse_call("240 0x1 0x0 0x0 0x0 0x0 0x0 0xffca8d9c 0xf7fe6503\n").of_32_bits);
    assert_int_equal(task_parse_call("running\n").state, TASK_CALL_RUNNING);
    assert_int_equal(task_parse_call("running\n").counter, 0);
    assert_int_equal(task_parse_call("running\n").stack, 0);
    assert_int_equal(task_parse_call("-1 0x7ffca8d9df38 0x7fe686ea3503\n").state, TASK_CALL_NONE);
    assert_int_equal(task_parse_call("-1 0x7ffca8d9df38 0x7fe686ea3503\n").counter, 0x7fe686ea3503);
    assert_int_equal(task_parse_call("-1 0x7ffca8d9df38 0x7fe686ea3503\n").stack, 0x7ffca8d9df38);
    assert_int_equal(task_parse_call("").state, TASK_CALL_HIDDEN);
}

TEST(a_kernel_stack_has_its_functions)
{
    char text[] =
        "[<0>] futex_wait_queue+0x60/0x90\n[<ffff8100>] xfs_read+0x1/0x2 [xfs]\nnonsense\n[<0>] a\tb\n[<0>] ";
    const char *functions[8];
    assert_int_equal(task_parse_stack(text, functions, 8), 3);
    assert_string_equal(functions[0], "futex_wait_queue");
    assert_string_equal(functions[1], "xfs_read");
    assert_string_equal(functions[2], "a?b");
    char again[] = "[<0>] a+1\n[<0>] b+1\n";
    assert_int_equal(task_parse_stack(again, functions, 1), 1);
}

TEST(the_last_run_is_found_by_its_label)
{
    uint64_t ns = 0;
    assert_true(
        task_parse_last_run("sleep (1, #threads: 1)\n---\nse.exec_start         :   44337748.224825\n", &ns));
    assert_int_equal(ns, 44337748224825);
    assert_false(task_parse_last_run("se.exec_start : 1.2\n", &ns));
    assert_false(task_parse_last_run("\nse.exec_start : \n", &ns));
    assert_false(task_parse_last_run("\nse.exec_start : 0.000000\n", &ns));
    assert_false(task_parse_last_run("\nse.exec_start : 99999999999999999999999.000000\n", &ns));
}

TEST(waits_are_switches_that_the_thread_wanted)
{
    assert_int_equal(task_parse_waits("sleep (1, #threads: 1)\nnr_switches       :    9\n"
                                      "nr_voluntary_switches        :                    7\n"
                                      "nr_involuntary_switches      :                    2\n"),
                     7);
    assert_int_equal(task_parse_waits("\nnr_voluntary_switches : \n"), 0);
    assert_int_equal(task_parse_waits("\nnr_switches : 9\n"), 0);
}

TEST(progress_is_time_and_switches)
{
    uint64_t progress = 0;
    assert_true(task_parse_progress("1000 77 3\n", &progress));
    assert_int_equal(progress, 1003);
    assert_false(task_parse_progress("0 0 0\n", &progress)); /* the kernel does not count */
    assert_false(task_parse_progress("", &progress));
    assert_false(task_parse_progress("x", &progress));
    assert_int_equal(
        task_parse_switches("Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t30\n"), 42);
    assert_int_equal(task_parse_switches("Name:\tx\n"), 0);
}

TEST(a_thread_that_runs_makes_progress)
{
    uint64_t first, now;
    int dir = open("/proc/thread-self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    assert_true(dir >= 0);
    assert_true(task_read_progress(dir, tid, &first));
    do
        assert_true(task_read_progress(dir, tid, &now));
    while (now == first); /* until the test's time limit */
    close(dir);
}

static const char *socket_of(const struct map *m, uint64_t inode)
{
    uint64_t name;
    return map_get(m, inode, &name) ? (const char *)(uintptr_t)name : "";
}

TEST(sockets_are_described_by_inode)
{
    char tcp[] =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
        "   0: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77 1 0\n"
        "   1: 0100007F:0CEA 0200007F:0050 01 00000000:00000000 00:00000000 00000000     0        0 78 1 0\n"
        "   2: 0100007F:0CEA 0200007F:0050 01\n";
    char tcp6[] = "   0: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A "
                  "00000000:00000000 00:00000000 00000000     0        0 79 1 0\n"
                  "   1: 0000000000000000FFFF00000100007F:0016 0000000000000000FFFF00000200007F:0050 01 "
                  "00000000:00000000 00:00000000 00000000     0        0 82 1 0\n";
    char local[] = "Num       RefCount Protocol Flags    Type St Inode Path\n"
                   "ffff8f01: 00000002 00000000 00010000 0001 01 80 /run/\033[31mx\n"
                   "ffff8f01: 00000002 00000000 00010000 0001 01 81\n";
    struct map m = { 0 };
    struct arena a = { 0 };
    task_parse_sockets("tcp", tcp, &m, &a);
    task_parse_sockets("tcp6", tcp6, &m, &a);
    task_parse_sockets("unix", local, &m, &a);
    assert_int_equal(m.n, 6);
    if (*(const uint8_t *)&(uint32_t){ 1 }) { /* addresses are numbers of the machine */
        assert_string_equal(socket_of(&m, 77), "tcp 127.0.0.1:3306 listening");
        assert_string_equal(socket_of(&m, 78), "tcp 127.0.0.1:3306 to 127.0.0.2:80");
        assert_string_equal(socket_of(&m, 79), "tcp6 [::1]:22 listening");
        assert_string_equal(socket_of(&m, 82), "tcp6 127.0.0.1:22 to 127.0.0.2:80");
    }
    assert_string_equal(socket_of(&m, 80), "unix /run/?[31mx");
    assert_string_equal(socket_of(&m, 81), "unix");
    map_done(&m);
    arena_done(&a);
}

TEST(the_innermost_id_is_found)
{
    assert_int_equal(task_parse_inner_id("Name:\tx\nNSpid:\t31\nNSpgid:\t9\n"), 31);
    assert_int_equal(task_parse_inner_id("Name:\tx\nNSpid:\t4000\t31\t7\nNSpgid:\t9\n"), 7);
    assert_int_equal(task_parse_inner_id("Name:\tx\nNSpid:\t4000\t31\t7"), 7);
    assert_int_equal(task_parse_inner_id("Name:\tx\nNSpid:"), 0);
    assert_int_equal(task_parse_inner_id(""), 0);
}

static uint32_t holder(uint64_t operation, uint64_t value, uint32_t word, uint32_t owner)
{
    struct task_call call = { .state = TASK_CALL_IN, .arguments = { 0x1000, operation, value } };
    return task_lock_holder(&call, (uint32_t[]){ word, 1, owner });
}

TEST(the_holder_of_a_lock_is_in_its_words)
{
    assert_int_equal(holder(FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, 2, 77), 77);
    assert_int_equal(holder(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 2, 2, 77), 77);
    assert_int_equal(holder(FUTEX_WAIT, 2, 0, 77), 0); /* unlocked meanwhile */
    assert_int_equal(holder(FUTEX_WAIT, 1, 1, 77), 0); /* a condition or a semaphore */
    assert_int_equal(holder(FUTEX_WAIT, FUTEX_WAITERS | 78, FUTEX_WAITERS | 78, 0), 78);
    assert_int_equal(holder(FUTEX_LOCK_PI_PRIVATE, 0, FUTEX_WAITERS | 79, 0), 79);
    assert_int_equal(holder(FUTEX_WAKE, 2, 2, 77), 0);
}

TEST(the_tracer_is_found)
{
    assert_int_equal(task_parse_tracer("Name:\tx\nTracerPid:\t12\n"), 12);
    assert_int_equal(task_parse_tracer("Name:\tx\nTracerPid:\t0\n"), 0);
    assert_int_equal(task_parse_tracer(""), 0);
}

TEST(calls_have_names)
{
    assert_string_equal(task_call_name(SYS_futex, false), "futex");
    assert_string_equal(task_call_name(SYS_read, false), "read");
    assert_null(task_call_name(1u << 30, false));
    assert_null(task_call_name(1u << 30, true));
#ifdef __x86_64__
    assert_string_equal(task_call_name(64, true), "getppid"); /* semget in 64-bit programs */
    assert_string_equal(task_call_name(11, true), "execve");
#endif
    assert_int_equal(task_call_argument("read"), TASK_ARGUMENT_FILE);
    assert_int_equal(task_call_argument("futex"), TASK_ARGUMENT_NUMBER);
    assert_int_equal(task_call_argument("wait4"), TASK_ARGUMENT_CHILD);
    assert_int_equal(task_call_argument("msgrcv"), TASK_ARGUMENT_ID);
    assert_int_equal(task_call_argument("pause"), TASK_ARGUMENT_NONE);
    assert_int_equal(task_call_argument("chdir"), TASK_ARGUMENT_PATH);
    assert_int_equal(task_call_argument("openat"), TASK_ARGUMENT_AT);
    struct task_call call = { .state = TASK_CALL_IN, .number = SYS_openat, .arguments = { 3, 0x10 } };
    assert_int_equal(task_call_path(&call), 0x10);
    call.number = SYS_chdir;
    assert_int_equal(task_call_path(&call), 3);
    call.number = SYS_read;
    assert_int_equal(task_call_path(&call), 0);
    call = (struct task_call){
        .state = TASK_CALL_IN, .number = SYS_chdir, .arguments = { 3 }, .of_32_bits = true
    };
    assert_int_equal(task_call_path(&call), 0);
}

static int ends[2];

static void *read_pipe(void *tid)
{
    char byte;
    atomic_store((atomic_int *)tid, (int)syscall(SYS_gettid));
    return read(ends[0], &byte, 1) < 0 ? tid : NULL;
}

static const struct task_now *find(const struct tasks *t, pid_t tid)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->items[i].tid == (uint32_t)tid)
            return &t->items[i];
    return NULL;
}

static uint32_t threads_now(void)
{
    DIR *list = opendir("/proc/self/task");
    uint32_t n = 0;
    assert_non_null(list);
    for (struct dirent *d; (d = readdir(list));)
        n += *d->d_name != '.';
    closedir(list);
    return n;
}

TEST(a_thread_of_this_process_is_read)
{
    atomic_int tid = 0;
    pthread_t thread;
    struct tasks t = { 0 };
    const struct task_now *found = NULL;
    assert_int_equal(pipe(ends), 0);
    uint64_t began_ns = clock_now_ns();
    assert_int_equal(pthread_create(&thread, NULL, read_pipe, (void *)&tid), 0);
    while (!found || found->stat.state != 'S') {
        tasks_done(&t);
        assert_true(tasks_read((uint32_t)getpid(), &t));
        found = tid ? find(&t, tid) : NULL;
    }
    assert_int_equal(t.n, threads_now()); /* a sanitizer may have one of its own */
    assert_int_equal(t.tracer, 0);
    if (found->call.state == TASK_CALL_IN) {
        assert_string_equal(found->call_name, "read");
        assert_int_equal(found->call.arguments[0], ends[0]);
        assert_int_equal(strncmp(found->file, "pipe:[", 6), 0);
    }
    if (found->since_known) /* clocks differ by some microseconds */
        assert_true(found->since_ns <= clock_now_ns() - began_ns + NS_PER_MS);
    assert_int_equal(find(&t, getpid())->stat.state, 'R');
    assert_int_equal(write(ends[1], "x", 1), 1);
    pthread_join(thread, NULL);
    tasks_done(&t);
}

TEST(an_ended_process_has_no_threads)
{
    struct tasks t;
    assert_false(tasks_read(UINT32_MAX, &t));
    assert_int_equal(t.n, 0);
    tasks_done(&t);
}

TEST_MAIN(NULL, NULL)
