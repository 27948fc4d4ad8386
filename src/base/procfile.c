// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/procfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

#define TEXT_MAX 65536

bool procfile_parse_stat(const char *text, struct procfile_stat *out)
{
    const char *state = strrchr(text, ')'); /* a comm may itself contain brackets */
    *out = (struct procfile_stat){ 0 };
    return state &&
           sscanf(state,
                  ") %c %" SCNu32 " %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %*d %*d %*d %*d %" SCNu64 " %*u %*d %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
                  &out->state, &out->ppid, &out->user, &out->system, &out->waited_user, &out->waited_system,
                  &out->start, &out->ignored) == 8;
}

static bool read_text(uint32_t pid, const char *name, struct buf *text)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/%u/%s", pid, name);
    return file_read(path, TEXT_MAX, text, NULL);
}

bool procfile_read_stat(uint32_t pid, struct procfile_stat *out)
{
    struct buf text = { 0 };
    bool ok = read_text(pid, "stat", &text) && procfile_parse_stat(buf_str(&text), out);
    buf_done(&text);
    return ok;
}

bool procfile_number(const char *text, const char *label, int column, uint64_t *v)
{
    const char *p = strstr(text, label);
    bool any = false;
    char *end;
    p = p ? p + strlen(label) : "";
    for (int i = 0; *p && *p != '\n'; i++) {
        unsigned long long number = strtoull(p, &end, 10);
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

bool procfile_read_status(uint32_t pid, const char *label, int column, uint64_t *v)
{
    struct buf text = { 0 };
    bool ok = read_text(pid, "status", &text) && procfile_number(buf_str(&text), label, column, v);
    buf_done(&text);
    return ok;
}

void procfile_read_comm(uint32_t pid, char *dst, size_t cap)
{
    struct buf text = { 0 };
    (void)read_text(pid, "comm", &text);
    text_clean(dst, cap, buf_str(&text), strcspn(buf_str(&text), "\n"));
    buf_done(&text);
}
