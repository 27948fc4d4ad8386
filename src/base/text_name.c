// SPDX-License-Identifier: GPL-2.0-or-later
/* Shortens function names. In C++, Java, Rust and Go the end of a name identifies the function: return type
 * and arguments go first, then template arguments, then leading namespaces. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_MAX_BYTES 1024
#define FOLD_LEVELS    8

static bool fits(const char *s, int columns)
{
    return text_prefix(s, columns, NULL) == strlen(s);
}

/* Returns the bytes of an operator's name at `s`, whose brackets do not count as brackets; 0: none. */
static size_t operator_length(const char *s)
{
    static const char word[] = "operator";
    size_t n = sizeof word - 1;
    if (strncmp(s, word, n) != 0)
        return 0;
    if (!strncmp(s + n, "()", 2) || !strncmp(s + n, "[]", 2))
        return n + 2;
    return n + strspn(s + n, "<>=-");
}

/* Stores for every byte the number of open brackets around it. False: brackets do not pair. */
static bool find_depths(const char *s, unsigned char *depth)
{
    unsigned now = 0;
    for (size_t i = 0; s[i];) {
        size_t skip = operator_length(s + i);
        skip = !skip && !strncmp(s + i, "->", 2) ? 2 : skip;
        for (size_t k = 0; k < skip; k++)
            depth[i + k] = (unsigned char)now;
        if (skip) {
            i += skip;
            continue;
        }
        bool opens = strchr("(<{[", s[i]) != NULL, closes = strchr(")>}]", s[i]) != NULL;
        if ((closes && !now) || now == 200)
            return false;
        now -= closes;
        depth[i++] = (unsigned char)now;
        now += opens;
    }
    return now == 0;
}

/* Returns the offset of the function's arguments, with all that follows (const, [clone ...]); 0: no
 * arguments. */
static size_t arguments_at(const char *s, const unsigned char *depth)
{
    size_t at = 0;
    for (size_t i = 1; s[i]; i++) {
        if (s[i] == '(' && !depth[i] && s[i - 1] != ' ' && s[i - 1] != '.' && s[i - 1] != ':')
            at = i;
        else if (at && !depth[i] &&
                 (s[i] == ':' || s[i] == '.')) /* a scope inside a function: f(int)::{lambda()#1} */
            at = 0;
        else if (at && s[i] == '[' && !depth[i])
            break;
    }
    return at;
}

/* Returns the offset of the name after a return type. */
static size_t name_at(const char *s, size_t end, const unsigned char *depth)
{
    size_t at = 0;
    for (size_t i = 0; i < end; i++) {
        if (operator_length(s + i) && (i == 0 || strchr(" :", s[i - 1])) && !depth[i])
            break;
        if (s[i] == ' ' && !depth[i])
            at = i + 1;
    }
    return at;
}

static bool is_clone_suffix(const char *s)
{
    static const char *const suffixes[] = { "constprop", "isra",     "part",      "cold",
                                            "llvm",      "lto_priv", "localalias" };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (text_begins_with(s, suffixes[i]))
            return true;
    return *s >= '0' && *s <= '9';
}

/* Returns the bytes of a scope separator at s; 0: none. */
static size_t divider_at(const char *s)
{
    if (!strncmp(s, "::", 2))
        return 2;
    if (*s == '/')
        return 1;
    return *s == '.' && s[1] && s[1] != '.' && !is_clone_suffix(s + 1) ? 1 : 0;
}

/* Drops as few leading scopes as needed; keeps at least the last part. */
static const char *without_scopes(const char *s, const unsigned char *depth, int columns)
{
    const char *rest = s;
    for (size_t i = 0; s[i]; i++) {
        size_t n = depth[i] ? 0 : divider_at(s + i);
        if (!n || !s[i + n])
            continue;
        rest = s + i + n;
        if (fits(rest, columns - 2))
            return rest;
        i += n - 1;
    }
    return rest;
}

/* True for names that end in their file: py::work:/usr/lib/x.py, LazyCompile:*work /usr/lib/x.js:1. */
static bool ends_in_path(const char *s, const unsigned char *depth)
{
    for (size_t i = 0; s[i]; i++)
        if (!depth[i] && (s[i] == ' ' || !strncmp(s + i, ":/", 2)))
            return true;
    return false;
}

static void drop_folds(char *s)
{
    for (char *at = strstr(s, "<..>"); at; at = strstr(at, "<..>"))
        memmove(at, at + 4, strlen(at + 4) + 1);
}

static void fold_templates(char *name, size_t cap, int columns)
{
    char folded[NAME_MAX_BYTES];
    for (int level = FOLD_LEVELS; level && !fits(name, columns); level--) {
        if (!text_fold(folded, sizeof folded, name, level) || (level > 1 && !fits(folded, columns)))
            continue;
        memcpy(name, folded, strlen(folded) + 1 < cap ? strlen(folded) + 1 : cap);
        if (!fits(name, columns))
            drop_folds(name);
        return;
    }
}

/* Shortens in steps until the name fits. False: not a function name of the known forms. */
static bool shorten(char *name, size_t cap, int columns)
{
    unsigned char depth[NAME_MAX_BYTES];
    if (*name == '[' || !find_depths(name, depth))
        return false;
    size_t arguments = arguments_at(name, depth);
    if (arguments) {
        size_t begin = name_at(name, arguments, depth);
        name[arguments] = '\0';
        memmove(name, name + begin, arguments - begin + 1);
    }
    fold_templates(name, cap, columns);
    if (fits(name, columns))
        return true;
    if (!find_depths(name, depth) || ends_in_path(name, depth))
        return arguments != 0;
    const char *rest = without_scopes(name, depth, columns);
    if (rest == name)
        return arguments != 0;
    size_t n = strlen(rest);
    memmove(name + 2, rest, n + 1);
    memcpy(name, "..", 2);
    return true;
}

void text_shorten_name(char *dst, size_t cap, const char *s, int columns)
{
    char name[NAME_MAX_BYTES];
    size_t n = strlen(s);
    if (fits(s, columns) || columns < 3 || n + 3 > sizeof name) {
        text_elide(dst, cap, s, columns, true);
        return;
    }
    memcpy(name, s, n + 1);
    if (shorten(name, sizeof name, columns))
        text_elide(dst, cap, name, columns, true);
    else
        text_elide(dst, cap, s, columns, true);
}
