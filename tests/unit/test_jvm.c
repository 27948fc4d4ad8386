// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests the perf map from a real Java VM, if one is installed, and from programs that are not VMs. */
#include "files.h"
#include "symbolizer_fixture.h"

#include <dirent.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "opened.h"
#include "symbols/jvm.h"
#include "symbols/perfmap.h"

static const char program[] = "public class Kettle {\n"
                              "    static volatile long sink;\n"
                              "    static long boil(long n, int steps) {\n"
                              "        for (int i = 0; i < steps; i++) n = n * 31 + i;\n"
                              "        return n;\n"
                              "    }\n"
                              "    public static void main(String[] args) throws Exception {\n"
                              "        for (int i = 0; i < 20000; i++) sink = boil(sink, 1000);\n"
                              "        System.out.println(\"ready\");\n"
                              "        Thread.sleep(600000);\n"
                              "    }\n"
                              "}\n";

static pid_t children[4];
static int n_children;

static void end_children(void)
{
    while (n_children) {
        int status, sig = SIGTERM; /* the VM then removes its socket */
        pid_t pid = children[--n_children];

        for (int i = 0; i < 200 && waitpid(pid, &status, WNOHANG) == 0; i++, usleep(50000))
            kill(pid, i < 100 ? sig : SIGKILL);
    }
}

static int end_test(void **state)
{
    end_children();
    return tear_down(state);
}

#define VM_TEST(name) TEST_WITH(name, set_up, end_test)

static pid_t start_program(char *const *argv, int out)
{
    pid_t pid = fork();

    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out, 1);
        execvp(argv[0], argv);
        _exit(127);
    }
    assert_true(pid > 0);
    children[n_children++] = pid;
    return pid;
}

/* Starts a VM and returns its pid. Skips the test if no VM can run a source file. */
static pid_t start_java(const struct setup *s, char *option)
{
    char path[128], said[64] = "";
    char *argv[] = { "java", "-XX:+UseSerialGC", option, path, NULL };
    int pipe_fd[2], fd;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    snprintf(path, sizeof path, "%s/Kettle.java", s->dir);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, program, sizeof program - 1), sizeof program - 1);
    close(fd);
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    pid = start_program(argv, pipe_fd[1]);
    close(pipe_fd[1]);
    while (n < sizeof said - 1 && !strstr(said, "ready\n") &&
           (got = read(pipe_fd[0], said + n, sizeof said - 1 - n)) > 0)
        n += (size_t)got;
    close(pipe_fd[0]);
    if (strstr(said, "ready\n"))
        return pid;
    print_message("SKIPPED: no java that runs a source file is installed: not tested with a real VM\n");
    skip();
    return 0;
}

static uint64_t address_of(pid_t pid, const char *name)
{
    struct error e = { 0 };
    unsigned long long address = 0, found = 0;
    char line[4096];
    int fd = opened_readable(perfmap_open((uint32_t)pid, &e));
    FILE *f;

    if (fd < 0)
        fail_msg("%s", e.text);
    f = fdopen(fd, "r");
    while (fgets(line, sizeof line, f))
        if (strstr(line, name) && sscanf(line, "%llx", &address) == 1)
            found = address;
    fclose(f);
    return found;
}

VM_TEST(a_vm_writes_its_map_on_request)
{
    struct setup *s = *state;
    struct error e = { 0 };
    struct module like = { .id = 4000, .kind = MODULE_JIT, .path = "//anon", .live = true };
    struct module *m;
    char map[64];
    uint64_t address;
    pid_t pid = start_java(s, "-XX:-Inline");

    assert_true(jvm_can_ask((uint32_t)pid, &e));
    for (int round = 0; round < 2; round++) /* the first request wakes it, the second finds it listening */
        if (!jvm_ask_map((uint32_t)pid, &e))
            fail_msg("%s", e.text);
    address = address_of(pid, "Kettle.boil(");
    assert_true(address != 0);
    like.pid = (uint32_t)pid;
    m = module_new(&like);
    assert_string_equal(settled(s, m, address).name, "long Kettle.boil(long, int)");
    assert_int_equal(kill(pid, 0), 0);
    snprintf(map, sizeof map, "/tmp/perf-%d.map", (int)pid);
    unlink(map);
    module_put(m);
}

VM_TEST(a_vm_with_attaching_disabled_is_left_alone)
{
    struct setup *s = *state;
    struct error e = { 0 };
    int status;
    pid_t pid = start_java(s, "-Xrs");

    assert_false(jvm_ask_map((uint32_t)pid, &e));
    assert_non_null(strstr(e.text, "-Xrs"));
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
}

static int bystander_pipe[2];

static void exit_on_quit(int sig)
{
    (void)sig;
    _exit(3);
}

static void report_signal(int sig)
{
    (void)sig;
    if (write(bystander_pipe[1], "x", 1) != 1)
        _exit(4);
}

#if defined(__SANITIZE_THREAD__)
#define HOLDS_SIGNALS_BACK 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HOLDS_SIGNALS_BACK 1
#endif
#endif
#ifndef HOLDS_SIGNALS_BACK
#define HOLDS_SIGNALS_BACK 0
#endif

/* Starts a child that exits on SIGQUIT, by a handler or by default. */
static pid_t start_bystander(bool catches, const char *maps)
{
    char byte;
    pid_t pid;

    if (HOLDS_SIGNALS_BACK) {
        print_message("ThreadSanitizer delays signals: the test could not detect them\n");
        skip();
    }
    assert_int_equal(pipe2(bystander_pipe, O_CLOEXEC), 0);
    pid = fork();
    if (!pid) {
        int fd = maps ? open(maps, O_RDWR | O_CREAT | O_CLOEXEC, 0700) : -1;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGQUIT, catches ? exit_on_quit : SIG_DFL);
        signal(SIGUSR1, report_signal);
        if (maps && (ftruncate(fd, 4096) ||
                     mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED))
            _exit(5);
        report_signal(0);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    children[n_children++] = pid;
    close(bystander_pipe[1]);
    assert_int_equal(read(bystander_pipe[0], &byte, 1), 1);
    return pid;
}

