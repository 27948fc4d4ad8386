// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/perfmap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "process/opener.h"
#include "symbols/target.h"

#define PIECE_BYTES (256u << 10)

static int refuse(int fd)
{
    close(fd);
    return -1;
}

/* Open a file, but not one with other hard links: somebody may have linked a file here that he cannot
 * read. */
static int open_below(const struct opener_user *u, const char *root, const char *path, struct opened *of,
                      struct error *e)
{
    int fd = opener_open(u, root, path, false);

    if (fd < 0 && errno == ENOENT)
        error_set(e, ERROR_MISSING, "no %s: the runtime writes it only if told to", path);
    else if (fd < 0 && (errno == ELOOP || errno == ENXIO))
        error_set(e, ERROR_FORMAT, "%s is no regular file and was not read", path);
    else if (fd < 0)
        opener_error(e, errno, path);
    if (fd < 0)
        return -1;
    if (opened_facts(fd, of) && of->st.st_nlink <= 1)
        return fd;
    error_set(e, ERROR_PERMISSION, "%s has other hard links and was not read", path);
    return refuse(fd);
}

int perfmap_open(uint32_t pid, struct error *e)
{
    const struct opener_user user = { .kind = OPENER_FOR_PROCESS, .pid = pid };
    struct target t;
    char root[40], path[64];
    struct opened of;
    int fd;

    if (!target_read(pid, &t, e))
        return -1;
    snprintf(root, sizeof root, "/proc/%u/root", pid);
    snprintf(path, sizeof path, "/tmp/perf-%u.map", t.inner_pid);
    fd = open_below(&user, root, path, &of, e);
    if (fd < 0 || of.st.st_uid == t.uid || !of.st.st_uid)
        return fd;
    error_set(e, ERROR_PERMISSION, "%s belongs to user %u, not to the process's user %u, and was not read",
              path, (unsigned)of.st.st_uid, t.uid);
    return refuse(fd);
}

int perfmap_open_left(uint32_t pid, struct error *e)
{
    const struct opener_user user = { .kind = OPENER_FOR_STARTER };
    char path[64];
    struct opened of;
    int fd;

    snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
    fd = open_below(&user, "/", path, &of, e);
    if (fd < 0 || of.st.st_uid == geteuid() || !of.st.st_uid)
        return fd;
    error_set(e, ERROR_PERMISSION, "%s belongs to user %u, not to you, and was not read", path,
              (unsigned)of.st.st_uid);
    return refuse(fd);
}

/* Parse a hexadecimal number, with or without 0x, and the blank after it. */
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

/* Parse up to the last newline; returns the number of bytes. */
static size_t parse_lines(const char *text, size_t n, struct table_builder *b)
{
    const char *at = text, *end = text + n, *stop;

    for (; (stop = memchr(at, '\n', (size_t)(end - at))); at = stop + 1)
        parse_line(at, stop, b);
    return (size_t)(at - text);
}

void perfmap_parse(const char *text, size_t n, struct table_builder *b)
{
    parse_lines(text, n, b);
    b->header.flags |= TABLE_FULL;
}

/* Parse the lines that end in [from, to). Of a line longer than the buffer, only its beginning counts. */
static bool read_range(int fd, uint64_t from, uint64_t to, char *piece, struct table_builder *b)
{
    size_t have = 0;
    bool skipping = from > 0; /* skip the partial first line */

    while (from < to) {
        size_t room = PIECE_BYTES - have, used;
        ssize_t got = pread(fd, piece + have, to - from < room ? (size_t)(to - from) : room, (off_t)from);
        char *newline;

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        from += (uint64_t)got;
        have += (size_t)got;
        used = 0;
        if (skipping) {
            newline = memchr(piece, '\n', have);
            used = newline ? (size_t)(newline - piece) + 1 : have;
            skipping = !newline;
        }
        used += parse_lines(piece + used, have - used, b);
        if (!used && have == PIECE_BYTES) {
            parse_line(piece, piece + have, b);
            used = have;
            skipping = true;
        }
        have -= used;
        memmove(piece, piece + used, have);
    }
    return true;
}

bool perfmap_read(int fd, struct table_builder *b, struct error *e)
{
    const uint64_t head = PERFMAP_BYTES_MAX / 4, tail = PERFMAP_BYTES_MAX - head;
    char *piece = mem_alloc(PIECE_BYTES);
    struct stat st;
    bool ok = !fstat(fd, &st), large = ok && (uint64_t)st.st_size > PERFMAP_BYTES_MAX;

    b->header.flags |= TABLE_FULL | (large ? TABLE_CUT : 0);
    if (large)
        ok = read_range(fd, 0, head, piece, b) &&
             read_range(fd, (uint64_t)st.st_size - tail, (uint64_t)st.st_size, piece, b);
    else if (ok)
        ok = read_range(fd, 0, PERFMAP_BYTES_MAX, piece, b);
    mem_free(piece);
    return ok || error_sys(e, errno, "cannot read it");
}
