// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/procfile.h"
#include "process/cputime.h"

#define STATUS_MAX 65536

bool target_read(uint32_t pid, struct target *out, struct error *e)
{
    struct buf status = { 0 };
    struct cputime_task times;
    uint64_t uid = 0, inner_pid = pid;
    char path[40];
    bool ok;

    *out = (struct target){ 0 };
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    ok = file_read(path, STATUS_MAX, &status, e);
    if (ok && !procfile_number(buf_str(&status), "\nUid:", 1, &uid))
        ok = error_set(e, ERROR_FORMAT, "%s names no user", path);
    if (ok) { /* missing in a kernel without pid namespaces */
        const char *caught = strstr(buf_str(&status), "\nSigCgt:");
        procfile_number(buf_str(&status), "\nNSpid:", -1, &inner_pid);
        out->caught = caught ? strtoull(caught + strlen("\nSigCgt:"), NULL, 16) : 0;
    }
    buf_done(&status);
    out->start_ns = ok && cputime_of_process(pid, &times) ? times.start_ns : 0;
    out->uid = (uint32_t)uid;
    out->inner_pid = (uint32_t)inner_pid;
    return ok;
}
