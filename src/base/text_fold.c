// SPDX-License-Identifier: GPL-2.0-or-later
/* Folds template arguments in names. Template names are mostly nested arguments: without the deepest ones the
 * name is still recognisable. */
#include <string.h>

#include "base/text.h"

#define NEST_MAX 64

struct fold {
    char *dst;
    size_t n, cap; /* of dst */
    int level, depth;
    bool arguments[NEST_MAX]; /* whether an open bracket is a template's */
    unsigned open;
    bool hidden, any, bad;
};

static void put(struct fold *f, const char *s, size_t n)
{
    if (f->n + n >= f->cap) {
        f->bad = true;
        return;
    }
    memcpy(f->dst + f->n, s, n);
    f->n += n;
    f->dst[f->n] = '\0';
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

/* The text before the bracket decides: <T as Trait>::f is not a template, nor is a lambda as GCC writes
 * it. */
static bool holds_arguments(const char *s, const char *at)
{
    return at > s && is_word(at[-1]) && strncmp(at, "<lambda", 7) != 0;
}

static void open_bracket(struct fold *f, bool arguments)
{
    if (f->open == NEST_MAX) {
        f->bad = true;
        return;
    }
    f->arguments[f->open++] = arguments;
    f->depth += arguments;
    if (!f->hidden)
        put(f, "<", 1);
    if (arguments && f->depth == f->level && !f->hidden) {
        put(f, "..", 2);
        f->hidden = f->any = true;
    }
}

static void close_bracket(struct fold *f)
{
    if (!f->open) {
        f->bad = true;
        return;
    }
    bool arguments = f->arguments[--f->open];
    if (arguments && f->depth == f->level)
        f->hidden = false;
    f->depth -= arguments;
    if (!f->hidden)
        put(f, ">", 1);
}

bool text_fold(char *dst, size_t cap, const char *s, int level)
{
    static const char operator[] = "operator";
    struct fold f = { .dst = dst, .cap = cap, .level = level };
    const char *at = s;

    while (*at && !f.bad) {
        size_t n = 1;
        if (!strncmp(at, operator, sizeof operator- 1))
            n = sizeof operator- 1 + strspn(at + sizeof operator- 1, "<>=-");
        else if (!strncmp(at, "->", 2))
            n = 2;
        if (n == 1 && *at == '<')
            open_bracket(&f, holds_arguments(s, at));
        else if (n == 1 && *at == '>')
            close_bracket(&f);
        else if (!f.hidden)
            put(&f, at, n);
        at += n;
    }
    return f.any && !f.bad && !f.open;
}
