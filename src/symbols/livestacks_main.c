// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that stops the threads of another process and unwinds their stacks.
 * Threads are stopped one at a time, only while registers and stack are copied: some 0.1 ms. A frozen view
 * of all threads would need a stop as long as all copies together, and waiting threads do not move anyway.
 * One thread of this process does all tracing. When it ends, the kernel releases whatever it still traces, so
 * no thread remains stopped, also if this process is killed. The copies are unwound after that, and after all
 * rights are dropped: libunwind may loop or crash on hostile tables. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/child.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/stackprobe.h"
#include "process/task.h"
#include "symbols/livescripts.h"
#include "symbols/livestacks.h"
#include "symbols/livestacks_report.h"
#include "symbols/sandbox.h"

#define STOPS_NS    (4 * NS_PER_SEC)  /* for all threads */
#define STOP_NS     (200 * NS_PER_MS) /* for one thread to stop */
#define SPIN_NS     (NS_PER_MS / 10)  /* before the wait for it sleeps: it may need the CPU */
#define SLEEP_NS    (NS_PER_MS / 20)
#define COPY_MAX    (UINT64_C(1) << 20) /* of one stack */
#define COPIES_MAX  (UINT64_C(256) << 20)
#define COPY_LEAST  (UINT64_C(16) << 10) /* of one stack, when COPIES_MAX is reached */
#define MAPS_TEXT   (64u << 20)
#define CPU_SECONDS 10
#define MEMORY_MAX  (UINT64_C(1) << 30)

struct copy {
    uint32_t tid;
    int refused;
    uint32_t holder, path_bytes;
    char *path;
    uint64_t stopped_ns, path_at;
    struct remote_stack stack;
    struct stackprobe_sample *scripts; /* NULL: none */
};

struct stops {
    uint32_t pid;
    int process, memory; /* /proc/PID and its mem */
    struct remote *remote;
    struct livescripts *scripts; /* NULL: no interpreter */
    struct copy *copies;
    uint32_t n;
    size_t cap;
    uint64_t bytes, end_ns;
    uint8_t *scratch;
};

/* ---- stopping ---- */

/* Wait until a seized thread has stopped. Returns 0, or an errno: it ended, or is blocked in the kernel.
 * *ran_ns: when it had not stopped yet. A thread that waits for a CPU stops when it gets one. */
static int wait_stop(pid_t tid, int *status, uint64_t *ran_ns)
{
    uint64_t began_ns = clock_now_ns(), looked_ns = began_ns;
    for (;;) {
        *ran_ns = looked_ns;
        looked_ns = clock_now_ns();
        pid_t got = waitpid(tid, status, __WALL | WNOHANG);
        uint64_t waited_ns = looked_ns - began_ns;
        if (got == tid)
            return WIFSTOPPED(*status) ? 0 : ESRCH;
        if (got < 0 && errno != EINTR)
            return ESRCH;
        if (waited_ns > STOP_NS)
            return EBUSY;
        if (waited_ns < SPIN_NS)
            sched_yield();
        else
            nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS }, NULL);
    }
}

/* Copy what an unwinder needs of a stopped thread. Returns 0 or an errno. */
static int copy_thread(struct stops *s, struct copy *c)
{
    uint64_t most = s->bytes < COPIES_MAX ? COPY_MAX : COPY_LEAST;
    if (!remote_read_registers((pid_t)c->tid, &c->stack.registers))
        return errno ? errno : EIO;
    c->stack.start = remote_stack_pointer(&c->stack.registers);
    c->stack.end = remote_map_end(s->remote, c->stack.start);
    if (c->stack.end <= c->stack.start) /* mapped after the mappings were read */
        c->stack.end = c->stack.start + COPY_LEAST;
    uint64_t size = c->stack.end - c->stack.start < most ? c->stack.end - c->stack.start : most;
    ssize_t got = pread(s->memory, s->scratch, size, (off_t)c->stack.start);
    c->stack.size = got > 0 ? (uint64_t)got : 0;
    c->scripts = livescripts_copy(s->scripts, c->tid == s->pid, &c->stack);
    return 0;
}

