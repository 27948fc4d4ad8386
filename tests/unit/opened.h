// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads files found by the opener, which returns only O_PATH descriptors. */
#ifndef FLAMETOP_TESTS_OPENED_H
#define FLAMETOP_TESTS_OPENED_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* Takes ownership of fd; -1 stays -1, with its errno. */
static inline int opened_readable(int fd)
{
    char link[40];
    int readable;

    if (fd < 0)
        return fd;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    readable = open(link, O_RDONLY | O_CLOEXEC);
    close(fd);
    return readable;
}

#endif
