// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's list of probes (uprobe_events): write to it, read it, and remove what flametops that were
 * killed have left in it. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/procfile.h"
#include "base/text.h"
#include "perf/probe_parts.h"
#include "perf/tracepoint.h"
#include "perf/tracepoint_path.h"

#define EVENTS          "uprobe_events"
#define GROUP           "flametop_"
#define EVENTS_MAX      (8u << 20)
#define REMOVE_NS       (500 * NS_PER_MS)
#define REMOVE_PAUSE_NS (10 * (long)NS_PER_MS)
#define LOG_MAX         65536u

/* ---- owners ---- */

/* When the process started, in clock ticks since the boot; 0: it has ended. */
static uint64_t start_of(pid_t pid)
{
    struct procfile_stat stat;
    return procfile_read_stat((uint32_t)pid, &stat) ? stat.start : 0;
}

void probe_own_group(char *dst, size_t cap)
{
    snprintf(dst, cap, GROUP "%d_%llx", (int)getpid(), (unsigned long long)start_of(getpid()));
}

/* False: another program's group. *dead: the process has ended. */
static bool owner_of_group(const char *group, pid_t *pid, bool *dead)
{
    char *end;
    if (!text_begins_with(group, GROUP))
        return false;
    unsigned long number = strtoul(group + strlen(GROUP), &end, 10);
    if (!number || number > INT_MAX || *end != '_')
        return false;
    uint64_t start = strtoull(end + 1, &end, 16);
    if (*end)
        return false;
    *pid = (pid_t)number;
    *dead = start_of(*pid) != start;
    return true;
}

/* ---- writing ---- */

static bool events_path(char path[PATH_MAX], struct error *e)
{
    const char *root = tracepoint_root();
    if (!root)
        return tracefs_explain(e);
    snprintf(path, PATH_MAX, "%s/" EVENTS, root);
    return !access(path, F_OK) || errno == EACCES ||
           error_set(
               e, ERROR_UNSUPPORTED,
               "probes: this kernel has no uprobe_events (CONFIG_UPROBE_EVENTS), so functions of programs "
               "cannot be probed");
}

/* The reason of the last refusal: "[12.5] trace_uprobe: error: Invalid unsigned integer string". */
static void read_reason(char *dst, size_t cap)
{
    static const char mark[] = "trace_uprobe: error: ";
    char path[PATH_MAX];
    struct buf text = { 0 };
    const char *root = tracepoint_root(), *found = NULL;
    snprintf(path, sizeof path, "%s/error_log", root ? root : "");
    if (root && file_read(path, LOG_MAX, &text, NULL))
        for (const char *at = buf_str(&text); (at = strstr(at, mark)); at += sizeof mark - 1)
            found = at + sizeof mark - 1;
    text_clean(dst, cap, found ? found : "", found ? strcspn(found, "\n") : 0);
    buf_done(&text);
}

static bool explain(int errnum, const char *line, struct error *e)
{
    char reason[160], safe[200];
    text_clean(safe, sizeof safe, line, strlen(line));
    if (errnum == EACCES || errnum == EPERM)
        return error_sys(e, errnum, "probes need root, which may write uprobe_events");
    if (errnum == EROFS)
        return error_sys(e, errnum, "probes need a writable tracefs: mount -o remount,rw %s",
                         tracepoint_root());
    read_reason(reason, sizeof reason);
    if (*reason && errnum == EINVAL)
        return error_set(e, ERROR_ARGUMENT, "the kernel refuses the probe: %s ('%s')", reason, safe);
    return error_sys(e, errnum, "the kernel refuses the probe '%s'", safe);
}

bool probe_write(const char *line, struct error *e)
{
    char path[PATH_MAX];
    if (!events_path(path, e))
        return false;
    int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    ssize_t n = fd >= 0 ? write(fd, line, strlen(line)) : -1;
    int errnum = errno;
    if (fd >= 0)
        close(fd);
    return n >= 0 || explain(errnum, line, e);
}

/* ---- reading ---- */

/* "p:group/name path:0x12 ..." → "group:name" */
static bool parse_line(const char *line, struct probe_row *row, char group[PROBE_NAME_MAX])
{
    const char *colon = strchr(line, ':'), *slash = colon ? strchr(colon, '/') : NULL;
    size_t end = strcspn(line, " ");
    if (!slash || slash > line + end || end - (size_t)(colon - line) >= sizeof row->event)
        return false;
    snprintf(group, PROBE_NAME_MAX, "%.*s", (int)(slash - colon - 1), colon + 1);
    snprintf(row->event, sizeof row->event, "%s:%.*s", group, (int)(line + end - slash - 1), slash + 1);
    row->text = line;
    row->owner = 0;
    row->dead = false;
    (void)owner_of_group(group, &row->owner, &row->dead);
    return true;
}

bool probe_each(void (*each)(void *ctx, const struct probe_row *r), void *ctx, struct error *e)
{
    char path[PATH_MAX], group[PROBE_NAME_MAX];
    struct buf text = { 0 };
    struct error why = { 0 };
    if (!events_path(path, e))
        return false;
    bool ok = file_read(path, EVENTS_MAX, &text, &why);
    char *rest = ok && text.len ? text.data : NULL;
    struct probe_row row;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        if (parse_line(line, &row, group))
            each(ctx, &row);
    buf_done(&text);
    return ok || error_set(e, why.class, "probes: %s%s", why.text,
                           why.class == ERROR_PERMISSION ? "; run as root" : "");
}

/* ---- removal ---- */

struct names { /* one per line, each event once */
    struct buf text;
    const char *group; /* NULL: of dead owners */
    char last[PROBE_NAME_MAX];
};

static void add_event(void *ctx, const struct probe_row *r)
{
    struct names *names = ctx;
    size_t n = strcspn(r->event, ":");
    bool wanted = names->group ? strlen(names->group) == n && !strncmp(r->event, names->group, n) : r->dead;
    if (wanted && strcmp(names->last, r->event)) {
        buf_printf(&names->text, "-:%.*s/%s\n", (int)n, r->event, r->event + n + 1);
        snprintf(names->last, sizeof names->last, "%s", r->event);
    }
}

static bool remove_events(const char *group, uint32_t *removed, uint32_t *kept, struct error *e)
{
    struct names names = { .group = group };
    struct error busy;
    bool ok = probe_each(add_event, &names, e);
    *removed = *kept = 0;
    char *rest = ok && names.text.len ? names.text.data : NULL;
    for (char *line; rest && (line = strsep(&rest, "\n"));)
        if (*line)
            probe_write(line, &busy) ? ++*removed : ++*kept;
    buf_done(&names.text);
    return ok;
}

bool probe_remove_dead(uint32_t *removed, uint32_t *kept, struct error *e)
{
    return remove_events(NULL, removed, kept, e);
}

/* Another program may have one open for a moment, as a list of events has when it tries each. */
void probe_remove_own(void)
{
    const struct timespec pause = { .tv_nsec = REMOVE_PAUSE_NS };
    uint64_t end_ns = clock_now_ns() + REMOVE_NS;
    char group[PROBE_NAME_MAX];
    uint32_t removed, kept;
    probe_own_group(group, sizeof group);
    while (remove_events(group, &removed, &kept, NULL) && kept && clock_now_ns() < end_ns)
        nanosleep(&pause, NULL);
}
