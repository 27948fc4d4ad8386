// SPDX-License-Identifier: GPL-2.0-or-later
/* Fields of tracepoints, and the kernel's explanations of refused filters. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "perf/tracepoint.h"
#include "perf/tracepoint_path.h"

#define FORMAT_MAX (1u << 20)
#define REPLY_MAX  65536u

/* Parse a field's name: "\tfield:char prev_comm[16];\toffset:8;…" → "prev_comm". False for fields common to
 * all tracepoints. */
static bool field_of(char *line, char **name)
{
    line += strspn(line, " \t");
    if (strncmp(line, "field:", 6))
        return false;
    line[strcspn(line, ";")] = '\0';
    char *bracket = strchr(line, '[');
    if (bracket) /* "__data_loc char[] name" has the bracket before the name, all others behind it */
        *bracket = strncmp(line, "field:__data_loc", 16) ? '\0' : ' ';
    char *blank = strrchr(line, ' ');
    *name = blank ? blank + 1 : line + 6;
    return **name && strncmp(*name, "common_", 7);
}

static bool read_fields(const char *system, const char *name, struct namelist *out)
{
    char path[PATH_MAX];
    struct buf text = { 0 };
    bool ok =
        tracepoint_path(path, system, name, "format") && file_read(path, FORMAT_MAX, &text, NULL) && text.len;
    char *rest = ok ? text.data : NULL, *field;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        if (!strncmp(line, "print fmt:", 10))
            break;
        else if (field_of(line, &field))
            namelist_add(out, field);
    buf_done(&text);
    return ok;
}

/* Describe a probe: "p:uprobes/malloc /usr/lib/libc.so.6:0x9a640 size=%di" → "uprobe
 * /usr/lib/libc.so.6:0x9a640 size=%di". */
static bool probe_of(const char *system, const char *name, char *dst, size_t cap)
{
    char path[PATH_MAX], word[300];
    struct buf text = { 0 };
    const char *root = tracepoint_root();
    bool found = false;
    int n = snprintf(word, sizeof word, ":%s/%s ", system, name);
    snprintf(path, sizeof path, "%s/dynamic_events", root ? root : "");
    if (root && n < (int)sizeof word && file_read(path, REPLY_MAX * 16, &text, NULL) && text.len) {
        char *rest = text.data;
        for (char *line; !found && (line = strsep(&rest, "\n"));) {
            const char *at = strstr(line, word);
            const char *place = at ? at + n : "";
            if ((found = at))
                snprintf(dst, cap, "%s%s %s", strpbrk(place, "/") == place ? "uprobe" : "kprobe",
                         *line == 'r' ? ", return" : "", place);
        }
    }
    buf_done(&text);
    return found;
}

bool tracepoint_fields(const char *system, const char *name, char *dst, size_t cap)
{
    struct namelist fields = { 0 };
    bool ok = read_fields(system, name, &fields);
    if (fields.n && !strncmp(fields.items[0], "__probe_", 8) && probe_of(system, name, dst, cap)) {
        namelist_done(&fields);
        return true;
    }
    /* omit a system call's number, which all of them have */
    if (fields.n && !strcmp(fields.items[0], "__syscall_nr")) {
        mem_free(fields.items[0]);
        memmove(fields.items, fields.items + 1, --fields.n * sizeof *fields.items);
    }
    namelist_join(&fields, dst, cap);
    namelist_done(&fields);
    return ok;
}

static bool write_filter(const char *path, const char *filter)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && write(fd, filter, strlen(filter)) > 0;
    int sys = errno;
    if (fd >= 0)
        close(fd);
    errno = sys;
    return ok;
}

/* Offset of the word before `at`: the kernel points behind the word that it rejects. */
static size_t word_before(const char *filter, size_t at)
{
    size_t len = strlen(filter);
    at = at < len ? at : len;
    while (at && filter[at - 1] == ' ')
        at--;
    size_t from = at;
    while (from && (isalnum((unsigned char)filter[from - 1]) || filter[from - 1] == '_'))
        from--;
    return from < at ? from : at ? at - 1 : 0;
}

/* Parse the kernel's reply: "FILTER\n    ^\nparse_error: Field not found\n". */
static bool read_reply(const char *filter, char *result, const char **what, size_t *at)
{
    static const char mark[] = "parse_error: ";
    char *error = strstr(result, mark);
    if (!error)
        return false;
    const char *caret = error;
    while (caret > result && *caret != '^')
        caret--;
    const char *line = caret;
    while (line > result && line[-1] != '\n')
        line--;
    error += sizeof mark - 1;
    error[strcspn(error, "\n")] = '\0';
    *what = error;
    *at = word_before(filter, (size_t)(caret - line));
    return true;
}

static bool say(const char *system, const char *name, const char *filter, const char *what, size_t at,
                struct error *e)
{
    struct namelist fields = { 0 };
    char list[256], word[64];
    read_fields(system, name, &fields);
    namelist_join(&fields, list, sizeof list);
    size_t n = strspn(filter + at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    snprintf(word, sizeof word, "%.*s", (int)(n < sizeof word ? n : sizeof word - 1), filter + at);
    const char *near = strstr(what, "ield not found") ? namelist_nearest(&fields, word) : NULL;
    error_set(e, ERROR_ARGUMENT, "the filter of %s:%s: %s", system, name, what);
    if (near)
        error_hint(e, "did you mean '%s'?", near);
    else
        error_hint(e, "its fields: %s", list);
    namelist_done(&fields);
    return error_at(e, at);
}

/* Set the filter in a tracing instance and read the reply. Only a filter set as text in tracefs gives the
 * kernel's reason, an ioctl gives only EINVAL; so a refused filter is set once more here. The instance's
 * name is unused, or left over from a process with the same id. */
static bool try_filter(const char *system, const char *name, const char *filter, struct buf *result)
{
    char instance[PATH_MAX], path[PATH_MAX + 128];
    const char *root = tracepoint_root();
    if (!root || snprintf(instance, sizeof instance, "%s/instances/flametop-%d", root, (int)getpid()) >=
                     (int)sizeof instance)
        return false;
    if (mkdir(instance, 0700) && errno != EEXIST)
        return false;
    int n = snprintf(path, sizeof path, "%s/events/%s/%s/filter", instance, system, name);
    bool ok = n < (int)sizeof path && !write_filter(path, filter) &&
              file_read(path, REPLY_MAX, result, NULL) && result->len;
    rmdir(instance);
    return ok;
}

bool tracepoint_explain_filter(const char *system, const char *name, const char *filter, int errnum,
                               struct error *e)
{
    char path[PATH_MAX];
    struct buf result = { 0 };
    const char *what;
    size_t at;
    if (tracepoint_path(path, system, name, "filter") && try_filter(system, name, filter, &result) &&
        read_reply(filter, result.data, &what, &at))
        say(system, name, filter, what, at, e);
    else if (errnum == EACCES)
        error_sys(e, errnum, "the filter of %s:%s", system, name);
    else
        say(system, name, filter, "the kernel rejects it", 0, e);
    buf_done(&result);
    return error_show(e, filter);
}
