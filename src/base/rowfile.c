// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/rowfile.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/ini.h"
#include "base/mem.h"
#include "base/text.h"

/* Splits a line in place. Returns the number of columns. */
static int split_line(char *line, int n_columns, const char **columns)
{
    int n = 0;
    char *at = line + strspn(line, " \t");
    for (size_t len = strlen(at); len && isspace((unsigned char)at[len - 1]);)
        at[--len] = '\0';
    while (*at && n < n_columns) {
        columns[n++] = at;
        if (n == n_columns)
            break;
        at += strcspn(at, " \t");
        if (*at)
            *at++ = '\0';
        at += strspn(at, " \t");
    }
    return n;
}

static bool read_line(const struct rowfile *f, char *line, const char *from, struct error *e)
{
    const char *columns[ROWFILE_COLUMNS_MAX];
    int n = split_line(line, f->n_columns, columns);
    if (n == 0 || columns[0][0] == '#')
        return true;
    if (n < f->n_columns)
        return error_set(e, ERROR_FORMAT, "%d of %d columns: %s are needed", n, f->n_columns, f->names);
    return f->row(f->ctx, columns, from, e);
}

bool rowfile_read_text(const struct rowfile *f, const char *label, const char *text, struct error *e)
{
    char *copy = mem_strdup(text), *rest = copy, *line, safe[128], from[160];
    unsigned number = 0;
    bool ok = true;
    text_clean(safe, sizeof safe, label, strlen(label));
    while (ok && (line = strsep(&rest, "\n"))) {
        struct error why = { 0 };
        (void)snprintf(from, sizeof from, "%s:%u: ", safe, ++number);
        ok = read_line(f, line, from, &why) || error_set(e, why.class, "%s%s", from, why.text);
    }
    mem_free(copy);
    return ok;
}

static bool read_file(const struct rowfile *f, const char *path, struct error *e)
{
    struct buf text = { 0 };
    bool ok = access(path, F_OK) != 0 ||
              (ini_read_file(path, &text, e) && rowfile_read_text(f, path, buf_str(&text), e));
    buf_done(&text);
    return ok;
}

bool rowfile_read(const struct rowfile *f, const char *name, struct error *e)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", FLAMETOP_SYSCONF_DIR, name);
    return read_file(f, path, e) && (!ini_user_path(name, path, sizeof path) || read_file(f, path, e));
}
