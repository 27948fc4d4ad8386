// SPDX-License-Identifier: GPL-2.0-or-later
/* Refuses files for a while because similar files timed out: those of the same device or folder after two
 * timeouts, those of the same user after four, those of root after sixteen. Each file that hangs costs the
 * wait and a process, and a user can create any number of such paths. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "process/opener_client.h"

#define LIKE_MAX  2
#define USER_MAX  4
#define ROOT_MAX  16
#define SHIFT_MAX 6

struct likeness {
    uint64_t key;
    unsigned limit;
};

/* A module's device is known; otherwise the folder is used instead. */
static struct likeness by_device(const struct opener_request *q)
{
    const char *slash = strrchr(q->path, '/');
    uint64_t key;

    if (q->live && q->ino)
        key = map_mix((uint64_t)q->maj << 32 | q->min) ^ 1;
    else
        key = map_hash_bytes(q->path, slash ? (size_t)(slash - q->path) : 0,
                             map_hash_bytes(q->root, strlen(q->root), 2));
    return (struct likeness){ map_mix(key + q->user.pid), LIKE_MAX };
}

static struct likeness by_user(const struct opener_request *q)
{
    struct rights rights = { 0 };
    char path[24];
    int dir;

    snprintf(path, sizeof path, "/proc/%u", q->user.pid);
    dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0 || !rights_of_process(dir, &rights))
        rights.uid = q->user.user ? q->user.user - 1 : RIGHTS_NOBODY;
    if (dir >= 0)
        close(dir);
    return (struct likeness){ map_mix(rights.uid + UINT64_C(0x100000000)), rights.uid ? USER_MAX : ROOT_MAX };
}

static struct mark *find(struct opener *o, uint64_t key)
{
    for (int i = 0; i < OPENER_MARKS; i++)
        if (o->marks[i].n && o->marks[i].key == key)
            return &o->marks[i];
    return NULL;
}

static bool is_refused(struct opener *o, struct likeness like)
{
    const struct mark *m = find(o, like.key);

    return m && m->n >= m->limit && clock_now_ns() < m->until_ns;
}

static bool has_marks(const struct opener *o)
{
    for (int i = 0; i < OPENER_MARKS; i++)
        if (o->marks[i].n)
            return true;
    return false;
}

bool marks_refuse(struct opener *o, const struct opener_request *q)
{
    if (!has_marks(o))
        return false;
    return is_refused(o, by_device(q)) || (q->user.kind == OPENER_FOR_PROCESS && is_refused(o, by_user(q)));
}

static void count(struct opener *o, struct likeness like)
{
    struct mark *m = find(o, like.key);
    uint64_t now = clock_now_ns();
    unsigned shift;

    if (!m) {
        m = &o->marks[0];
        for (int i = 1; i < OPENER_MARKS; i++)
            if (o->marks[i].last_ns < m->last_ns)
                m = &o->marks[i];
        *m = (struct mark){ .key = like.key, .limit = like.limit };
    }
    m->n++;
    m->last_ns = now;
    shift = m->n > m->limit ? m->n - m->limit : 0;
    m->until_ns = now + (OPENER_REFUSE_NS << (shift < SHIFT_MAX ? shift : SHIFT_MAX));
}

void marks_late(struct opener *o, const struct opener_request *q)
{
    count(o, by_device(q));
    if (q->user.kind == OPENER_FOR_PROCESS)
        count(o, by_user(q));
}
