// SPDX-License-Identifier: GPL-2.0-or-later
/* A user-space file system of regular files f0, f1, …, each with the same text. Some of them hang. */
#ifndef FLAMETOP_TESTS_HUNG_FUSE_H
#define FLAMETOP_TESTS_HUNG_FUSE_H

#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUSE_TEXT "answered\n"

struct hung_fuse {
    char dir[64];
    pid_t server;
};

static inline struct fuse_attr hung_fuse_attr(uint64_t node)
{
    return (struct fuse_attr){ .ino = node,
                               .size = node == 1 ? 0 : sizeof FUSE_TEXT - 1,
                               .mode = node == 1 ? S_IFDIR | 0755 : S_IFREG | 0644,
                               .nlink = 1,
                               .blksize = 4096 };
}

static inline void hung_fuse_reply(int fd, uint64_t unique, int error, const void *body, size_t n)
{
    char bytes[4096];
    struct fuse_out_header head = { .len = (uint32_t)(sizeof head + n), .error = error, .unique = unique };

    memcpy(bytes, &head, sizeof head);
    if (n)
        memcpy(bytes + sizeof head, body, n);
    if (write(fd, bytes, sizeof head + n) < 0)
        return; /* the request was interrupted */
}

/* Opening an odd-numbered file never completes. */
static inline void hung_fuse_serve(int fd)
{
    static char bytes[1 << 20];
    const struct fuse_in_header *in = (const void *)bytes;

    while (read(fd, bytes, sizeof bytes) >= (ssize_t)sizeof *in) {
        const char *body = bytes + sizeof *in;
        struct fuse_init_out init = { .major = 7, .minor = 31, .max_write = 4096, .max_background = 8 };
        struct fuse_entry_out entry = { .generation = 1 };
        struct fuse_attr_out attr = { .attr = hung_fuse_attr(in->nodeid) };
        struct fuse_open_out opened = { .fh = 1 };
        struct fuse_statfs_out statfs = { .st = { .bsize = 4096, .namelen = 255 } };

        switch (in->opcode) {
        case FUSE_INIT:
            hung_fuse_reply(fd, in->unique, 0, &init, sizeof init);
            break;
        case FUSE_LOOKUP:
            entry.nodeid = 2 + (uint64_t)atoi(body + 1);
            entry.attr = hung_fuse_attr(entry.nodeid);
            hung_fuse_reply(fd, in->unique, 0, &entry, sizeof entry);
            break;
        case FUSE_GETATTR:
            hung_fuse_reply(fd, in->unique, 0, &attr, sizeof attr);
            break;
        case FUSE_STATFS:
            hung_fuse_reply(fd, in->unique, 0, &statfs, sizeof statfs);
            break;
        case FUSE_OPEN:
            if (in->nodeid % 2 == 0)
                hung_fuse_reply(fd, in->unique, 0, &opened, sizeof opened);
            break;
        case FUSE_READ:
            hung_fuse_reply(fd, in->unique, 0, FUSE_TEXT, sizeof FUSE_TEXT - 1);
            break;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
        case FUSE_INTERRUPT:
            break;
        case FUSE_FLUSH:
        case FUSE_RELEASE:
            hung_fuse_reply(fd, in->unique, 0, NULL, 0);
            break;
        default:
            hung_fuse_reply(fd, in->unique, -ENOSYS, NULL, 0);
        }
    }
    _exit(0);
}

/* Returns false if this machine cannot mount it. */
static inline bool hung_fuse_start(struct hung_fuse *f)
{
    char options[128];
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    strcpy(f->dir, "/tmp/flametop-fuse-XXXXXX");
    if (fd < 0 || !mkdtemp(f->dir))
        return false;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
    if (mount("hung", f->dir, "fuse", MS_NOSUID | MS_NODEV, options)) {
        close(fd);
        rmdir(f->dir);
        return false;
    }
    f->server = fork();
    if (!f->server)
        hung_fuse_serve(fd);
    close(fd);
    return true;
}

/* Ends the server: blocked calls of open() fail. */
static inline void hung_fuse_stop(struct hung_fuse *f)
{
    kill(f->server, SIGKILL);
    waitpid(f->server, NULL, 0);
    umount2(f->dir, MNT_DETACH);
    rmdir(f->dir);
}

#endif
