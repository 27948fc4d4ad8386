// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/ini.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define INI_FILE_MAX (256 * 1024)

#ifdef HAVE_INIH
/* inih also has a type named ini_handler, hence the macro. inih's library is built so that handlers get no
 * line number: lines are counted in the reader callback. */
#define ini_handler inih_handler
#include <ini.h>
#undef ini_handler

struct reading {
    const char *next; /* text not passed to inih yet */
    int line;
    const char *name;
    ini_handler *handler;
    void *ctx;
    struct error error; /* once set, reading stops */
};

static bool stopped(const struct reading *r)
{
    return r->error.class != ERROR_NONE;
}

/* inih's fgets. Removes leading blanks: inih takes an indented line for a continuation of the previous value,
 * but people indent for looks. Refuses a line that does not fit, as it would arrive as two lines. */
static char *next_line(char *line, int cap, void *stream)
{
    struct reading *r = stream;
    size_t n;

    if (stopped(r) || !*r->next)
        return NULL;
    r->line++;
    r->next += strspn(r->next, " \t");
    n = strcspn(r->next, "\n");
    if (n + 2 > (size_t)cap) {
        error_set(&r->error, ERROR_FORMAT, "%s:%d: the line is longer than %d bytes; shorten it", r->name,
                  r->line, cap - 2);
        return NULL;
    }
    memcpy(line, r->next, n);
    r->next += n;
    if (*r->next)
        r->next++;
    memcpy(line + n, "\n", 2);
    return line;
}

static int on_setting(void *user, const char *section, const char *key, const char *value)
{
    struct reading *r = user;
    struct error e = { 0 };

    if (stopped(r) || r->handler(r->ctx, section, key, value ? value : "", &e))
        return 1;
    error_set(&r->error, e.class ? e.class : ERROR_FORMAT, "%s:%d: %s", r->name, r->line,
              e.text[0] ? e.text : "the setting was refused");
    return 0;
}

bool ini_read_text(const char *name, const char *text, ini_handler *handler, void *ctx, struct error *e)
{
    struct reading r = { .next = text, .name = name, .handler = handler, .ctx = ctx };
    int bad_line = ini_parse_stream(next_line, &r, on_setting, &r);

    /* inih continues after a line that it cannot read, so bad_line may precede the line that stopped the
     * handler */
    if (bad_line > 0 && (!stopped(&r) || bad_line < r.line))
        return error_set(e, ERROR_FORMAT, "%s:%d: neither [section] nor key = value", name, bad_line);
    if (bad_line < 0)
        return error_set(e, ERROR_LIMIT, "cannot read %s: out of memory", name);
    if (!stopped(&r))
        return true;
    if (e)
        *e = r.error;
    return false;
}
#else
bool ini_read_text(const char *name, const char *text, ini_handler *handler, void *ctx, struct error *e)
{
    (void)text, (void)handler, (void)ctx;
    return error_set(e, ERROR_UNSUPPORTED, "cannot read %s: this flametop was built without inih", name);
}
#endif

/* Settings decide what a profiler run as root does: anyone else who can write them could become root. */
static bool check_owner(int fd, const char *path, struct error *e)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return error_sys(e, errno, "cannot access %s", path);
    if (!S_ISREG(st.st_mode))
        return error_set(e, ERROR_ARGUMENT, "%s is no regular file: not read", path);
    if (st.st_uid != 0 && st.st_uid != geteuid())
        return error_set(e, ERROR_PERMISSION, "%s belongs to user %u, neither to root nor to you: not read",
                         path, (unsigned)st.st_uid);
    if (st.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(e, ERROR_PERMISSION, "%s is writable by others: not read; run chmod go-w on it",
                         path);
    return true;
}

static bool read_text(int fd, const char *path, struct buf *b, struct error *e)
{
    if (!file_read_fd(fd, path, INI_FILE_MAX, b, e))
        return false;
    if (memchr(buf_str(b), '\0', b->len))
        return error_set(e, ERROR_FORMAT, "%s is no text: it contains NUL bytes", path);
    return true;
}

bool ini_read_file(const char *path, struct buf *text, struct error *e)
{
    /* Symbolic links are followed: people keep settings elsewhere and link them. The target is checked. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool ok;

    if (fd < 0)
        return error_sys(e, errno, "cannot open %s", path);
    ok = check_owner(fd, path, e) && read_text(fd, path, text, e);
    close(fd);
    return ok;
}

bool ini_user_path(const char *name, char *path, size_t cap)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (xdg && *xdg == '/')
        return (size_t)snprintf(path, cap, "%s/flametop/%s", xdg, name) < cap;
    return home && *home == '/' && (size_t)snprintf(path, cap, "%s/.config/flametop/%s", home, name) < cap;
}

bool ini_read(const char *path, ini_handler *handler, void *ctx, struct error *e)
{
    struct buf text = { 0 };
    bool ok = ini_read_file(path, &text, e) && ini_read_text(path, buf_str(&text), handler, ctx, e);

    buf_done(&text);
    return ok;
}
