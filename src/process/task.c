// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the threads of a process from /proc. Reads only files for which the kernel takes no lock that a hung
 * thread may hold: not cmdline, not maps. */
#include "process/task.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/text.h"
#include "process/cputime.h"

#define TEXT_MAX    (64u << 10)
#define LINK_MAX    512
#define SOCKETS_MAX (32u << 20)

/* ---- since when ---- */

/* The kernel stamps a thread's last run with a clock of its CPU, which stops while the CPU serves interrupts:
 * the clocks of two CPUs may differ by hours. This reads each clock by moving to the CPU. */
struct clocks {
    cpu_set_t before;
    bool movable;
    struct map offset; /* CPU → CLOCK_MONOTONIC minus the CPU's clock, or UNKNOWN_OFFSET */
};
#define UNKNOWN_OFFSET UINT64_MAX

static bool last_run(int dir, const char *path, uint64_t *ns, uint64_t *waits)
{
    struct buf text = { 0 };
    bool found = file_read_at(dir, path, TEXT_MAX, &text, NULL) && task_parse_last_run(buf_str(&text), ns);
    *waits = task_parse_waits(buf_str(&text));
    buf_done(&text);
    return found;
}

static uint64_t read_offset(uint32_t cpu)
{
    cpu_set_t *set = CPU_ALLOC(cpu + 1);
    size_t size = CPU_ALLOC_SIZE(cpu + 1);
    uint64_t ns, waits, offset = UNKNOWN_OFFSET;
    CPU_ZERO_S(size, set);
    CPU_SET_S(cpu, size, set);
    /* a sleep, however short, makes the kernel stamp this thread when it runs again */
    if (!sched_setaffinity(0, size, set) && !nanosleep(&(struct timespec){ .tv_nsec = 1 }, NULL) &&
        last_run(AT_FDCWD, "/proc/thread-self/sched", &ns, &waits))
        offset = clock_now_ns() - ns;
    CPU_FREE(set);
    return offset;
}

static void read_since(struct clocks *c, int dir, struct task_now *t)
{
    bool created;
    uint64_t ran_ns, waits;
    if (t->stat.state == 'R' || !c->movable || !last_run(dir, "sched", &ran_ns, &waits) ||
        t->stat.cpu > 65535)
        return;
    uint64_t *offset = map_at(&c->offset, t->stat.cpu, UNKNOWN_OFFSET, &created);
    if (created)
        *offset = read_offset(t->stat.cpu);
    if (*offset == UNKNOWN_OFFSET)
        return;
    int64_t since = (int64_t)(clock_now_ns() - (ran_ns + *offset));
    t->since_known = true;
    t->waits = waits;
    t->since_ns = since > 0 ? (uint64_t)since : 0;
}

/* ---- one thread ---- */

/* Reads the sockets of the process's network namespace when the first one is needed. */
static const char *socket_name(struct tasks *all, int process, const char *link)
{
    static const char *const kinds[] = { "tcp", "tcp6", "udp", "udp6", "unix" };
    struct buf text = { 0 };
    unsigned long long inode;
    uint64_t name = 0;
    if (sscanf(link, "socket:[%llu]", &inode) != 1)
        return NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !all->sockets_read; i++) {
        char path[16];
        snprintf(path, sizeof path, "net/%s", kinds[i]);
        if (file_read_at(process, path, SOCKETS_MAX, &text, NULL) && text.len)
            task_parse_sockets(kinds[i], text.data, &all->sockets, &all->strings);
    }
    buf_done(&text);
    all->sockets_read = true;
    map_get(&all->sockets, inode, &name);
    return (const char *)(uintptr_t)name;
}

static void read_file(struct tasks *all, int process, struct task_now *t)
{
    char path[32], target[LINK_MAX], clean[LINK_MAX];
    snprintf(path, sizeof path, "fd/%d", (int)t->call.arguments[0]);
    ssize_t n = readlinkat(process, path, target, sizeof target);
    if (n <= 0)
        return;
    size_t length = text_clean(clean, sizeof clean, target, (size_t)n);
    const char *name = socket_name(all, process, clean);
    if (name)
        length += (size_t)snprintf(clean + length, sizeof clean - length, " %s", name);
    t->file = arena_strndup(&all->strings, clean, length < sizeof clean ? length : sizeof clean - 1);
}

struct task_call task_read_call(int dir, const char *path)
{
    struct task_call call = { .state = TASK_CALL_HIDDEN };
    struct buf text = { 0 };
    if (file_read_at(dir, path, TEXT_MAX, &text, NULL))
        call = task_parse_call(buf_str(&text));
    buf_done(&text);
    return call;
}

static void read_call(struct tasks *all, int process, int dir, struct task_now *t)
{
    t->call = task_read_call(dir, "syscall");
    if (t->call.state != TASK_CALL_IN || t->call.of_32_bits)
        return;
    t->call_name = task_call_name(t->call.number, false);
    enum task_argument kind = t->call_name ? task_call_argument(t->call_name) : TASK_ARGUMENT_NONE;
    if (kind == TASK_ARGUMENT_FILE || kind == TASK_ARGUMENT_AT)
        read_file(all, process, t);
}

