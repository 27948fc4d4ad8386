// SPDX-License-Identifier: GPL-2.0-or-later
/* Start the process that stops threads (livestacks_main.c), and read its report. When that process dies, the
 * kernel lets all threads run that it has stopped: so it is killed if it is late, and dies with flametop. */
#include "symbols/livestacks.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/mem.h"
#include "base/text.h"
#include "symbols/interpreter_frames.h"
#include "symbols/livestacks_report.h"
#include "symbols/sandbox.h"

#define ALL_NS     (12 * NS_PER_SEC)
#define SILENCE_NS (6 * NS_PER_SEC)  /* more than the child may spend on stops, when it reports nothing */
#define CANCEL_NS  (100 * NS_PER_MS) /* interval of looking at *cancelled */
#define REPORT_MAX (UINT64_C(256) << 20)

/* ---- the report ---- */

static int by_tid(const void *a, const void *b)
{
    const struct livestack *x = a, *y = b;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static char *clean_path(const char *bytes, uint32_t n)
{
    char clean[LIVESTACKS_PATH_MAX + 1];
    size_t length = text_clean(clean, sizeof clean, bytes, strnlen(bytes, n));
    char *path = mem_alloc(length + sizeof "...");
    snprintf(path, length + sizeof "...", "%s%s", clean, n == LIVESTACKS_PATH_MAX ? "..." : "");
    return path;
}

static bool parse_scripts(struct cursor c, struct livestacks *out, struct livestack *s)
{
    size_t cap = 0;
    char clean[2 * INTERPRETER_TEXT_MAX];
    while (cursor_left(&c)) {
        uint32_t group = cursor_u32(&c), n = cursor_u32(&c);
        const char *text = cursor_bytes(&c, n);
        if (c.bad || group >= s->n_groups || (s->n_scripts && group < s->scripts[s->n_scripts - 1].group))
            return false;
        MEM_GROW(s->scripts, cap, s->n_scripts + 1);
        size_t length = text_clean(clean, sizeof clean, text, n);
        s->scripts[s->n_scripts++] =
            (struct livestack_script){ group, arena_strndup(&out->strings, clean, length) };
    }
    return true;
}

static bool parse_record(struct cursor *c, struct livestacks *out)
{
    struct livestack s = { .tid = cursor_u32(c) };
    s.refused = (int)(cursor_u32(c) & 0xffff);
    s.end = (enum remote_end)cursor_u32(c);
    s.n = cursor_u32(c);
    s.holder = cursor_u32(c);
    uint32_t path = cursor_u32(c);
    s.stopped_ns = cursor_u64(c);
    s.path_at = cursor_u64(c);
    s.n_groups = cursor_u32(c);
    s.scripts_truncated = cursor_u32(c);
    uint32_t scripts = cursor_u32(c);
    cursor_u32(c);
    if (c->bad || s.end >= REMOTE_ENDS || s.n > LIVESTACKS_FRAMES_MAX || path > LIVESTACKS_PATH_MAX ||
        out->n == LIVESTACKS_MAX || cursor_left(c) < s.n * sizeof *s.frames + path + scripts)
        return false;
    s.frames = mem_array(s.n + 1, sizeof *s.frames);
    for (uint32_t i = 0; i < s.n; i++)
        s.frames[i] = cursor_u64(c);
    s.path = path ? clean_path(cursor_bytes(c, path), path) : NULL;
    bool whole = parse_scripts(cursor_of(cursor_bytes(c, scripts), scripts, false), out, &s);
    MEM_GROW(out->items, out->cap, out->n + 1);
    out->items[out->n++] = s;
    out->total_ns += s.stopped_ns;
    out->longest_ns = s.stopped_ns > out->longest_ns ? s.stopped_ns : out->longest_ns;
    return whole;
}

bool livestacks_parse(const void *report, size_t n, struct livestacks *out, struct error *e)
{
    struct cursor c = cursor_of(report, n, false);
    uint32_t magic = cursor_u32(&c), class = cursor_u32(&c);
    const char *text = cursor_bytes(&c, sizeof((struct livestacks_head *)0)->text);
    char clean[sizeof((struct livestacks_head *)0)->text];
    if (c.bad || magic != LIVESTACKS_MAGIC || class > ERROR_UNSUPPORTED)
        return error_set(e, ERROR_FORMAT, "the process that unwinds the threads did not report");
    bool whole = true;
    while (whole && cursor_left(&c))
        whole = parse_record(&c, out);
    if (out->n)
        qsort(out->items, out->n, sizeof *out->items, by_tid);
    text_clean(clean, sizeof clean, text, strnlen(text, sizeof clean - 1));
    if (class != ERROR_NONE)
        return error_set(e, (enum error_class) class, "%s", clean);
    return whole || error_set(e, ERROR_FORMAT, "the report of the unwinding process ends early");
}

const struct livestack *livestacks_of(const struct livestacks *s, uint32_t tid)
{
    struct livestack key = { .tid = tid };
    return s->n ? bsearch(&key, s->items, s->n, sizeof key, by_tid) : NULL;
}

void livestacks_done(struct livestacks *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        mem_free(s->items[i].frames);
        mem_free(s->items[i].path);
        mem_free(s->items[i].scripts);
    }
    arena_done(&s->strings);
    mem_free(s->items);
    *s = (struct livestacks){ 0 };
}

