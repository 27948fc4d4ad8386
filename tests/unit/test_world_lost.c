// SPDX-License-Identifier: GPL-2.0-or-later
/* Records of a process were lost: what /proc says now corrects what is known. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit_test.h"
#include "world_fixture.h"

#define SH   "10000-20000 r-xp 00001000 08:01 5 /bin/sh"
#define VDSO "70000-71000 r-xp 00000000 00:00 0 [vdso]"

/* Process 10, known from /proc. */
static struct world *shell(void)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "sh", 7);

    snapshot_map(p, SH);
    snapshot_map(p, VDSO);
    world_install(w, 10, p);
    assert_false(world_is_stale(w, 10));
    return w;
}

/* A process in which exec follows when `go` is closed. */
static pid_t child_that_execs(int *go)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    char c;

    if (!child) {
        close(pipes[1]);
        (void)!read(pipes[0], &c, 1);
        execl("/bin/sleep", "sleep", "100", NULL);
        _exit(1);
    }
    close(pipes[0]);
    *go = pipes[1];
    return child;
}

static void wait_for_comm(uint32_t pid, const char *comm)
{
    for (int i = 0; i < 1000; i++) {
        struct proc_snapshot *p = world_read_proc(pid);
        bool same = p->n_threads && !strcmp(p->threads[0].comm, comm);
        /* the new program's linker has mapped libc, too */
        bool ready = same && p->maps.n >= 4;
        proc_snapshot_free(p);
        if (ready)
            return;
        usleep(10000);
    }
    fail_msg("%u is not %s", pid, comm);
}

static const struct maps_entry *map_of_path(const struct proc_snapshot *p, const char *end)
{
    for (uint32_t i = 0; i < p->maps.n; i++) {
        const char *path = p->maps.items[i].path;
        size_t n = strlen(path), m = strlen(end);
        if (n >= m && !strcmp(path + n - m, end))
            return &p->maps.items[i];
    }
    return NULL;
}

TEST(the_program_of_a_lost_exec_is_found)
{
    struct world *w = world_new(true);
    int go;
    uint32_t pid = (uint32_t)child_that_execs(&go), before, after;
    uint64_t here = (uintptr_t)the_program_of_a_lost_exec_is_found;

    read_and_install(w, pid);
    before = thread_of(w, pid, pid);
    const char *name = world_thread(w, before)->comm;
    char comm[WORLD_COMM_MAX];
    snprintf(comm, sizeof comm, "%s", name);
    assert_string_not_equal(place_of(w, before, here), "?");
    close(go);
    wait_for_comm(pid, "sleep");
    assert_false(world_is_stale(w, pid));
    do_lose(w);
    assert_true(world_is_stale(w, pid));
    read_and_install(w, pid);
    assert_false(world_is_stale(w, pid));

    struct proc_snapshot *p = world_read_proc(pid);
    const struct maps_entry *e = map_of_path(p, "/sleep");
    char expected[64];
    assert_non_null(e);
    snprintf(expected, sizeof expected, "sleep+0x%llx", (unsigned long long)e->pgoff);
    after = thread_of(w, pid, pid);
    assert_int_not_equal(after, before);
    assert_string_equal(world_thread(w, after)->comm, "sleep");
    assert_int_equal(world_thread(w, after)->start_ns, now_ns);
    assert_string_equal(place_of(w, after, e->start), expected);
    assert_string_equal(place_of(w, after, here), "?");
    /* earlier samples keep what they had */
    assert_string_equal(world_thread(w, before)->comm, comm);
    assert_string_not_equal(place_of(w, before, here), "?");
    proc_snapshot_free(p);
    kill((pid_t)pid, SIGKILL);
    waitpid((pid_t)pid, NULL, 0);
    world_free(w);
}

TEST(a_process_that_did_not_change_stays_the_same)
{
    struct world *w = world_new(true);
    uint32_t pid = (uint32_t)getpid(), t, version;

    read_and_install(w, pid);
    t = thread_of(w, pid, pid);
    version = world_image_version(w, world_thread(w, t)->image);
    do_lose(w);
    assert_true(world_is_stale(w, pid));
    read_and_install(w, pid);
    assert_false(world_is_stale(w, pid));
    assert_int_equal(thread_of(w, pid, pid), t);
    assert_int_equal(world_image_version(w, world_thread(w, t)->image), version);
    world_free(w);
}

TEST(mappings_whose_records_were_lost_are_added)
{
    struct world *w = shell();
    struct proc_snapshot *p = snapshot(10, "sh", 7);
    uint32_t t = thread_of(w, 10, 10), sh = module_at(w, t, 0x10000);

    do_map(w, 10, 0x30000, 0x34000, 0, "/lib/closed.so");
    do_map(w, 10, 0x40000, 0x41000, 0, "//anon");
    do_lose(w);
    snapshot_map(p, SH);
    snapshot_map(p, "30000-32000 r-xp 00000000 08:01 6 /lib/opened.so");
    snapshot_map(p, "40000-42000 r-xp 00000000 00:00 0 ");
    snapshot_map(p, "50000-51000 r-xp 00002000 08:01 7 /lib/new.so");
    snapshot_map(p, VDSO);
    uint32_t jit = module_at(w, t, 0x40000);
    world_install(w, 10, p);
    assert_int_equal(thread_of(w, 10, 10), t);
    assert_int_equal(module_at(w, t, 0x10000), sh);
    assert_string_equal(place_of(w, t, 0x30000), "opened.so+0x0");
    assert_string_equal(place_of(w, t, 0x50000), "new.so+0x2000");
    assert_int_equal(module_at(w, t, 0x40000), jit);
    assert_int_equal(module_at(w, t, 0x41000), jit);
    world_free(w);
}

