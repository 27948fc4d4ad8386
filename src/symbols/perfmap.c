// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols/safeopen.h"
#include "symbols/target.h"

int perfmap_open(uint32_t pid, uint64_t *size, struct error *e)
{
    struct target t;
    char root[40], path[64];
    struct stat st;
    int fd;

    if (!target_read(pid, &t, e))
        return -1;
    snprintf(root, sizeof root, "/proc/%u/root", pid);
    snprintf(path, sizeof path, "/tmp/perf-%u.map", t.inner_pid);
    fd = safeopen_regular(root, path, false, &st);
    if (fd < 0 && errno == ENOENT)
        error_set(e, ERROR_MISSING, "no %s: the runtime writes it when asked to", path);
    else if (fd < 0 && (errno == ELOOP || errno == ENXIO))
        error_set(e, ERROR_FORMAT, "%s is no regular file and was not read", path);
    else if (fd < 0)
        error_sys(e, errno, "cannot read %s of process %u", path, pid);
    if (fd >= 0 && st.st_uid != t.uid && st.st_uid != 0) {
        error_set(e, ERROR_PERMISSION,
                  "%s belongs to user %u, not to the process's user %u, and was not read", path,
                  (unsigned)st.st_uid, t.uid);
        close(fd);
        return -1;
    }
    if (fd >= 0)
        *size = (uint64_t)st.st_size;
    return fd;
}

/* A hexadecimal number, with or without 0x, and the blank behind it. */
static bool parse_hex(const char **p, const char *end, uint64_t *v)
{
    unsigned digits = 0;

    if (end - *p > 2 && (*p)[0] == '0' && (*p)[1] == 'x')
        *p += 2;
    for (*v = 0; *p < end; (*p)++, digits++) {
        char c = **p;
        if (c >= '0' && c <= '9')
            *v = *v << 4 | (unsigned)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            *v = *v << 4 | (unsigned)((c | 0x20) - 'a' + 10);
        else
            break;
    }
    if (!digits || digits > 16 || *p == end || **p != ' ')
        return false;
    while (*p < end && **p == ' ')
        ++*p;
    return true;
}

static void parse_line(const char *p, const char *end, struct table_builder *b)
{
    uint64_t start, size;

    if (end > p && end[-1] == '\r')
        end--;
    if (parse_hex(&p, end, &start) && parse_hex(&p, end, &size) && size && start + size > start)
        table_add(b, start, size, UINT64_MAX, p, (size_t)(end - p), TABLE_GLOBAL);
}

void perfmap_parse(const char *text, size_t n, struct table_builder *b)
{
    const char *end = text + n, *stop;

    for (; (stop = memchr(text, '\n', (size_t)(end - text))); text = stop + 1)
        parse_line(text, stop, b);
    b->header.flags |= TABLE_FULL;
}
