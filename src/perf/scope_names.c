// SPDX-License-Identifier: GPL-2.0-or-later
/* Find processes by name, for -p. */
#include "perf/scope_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "perf/namelist.h"

#define COMM_BYTES 64

static bool has_comm(const char *pid, const char *name)
{
    char path[64];
    struct buf comm = { 0 };
    (void)snprintf(path, sizeof path, "/proc/%.16s/comm", pid);
    bool same = file_read(path, COMM_BYTES, &comm, NULL) && comm.len && comm.len == strlen(name) + 1 &&
                memcmp(comm.data, name, comm.len - 1) == 0;
    buf_done(&comm);
    return same;
}

/* True if its executable has this name; one that was replaced or removed has " (deleted)" behind its name. */
static bool has_program(const char *pid, const char *name)
{
    static const char gone[] = " (deleted)";
    char path[64], target[4096];
    size_t length = strlen(name), end = sizeof gone - 1;
    (void)snprintf(path, sizeof path, "/proc/%.16s/exe", pid);
    ssize_t got = readlink(path, target, sizeof target);
    size_t n = got > 0 ? (size_t)got : 0;
    if (n > end && memcmp(target + n - end, gone, end) == 0)
        n -= end;
    return n > length && target[n - length - 1] == '/' && memcmp(target + n - length, name, length) == 0;
}

bool scope_is_name(const char *word)
{
    return *word && *word != '-' && word[strspn(word, "0123456789")] != '\0';
}

bool scope_find_processes(const char *name, scope_found_fn *found, void *ctx, struct error *e)
{
    struct namelist pids = { 0 };
    bool any = false, ok = true;
    if (!namelist_add_dir(&pids, "/proc", true, e))
        return false;
    for (size_t i = 0; i < pids.n && ok; i++) {
        const char *pid = pids.items[i];
        unsigned long number = strspn(pid, "0123456789") == strlen(pid) ? strtoul(pid, NULL, 10) : 0;
        if (!number || number == (unsigned long)getpid() || (!has_comm(pid, name) && !has_program(pid, name)))
            continue;
        any = true;
        ok = found(ctx, (uint32_t)number, e);
    }
    namelist_done(&pids);
    if (ok && !any) {
        error_set(e, ERROR_MISSING, "there is no process called \"%s\"", name);
        ok = error_hint(e, "a name is the whole comm (ps -o comm), or the name of the program's file");
    }
    return ok;
}
