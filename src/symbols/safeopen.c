// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/safeopen.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "process/beneath.h"

int safeopen_handle(const char *root, const char *path, struct stat *st)
{
    int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int handle, saved;

    if (dir < 0)
        return -1;
    handle = beneath_open(dir, path, false);
    if (handle >= 0 && fstat(handle, st)) {
        close(handle);
        handle = -1;
    }
    saved = errno;
    close(dir);
    errno = saved;
    return handle;
}

int safeopen_folder(const char *root, const char *path)
{
    struct stat st;
    int handle = safeopen_handle(root, path, &st);

    if (handle >= 0 && !S_ISDIR(st.st_mode)) {
        close(handle);
        errno = ENOTDIR;
        return -1;
    }
    return handle;
}
