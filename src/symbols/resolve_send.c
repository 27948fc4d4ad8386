// SPDX-License-Identifier: GPL-2.0-or-later
/* Send a request to a lane's worker within the limits of its files' owner, and judge the result. */
#include "base/clock.h"
#include "symbols/symbolizer_state.h"

#define SLOW_LIMIT_NS (10 * NS_PER_SEC) /* of CPU time, in the slow lane */

unsigned resolve_blame(const struct worker *w, enum worker_result result)
{
    if (!w->ready || (result != WORKER_DIED && result != WORKER_LATE))
        return 0;
    if (w->stuck)
        return BLAME_MAX;
    return result == WORKER_LATE || w->crashed ? BLAME_CRASH : BLAME_KILL;
}

uint32_t resolve_owner(int fd)
{
    struct opened of;
    bool told = opened_facts(fd, &of);

    return told && !(of.of_users && owners_is_trusted(of.st.st_uid)) ? of.st.st_uid : RIGHTS_NOBODY;
}

/* Return the least trusted owner of the files. */
static bool owner_of(const struct worker_request *r, uint32_t *uid)
{
    struct opened of;
    bool known = false;

    for (unsigned i = 0; i < r->n_fds; i++)
        if (opened_facts(r->fds[i], &of) && (!known || !owners_is_trusted(resolve_owner(r->fds[i])))) {
            *uid = resolve_owner(r->fds[i]);
            known = true;
        }
    return known;
}

void resolve_note_owner(struct symbolizer *sy, int fd, int second_fd, struct outcome *out)
{
    const struct worker_request r = { .fds = { fd, second_fd }, .n_fds = second_fd < 0 ? 1 : 2 };
    uint32_t uid;

    if (!owner_of(&r, &uid))
        return;
    pthread_mutex_lock(&sy->lock);
    out->owner = owners_number(&sy->owners, uid);
    pthread_mutex_unlock(&sy->lock);
}

/* ---- unresponsive file systems ---- */

/* Return the device of all files of a request. False: there are several, or none. */
static bool device_of(const struct worker_request *r, dev_t *device)
{
    struct opened of;

    for (unsigned i = 0; i < r->n_fds; i++) {
        if (!opened_facts(r->fds[i], &of) || (i && of.st.st_dev != *device))
            return false;
        *device = of.st.st_dev;
    }
    return r->n_fds > 0;
}

/* Whether the files' device hangs, until it responds again and the worker that waits for it ends. */
static bool is_hung(struct lane *lane, const struct worker_request *r)
{
    struct opened of;

    if (!lane->n_hung)
        return false;
    worker_reap_abandoned(&lane->worker);
    if (!lane->worker.n_abandoned)
        lane->n_hung = 0;
    for (unsigned i = 0; i < r->n_fds; i++)
        for (unsigned k = 0; k < lane->n_hung; k++)
            if (opened_facts(r->fds[i], &of) && of.st.st_dev == lane->hung[k])
                return true;
    return false;
}

static void note_hung(struct lane *lane, const struct worker_request *r)
{
    dev_t device;

    if (lane->worker.stuck && lane->n_hung < HUNG_MAX && device_of(r, &device))
        lane->hung[lane->n_hung++] = device;
}

/* ---- the limits of owners ---- */

static void say_owner(struct error *e, uint32_t uid)
{
    error_hint(e, "the file is of user %u, whose other files are read with a lower limit from now on", uid);
}

/* With the lock held: return the limit for this request. 0: do not send it now; the outcome says why. */
static uint64_t limit_of(struct symbolizer *sy, const struct worker_request *r, uint32_t uid,
                         struct outcome *out)
{
    uint64_t limit_ns;

    if (!out->owner_known && !out->asked && owners_must_wait(&sy->owners, out->lane->kind, out->owner)) {
        out->retry = true;
        return 0;
    }
    limit_ns =
        owners_limit(&sy->owners, out->lane->kind, out->owner, r->limit_ns ? r->limit_ns : SLOW_LIMIT_NS);
    if (!limit_ns)
        out->given_up =
            !error_set(&out->trouble, ERROR_LIMIT,
                       "not read: too many files of user %u took too long or broke the symbol worker", uid);
    return limit_ns;
}

/* With the lock held: judge the file by the worker's death. */
static void judge(struct symbolizer *sy, enum worker_result result, uint64_t limit_ns, uint32_t uid,
                  struct outcome *out)
{
    const struct worker *w = &out->lane->worker;
    bool trusted = out->owner < OWNER_FIRST;
    unsigned blame = resolve_blame(w, result);

    out->retry = result == WORKER_DIED || result == WORKER_LATE || result == WORKER_STOPPED;
    if (result == WORKER_LATE && w->ready && !w->stuck) {
        if (out->lane->kind == LANE_QUICK && !out->of_kernel && owners_may_be_slow(&sy->owners, out->owner)) {
            out->slow = true;
            return;
        }
        blame = trusted ? BLAME_CRASH : BLAME_MAX;
        error_set(&out->trouble, ERROR_LIMIT, "given up: reading it took more than %.2g s of CPU time",
                  (double)(limit_ns ? limit_ns : SLOW_LIMIT_NS) / NS_PER_SEC);
    }
    out->blame += blame;
    out->given_up |= blame >= BLAME_CRASH;
    if (trusted || blame < BLAME_CRASH)
        return;
    say_owner(&out->trouble, uid);
    owners_offend(&sy->owners, out->owner);
}

enum worker_result resolve_send(struct symbolizer *sy, struct worker_request *r, struct worker_reply *a,
                                struct outcome *out)
{
    uint32_t uid = 0;
    bool has_owner = owner_of(r, &uid);
    enum worker_result result;

    a->blob = NULL;
    a->blob_size = a->payload_n = 0;
    if (is_hung(out->lane, r)) {
        out->given_up = !error_set(&out->trouble, ERROR_LIMIT, "not read: its file system does not respond");
        return WORKER_STOPPED;
    }
    pthread_mutex_lock(&sy->lock);
    if (has_owner)
        out->owner = owners_number(&sy->owners, uid);
    r->limit_ns = out->of_kernel ? r->limit_ns : limit_of(sy, r, uid, out);
    pthread_mutex_unlock(&sy->lock);
    if (!r->limit_ns && !out->of_kernel)
        return WORKER_STOPPED;
    out->asked = true;
    result = worker_ask(&out->lane->worker, r, a, &out->trouble);
    note_hung(out->lane, r);
    pthread_mutex_lock(&sy->lock);
    owners_spend(&sy->owners, out->lane->kind, out->owner, out->lane->worker.used_ns);
    judge(sy, result, r->limit_ns, uid, out);
    pthread_mutex_unlock(&sy->lock);
    return result;
}
