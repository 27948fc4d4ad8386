// SPDX-License-Identifier: GPL-2.0-or-later
/* What a hostile worker can do to its parent, and what other processes can do to a worker. */
#include <sys/socket.h>

#include "hung_file.h"
#include "symbolizer_fixture.h"
#include "symbols/blob.h"
#include "symbols/sandbox.h"

#define HOSTILE_ARG "--hostile"
#define ANSWERS     400

/* ---- a hostile worker ---- */

static bool receive_request(struct worker_message *head)
{
    static char payload[WORKER_MESSAGE_MAX];
    struct iovec iov[] = { { head, sizeof *head }, { payload, sizeof payload } };
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };

    return recvmsg(SANDBOX_WORKER_SOCKET, &m, 0) >= (ssize_t)sizeof *head;
}

/* Is ready like any other worker, and sends two descriptors with each reply. */
static void __attribute__((noreturn)) be_hostile(void)
{
    struct worker_message head = { .magic = WORKER_MAGIC };
    int fds[2] = { SANDBOX_WORKER_SOCKET, SANDBOX_WORKER_SOCKET };
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof fds)];
    } control = { 0 };
    struct iovec iov = { &head, sizeof head };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control
    };

    control.align.cmsg_level = SOL_SOCKET;
    control.align.cmsg_type = SCM_RIGHTS;
    control.align.cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(&control.align), fds, sizeof fds);
    send(SANDBOX_WORKER_SOCKET, &head, sizeof head, MSG_NOSIGNAL);
    while (receive_request(&head)) {
        head.kind = head.payload_n = 0;
        head.blob_size = 0;
        sendmsg(SANDBOX_WORKER_SOCKET, &m, MSG_NOSIGNAL);
    }
    _exit(0);
}

static void worker_script(const struct setup *s, char *path, size_t cap)
{
    char self[512] = "", text[640];

    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(text, sizeof text, "#!/bin/sh\nexec %s %s\n", self, HOSTILE_ARG);
    write_named(s, "hostile", text, path, cap);
    chmod(path, 0700);
}