static void keep_functions(struct tasks *all, struct task_now *t, const char *const *functions, size_t n)
{
    t->functions = arena_alloc(&all->strings, (n + 1) * sizeof *t->functions);
    t->n_functions = (uint32_t)n;
    for (size_t i = 0; i < n; i++)
        t->functions[i] = arena_strndup(&all->strings, functions[i], strlen(functions[i]));
}

int task_open(uint32_t pid, uint32_t tid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task/%u", pid, tid);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool task_read_stat(int dir, struct task_stat *out)
{
    struct buf text = { 0 };
    bool ok = file_read_at(dir, "stat", TEXT_MAX, &text, NULL) && task_parse_stat(buf_str(&text), out);
    buf_done(&text);
    return ok;
}

/* Without CONFIG_SCHED_INFO: by CPU time in ticks, and by switches. */
static bool read_ticks(int dir, uint32_t tid, uint64_t *progress)
{
    struct cputime_task t;
    struct buf status = { 0 };
    bool ok = cputime_of_thread(tid, &t) && file_read_at(dir, "status", TEXT_MAX, &status, NULL);
    if (ok)
        *progress = t.own.user_ns + t.own.system_ns + task_parse_switches(buf_str(&status));
    buf_done(&status);
    return ok;
}

bool task_read_progress(int dir, uint32_t tid, uint64_t *progress)
{
    struct buf text = { 0 };
    bool ok = file_read_at(dir, "schedstat", TEXT_MAX, &text, NULL) &&
              task_parse_progress(buf_str(&text), progress);
    buf_done(&text);
    return ok || read_ticks(dir, tid, progress);
}

/* wchan is "0" if the thread runs, or if that is refused too. */
size_t task_read_functions(int dir, struct buf *text, const char **functions, bool *whole)
{
    char wchan[128];
    *whole = file_read_at(dir, "stack", TEXT_MAX, text, NULL);
    if (*whole)
        return text->len ? task_parse_stack(text->data, functions, TASK_FUNCTIONS_MAX) : 0;
    if (!file_read_at(dir, "wchan", sizeof wchan - 1, text, NULL))
        return 0;
    text_clean(wchan, sizeof wchan, buf_str(text), text->len);
    buf_clear(text);
    buf_puts(text, wchan);
    functions[0] = buf_str(text);
    return *wchan && strcmp(wchan, "0");
}

static void read_stack(struct tasks *all, int dir, struct task_now *t)
{
    const char *functions[TASK_FUNCTIONS_MAX];
    struct buf text = { 0 };
    size_t n = task_read_functions(dir, &text, functions, &t->whole_stack);
    keep_functions(all, t, functions, n);
    buf_done(&text);
}

static bool read_task(struct tasks *all, struct clocks *clocks, int process, const char *tid,
                      struct task_now *t)
{
    char path[32];
    snprintf(path, sizeof path, "task/%.20s", tid);
    int dir = openat(process, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = dir >= 0 && task_read_stat(dir, &t->stat);
    if (ok && !t->stat.kernel && t->stat.state != 'Z')
        read_call(all, process, dir, t);
    if (ok) {
        read_stack(all, dir, t);
        read_since(clocks, dir, t);
    }
    if (dir >= 0)
        close(dir);
    return ok;
}

/* ---- all threads ---- */

static void read_list(struct tasks *all, struct clocks *clocks, int process, DIR *list)
{
    for (struct dirent *d; (d = readdir(list)) && !all->truncated;) {
        uint64_t tid;
        if (!text_parse_u64(d->d_name, 1, UINT32_MAX, &tid))
            continue;
        struct task_now t = { .tid = (uint32_t)tid };
        all->truncated = all->n == TASKS_MAX;
        if (all->truncated || !read_task(all, clocks, process, d->d_name, &t))
            continue;
        MEM_GROW(all->items, all->cap, all->n + 1);
        all->items[all->n++] = t;
    }
}

static uint32_t read_tracer(int process)
{
    struct buf text = { 0 };
    uint32_t tracer =
        file_read_at(process, "status", TEXT_MAX, &text, NULL) ? task_parse_tracer(buf_str(&text)) : 0;
    buf_done(&text);
    return tracer;
}

bool tasks_read(uint32_t pid, struct tasks *out)
{
    struct clocks clocks = { .movable = false };
    char path[24];
    *out = (struct tasks){ .pid = pid };
    snprintf(path, sizeof path, "/proc/%u", pid);
    int process = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int fd = process < 0 ? -1 : openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    clocks.movable = !sched_getaffinity(0, sizeof clocks.before, &clocks.before);
    if (list) {
        out->tracer = read_tracer(process);
        read_list(out, &clocks, process, list);
        closedir(list);
    } else if (fd >= 0)
        close(fd);
    if (clocks.offset.n)
        (void)sched_setaffinity(0, sizeof clocks.before, &clocks.before);
    map_done(&clocks.offset);
    if (process >= 0)
        close(process);
    return out->n > 0;
}

void tasks_done(struct tasks *t)
{
    mem_free(t->items);
    map_done(&t->sockets);
    arena_done(&t->strings);
    *t = (struct tasks){ 0 };
}
