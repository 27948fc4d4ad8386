// SPDX-License-Identifier: GPL-2.0-or-later
/* Copy fetched files into the cache of debug files.
 * If flametop runs as root, the fetching child is another user and may not write to the cache: it passes the
 * open file, which is copied here. The paths are libdebuginfod's own (debuginfod_find_debuginfo(3)). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "symbols/cache.h"
#include "symbols/fetch.h"

#define PIECE_BYTES (256u << 10)

static bool cache_folder(char *dst, size_t cap)
{
    const char *path = getenv("DEBUGINFOD_CACHE_PATH"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int n = -1;

    if (path && *path)
        n = snprintf(dst, cap, "%s", path);
    else if (xdg && *xdg)
        n = snprintf(dst, cap, "%s/debuginfod_client", xdg);
    else if (home && *home)
        n = snprintf(dst, cap, "%s/.cache/debuginfod_client", home);
    return n > 0 && (size_t)n < cap;
}

bool fetch_kept(const char *id, char *path, size_t cap)
{
    char folder[4096];
    struct stat st;
    int n = cache_folder(folder, sizeof folder) ? snprintf(path, cap, "%s/%s/debuginfo", folder, id) : -1;

    return n > 0 && (size_t)n < cap && !lstat(path, &st) && S_ISREG(st.st_mode) && st.st_size > 0;
}

static bool copy(int from, struct outfile *to, struct error *e)
{
    char *piece = mem_alloc(PIECE_BYTES);
    off_t at = 0;
    ssize_t got;

    while ((got = pread(from, piece, PIECE_BYTES, at)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        outfile_write(to, piece, (size_t)got);
        at += got;
    }
    mem_free(piece);
    return !got || error_sys(e, errno, "cannot read the debug file");
}

bool fetch_keep(const char *id, int fd, char *path, size_t cap, struct error *e)
{
    struct outfile out;
    struct stat st;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        return error_set(e, ERROR_FORMAT, "what was fetched is not a file");
    if (!fetch_kept(id, path, cap) && !strchr(path, '/'))
        return error_set(e, ERROR_MISSING, "no folder for it: DEBUGINFOD_CACHE_PATH and HOME are not set");
    if (!cache_make_parents(path))
        return error_sys(e, errno, "cannot make the folder of %s", path);
    if (!outfile_open(&out, path, e))
        return false;
    if (!copy(fd, &out, e)) {
        outfile_abort(&out);
        return false;
    }
    return outfile_commit(&out, e);
}
