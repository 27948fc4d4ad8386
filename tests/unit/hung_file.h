// SPDX-License-Identifier: GPL-2.0-or-later
/* A user-space file system with one file, whose first page can be read. Requests for more are accepted and
 * never completed: the reader sleeps and cannot be killed, as with an unreachable NFS server. Only root can
 * mount it here. */
#ifndef FLAMETOP_TESTS_HUNG_FILE_H
#define FLAMETOP_TESTS_HUNG_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HUNG_FILE_SIZE 65536
#define HUNG_FILE_NODE 2
#define HUNG_FILE_PAGE 4096

struct hung_file {
    char folder[64];
    pid_t server;
    int fd; /* the file, open for reading */
    unsigned char page[HUNG_FILE_PAGE];
};

static inline void hung_file_reply(int fuse, uint64_t unique, int error, const void *body, size_t n)
{
    char bytes[sizeof(struct fuse_out_header) + HUNG_FILE_PAGE] = { 0 };
    struct fuse_out_header head = { .len = (uint32_t)(sizeof head + n), .error = error, .unique = unique };

    memcpy(bytes, &head, sizeof head);
    if (n)
        memcpy(bytes + sizeof head, body, n);
    if (write(fuse, bytes, sizeof head + n) < 0 && errno == ENODEV)
        _exit(0);
}

static inline struct fuse_attr hung_file_attributes(uint64_t node)
{
    return (struct fuse_attr){ .ino = node,
                               .size = node == HUNG_FILE_NODE ? HUNG_FILE_SIZE : 0,
                               .mode = node == HUNG_FILE_NODE ? S_IFREG | 0644 : S_IFDIR | 0755,
                               .nlink = 1 };
}

static inline void hung_file_read(const struct hung_file *h, int fuse, const struct fuse_in_header *in)
{
    const struct fuse_read_in *want = (const void *)(in + 1);

    if (want->offset < HUNG_FILE_PAGE && want->offset + want->size <= HUNG_FILE_PAGE)
        hung_file_reply(fuse, in->unique, 0, h->page + want->offset, want->size);
}

static inline void hung_file_handle_request(const struct hung_file *h, int fuse,
                                            const struct fuse_in_header *in)
{
    struct fuse_init_out init = {
        .major = FUSE_KERNEL_VERSION, .minor = 23, .max_write = 4096, .max_readahead = 4096
    };
    struct fuse_entry_out entry = { .nodeid = HUNG_FILE_NODE, .entry_valid = 1000, .attr_valid = 1000 };
    struct fuse_attr_out attr = { .attr_valid = 1000, .attr = hung_file_attributes(in->nodeid) };
    struct fuse_open_out open = { .fh = 1, .open_flags = FOPEN_KEEP_CACHE };

    entry.attr = hung_file_attributes(HUNG_FILE_NODE);
    switch (in->opcode) {
    case FUSE_INIT:
        hung_file_reply(fuse, in->unique, 0, &init, sizeof init);
        break;
    case FUSE_LOOKUP:
        hung_file_reply(fuse, in->unique, 0, &entry, sizeof entry);
        break;
    case FUSE_GETATTR:
        hung_file_reply(fuse, in->unique, 0, &attr, sizeof attr);
        break;
    case FUSE_OPEN:
        hung_file_reply(fuse, in->unique, 0, &open, sizeof open);
        break;
    case FUSE_READ:
        hung_file_read(h, fuse, in);
        break;
    case FUSE_INTERRUPT:
    case FUSE_FORGET:
        break;
    default:
        hung_file_reply(fuse, in->unique, -ENOSYS, NULL, 0);
    }
}

static inline void __attribute__((noreturn)) hung_file_serve(const struct hung_file *h, int fuse)
{
    static char bytes[65536];

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    for (;;) {
        ssize_t n = read(fuse, bytes, sizeof bytes);
        if (n >= (ssize_t)sizeof(struct fuse_in_header))
            hung_file_handle_request(h, fuse, (const void *)bytes);
        else if (n < 0 && errno == ENODEV)
            _exit(0);
    }
}

/* Ends the server: blocked readers continue with an error. */
static inline void hung_file_end(struct hung_file *h)
{
    if (h->fd >= 0)
        close(h->fd);
    if (h->server > 0) {
        kill(h->server, SIGKILL);
        waitpid(h->server, NULL, 0);
    }
    umount2(h->folder, MNT_DETACH);
    rmdir(h->folder);
}

/* Mounts the file. `page`: the first page; NULL: zeros. Returns false if this machine cannot mount it. */
static inline bool hung_file_start(struct hung_file *h, const void *page)
{
    char options[128], path[96];
    int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    *h = (struct hung_file){ .fd = -1 };
    if (page)
        memcpy(h->page, page, sizeof h->page);
    strcpy(h->folder, "/tmp/flametop-hung-XXXXXX");
    if (fuse < 0 || !mkdtemp(h->folder))
        return false;
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fuse);
    if (mount("flametop-test", h->folder, "fuse", MS_NOSUID | MS_NODEV, options)) {
        rmdir(h->folder);
        close(fuse);
        return false;
    }
    h->server = fork();
    if (!h->server)
        hung_file_serve(h, fuse);
    close(fuse);
    snprintf(path, sizeof path, "%s/file", h->folder);
    h->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (h->fd >= 0)
        return true;
    hung_file_end(h);
    return false;
}

#endif
