// SPDX-License-Identifier: GPL-2.0-or-later
/* Extracts container names from JSON. Only members at a known depth count: values elsewhere are chosen by the
 * container's creator and may look like such a member. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "process/containers.h"

struct token {
    char kind; /* '{' '}' '[' ']' ':' ',' 's' (a string), 'v' (a number or word), 0 (the end) */
    const char *s;
    size_t n; /* of a string: raw length without the quotes */
};
struct scanner {
    const char *p, *end;
    unsigned depth;
};

static struct token read_string(struct scanner *j)
{
    struct token t = { .kind = 's', .s = ++j->p };

    while (j->p < j->end && *j->p != '"')
        j->p += *j->p == '\\' && j->end - j->p > 1 ? 2 : 1;
    t.n = (size_t)(j->p - t.s);
    if (j->p == j->end)
        return (struct token){ 0 };
    j->p++;
    return t;
}

static struct token next(struct scanner *j)
{
    struct token t = { 0 };

    while (j->p < j->end && memchr(" \t\r\n", *j->p, 4))
        j->p++;
    if (j->p == j->end)
        return t;
    if (*j->p == '"')
        return read_string(j);
    t = (struct token){ .kind = *j->p, .s = j->p, .n = 1 };
    if (!memchr("{}[]:,", *j->p, 6)) {
        t.kind = 'v';
        while (j->p < j->end && !memchr("{}[]:,\" \t\r\n", *j->p, 11))
            j->p++;
        t.n = (size_t)(j->p - t.s);
        return t;
    }
    j->depth += *j->p == '{' || *j->p == '[';
    if ((*j->p == '}' || *j->p == ']') && j->depth)
        j->depth--;
    j->p++;
    return t;
}

static bool token_is(struct token t, const char *text)
{
    return t.kind == 's' && t.n == strlen(text) && !memcmp(t.s, text, t.n);
}

/* Advances past the ':' of the next member of this name at this depth. False: none before the end or, with
 * `inside`, before the end of the enclosing object or array. */
static bool find_member(struct scanner *j, unsigned depth, const char *name, bool inside)
{
    struct token t, before = { 0 };

    while ((t = next(j)).kind && !(inside && j->depth < depth)) {
        if (t.kind == ':' && j->depth == depth && token_is(before, name))
            return true;
        before = t;
    }
    return false;
}

static bool take_name(struct token t, char dst[CONTAINERS_NAME_MAX])
{
    if (t.kind == 's' && t.n && t.s[0] == '/') { /* docker's names start with a slash */
        t.s++;
        t.n--;
    }
    return t.kind == 's' && t.n && text_clean(dst, CONTAINERS_NAME_MAX, t.s, t.n);
}

bool containers_docker_name(const char *text, size_t n, char dst[CONTAINERS_NAME_MAX])
{
    struct scanner j = { text, text + n, 0 };

    return find_member(&j, 1, "Name", false) && take_name(next(&j), dst);
}

/* The file is an array of objects in which "id" precedes "names". */
bool containers_storage_name(const char *text, size_t n, const char *id, char dst[CONTAINERS_NAME_MAX])
{
    struct scanner j = { text, text + n, 0 };

    while (find_member(&j, 2, "id", false))
        if (token_is(next(&j), id))
            return find_member(&j, 2, "names", true) && next(&j).kind == '[' && take_name(next(&j), dst);
    return false;
}

bool containers_log_name(const char *file, const char *id, char dst[CONTAINERS_NAME_MAX])
{
    size_t n = strlen(file), id_n = strlen(id);
    const char *space, *container, *end = file + n - id_n - 5;
    char name[CONTAINERS_NAME_MAX];

    if (n < id_n + 5 || strcmp(file + n - 4, ".log") || strncmp(file + n - 4 - id_n, id, id_n) || *end != '-')
        return false;
    space = memchr(file, '_', (size_t)(end - file));
    container = space ? memchr(space + 1, '_', (size_t)(end - space - 1)) : NULL;
    if (!container)
        return false;
    snprintf(name, sizeof name, "%.*s/%.*s/%.*s", (int)(container - space - 1), space + 1,
             (int)(space - file), file, (int)(end - container - 1), container + 1);
    return text_clean(dst, CONTAINERS_NAME_MAX, name, strlen(name));
}
