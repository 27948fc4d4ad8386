// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/threads_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/procfile.h"

static const struct task_now *leader(const struct threads_now *t)
{
    for (uint32_t i = 0; i < t->tasks.n; i++)
        if (t->tasks.items[i].tid == t->pid)
            return &t->tasks.items[i];
    return &t->tasks.items[0];
}

bool threads_notes_before(struct threads_now *t)
{
    const struct task_now *first = leader(t);
    char tracer[64];
    if (first->stat.state == 'Z' && t->tasks.n == 1)
        buf_puts(&t->notes, "The process is a zombie: it has ended, and its parent has not waited for it.\n");
    else if (first->stat.kernel)
        buf_puts(&t->notes, "This is a thread of the kernel: it has no user stack.\n");
    else if (t->tasks.tracer) {
        procfile_read_comm(t->tasks.tracer, tracer, sizeof tracer);
        buf_printf(&t->notes,
                   "Process %u (%s) traces it, and the kernel allows one tracer: no user stacks. End that "
                   "tracer to see them.\n",
                   t->tasks.tracer, tracer);
    } else if (!remote_available())
        buf_puts(&t->notes, "This build has no libunwind: no user stacks.\n");
    else
        return true;
    return false;
}

/* Yama restricts ptrace further: Documentation/admin-guide/LSM/Yama.rst of the kernel. */
static void explain_refusal(struct threads_now *t)
{
    uint64_t scope = 0;
    bool yama = file_read_u64("/proc/sys/kernel/yama/ptrace_scope", &scope) && scope > 0;
    if (yama && scope >= 3)
        buf_puts(
            &t->notes,
            "The kernel refuses ptrace to everybody until the next boot (kernel.yama.ptrace_scope = 3).\n");
    else if (geteuid() != 0 && yama)
        buf_printf(&t->notes,
                   "The kernel allows ptrace of %s only to root (kernel.yama.ptrace_scope = %d).\n",
                   scope == 1 ? "processes that are not children" : "processes", (int)scope);
    else if (geteuid() != 0)
        buf_puts(&t->notes, "Run as the process's user or as root, or with CAP_SYS_PTRACE, to see them.\n");
    else
        buf_puts(&t->notes, "A container or a security module takes the right to trace from root "
                            "(CAP_SYS_PTRACE).\n");
}

static uint32_t count_refused(const struct threads_now *t, int refused)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->stacks.n; i++)
        n += t->stacks.items[i].refused == refused;
    return n;
}

static void note_count(struct threads_now *t, int refused, const char *one, const char *many)
{
    uint32_t n = count_refused(t, refused);
    if (n)
        buf_printf(&t->notes, "%u %s: no user stack.\n", n, n == 1 ? one : many);
}

static void note_kernel_stacks(struct threads_now *t)
{
    uint32_t hidden = 0, calls = 0;
    for (uint32_t i = 0; i < t->tasks.n; i++) {
        hidden += !t->tasks.items[i].whole_stack;
        calls += t->tasks.items[i].call.state == TASK_CALL_HIDDEN;
    }
    if (hidden)
        buf_puts(&t->notes, "Kernel stacks are readable by root only.\n");
    if (calls == t->tasks.n)
        buf_puts(&t->notes, "System calls are readable by the process's user and by root only.\n");
}

void threads_notes_after(struct threads_now *t, const struct error *failed)
{
    bool refused = failed->class == ERROR_PERMISSION || count_refused(t, EPERM);
    if (*failed->text)
        buf_printf(&t->notes, "User stacks are missing: %s.\n", failed->text);
    note_count(t, EPERM, "thread may not be stopped", "threads may not be stopped");
    if (refused)
        explain_refusal(t);
    note_count(t, EBUSY, "thread is blocked in the kernel and could not be stopped",
               "threads are blocked in the kernel and could not be stopped");
    note_count(t, ESRCH, "thread ended meanwhile", "threads ended meanwhile");
    note_count(t, ETIME, "thread was not reached in time", "threads were not reached in time");
    if (t->tasks.truncated)
        buf_printf(&t->notes, "The process has more than %u threads: the others are not listed.\n",
                   TASKS_MAX);
    note_kernel_stacks(t);
}