static unsigned count_descriptors(pid_t pid)
{
    char path[64];
    unsigned n = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    d = opendir(path);
    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

TEST(replies_leak_no_descriptor)
{
    static struct worker_reply a;
    struct worker w = WORKER_INIT;
    struct worker_request r = { .kind = WORKER_ELF, .n_fds = 1 };
    struct error e = { 0 };
    unsigned ours = 0, its = 0, i;

    for (i = 0; i < ANSWERS; i++) {
        r.fds[0] = elf_maker_open(&plain_elf);
        assert_int_equal(worker_ask(&w, &r, &a, &e), WORKER_DONE);
        close(r.fds[0]);
        blob_free(a.blob, a.blob_size);
        if (!i) {
            ours = count_descriptors(getpid());
            its = count_descriptors(w.pid);
        }
    }
    print_message("after 1 reply %u and %u, after %d replies %u and %u\n", ours, its, ANSWERS,
                  count_descriptors(getpid()), count_descriptors(w.pid));
    assert_int_equal(w.starts, 1);
    assert_int_equal(count_descriptors(getpid()), ours);
    /* the last request's file and memory may still be open */
    assert_in_range(count_descriptors(w.pid), 0, its + 2);
    worker_end(&w);
}

FIXTURE_TEST(descriptors_from_a_hostile_worker_are_refused)
{
    static struct worker_reply a;
    char path[128];
    struct worker w = WORKER_INIT;
    struct worker_request r = { .kind = WORKER_DEMANGLE };
    struct error e = { 0 };
    unsigned before = count_descriptors(getpid()), i;

    worker_script(*state, path, sizeof path);
    w.path = path;
    for (i = 0; i < ANSWERS; i++)
        assert_int_equal(worker_ask(&w, &r, &a, &e), WORKER_DIED);
    worker_end(&w);
    print_message("before %u, after %u replies %u\n", before, i, count_descriptors(getpid()));
    assert_int_equal(count_descriptors(getpid()), before);
}

/* ---- interference by other processes ---- */

TEST(a_stopped_worker_is_replaced_without_blaming_the_file)
{
    static struct worker_reply a;
    struct worker w = WORKER_INIT;
    struct worker_request r = { .kind = WORKER_DEMANGLE, .payload = "main", .payload_n = 5 };
    struct error e = { 0 };
    pid_t first;

    assert_int_equal(worker_ask(&w, &r, &a, &e), WORKER_DONE);
    first = w.pid;
    assert_int_equal(kill(first, SIGSTOP), 0);
    assert_int_equal(worker_ask(&w, &r, &a, &e), WORKER_DIED);
    assert_true(w.ready && !w.crashed && !w.stuck);
    assert_int_equal(kill(first, 0), -1);
    assert_int_equal(worker_ask(&w, &r, &a, &e), WORKER_DONE);
    assert_int_equal(w.starts, 2);
    worker_end(&w);
}

TEST(the_worker_has_its_own_environment)
{
    static struct worker_reply a;
    struct worker w = WORKER_INIT;
    struct worker_request r = { .kind = WORKER_DEMANGLE, .payload = "main", .payload_n = 5 };
    struct error e = { 0 };
    char **env;
    size_t i;

    setenv("FLAMETOP_TEST_SECRET", "secret", 1);
    setenv("LD_LIBRARY_PATH", "/nonexistent", 1);
    env = sandbox_environment();
    for (i = 0; env[i]; i++)
        assert_true(!strncmp(env[i], "LD_LIBRARY_PATH=", 16) || strstr(env[i], "SAN_OPTIONS="));
    assert_true(i >= 1);
    mem_free(env);
    assert_int_equal(worker_ask(&w, &r, &a, &e), WORKER_DONE);
    if (!geteuid()) {
        char path[64], text[4096];
        ssize_t n;
        int fd;
        snprintf(path, sizeof path, "/proc/%d/environ", (int)w.pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = read(fd, text, sizeof text);
        assert_true(n > 0);
        assert_null(memmem(text, (size_t)n, "secret", 6));
        close(fd);
    }
    worker_end(&w);
    unsetenv("LD_LIBRARY_PATH");
    unsetenv("FLAMETOP_TEST_SECRET");
}

/* A worker that reports that it cannot be confined: names are refused with its reason, and no more are
 * started. */
static void __attribute__((noreturn)) be_refused(void)
{
    static const char why[] = "cannot confine the child process: made by a test";
    struct worker_message head = { .magic = WORKER_MAGIC,
                                   .kind = ERROR_PERMISSION,
                                   .payload_n = sizeof why - 1 };
    struct iovec iov[] = { { &head, sizeof head }, { (void *)(uintptr_t)why, sizeof why - 1 } };
    struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };

    sendmsg(SANDBOX_WORKER_SOCKET, &m, MSG_NOSIGNAL);
    while (receive_request(&head))
        ;
    _exit(1);
}

FIXTURE_TEST(a_worker_that_cannot_be_confined_reads_nothing)
{
    struct setup *s = *state, other;
    char self[512] = "", text[640], path[128];
    struct symbolizer_config cfg = { .live = true, .worker_path = path };
    struct symbolizer_stats stats;
    struct module *m = make_elf_module(s, "a", &plain_elf), *n = make_elf_module(s, "b", &plain_elf);

    assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    snprintf(text, sizeof text, "#!/bin/sh\nexec %s --refused\n", self);
    write_named(s, "refused", text, path, sizeof path);
    chmod(path, 0700);
    start(&other, &cfg);
    assert_int_equal(settled(&other, m, ELF_MAKER_OFFSET + 0x10).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&other, m), "cannot confine the child process: made by a test"));
    assert_int_equal(settled(&other, n, ELF_MAKER_OFFSET + 0x10).state, SYMBOL_NONE);
    assert_non_null(strstr(trouble(&other, n), "made by a test"));
    symbolizer_stats(other.sy, &stats);
    assert_int_equal(stats.worker_starts, 1);
    assert_string_equal(stats.worker_note, "cannot confine the child process: made by a test");
    stop(&other);
    module_put(m);
    module_put(n);
}

