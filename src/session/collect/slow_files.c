// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of slow system calls on files: "[files: fsync /var/log/messages]". Only they are worth a look at
 * /proc/PID/fd, which tells the path of a descriptor as long as it is open. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "process/task.h"
#include "profile/operation_data.h"
#include "session/collect/operations.h"
#include "session/session_state.h"

#define NAMES_MOST 4096 /* further paths are left out */
#define PATH_MOST  4096

/* The path, cleaned; of a long one the end. "[closed]": the descriptor is no longer there. False: it is no
 * file. */
static bool path_of(uint32_t pid, uint32_t fd, char *out, size_t cap)
{
    char link[64], path[PATH_MOST], clean[PATH_MOST];
    (void)snprintf(link, sizeof link, "/proc/%u/fd/%u", pid, fd);
    ssize_t n = readlink(link, path, sizeof path);
    if (n <= 0)
        return snprintf(out, cap, "[closed]") > 0;
    if (path[0] != '/' || text_begins_with(path, "/dev/"))
        return false;
    size_t length = text_clean(clean, sizeof clean, path, (size_t)n);
    const char *from = length < cap ? clean : clean + length - cap + 1;
    while ((*from & 0xc0) == 0x80) /* not within a character */
        from++;
    (void)snprintf(out, cap, "%s", from);
    return true;
}

static bool returns_bytes(const char *call)
{
    static const char *const calls[] = { "read",     "readv",  "pread64", "preadv",   "preadv2", "write",
                                         "pwrite64", "writev", "pwritev", "pwritev2", "sendfile" };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i], call))
            return true;
    return false;
}

bool slow_file_name(struct session *s, struct operations_row *row, const struct record *r,
                    struct pairs_operation *operation)
{
    char path[OPERATION_NAME_MAX - PAIR_NAME_MAX - 32] = "", frame[OPERATION_NAME_MAX];
    scan_proc_of(s, operation->pid);
    uint64_t call = operation->name, fd = operation->size, number;
    const char *name =
        task_call_name(call, operation_is_32_bits(s, operation->pid, operation->tid, r->id.time_ns, 0));
    if (!name || task_call_argument(name) != TASK_ARGUMENT_FILE || fd > INT32_MAX ||
        !path_of(operation->pid, (uint32_t)fd, path, sizeof path))
        return false;
    struct payload p = operation_payload(row, PAIR_END, r);
    int64_t moved = (int64_t)payload_number(&p, row->fields.ret);
    operation->size = returns_bytes(name) && moved > 0 ? (uint64_t)moved : 0;
    (void)snprintf(frame, sizeof frame, "[%s: %s %s]", row->row->name, name, path);
    uint64_t hash = map_hash_bytes(frame, strlen(frame), 0);
    if (!map_get(&row->names, hash, &number)) {
        if (row->names.n >= NAMES_MOST)
            (void)snprintf(frame, sizeof frame, "[%s: %s other files]", row->row->name, name);
        number = symbolizer_script(s->store.symbolizer, frame);
        if (row->names.n < NAMES_MOST)
            map_put(&row->names, hash, number);
    }
    operation->name = number;
    return true;
}