/* A signal that arrived at the same moment stops the thread too, and is passed on. */
static int stop_and_copy(struct stops *s, struct copy *c)
{
    pid_t tid = (pid_t)c->tid;
    int status = 0;
    if (ptrace(PTRACE_SEIZE, tid, 0, 0))
        return errno;
    if (ptrace(PTRACE_INTERRUPT, tid, 0, 0))
        return errno;
    uint64_t ran_ns;
    int failed = wait_stop(tid, &status, &ran_ns);
    if (failed)
        return failed; /* if it is still traced, the end of this thread of ours releases it */
    failed = copy_thread(s, c);
    long signal = status >> 16 ? 0 : WSTOPSIG(status);
    ptrace(PTRACE_DETACH, tid, 0, signal);
    c->stopped_ns = clock_now_ns() - ran_ns;
    return failed;
}

static bool is_blocked(const struct stops *s, uint32_t tid)
{
    struct buf text = { 0 };
    struct task_stat stat;
    char path[40];
    snprintf(path, sizeof path, "task/%u/stat", tid);
    bool is = file_read_at(s->process, path, 4096, &text, NULL) && task_parse_stat(buf_str(&text), &stat) &&
              stat.state == 'D';
    buf_done(&text);
    return is;
}

static uint32_t find_holder(const struct stops *s, const struct task_call *call)
{
    uint32_t words[TASK_LOCK_WORDS];
    bool read = task_call_is_lock(call) &&
                pread(s->memory, words, sizeof words, (off_t)call->arguments[0]) == (ssize_t)sizeof words;
    return read ? task_lock_holder(call, words) : 0;
}

/* The bytes are not looked at: whoever reads the report cleans them. */
static void copy_path(const struct stops *s, const struct task_call *call, struct copy *c)
{
    char bytes[LIVESTACKS_PATH_MAX];
    c->path_at = task_call_path(call);
    ssize_t n = c->path_at ? pread(s->memory, bytes, sizeof bytes, (off_t)c->path_at) : 0;
    c->path_bytes = n > 0 ? (uint32_t)strnlen(bytes, (size_t)n) : 0;
    if (!c->path_bytes)
        return;
    c->path = mem_alloc(c->path_bytes);
    memcpy(c->path, bytes, c->path_bytes);
}

static void read_call(const struct stops *s, struct copy *c)
{
    char path[40];
    snprintf(path, sizeof path, "task/%u/syscall", c->tid);
    struct task_call call = task_read_call(s->process, path);
    c->holder = find_holder(s, &call);
    copy_path(s, &call, c);
}

static void take(struct stops *s, uint32_t tid)
{
    struct copy c = { .tid = tid, .refused = EBUSY };
    read_call(s, &c);
    if (clock_now_ns() > s->end_ns)
        c.refused = ETIME;
    else if (!is_blocked(s, tid))
        c.refused = stop_and_copy(s, &c);
    if (!c.refused && c.stack.size) {
        uint8_t *bytes = mem_alloc(c.stack.size);
        memcpy(bytes, s->scratch, c.stack.size);
        c.stack.bytes = bytes;
        s->bytes += c.stack.size;
    }
    MEM_GROW(s->copies, s->cap, s->n + 1);
    s->copies[s->n++] = c;
}

static DIR *open_tasks(const struct stops *s)
{
    int fd = openat(s->process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? NULL : fdopendir(fd);
}

static void *take_all(void *arg)
{
    struct stops *s = arg;
    DIR *list = open_tasks(s);
    /* else a stopped thread waits while this one waits for a busy CPU */
    (void)child_thread_set_real_time(true);
    s->end_ns = clock_now_ns() + STOPS_NS;
    for (struct dirent *d; list && s->n < LIVESTACKS_MAX && (d = readdir(list));) {
        uint64_t tid;
        if (text_parse_u64(d->d_name, 1, UINT32_MAX, &tid))
            take(s, (uint32_t)tid);
    }
    if (list)
        closedir(list);
    return NULL;
}

/* ---- before and after ---- */

/* Open the memory of the process as one of its threads has it. False with errno. */
static bool open_memory(struct stops *s, const char *tid)
{
    struct buf maps = { 0 };
    struct error why = { 0 };
    char path[48];
    snprintf(path, sizeof path, "task/%.20s/maps", tid);
    bool ok = file_read_at(s->process, path, MAPS_TEXT, &maps, &why) && maps.len;
    errno = why.sys ? why.sys : ESRCH;
    snprintf(path, sizeof path, "task/%.20s/mem", tid);
    s->memory = ok ? openat(s->process, path, O_RDONLY | O_CLOEXEC) : -1;
    int failed = errno;
    if (s->memory >= 0) {
        struct buf copy = { 0 };
        buf_add(&copy, maps.data, maps.len);
        buf_str(&copy);
        s->scripts = livescripts_new(copy.data, copy.len, s->memory);
        buf_done(&copy);
        s->remote = remote_new(maps.data, maps.len, s->memory);
    }
    buf_done(&maps);
    errno = failed;
    return s->remote;
}

/* The first thread may have ended: then it has no memory, but others have. */
static bool open_process(struct stops *s, const char *pid, struct error *e)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/%u", s->pid);
    s->process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = s->process >= 0 && open_memory(s, pid);
    int failed = errno;
    DIR *list = ok || failed != ESRCH ? NULL : open_tasks(s);
    for (struct dirent *d; list && !ok && (d = readdir(list));)
        ok = d->d_name[0] != '.' && open_memory(s, d->d_name);
    if (list)
        closedir(list);
    s->scratch = mem_alloc(COPY_MAX);
    return ok || error_sys(e, failed, "the memory of process %u cannot be read", s->pid);
}