/* ---- the process ---- */

/* Move the pipe to its descriptor by way of a high one: it may be 0, 1 or 2 itself, if those were closed. */
static int spawn(uint32_t pid, int pipe_fd, pid_t *child)
{
    char number[16], **env = sandbox_environment();
    snprintf(number, sizeof number, "%u", pid);
    int failed =
        child_spawn(NULL, (char *[]){ "flametop", LIVESTACKS_ARG, number, NULL }, env, pipe_fd, -1, child);
    mem_free(env);
    return failed;
}

/* Wait until the pipe can be read. False: the child was silent for too long, or the wait was cancelled. */
static bool wait_for_bytes(int fd, uint64_t end_ns, const atomic_bool *cancelled)
{
    uint64_t now_ns = clock_now_ns(), silent_ns = now_ns + SILENCE_NS;
    end_ns = end_ns < silent_ns ? end_ns : silent_ns;
    for (; now_ns < end_ns && !(cancelled && *cancelled); now_ns = clock_now_ns()) {
        uint64_t left_ns = end_ns - now_ns, wait_ns = left_ns < CANCEL_NS ? left_ns : CANCEL_NS;
        struct pollfd p = { .fd = fd, .events = POLLIN };
        if (poll(&p, 1, (int)(wait_ns / NS_PER_MS) + 1) > 0)
            return true;
    }
    return false;
}

/* Read until the child closes the pipe. False: it was late, or this was cancelled. */
static bool read_report(int fd, const atomic_bool *cancelled, struct buf *report)
{
    uint64_t end_ns = clock_now_ns() + ALL_NS;
    char bytes[65536];
    for (;;) {
        ssize_t n = wait_for_bytes(fd, end_ns, cancelled) ? read(fd, bytes, sizeof bytes) : -1;
        if (n <= 0 || report->len + (size_t)n > REPORT_MAX)
            return n == 0;
        buf_add(report, bytes, (size_t)n);
    }
}

bool livestacks_take(uint32_t pid, const atomic_bool *cancelled, struct livestacks *out, struct error *e)
{
    struct buf report = { 0 };
    int ends[2], failed, status = 0;
    pid_t child;
    *out = (struct livestacks){ 0 };
    if (pipe2(ends, O_CLOEXEC))
        return error_sys(e, errno, "cannot stop the threads of process %u", pid);
    failed = spawn(pid, ends[1], &child);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return error_sys(e, failed, "cannot start the process that unwinds the threads");
    }
    bool in_time = read_report(ends[0], cancelled, &report);
    kill(child, SIGKILL); /* harmless if it has ended: it is a zombie until child_wait */
    close(ends[0]);
    child_wait(child, &status, 0);
    bool ok = livestacks_parse(report.data, report.len, out, e);
    buf_done(&report);
    if (!in_time)
        error_set(e, ERROR_LIMIT, "unwinding was given up: it was not ready within %u seconds",
                  (unsigned)(ALL_NS / NS_PER_SEC));
    else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        error_set(e, ERROR_FORMAT,
                  "the process that unwinds the threads ended by signal %d: an unwind table is damaged",
                  WTERMSIG(status));
    return ok || out->n;
}
