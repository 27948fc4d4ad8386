// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/package.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"

#define LIST_MAX  (64u << 20)
#define LISTS_MAX 100000
#define USR       "/usr"

/* Return the length of NAME in "NAME.list" or "NAME:ARCHITECTURE.list", with the characters that dpkg allows;
 * 0: another file. */
static size_t name_length(const char *file)
{
    size_t n = strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789+-."), all = strlen(file);

    if (file[n] == ':')
        return all > 5 && !strcmp(file + all - 5, ".list") ? n : 0;
    return !file[n] && all > 5 && !strcmp(file + all - 5, ".list") ? all - 5 : 0;
}

static bool has_line(const struct buf *list, const char *line)
{
    const char *p = buf_str(list);
    size_t n = strlen(line);

    for (; (p = strstr(p, line)); p += n)
        if ((p == list->data || p[-1] == '\n') && (p[n] == '\n' || !p[n]))
            return true;
    return false;
}

/* Whether the list has the path. Packages from before /bin, /lib and others became links into /usr list the
 * old path, newer ones the new path. */
static bool has_file(const struct buf *list, const char *path)
{
    char other[4096];

    if (has_line(list, path))
        return true;
    if (!strncmp(path, USR "/", sizeof USR))
        return has_line(list, path + sizeof USR - 1);
    return snprintf(other, sizeof other, USR "%s", path) < (int)sizeof other && has_line(list, other);
}

bool package_of_file(const char *dir, const char *path, char *dst, size_t cap)
{
    DIR *lists = opendir(dir);
    const struct dirent *d;
    struct buf list = { 0 };
    bool found = false;
    unsigned seen = 0;
    size_t n;

    while (lists && !found && seen++ < LISTS_MAX && (d = readdir(lists))) {
        n = name_length(d->d_name);
        if (!n || !file_read_at(dirfd(lists), d->d_name, LIST_MAX, &list, NULL) || !has_file(&list, path))
            continue;
        found = snprintf(dst, cap, "%.*s", (int)n, d->d_name) < (int)cap;
    }
    if (lists)
        closedir(lists);
    buf_done(&list);
    return found;
}

/* Debian makes NAME-dbgsym for nearly all packages; these have an older scheme. */
void package_of_symbols(const char *package, char *dst, size_t cap)
{
    static const char *const old[] = { "libc6", "libc6-i386", "python3" };
    const char *end = "dbgsym";
    size_t i;

    for (i = 0; i < sizeof old / sizeof *old; i++)
        if (!strcmp(package, old[i]) || (!strncmp(package, "python3.", 8) && strlen(package) < 12))
            end = "dbg";
    snprintf(dst, cap, "%s-%s", package, end);
}
