// SPDX-License-Identifier: GPL-2.0-or-later
/* A process in its own mount and pid namespaces, with another pid and /tmp than the test. */
#include "jitdump_maker.h"
#include "symbolizer_fixture.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static pid_t outer;

static void write_file(const char *path, const void *bytes, size_t n)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
        _exit(20);
    close(fd);
}

/* Runs as process 1 of the namespaces. Only this process sees its map and jitdump. */
static void run_inside(int ready)
{
    struct jitdump_maker d = { 0 };
    int fd;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getpid() != 1 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("flametop", "/tmp", "tmpfs", 0, NULL))
        _exit(10);
    write_file("/tmp/perf-1.map", "1000 10 of_the_map\n", 19);
    maker_header(&d, 1);
    maker_load(&d, 0x2000, 0x10, 1, "of_the_dump", 0x10);
    write_file("/tmp/jit-1.dump", d.b.data, d.b.len);
    fd = open("/tmp/jit-1.dump", O_RDONLY);
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
        _exit(11);
    close(fd);
    if (write(ready, "x", 1) != 1)
        _exit(12);
    for (;;)
        pause();
}

/* Starts the process and returns its pid in the test's namespace; 0 if not permitted. */
static pid_t start_inside(void)
{
    int ready[2], told[2];
    pid_t inner = 0;
    char byte;
    bool ok;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(told), 0);
    outer = fork();
    if (!outer) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNS | CLONE_NEWPID))
            _exit(1);
        inner = fork();
        if (!inner)
            run_inside(ready[1]);
        close(ready[1]);
        if (write(told[1], &inner, sizeof inner) != sizeof inner)
            _exit(2);
        waitpid(inner, NULL, 0);
        _exit(0);
    }
    close(ready[1]);
    close(told[1]);
    ok = read(told[0], &inner, sizeof inner) == sizeof inner && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    close(told[0]);
    return ok ? inner : 0;
}

static int end_child(void **state)
{
    if (outer > 0) {
        kill(outer, SIGKILL);
        waitpid(outer, NULL, 0);
    }
    return tear_down(state);
}

TEST_WITH(maps_and_jitdumps_are_found_in_the_namespaces_of_the_process, set_up, end_child)
{
    struct setup *s = *state;
    struct module like = { .id = 5000, .kind = MODULE_JIT, .path = "//anon", .live = true };
    struct module *m;
    pid_t pid = start_inside();

    if (!pid) {
        print_message("SKIPPED: namespaces need root\n");
        skip();
    }
    like.pid = (uint32_t)pid;
    m = module_new(&like);
    assert_string_equal(settled(s, m, 0x1000).name, "of_the_map");
    assert_string_equal(settled(s, m, 0x2000).name, "of_the_dump");
    assert_string_equal(trouble(s, m), "");
    module_put(m);
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