/* An ELF file whose section headers are in an unreadable part: flametop itself reads only what is before
 * them. */
static bool start_hung(struct hung_file *hung)
{
    static struct elf_maker_file f;

    elf_maker_fill(&f, &plain_elf);
    f.header.e_shoff = 2 * HUNG_FILE_PAGE;
    return hung_file_start(hung, &f);
}

/* A worker that sleeps in a hung file system cannot be killed: it is abandoned, another one is started,
 * and the file is given up. */
TEST(an_unkillable_worker_is_abandoned)
{
    static struct worker_reply a;
    struct worker w = WORKER_INIT;
    struct worker_request names = { .kind = WORKER_DEMANGLE, .payload = "main", .payload_n = 5 };
    struct worker_request read = { .kind = WORKER_ELF, .n_fds = 1, .limit_ns = NS_PER_SEC / 10 };
    struct hung_file hung;
    struct error e = { 0 };
    uint64_t began;

    if (!start_hung(&hung)) {
        print_message("file systems in user space cannot be mounted here\n");
        skip();
    }
    assert_int_equal(worker_ask(&w, &names, &a, &e), WORKER_DONE);
    read.fds[0] = hung.fd;
    began = clock_now_ns();
    assert_int_equal(worker_ask(&w, &read, &a, &e), WORKER_LATE);
    print_message("after %.1f s: %s\n", (double)(clock_now_ns() - began) / 1e9, e.text);
    assert_true(w.stuck);
    assert_non_null(strstr(e.text, "its file system does not respond"));
    assert_int_equal(w.n_abandoned, 1);
    error_clear(&e);
    assert_int_equal(worker_ask(&w, &names, &a, &e), WORKER_DONE);
    worker_end(&w);
    assert_int_equal(w.n_abandoned, 1);
    kill(hung.server, SIGKILL);
    /* Once the file system replies, the kernel ends it, and the next start reaps it. */
    for (began = clock_now_ns(); w.n_abandoned && clock_now_ns() - began < LONG_ENOUGH; worker_end(&w))
        assert_int_equal(worker_ask(&w, &names, &a, &e), WORKER_DONE);
    assert_int_equal(w.n_abandoned, 0);
    hung_file_end(&hung);
}

/* Two files on a hung file system: the second one is not even tried, and other files have their names. */
FIXTURE_TEST(a_hung_file_system_is_abandoned)
{
    struct setup *s = *state;
    struct hung_file hung;
    char path[96];
    struct module *first, *second, *other = make_elf_module(s, "a", &plain_elf);
    struct symbol symbol;
    uint64_t began = clock_now_ns();

    if (!start_hung(&hung)) {
        module_put(other);
        print_message("file systems in user space cannot be mounted here\n");
        skip();
    }
    snprintf(path, sizeof path, "%s/file", hung.folder);
    first = make_module(MODULE_FILE, path, "first");
    second = make_module(MODULE_FILE, path, "second");
    symbolizer_request(s->sy, first);
    assert_true(symbolizer_settle(s->sy, LONG_ENOUGH));
    symbolizer_request(s->sy, second);
    symbol = settled(s, other, ELF_MAKER_OFFSET + 0x10);
    assert_int_equal(symbol.state, SYMBOL_FOUND);
    print_message("after %.1f s: %s\n", (double)(clock_now_ns() - began) / 1e9, trouble(s, second));
    assert_non_null(strstr(trouble(s, first), "its file system does not respond"));
    assert_non_null(strstr(trouble(s, second), "not read: its file system does not respond"));
    hung_file_end(&hung);
    module_put(first);
    module_put(second);
    module_put(other);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], HOSTILE_ARG))
        be_hostile();
    if (argc > 1 && !strcmp(argv[1], "--refused"))
        be_refused();
    be_child(argc, argv);
    return run_listed_tests(NULL, NULL);
}
