// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#define STATUS_MAX 65536

/* Read the number in a column (from 0; -1: the last) of a line of /proc/PID/status. */
static bool status_number(const char *status, const char *label, int base, int column, uint64_t *v)
{
    const char *p = strstr(status, label);
    bool any = false;
    char *end;

    if (!p)
        return false;
    p += strlen(label);
    for (int i = 0; *p != '\n' && *p; i++) {
        unsigned long long number = strtoull(p, &end, base);
        if (end == p)
            break;
        *v = number;
        any = true;
        if (i == column)
            return true;
        p = end + strspn(end, "\t ");
    }
    return any && column < 0;
}

/* Return the start time. proc(5): the 22nd field of /proc/PID/stat, the 20th after the name, which may
 * contain anything. */
static uint64_t start_of(uint32_t pid)
{
    struct buf stat = { 0 };
    unsigned long long ticks = 0;
    const char *p;
    char path[40];

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    p = file_read(path, STATUS_MAX, &stat, NULL) ? strrchr(buf_str(&stat), ')') : NULL;
    if (p)
        sscanf(p + 1, " %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &ticks);
    buf_done(&stat);
    return ticks * (NS_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

bool target_read(uint32_t pid, struct target *out, struct error *e)
{
    struct buf status = { 0 };
    uint64_t uid = 0, inner_pid = pid;
    char path[40];
    bool ok;

    *out = (struct target){ 0 };
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    ok = file_read(path, STATUS_MAX, &status, e);
    if (ok && !status_number(buf_str(&status), "\nUid:\t", 10, 1, &uid))
        ok = error_set(e, ERROR_FORMAT, "%s names no user", path);
    if (ok) { /* missing in a kernel without pid namespaces */
        status_number(buf_str(&status), "\nNSpid:\t", 10, -1, &inner_pid);
        status_number(buf_str(&status), "\nSigCgt:\t", 16, 0, &out->caught);
    }
    buf_done(&status);
    out->start_ns = ok ? start_of(pid) : 0;
    out->uid = (uint32_t)uid;
    out->inner_pid = (uint32_t)inner_pid;
    return ok;
}
