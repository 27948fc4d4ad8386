// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes the readers of DWARF and of Go's tables, and their replies: any file gives, in time, an error or a
 * valid reply. The data from the last ELF header on is a second file, used as the alternate or split file if
 * one is wanted. Without it, the first file is used for both. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "symbols/linesformat.h"

#define OFFSETS 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct question {
    struct lines_ask ask;
    uint64_t offsets[OFFSETS];
    uint32_t flags; /* set in all requests */
};

/* Returns the status and stores the wanted id. Removes the offsets that have a result. */
static uint32_t ask(struct lines_server *s, struct question *q, const int *fds, unsigned n_fds)
{
    struct buf blob = { 0 };
    struct lines_view v;
    uint32_t status = LINES_NO_DWARF;

    q->ask.flags |= q->flags;
    if (lines_serve(s, q, sizeof q->ask + q->ask.n * sizeof *q->offsets, fds, n_fds, &blob, NULL)) {
        if (!lines_view(&v, blob.data, blob.len, NULL) || v.header.n_rows > q->ask.n)
            abort();
        status = v.header.status;
        q->ask.n -= v.header.n_rows;
        memmove(q->offsets, q->offsets + v.header.n_rows, q->ask.n * sizeof *q->offsets);
        memcpy(&q->ask.split_id, v.header.want_id, sizeof q->ask.split_id);
    }
    buf_done(&blob);
    return status;
}

static uint32_t open_module(struct lines_server *s, struct question *q, int fd, int second_fd)
{
    const int fds[] = { fd, fd, second_fd };
    uint32_t status;

    q->ask.flags = LINES_OPEN | LINES_DEBUG;
    status = ask(s, q, fds, 2);
    if (status == LINES_OTHER_BUILD || status == LINES_NO_DWARF) {
        q->ask.flags = LINES_OPEN;
        status = ask(s, q, fds, 1);
    }
    if (status != LINES_WANTS_ALT)
        return status;
    q->ask.flags = LINES_OPEN | LINES_DEBUG | LINES_ALT;
    status = ask(s, q, fds, 3);
    if (status != LINES_OTHER_BUILD)
        return status;
    q->ask.flags = LINES_OPEN | LINES_NO_ALT;
    return ask(s, q, fds, 1);
}

static int file_of(const uint8_t *data, size_t size)
{
    int fd = memfd_create("lines", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    return fd;
}

static size_t find_second(const uint8_t *data, size_t size)
{
    size_t at = size < 4 ? 0 : size - 4;

    while (at && memcmp(data + at, "\177ELF", 4))
        at--;
    return at ? at : size;
}

static void ask_all(const uint8_t *data, size_t size, uint32_t flags)
{
    struct lines_server server = { 0 };
    struct question q = { .flags = flags, .ask = { .key = 1, .n = OFFSETS } };
    size_t first_n = find_second(data, size);
    int fd = file_of(data, first_n), rounds;
    int second_fd = first_n < size ? file_of(data + first_n, size - first_n) : dup(fd);
    uint32_t status, i;

    for (i = 0; i < OFFSETS; i++)
        q.offsets[i] = first_n * i / OFFSETS;
    status = open_module(&server, &q, fd, second_fd);
    for (rounds = 0; rounds < 32 && q.ask.n && (status == LINES_DONE || status == LINES_WANTS_SPLIT);
         rounds++) {
        q.ask.flags = status == LINES_WANTS_SPLIT ? LINES_SPLIT : 0;
        status = ask(&server, &q, &second_fd, q.ask.flags ? 1 : 0);
    }
    lines_server_done(&server);
    close(fd);
    close(second_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ask_all(data, size, LINES_GO);
    ask_all(data, size, LINES_INLINED | LINES_GO);
    return 0;
}