static bool stop_threads(struct stops *s, struct error *e)
{
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, take_all, s);
    if (failed)
        return error_sys(e, failed, "cannot start a thread");
    pthread_join(thread, NULL);
    return true;
}

#define ALLOW(name)                                                                                          \
    {                                                                                                        \
        name, SANDBOX_ALLOW, 0, 0, 0                                                                         \
    }

static bool confine(struct error *e)
{
    static const struct sandbox_rule rules[] = {
        ALLOW("pread64"),
        ALLOW("write"),
        ALLOW("close"),
        ALLOW("munmap"),
        ALLOW("brk"),
        ALLOW("futex"),
        ALLOW("rt_sigprocmask"),
        ALLOW("rt_sigreturn"),
        ALLOW("exit"),
        ALLOW("exit_group"),
        ALLOW("getrandom"),
        ALLOW("clock_gettime"),
        ALLOW("clock_gettime64"),
        { "mmap", SANDBOX_ONLY, 2, PROT_EXEC, 0 },
        { "mmap2", SANDBOX_ONLY, 2, PROT_EXEC, 0 },
        { "mprotect", SANDBOX_ONLY, 2, PROT_EXEC, 0 },
        { "mremap", SANDBOX_ONLY, 3, ~(uint64_t)MREMAP_MAYMOVE, 0 },
    };
    sandbox_limit(&(struct sandbox_limits){ .cpu_seconds = CPU_SECONDS, .memory_bytes = MEMORY_MAX });
    return sandbox_drop_user(e) && sandbox_filter(rules, sizeof rules / sizeof *rules, e);
}

static void send(const void *bytes, size_t n)
{
    if (!file_write_all(LIVESTACKS_FD, bytes, n, NULL))
        _exit(1);
}

static void report(struct stops *s, const struct error *e)
{
    struct livestacks_head head = { .magic = LIVESTACKS_MAGIC, .class = e->class };
    uint64_t frames[LIVESTACKS_FRAMES_MAX];
    struct buf scripts = { 0 };
    snprintf(head.text, sizeof head.text, "%.*s", (int)sizeof head.text - 1, e->text);
    send(&head, sizeof head);
    for (uint32_t i = 0; i < s->n && e->class == ERROR_NONE; i++) {
        const struct copy *c = &s->copies[i];
        struct livestacks_record r = { .tid = c->tid,
                                       .refused = (uint32_t)c->refused,
                                       .holder = c->holder,
                                       .path = c->path_bytes,
                                       .stopped_ns = c->stopped_ns,
                                       .path_at = c->path_at };
        if (!c->refused)
            r.end = remote_unwind(s->remote, &c->stack, frames, LIVESTACKS_FRAMES_MAX, &r.n);
        buf_clear(&scripts);
        if (c->scripts) {
            r.groups = livescripts_report(s->scripts, c->scripts, &scripts);
            r.truncated = c->scripts->rest != 0;
            r.script_bytes = (uint32_t)scripts.len;
        }
        send(&r, sizeof r);
        send(frames, r.n * sizeof *frames);
        send(c->path, r.path);
        send(scripts.data, scripts.len);
    }
    buf_done(&scripts);
}

void livestacks_main(const char *pid)
{
    struct stops s = { .pid = (uint32_t)strtoul(pid, NULL, 10) };
    struct error e = { 0 };
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    prctl(PR_SET_NAME, "flametop-stacks");
    signal(SIGPIPE, SIG_IGN);
    if (open_process(&s, pid, &e) && stop_threads(&s, &e))
        confine(&e);
    report(&s, &e);
    _exit(0);
}
