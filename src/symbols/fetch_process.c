// SPDX-License-Identifier: GPL-2.0-or-later
/* The parent's side of one fetch. The child talks to the network: its reports are not trusted. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/text.h"
#include "symbols/fetch.h"

#define LEAVE_MS 300 /* time for the child to remove its unfinished file */

extern char **environ;

struct child {
    int fd;
    int file; /* file that came with its last report; -1: none */
    pid_t pid;
};

/* Return flametop's environment, with these servers, and with nothing on standard error. The caller frees the
 * array and its first string. */
static char **environment(const char *urls)
{
    size_t n = 0, to = 1, i;
    char **env;

    while (environ[n])
        n++;
    env = mem_array(n + 2, sizeof *env);
    env[0] = mem_alloc(strlen(urls) + sizeof "DEBUGINFOD_URLS=");
    sprintf(env[0], "DEBUGINFOD_URLS=%s", urls);
    for (i = 0; i < n; i++)
        if (!text_begins_with(environ[i], "DEBUGINFOD_URLS=") &&
            !text_begins_with(environ[i], "DEBUGINFOD_PROGRESS=") &&
            !text_begins_with(environ[i], "DEBUGINFOD_VERBOSE="))
            env[to++] = environ[i];
    return env;
}

static bool spawn(const struct fetch_process *p, const char *id, int pipe_fd, pid_t *pid)
{
    char copy[64], *argv[] = { "flametop", SYMBOL_FETCH_ARG, copy, NULL }, **env;
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (nothing < 0)
        return false;
    snprintf(copy, sizeof copy, "%s", id);
    env = environment(p->urls);
    int failed = child_spawn(p->path, argv, env, pipe_fd, nothing, pid);
    mem_free(env[0]);
    mem_free(env);
    close(nothing);
    return !failed;
}

static bool start(const struct fetch_process *p, const char *id, struct child *c)
{
    int ends[2];
    bool ok;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return false;
    ok = spawn(p, id, ends[1], &c->pid);
    close(ends[1]);
    if (!ok)
        close(ends[0]);
    c->fd = ends[0];
    c->file = -1;
    return ok;
}

/* Ask the child to exit, then kill it; its end of the pipe is then closed. */
static void finish(struct child *c, bool willing)
{
    uint64_t end = clock_now_ns() + LEAVE_MS * NS_PER_MS, now;
    struct pollfd fd = { .fd = c->fd, .events = POLLIN };
    struct fetch_report report;

    if (!willing)
        kill(c->pid, SIGTERM);
    while ((now = clock_now_ns()) < end &&
           (poll(&fd, 1, (int)((end - now) / NS_PER_MS) + 1) <= 0 || read(c->fd, &report, sizeof report) > 0))
        ;
    close(c->fd);
    kill(c->pid, SIGKILL);
    (void)child_wait(c->pid, NULL, 0);
}

/* Keep the last descriptor of a message: a hostile child may send several. */
static void take_files(struct child *c, struct msghdr *m)
{
    for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h; h = CMSG_NXTHDR(m, h))
        if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS)
            for (size_t at = CMSG_LEN(0); at + sizeof(int) <= h->cmsg_len; at += sizeof(int)) {
                if (c->file >= 0)
                    close(c->file);
                memcpy(&c->file, (char *)h + at, sizeof c->file);
            }
}

static bool receive(struct child *c, struct fetch_report *r)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = { r, sizeof *r };
    struct msghdr m = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t n;

    do {
        n = recvmsg(c->fd, &m, MSG_CMSG_CLOEXEC);
    } while (n < 0 && errno == EINTR);
    if (n >= 0)
        take_files(c, &m);
    r->text[sizeof r->text - 1] = '\0';
    return n == (ssize_t)sizeof *r && r->magic == FETCH_MAGIC && r->kind >= FETCH_PROGRESS &&
           r->kind <= FETCH_FAILED;
}

static enum fetch_end watch(const struct fetch_process *p, struct child *c, struct fetch_report *r)
{
    struct pollfd fds[] = { { .fd = c->fd, .events = POLLIN }, { .fd = p->stop_fd, .events = POLLIN } };
    uint64_t began = clock_now_ns(), heard = began, got = 0;

    for (;;) {
        uint64_t now = clock_now_ns(), end = heard + p->limits->silence_ns, last = began + p->limits->file_ns;
        if (now >= last || now >= end)
            return now >= last ? FETCH_LATE : FETCH_SILENT;
        end = end < last ? end : last;
        if (poll(fds, 2, (int)((end - now) / NS_PER_MS) + 1) <= 0)
            continue;
        if (fds[1].revents)
            return FETCH_STOPPED;
        if (!receive(c, r))
            return FETCH_DIED;
        if (r->kind != FETCH_PROGRESS)
            return FETCH_ANSWERED;
        if (r->got > got)
            heard = now;
        got = r->got;
        p->progress(p->ctx, got, r->total);
    }
}

static void set_done(struct fetch_report *r, const char *path)
{
    *r = (struct fetch_report){ .magic = FETCH_MAGIC, .kind = FETCH_DONE };
    snprintf(r->text, sizeof r->text, "%s", path);
}

/* Take the file, not a path, from a child that is another user. */
static void keep(const struct child *c, const char *id, struct fetch_report *r)
{
    struct error e = { 0 };
    char path[sizeof r->text] = "";

    if (c->file < 0)
        error_set(&e, ERROR_FORMAT, "the fetching process sent no file");
    if (c->file >= 0 && fetch_keep(id, c->file, path, sizeof path, &e)) {
        set_done(r, path);
        return;
    }
    r->kind = FETCH_FAILED;
    snprintf(r->text, sizeof r->text, "%s", e.text);
}

enum fetch_end fetch_run(const struct fetch_process *p, const char *id, struct fetch_report *last)
{
    bool other_user = geteuid() == 0;
    char path[sizeof last->text];
    enum fetch_end end;
    struct child c;

    *last = (struct fetch_report){ 0 };
    if (other_user && fetch_kept(id, path, sizeof path)) {
        set_done(last, path);
        return FETCH_ANSWERED;
    }
    if (!start(p, id, &c))
        return FETCH_DIED;
    end = watch(p, &c, last);
    if (end == FETCH_ANSWERED && last->kind == FETCH_DONE && other_user)
        keep(&c, id, last);
    if (c.file >= 0)
        close(c.file);
    finish(&c, end == FETCH_ANSWERED);
    return end;
}
