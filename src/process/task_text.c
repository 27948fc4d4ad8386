// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses the texts of /proc/PID/task/TID. A process chooses its comm, which appears in stat, sched and
 * status. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/procfile.h"
#include "base/text.h"
#include "process/task.h"

#define KERNEL_THREAD 0x00200000u /* PF_KTHREAD of include/linux/sched.h */
#define SCHED_CLOCK   "\nse.exec_start"
#define SCHED_WAITS   "\nnr_voluntary_switches"

bool task_parse_stat(const char *text, struct task_stat *out)
{
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    unsigned flags = 0, cpu = 0;
    *out = (struct task_stat){ .state = '?' };
    if (!open || !close || close < open)
        return false;
    text_clean(out->comm, sizeof out->comm, open + 1, (size_t)(close - open - 1));
    /* state, 5 numbers, flags, 29 numbers, the CPU */
    if (sscanf(close + 1,
               " %c %*s %*s %*s %*s %*s %u %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
               "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %u",
               &out->state, &flags, &cpu) < 2)
        return false;
    if (text_is_unsafe((unsigned char)out->state))
        out->state = '?';
    out->kernel = flags & KERNEL_THREAD;
    out->cpu = cpu;
    return true;
}

struct task_call task_parse_call(const char *text)
{
    struct task_call call = { .state = TASK_CALL_HIDDEN };
    uint64_t values[2] = { 0 }; /* stack pointer, program counter */
    char *end;
    if (text_begins_with(text, "running"))
        call.state = TASK_CALL_RUNNING;
    if (call.state == TASK_CALL_RUNNING)
        return call;
    long long number = strtoll(text, &end, 10);
    if (end == text)
        return call;
    call.state = number < 0 ? TASK_CALL_NONE : TASK_CALL_IN;
    call.number = number < 0 ? 0 : (uint64_t)number;
    for (size_t i = 0; number >= 0 && i < TASK_CALL_ARGUMENTS; i++)
        call.arguments[i] = strtoull(end, &end, 16);
    for (size_t i = 0; i < 2; i++)
        values[i] = strtoull(end, &end, 16);
    call.stack = values[0];
    call.counter = values[1];
    call.of_32_bits = sizeof(void *) == 8 && values[0] && values[0] <= UINT32_MAX && values[1] <= UINT32_MAX;
    return call;
}

size_t task_parse_stack(char *text, const char **functions, size_t cap)
{
    size_t n = 0;
    char *save, *line;
    for (line = strtok_r(text, "\n", &save); line && n < cap; line = strtok_r(NULL, "\n", &save)) {
        char *name = strstr(line, "] ");
        if (!name)
            continue;
        name += 2;
        name[strcspn(name, "+ ")] = '\0';
        text_clean(name, strlen(name) + 1, name, strlen(name));
        if (*name)
            functions[n++] = name;
    }
    return n;
}

/* The number is milliseconds with a fraction: "44337748.224825". */
bool task_parse_last_run(const char *text, uint64_t *ns)
{
    const char *at = strstr(text, SCHED_CLOCK);
    unsigned long long ms;
    unsigned fraction;
    if (!at)
        return false;
    at += sizeof SCHED_CLOCK - 1;
    at += strspn(at, " :");
    if (sscanf(at, "%llu.%6u", &ms, &fraction) != 2 || ms > UINT64_MAX / NS_PER_MS - 1)
        return false;
    *ns = ms * NS_PER_MS + fraction;
    return *ns > 0; /* the kernel sets it to 0 while it moves a thread to another CPU */
}

uint64_t task_parse_waits(const char *text)
{
    const char *at = strstr(text, SCHED_WAITS);
    unsigned long long waits;
    return at && sscanf(at, SCHED_WAITS " : %llu", &waits) == 1 ? waits : 0;
}

uint32_t task_parse_tracer(const char *text)
{
    const char *at = strstr(text, "\nTracerPid:");
    unsigned pid = 0;
    return at && sscanf(at, "\nTracerPid: %u", &pid) == 1 ? pid : 0;
}

/* The line lists the thread's ids from the outermost to the innermost namespace. */
uint32_t task_parse_inner_id(const char *text)
{
    uint64_t id = 0;
    procfile_number(text, "\nNSpid:", -1, &id);
    return (uint32_t)id;
}

/* Nanoseconds on a CPU, nanoseconds that it waited for one, and how often it came onto one: the time is
 * updated by the kernel's tick only, the number at once. */
bool task_parse_progress(const char *text, uint64_t *progress)
{
    unsigned long long ran_ns, waited_ns, times;
    if (sscanf(text, "%llu %llu %llu", &ran_ns, &waited_ns, &times) != 3)
        return false;
    *progress = ran_ns + times;
    return ran_ns || times;
}

uint64_t task_parse_switches(const char *text)
{
    static const char *const names[] = { "\nvoluntary_ctxt_switches:", "\nnonvoluntary_ctxt_switches:" };
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(text, names[i]);
        sum += at ? strtoull(at + strlen(names[i]), NULL, 10) : 0;
    }
    return sum;
}
