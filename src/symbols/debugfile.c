// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/debugfile.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

enum { BY_BUILD_ID, BESIDE, BELOW, IN_DEBUG_TREE, CANDIDATES };

/* FOLDER/xx/yyyy…END */
static bool build_id_path(const char *folder, const uint8_t *id, unsigned size, const char *end, char *path,
                          size_t cap)
{
    int n;

    if (size < 2)
        return false;
    n = snprintf(path, cap, "%s/%02x/", folder, id[0]);
    for (unsigned i = 1; i < size && n > 0 && (size_t)n < cap; i++)
        n += snprintf(path + n, cap - (size_t)n, "%02x", id[i]);
    if (n > 0 && (size_t)n < cap)
        n += snprintf(path + n, cap - (size_t)n, "%s", end);
    return n > 0 && (size_t)n < cap;
}

static bool candidate_path(const struct debugfile_search *s, unsigned which, char *path, size_t cap)
{
    static const char *const before[] = { [BESIDE] = "", [BELOW] = "", [IN_DEBUG_TREE] = DEBUG_ROOT };
    static const char *const between[] = { [BESIDE] = "/", [BELOW] = "/.debug/", [IN_DEBUG_TREE] = "/" };
    const char *slash = strrchr(s->module_path, '/');
    int n;

    if (which == BY_BUILD_ID)
        return build_id_path(DEBUG_ROOT "/.build-id", s->build_id, s->build_id_size, ".debug", path, cap);
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
            int fd = opener_open(&s->user, s->root, path, true);
            if (fd >= 0)
                return fd;
        }
    return -1;
}

static bool is_ours(const char *folder)
{
    struct stat st;

    return !stat(folder, &st) && st.st_uid == geteuid();
}

int debugfile_open_kept(const uint8_t *build_id, unsigned size, const char *name)
{
    const char *folder = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME");
    char root[PATH_MAX], path[128], end[16];
    struct opener_user user = { 0 };

    if (!folder && (!home || (size_t)snprintf(root, sizeof root, "%s/.debug", home) >= sizeof root))
        return -1;
    snprintf(end, sizeof end, "/%s", name);
    if (!build_id_path("/.build-id", build_id, size, end, path, sizeof path))
        return -1;
    if (!folder)
        folder = root;
    user.kind = is_ours(folder) ? OPENER_FOR_US : OPENER_FOR_STARTER;
    return opener_open(&user, folder, path, true);
}
