// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/ini_edit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/ini.h"
#include "base/mem.h"

#define BLANKS " \t\r"

/* --- text --- */

struct line {
    const char *text; /* without leading blanks */
    size_t len;       /* without trailing blanks and the line end */
};

static size_t next_line(const char *text, struct line *l)
{
    size_t all = strcspn(text, "\n"), skip = strspn(text, BLANKS);
    skip = skip > all ? all : skip;
    l->text = text + skip;
    l->len = all - skip;
    while (l->len && strchr(BLANKS, l->text[l->len - 1]))
        l->len--;
    return text[all] ? all + 1 : all;
}

static bool is_header(const struct line *l)
{
    return l->len && l->text[0] == '[';
}

static bool is_section(const struct line *l, const char *section)
{
    size_t n = strlen(section);
    return l->len >= n + 2 && !strncmp(l->text + 1, section, n) && l->text[n + 1] == ']';
}

static bool has_key(const struct line *l, const char *key)
{
    size_t n = strlen(key), at = n;
    if (l->len <= n || strncmp(l->text, key, n) != 0)
        return false;
    at += strspn(l->text + n, BLANKS);
    return at < l->len && (l->text[at] == '=' || l->text[at] == ':');
}

/* Returns the comment of a line ("; why"), or an empty line. */
static struct line comment_of(const struct line *l)
{
    for (size_t i = 1; i < l->len; i++)
        if (l->text[i] == ';' && strchr(BLANKS, l->text[i - 1]))
            return (struct line){ l->text + i, l->len - i };
    return (struct line){ l->text + l->len, 0 };
}

static void add_setting(struct buf *out, const struct ini_pair *p, const struct line *old)
{
    struct line comment = old ? comment_of(old) : (struct line){ 0 };
    buf_printf(out, "%s = %s", p->key, p->value);
    if (comment.len) {
        buf_putc(out, ' ');
        buf_add(out, comment.text, comment.len);
    }
    buf_putc(out, '\n');
}

static void add_missing(struct buf *out, const struct ini_pair *pairs, size_t n, bool *written)
{
    for (size_t i = 0; i < n; i++) {
        if (!written[i])
            add_setting(out, &pairs[i], NULL);
        written[i] = true;
    }
}

/* Inserts new settings before the empty lines at the end of a section. */
static void insert_missing(struct buf *out, size_t at, const struct ini_pair *pairs, size_t n, bool *written)
{
    struct buf rest = { 0 };
    buf_add(&rest, out->data + at, out->len - at);
    out->len = at;
    add_missing(out, pairs, n, written);
    buf_puts(out, buf_str(&rest));
    buf_done(&rest);
}

static const struct ini_pair *pair_of(const struct line *l, const struct ini_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (has_key(l, pairs[i].key))
            return &pairs[i];
    return NULL;
}

void ini_edit(struct buf *out, const char *text, const char *section, const struct ini_pair *pairs, size_t n)
{
    bool *written = mem_array(n + 1, sizeof *written), inside = true, found = false;
    size_t end = 0; /* end of the section's content in out; 0: section not found yet */
    for (size_t all; *text; text += all) {
        struct line l;
        all = next_line(text, &l);
        if (is_header(&l))
            inside = is_section(&l, section);
        const struct ini_pair *p = inside ? pair_of(&l, pairs, n) : NULL;
        if (p) {
            add_setting(out, p, &l);
            written[p - pairs] = true;
        } else {
            buf_add(out, text, all);
            if (text[all - 1] != '\n')
                buf_putc(out, '\n');
        }
        found |= is_header(&l) && inside;
        if (found && inside && l.len)
            end = out->len;
    }
    bool missing = false;
    for (size_t i = 0; i < n; i++)
        missing |= !written[i];
    if (missing && !end)
        buf_printf(out, "%s[%s]\n", out->len ? "\n" : "", section);
    if (missing)
        insert_missing(out, end ? end : out->len, pairs, n, written);
    mem_free(written);
}

/* --- files --- */

struct check {
    const struct ini_pair *pairs;
    size_t n, seen;
};

static bool check_setting(void *ctx, const char *section, const char *key, const char *value, struct error *e)
{
    struct check *c = ctx;
    (void)section;
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(key, c->pairs[i].key) != 0)
            continue;
        c->seen++;
        if (strcmp(value, c->pairs[i].value) != 0)
            return error_set(e, ERROR_ARGUMENT, "%s = %s would be read as %s", key, c->pairs[i].value, value);
    }
    return true;
}

static bool make_folders(char *path, struct error *e)
{
    for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST || access(path, X_OK) == 0;
        if (!made)
            error_sys(e, errno, "cannot make the folder %s", path);
        *p = '/';
        if (!made)
            return false;
    }
    return true;
}

/* Refuses a folder of another user (by sudo, root would write into a user's home): its owner could not read
 * the settings. */
static bool check_folder(const char *path, struct error *e)
{
    struct stat st;
    char *folder = mem_strndup(path, (size_t)(strrchr(path, '/') - path));
    bool known = stat(*folder ? folder : "/", &st) == 0, ours = known && st.st_uid == geteuid();
    if (!known)
        error_sys(e, errno, "cannot access %s", folder);
    else if (!ours)
        error_set(e, ERROR_PERMISSION,
                  "%s belongs to user %u, not to you: not written; set XDG_CONFIG_HOME to another folder",
                  folder, (unsigned)st.st_uid);
    mem_free(folder);
    return ours;
}

static bool write_text(const char *path, const struct buf *text, struct error *e)
{
    struct outfile o;
    if (!outfile_open(&o, path, e))
        return false;
    (void)outfile_write(&o, buf_str(text), text->len);
    return outfile_commit(&o, e);
}

static bool edit_file(char *path, const char *model, const char *section, const struct ini_pair *pairs,
                      size_t n, struct error *e)
{
    struct buf old = { 0 }, text = { 0 };
    struct check check = { .pairs = pairs, .n = n };
    const char *from = access(path, F_OK) == 0 ? path : model && access(model, F_OK) == 0 ? model : NULL;
    bool good = make_folders(path, e) && check_folder(path, e) && (!from || ini_read_file(from, &old, e));
    if (good) {
        ini_edit(&text, buf_str(&old), section, pairs, n);
        good = ini_read_text(path, buf_str(&text), check_setting, &check, e);
    }
    if (good && check.seen < n)
        good = error_set(e, ERROR_FORMAT, "%s is not understood: nothing was written", path);
    good = good && write_text(path, &text, e);
    buf_done(&old);
    buf_done(&text);
    return good;
}

bool ini_write(const char *path, const char *model, const char *section, const struct ini_pair *pairs,
               size_t n, struct error *e)
{
    if (path[0] != '/')
        return error_set(e, ERROR_ARGUMENT, "%s: settings are written to a full path only", path);
    char *real = realpath(path, NULL); /* people keep settings elsewhere and link them */
    char *target = mem_strdup(real ? real : path);
    bool good = edit_file(target, model, section, pairs, n, e);
    mem_free(target);
    free(real);
    return good;
}
