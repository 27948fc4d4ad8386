// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the file list of a package in a container's folder: it contains a path or not. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "symbols/package.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64];

static void remove_folder(void)
{
    rmdir(folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[128], name[32], symbols[64];
    if (!folder[0]) {
        snprintf(folder, sizeof folder, "/tmp/fuzz_package.%d", (int)getpid());
        if (mkdir(folder, 0700))
            abort();
        atexit(remove_folder);
    }
    snprintf(path, sizeof path, "%s/web+1.0:amd64.list", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || !file_write_all(fd, data, size, NULL))
        abort();
    close(fd);
    if (package_of_file(folder, "/usr/bin/web", name, sizeof name)) {
        if (strcmp(name, "web+1.0"))
            abort();
        package_of_symbols(name, symbols, sizeof symbols);
    }
    unlink(path);
    return 0;
}
