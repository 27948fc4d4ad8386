// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/debugfile.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "symbols/safeopen.h"

#define DEBUG_ROOT "/usr/lib/debug"

enum { BY_BUILD_ID, BESIDE, BELOW, IN_DEBUG_TREE, CANDIDATES };

static bool build_id_path(const struct debugfile_search *s, char *path, size_t cap)
{
    int n = snprintf(path, cap, DEBUG_ROOT "/.build-id/%02x/", s->build_id[0]);
    unsigned i;

    for (i = 1; i < s->build_id_size && n > 0 && (size_t)n < cap; i++)
        n += snprintf(path + n, cap - (size_t)n, "%02x", s->build_id[i]);
    if (n > 0 && (size_t)n < cap)
        n += snprintf(path + n, cap - (size_t)n, ".debug");
    return n > 0 && (size_t)n < cap;
}

static bool candidate_path(const struct debugfile_search *s, unsigned which, char *path, size_t cap)
{
    static const char *const before[] = { [BESIDE] = "", [BELOW] = "", [IN_DEBUG_TREE] = DEBUG_ROOT };
    static const char *const between[] = { [BESIDE] = "/", [BELOW] = "/.debug/", [IN_DEBUG_TREE] = "/" };
    const char *slash = strrchr(s->module_path, '/');
    int n;

    if (which == BY_BUILD_ID)
        return s->build_id_size > 1 && build_id_path(s, path, cap);
    if (!s->debuglink || !slash || s->module_path[0] != '/' || strchr(s->debuglink, '/'))
        return false;
    n = snprintf(path, cap, "%s%.*s%s%s", before[which], (int)(slash - s->module_path), s->module_path,
                 between[which], s->debuglink);
    return n > 0 && (size_t)n < cap && strcmp(path, s->module_path);
}

int debugfile_open_next(struct debugfile_search *s)
{
    char path[PATH_MAX];

    while (s->next < CANDIDATES)
        if (candidate_path(s, s->next++, path, sizeof path)) {
            int fd = safeopen_regular(s->root, path, true, NULL);
            if (fd >= 0)
                return fd;
        }
    return -1;
}
