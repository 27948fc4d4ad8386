// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/maps.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PATHS_MAX_BYTES ((size_t)8 << 20)
/* limits the time for a process with a million mappings */
#define TEXT_MAX_BYTES ((size_t)64 << 20)
#define READ_BYTES     ((size_t)64 << 10)

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return 16;
}

/* Parses a number and the character that must follow it. Once it fails, p stays NULL. */
static const char *number(const char *p, const char *end, unsigned base, char follows, uint64_t *v)
{
    const char *first = p;

    *v = 0;
    for (; p && p < end && (unsigned)digit_of(*p) < base; p++)
        if (__builtin_mul_overflow(*v, (uint64_t)base, v) || __builtin_add_overflow(*v, digit_of(*p), v))
            return NULL;
    if (!p || p == first || p >= end || *p != follows)
        return NULL;
    return p + 1;
}

static const char *permissions(const char *p, const char *end, struct maps_entry *out)
{
    if (!p || end - p < 5 || p[4] != ' ')
        return NULL;
    out->exec = p[2] == 'x';
    out->private_memory = p[0] == 'r' && p[1] == 'w' && p[3] == 'p';
    return p + 5;
}

/* The kernel writes a newline as \012 and everything else, the backslash included, as it is. */
static void unescape(char *s)
{
    char *to = s;

    while (*s) {
        if (!strncmp(s, "\\012", 4)) {
            *to++ = '\n';
            s += 4;
        } else {
            *to++ = *s++;
        }
    }
    *to = '\0';
}

bool maps_parse_line(char *line, size_t n, struct maps_entry *out)
{
    const char *p = line, *end = line + n + 1;
    uint64_t maj, min;
    char *path;

    /* without a path the line may end after the inode */
    line[n] = ' ';
    *out = (struct maps_entry){ .path = "" };
    p = number(p, end, 16, '-', &out->start);
    p = number(p, end, 16, ' ', &out->end);
    p = permissions(p, end, out);
    p = number(p, end, 16, ' ', &out->pgoff);
    p = number(p, end, 16, ':', &maj);
    p = number(p, end, 16, ' ', &min);
    p = number(p, end, 10, ' ', &out->ino);
    line[n] = '\0';
    if (!p || out->start >= out->end || maj > UINT32_MAX || min > UINT32_MAX)
        return false;
    out->maj = (uint32_t)maj;
    out->min = (uint32_t)min;
    out->private_memory &= !out->ino && !maj && !min;
    if (p == end)
        return true;
    path = line + (p - line);
    path += strspn(path, " ");
    unescape(path);
    out->path = path;
    return true;
}

/* Mappings of one file are adjacent: they share one copy of the path. */
static const char *keep_path(struct maps *m, const char *path)
{
    size_t n = strlen(path);

    if (!n)
        return "";
    if (m->n && !strcmp(m->items[m->n - 1].path, path))
        return m->items[m->n - 1].path;
    if (m->strings.used_bytes + n > PATHS_MAX_BYTES) {
        m->cut = true;
        return NULL;
    }
    return arena_strndup(&m->strings, path, n);
}

static bool is_of_file(const struct maps_entry *e)
{
    return e->ino && e->path[0] == '/';
}

static bool is_anonymous(const struct maps_entry *e)
{
    return !e->ino && !e->maj && !e->min && (!*e->path || !strncmp(e->path, "[anon", 5));
}

static void set_group_sums(struct maps *m, struct maps_entry *e, const struct maps_entry *file,
                           uint64_t pgoff)
{
    e->group_sums = (struct maps_file){ keep_path(m, file->path), pgoff, file->ino, file->maj, file->min };
}

/* Code that was copied to anonymous memory is between the remaining mappings of its file, whatever their
 * permissions are. */
static void find_next_to(struct maps *m, struct maps_entry *e)
{
    struct maps_entry *last = m->n ? &m->items[m->n - 1] : NULL, *before = &m->before;

    if (e->exec && is_anonymous(e) && before->end == e->start && is_of_file(before))
        set_group_sums(m, e, before, before->pgoff + (before->end - before->start));
    if (is_of_file(e) && last && last->end == e->start && is_anonymous(last) && !last->group_sums.path &&
        e->pgoff >= last->end - last->start)
        set_group_sums(m, last, e, e->pgoff - (last->end - last->start));
}

static void note_before(struct maps *m, const struct maps_entry *e)
{
    size_t n = is_of_file(e) ? strlen(e->path) : 0;

    m->before = *e;
    if (n >= sizeof m->baseline_path)
        n = 0;
    if (!n || strcmp(m->baseline_path, e->path))
        memcpy(m->baseline_path, e->path, n);
    m->baseline_path[n] = '\0';
    m->before.path = m->baseline_path;
}

static void add_line(struct maps *m, char *line, size_t n)
{
    struct maps_entry e;

    if (!maps_parse_line(line, n, &e))
        return;
    find_next_to(m, &e);
    note_before(m, &e);
    if (!e.exec)
        return;
    if (m->n >= MAPS_MAX) {
        m->cut = true;
        return;
    }
    e.path = keep_path(m, e.path);
    if (!e.path)
        return;
    *VEC_PUSH(m) = e;
}

size_t maps_add_text(struct maps *m, char *text, size_t n, bool last)
{
    size_t at = 0;
    char *newline;

    while (at < n && (newline = memchr(text + at, '\n', n - at))) {
        add_line(m, text + at, (size_t)(newline - text) - at);
        at = (size_t)(newline - text) + 1;
    }
    if (!last)
        return at;
    if (at < n)
        add_line(m, text + at, n - at);
    return n;
}

void maps_read_fd(struct maps *m, int fd)
{
    char *text = mem_alloc(READ_BYTES + 1);
    size_t have = 0, total = 0;

    while (total < TEXT_MAX_BYTES) {
        ssize_t n = read(fd, text + have, READ_BYTES - have);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        total += (size_t)n;
        have += (size_t)n;
        /* the kernel writes no line longer than the buffer */
        size_t used = maps_add_text(m, text, have, have == READ_BYTES && !memchr(text, '\n', have));
        have -= used;
        memmove(text, text + used, have);
    }
    maps_add_text(m, text, have, true);
    m->cut |= total >= TEXT_MAX_BYTES;
    mem_free(text);
}

void maps_done(struct maps *m)
{
    mem_free(m->items);
    arena_done(&m->strings);
    *m = (struct maps){ 0 };
}
