// SPDX-License-Identifier: GPL-2.0-or-later
/* The command after "--": forked before the events are opened, held at a pipe until they are open, then
 * exec'd. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "session/session_state.h"

/* Limits per poll: a command that prints all the time must neither delay the rings nor cost more than the
 * measurement. */
#define READS_AT_ONCE 16
#define LINES_AT_ONCE 40
#define PIPE_BYTES    (1 << 20) /* so that the command rarely waits for flametop */
#define END_WAIT_NS   (100 * NS_PER_MS)

struct pipes {
    int hold[2], failure[2], output[2];
};

static void close_both(int fd[2])
{
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

static void pipes_close(struct pipes *p)
{
    close_both(p->hold);
    close_both(p->failure);
    close_both(p->output);
}

static bool pipes_make(struct pipes *p, bool output)
{
    *p = (struct pipes){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
    return pipe2(p->hold, O_CLOEXEC) == 0 && pipe2(p->failure, O_CLOEXEC) == 0 &&
           (!output || pipe2(p->output, O_CLOEXEC) == 0);
}

/* Runs in the child. Only async-signal-safe calls: other threads may hold locks. */
static void command_child(char *const *argv, struct pipes *p)
{
    child_has_first_priority();
    char go;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL); /* flametop ignores these two, and exec would keep that */
    signal(SIGXFSZ, SIG_DFL);
    close(p->hold[1]);
    if (p->output[1] >= 0) {
        setpgid(0, 0); /* ^C is for flametop */
        int null_fd = open("/dev/null", O_RDONLY);
        dup2(null_fd, 0);
        dup2(p->output[1], 1);
        dup2(p->output[1], 2);
    }
    ssize_t n;
    while ((n = read(p->hold[0], &go, 1)) < 0 && errno == EINTR)
        ;
    if (n == 1)
        execvp(argv[0], argv);
    int sys = errno;
    if (write(p->failure[1], &sys, sizeof sys) < 0)
        _exit(126);
    _exit(127);
}

bool command_spawn(struct session *s, struct error *e)
{
    struct pipes p;
    if (!pipes_make(&p, s->cfg.command_to_log)) {
        error_sys(e, errno, "cannot make a pipe to start %s", s->command.argv[0]);
        pipes_close(&p);
        return false;
    }
    pid_t pid = fork();
    if (pid < 0) {
        error_sys(e, errno, "cannot start %s", s->command.argv[0]);
        pipes_close(&p);
        return false;
    }
    if (pid == 0)
        command_child(s->command.argv, &p);
    close(p.hold[0]);
    close(p.failure[1]);
    if (p.output[1] >= 0) {
        close(p.output[1]);
        fcntl(p.output[0], F_SETFL, O_NONBLOCK);
        fcntl(p.output[0], F_SETPIPE_SZ, PIPE_BYTES);
    }
    s->command.pid = pid;
    s->command.pipe = p.output[0];
    s->command.hold_fd = p.hold[1];
    s->command.failure_fd = p.failure[0];
    return true;
}

bool command_release(struct session *s, struct error *e)
{
    bool told = write(s->command.hold_fd, "g", 1) == 1;
    return told || error_sys(e, errno, "cannot run %s", s->command.argv[0]);
}

bool command_runs(struct session *s, struct error *e)
{
    int sys = 0;
    ssize_t n;
    /* exec closes the pipe: end of file */
    while ((n = read(s->command.failure_fd, &sys, sizeof sys)) < 0 && errno == EINTR)
        ;
    return n == 0 || error_sys(e, sys, "cannot run %s", s->command.argv[0]);
}

static void end_line(struct session *s, unsigned *lines)
{
    if (s->command.line_n && (*lines)++ < LINES_AT_ONCE)
        log_add("%s: %.*s", s->command.argv[0], (int)s->command.line_n, s->command.line);
    s->command.line_n = 0;
}

static void log_bytes(struct session *s, const char *bytes, ssize_t n, unsigned *lines)
{
    for (ssize_t k = 0; k < n && *lines < LINES_AT_ONCE; k++) {
        if (bytes[k] == '\n' || s->command.line_n == sizeof s->command.line)
            end_line(s, lines);
        if (bytes[k] != '\n')
            s->command.line[s->command.line_n++] = bytes[k];
    }
}

static void keep_output(struct session_output *out, const char *bytes, size_t n)
{
    buf_add(&out->text, bytes, n);
    if (out->text.len <= 2 * SESSION_OUTPUT_BYTES)
        return;
    size_t drop = out->text.len - SESSION_OUTPUT_BYTES;
    memmove(out->text.data, out->text.data + drop, SESSION_OUTPUT_BYTES);
    out->text.len = SESSION_OUTPUT_BYTES;
    out->dropped += drop;
}

static void log_output(struct session *s)
{
    static char bytes[65536]; /* used by the collector only */
    unsigned lines = 0;
    for (int i = 0; i < READS_AT_ONCE && s->command.pipe >= 0; i++) {
        ssize_t n = read(s->command.pipe, bytes, sizeof bytes);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            break;
        log_bytes(s, bytes, n, &lines);
        if (n > 0 && s->cfg.command_output)
            keep_output(s->cfg.command_output, bytes, (size_t)n);
        if (n <= 0) {
            end_line(s, &lines);
            close(s->command.pipe);
            s->command.pipe = -1;
        }
    }
    s->command.floods = lines >= LINES_AT_ONCE;
    if (s->command.floods)
        log_add("%s: ... (more than is kept)", s->command.argv[0]);
}

static bool reap(struct session *s)
{
    int status;
    struct rusage ru;
    if (wait4(s->command.pid, &status, WNOHANG, &ru) != s->command.pid)
        return false;
    s->command.cpu_ns = (uint64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * NS_PER_SEC +
                        (uint64_t)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) * 1000;
    s->command.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

void command_poll(struct session *s)
{
    log_output(s);
    if (s->command.pid && s->command.status < 0 && reap(s)) {
        log_add("%s ended with status %d", s->command.argv[0], s->command.status);
        s->store.generation++;
    }
}

/* Ends the command, as perf does: with SIGTERM, and without waiting for one that ignores it. One that is
 * still held reads the end of its pipe instead of "go", and exits. */
void command_end(struct session *s)
{
    close_both((int[]){ s->command.hold_fd, s->command.failure_fd });
    if (s->command.pid && s->command.status < 0) {
        if (!s->cfg.command_to_log || kill(-s->command.pid, SIGTERM) < 0)
            kill(s->command.pid, SIGTERM);
        for (uint64_t end = clock_now_ns() + END_WAIT_NS; !reap(s) && clock_now_ns() < end;)
            nanosleep(&(struct timespec){ .tv_nsec = 2 * NS_PER_MS }, NULL);
    }
    if (s->command.pipe >= 0)
        log_output(s); /* the last output */
    if (s->command.pipe >= 0)
        close(s->command.pipe);
}

int session_command_status(struct session *s)
{
    return s->command.status;
}