/* Of two pending signals, a process receives the lower number first. */
static void assert_no_signal_came(pid_t pid)
{
    char byte;

    assert_int_equal(kill(pid, SIGUSR1), 0);
    assert_int_equal(read(bystander_pipe[0], &byte, 1), 1);
    close(bystander_pipe[0]);
}

VM_TEST(processes_that_are_not_vms_get_no_signal)
{
    for (int catches = 0; catches < 2; catches++) {
        struct error e = { 0 };
        pid_t pid = start_bystander(catches, NULL);

        assert_false(jvm_ask_map((uint32_t)pid, &e));
        assert_int_equal(e.class, ERROR_UNSUPPORTED);
        assert_non_null(strstr(e.text, "not a Java VM"));
        assert_no_signal_came(pid);
    }
}

/* A VM catches SIGQUIT. A launcher or tool that only maps its library would be killed by it. */
VM_TEST(processes_that_only_map_libjvm_get_no_signal)
{
    struct setup *s = *state;
    struct error e = { 0 };
    char path[128];
    pid_t pid;

    snprintf(path, sizeof path, "%s/libjvm.so", s->dir);
    pid = start_bystander(false, path);
    assert_false(jvm_ask_map((uint32_t)pid, &e));
    assert_non_null(strstr(e.text, "does not listen"));
    assert_no_signal_came(pid);
}

#define STRANGER 61001

static void catch_quit(int sig)
{
    (void)sig;
}

/* Starts a program of another user that looks like a VM. Its /tmp is `tmp`, which an unprivileged user can
 * arrange with namespaces. */
static pid_t start_false_vm(const struct setup *s, const char *tmp)
{
    char library[128], byte;
    int ready[2];
    pid_t pid;

    snprintf(library, sizeof library, "%s/libjvm.so", s->dir);
    int fd = open(library, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
    assert_int_equal(ftruncate(fd, 4096), 0);
    assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
    pid = fork();
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        signal(SIGQUIT, catch_quit);
        if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
            unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
            mount(tmp, "/tmp", NULL, MS_BIND, NULL))
            _exit(77);
        if (setresgid(STRANGER, STRANGER, STRANGER) || setresuid(STRANGER, STRANGER, STRANGER))
            _exit(78);
        prctl(PR_SET_DUMPABLE, 1);
        if (write(ready[1], "x", 1) != 1)
            _exit(79);
        for (;;)
            pause();
    }
    assert_true(pid > 0);
    children[n_children++] = pid;
    close(ready[1]);
    close(fd);
    bool started = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (started)
        return pid;
    print_message("SKIPPED: mount namespaces are not available\n");
    skip();
    return 0;
}

static void need_root(void)
{
    if (!geteuid())
        return;
    print_message("SKIPPED: needs root\n");
    skip();
}

static unsigned count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    unsigned n = 0;

    while (d && readdir(d))
        n++;
    closedir(d);
    return n;
}

/* The folder belongs to root, and the VM's user has mounted it over /tmp: nothing is left in it. */
VM_TEST(nothing_is_created_in_a_folder_of_root)
{
    struct setup *s = *state;
    struct error e = { 0 };
    char folder[128];

    need_root();
    snprintf(folder, sizeof folder, "%s/private", s->dir);
    assert_int_equal(mkdir(folder, 0755), 0);
    pid_t pid = start_false_vm(s, folder);
    assert_true(jvm_can_ask((uint32_t)pid, &e));
    assert_false(jvm_ask_map((uint32_t)pid, &e));
    assert_non_null(strstr(e.text, "as its user 61001"));
    assert_int_equal(count_entries(folder), 2);
}

static int listen_at(const char *folder, pid_t pid, mode_t mode, uid_t owner)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s/.java_pid%d", folder, (int)pid);
    unlink(address.sun_path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(chmod(address.sun_path, mode), 0);
    assert_int_equal(chown(address.sun_path, owner, owner), 0);
    assert_int_equal(listen(fd, 4), 0);
    return fd;
}

/* Tries a socket of root that only root may connect to, and one of the VM's user on which another process
 * listens. */
VM_TEST(the_attach_socket_must_belong_to_the_vm)
{
    struct setup *s = *state;
    char folder[64] = "/tmp/jvm_XXXXXX", said[16];

    need_root();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chmod(folder, 0777), 0);
    pid_t pid = start_false_vm(s, folder);
    for (int i = 0; i < 2; i++) {
        struct error e = { 0 };
        int fd = listen_at(folder, pid, 0600, i ? STRANGER : 0);
        assert_false(jvm_ask_map((uint32_t)pid, &e));
        assert_non_null(strstr(e.text, "cannot connect to"));
        int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (i == 0)
            assert_int_equal(accepted, -1); /* not even connected */
        else
            assert_int_equal(read(accepted, said, sizeof said), 0); /* nothing was sent */
        if (accepted >= 0)
            close(accepted);
        close(fd);
    }
    assert_int_equal(remove_tree(folder), 0);
}

VM_TEST(an_exited_process_is_not_a_vm)
{
    struct error e = { 0 };

    assert_false(jvm_ask_map(0x7ffffff0, &e));
    assert_true(e.text[0] != '\0');
}

SYMBOLIZER_TEST_MAIN(NULL, NULL)