/* In a chroot, a record has the path from its root. */
TEST(a_file_with_another_path_is_the_same_by_its_inode)
{
    struct world *w = world_new(true);
    struct proc_snapshot *p = snapshot(10, "sh", 7);
    struct record r = record(PERF_RECORD_MMAP2);
    uint32_t t;

    do_fork(w, 10, 10, 5, 5);
    do_comm(w, 10, 10, "sh", true);
    r.mmap.pid = r.mmap.tid = 10;
    r.mmap.addr = 0x10000;
    r.mmap.len = 0x10000;
    r.mmap.pgoff = 0x1000;
    r.mmap.prot = PROT_READ | PROT_EXEC;
    r.mmap.maj = 8;
    r.mmap.min = 1;
    r.mmap.ino = 5;
    r.mmap.path = "/bin/sh";
    world_apply(w, &r);
    t = thread_of(w, 10, 10);
    uint32_t sh = module_at(w, t, 0x10000), version = world_image_version(w, world_thread(w, t)->image);
    do_lose(w);
    snapshot_map(p, "10000-20000 r-xp 00001000 08:01 5 /srv/root/bin/sh");
    world_install(w, 10, p);
    assert_int_equal(module_at(w, t, 0x10000), sh);
    assert_int_equal(world_image_version(w, world_thread(w, t)->image), version);
    world_free(w);
}

TEST(a_new_name_is_found)
{
    struct world *w = shell();
    struct proc_snapshot *p = snapshot(10, "server", 7);
    uint32_t leader = thread_of(w, 10, 10), thread;

    do_fork(w, 10, 11, 10, 10);
    thread = thread_of(w, 10, 11);
    do_lose(w);
    p->n_threads = 0;
    MEM_GROW(p->threads, p->threads_cap, 3);
    p->threads[p->n_threads++] = (struct proc_thread){ 10, "server" };
    p->threads[p->n_threads++] = (struct proc_thread){ 11, "sh" };
    p->threads[p->n_threads++] = (struct proc_thread){ 12, "worker" }; /* of a lost FORK */
    world_install(w, 10, p);
    assert_string_equal(comm_of(w, 10, 10), "server");
    assert_string_equal(world_thread(w, leader)->comm, "sh");
    assert_int_equal(thread_of(w, 10, 11), thread);
    assert_string_equal(comm_of(w, 10, 12), "worker");
    world_free(w);
}

TEST(what_a_kernel_worker_does_is_not_a_new_name)
{
    static const struct {
        const char *now;
        bool same;
    } names[] = {
        { "kworker/0:1", true },   { "kworker/0:1-events", true }, { "kworker/0:1+events", true },
        { "kworker/0:12", false }, { "kworker/u8:0", false },
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct world *w = world_new(true);
        do_fork(w, 20, 20, 2, 2);
        do_comm(w, 20, 20, "kworker/0:1", false);
        uint32_t t = thread_of(w, 20, 20);
        do_lose(w);
        world_install(w, 20, snapshot(20, names[i].now, 0));
        assert_int_equal(thread_of(w, 20, 20) == t, names[i].same);
        world_free(w);
    }
}

TEST(an_ended_process_keeps_its_name_and_is_read_once)
{
    struct world *w = shell();
    struct proc_snapshot *gone = snapshot(10, "", 0);
    uint32_t t = thread_of(w, 10, 10);

    gone->gone = true;
    do_lose(w);
    world_install(w, 10, gone);
    assert_false(world_is_stale(w, 10));
    assert_int_equal(thread_of(w, 10, 10), t);
    assert_string_equal(place_of(w, t, 0x10000), "sh+0x1000");
    do_lose(w);
    assert_true(world_is_stale(w, 10));
    world_free(w);
}

/* A forked child has what is known of its parent; a program has only what its own records say. */
TEST(a_child_is_as_stale_as_its_parent)
{
    struct world *w = shell();

    do_lose(w);
    do_fork(w, 20, 20, 10, 10);
    do_fork(w, 30, 30, 10, 10);
    do_comm(w, 30, 30, "ls", true);
    assert_true(world_is_stale(w, 20));
    assert_false(world_is_stale(w, 30));
    do_comm(w, 10, 10, "sh", true);
    assert_false(world_is_stale(w, 10));
    assert_false(world_is_stale(w, 999));
    assert_false(world_is_stale(w, 0));
    world_free(w);
}

TEST(corrections_of_a_child_do_not_change_its_parent)
{
    struct world *w = shell();
    struct proc_snapshot *p = snapshot(20, "sh", 7);

    do_fork(w, 20, 20, 10, 10);
    do_lose(w);
    snapshot_map(p, SH);
    snapshot_map(p, "50000-51000 r-xp 00002000 08:01 7 /lib/new.so");
    snapshot_map(p, VDSO);
    world_install(w, 20, p);
    assert_string_equal(place_of(w, thread_of(w, 20, 20), 0x50000), "new.so+0x2000");
    assert_string_equal(place_of(w, thread_of(w, 10, 10), 0x50000), "?");
    world_free(w);
}

TEST(a_file_is_never_stale)
{
    struct world *w = world_new(false);

    thread_of(w, 10, 10);
    do_lose(w);
    assert_false(world_is_stale(w, 10));
    world_free(w);
}

TEST_MAIN(NULL, NULL)
