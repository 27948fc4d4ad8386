// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the texts of /proc/PID/task/TID: names that come out are printable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "process/task.h"
#include "process/wait_reason.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *name)
{
    size_t n = strlen(name);
    char *clean = mem_alloc(n + 1);
    text_clean(clean, n + 1, name, n);
    if (strcmp(name, clean))
        abort();
    mem_free(clean);
}

static void check_sockets(const char *kind, const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size);
    struct map sockets = { 0 };
    struct arena strings = { 0 };
    size_t pos = 0;
    uint64_t name;
    task_parse_sockets(kind, text, &sockets, &strings);
    while (map_next(&sockets, &pos, NULL, &name))
        check((const char *)(uintptr_t)name);
    map_done(&sockets);
    arena_done(&strings);
    mem_free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = mem_strndup((const char *)data, size);
    const char *functions[TASK_FUNCTIONS_MAX];
    struct task_stat stat;
    uint64_t ns;
    if (task_parse_stat(text, &stat) && text_is_unsafe((unsigned char)stat.state))
        abort();
    check(stat.comm);
    struct task_call call = task_parse_call(text);
    if (call.state == TASK_CALL_IN)
        (void)task_call_name(call.number, false);
    task_parse_last_run(text, &ns);
    task_parse_waits(text);
    task_parse_progress(text, &ns);
    task_parse_switches(text);
    task_parse_tracer(text);
    task_parse_inner_id(text);
    size_t n = task_parse_stack(text, functions, TASK_FUNCTIONS_MAX);
    if ((unsigned)wait_reason_of(functions, n) >= WAIT_REASONS)
        abort();
    for (size_t i = 0; i < n; i++)
        check(functions[i]);
    mem_free(text);
    check_sockets("tcp", data, size);
    check_sockets("unix", data, size);
    return 0;
}
