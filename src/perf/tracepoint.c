// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/tracepoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "perf/tracepoint_path.h"

/* List a folder of events. "Permission denied" becomes a message with the fix. */
static bool list_events(const char *root, const char *system, struct namelist *out, struct error *e)
{
    char path[PATH_MAX];
    struct error why = { 0 };
    snprintf(path, sizeof path, "%s/events/%s", root, system);
    if (namelist_add_dir(out, path, true, &why))
        return true;
    if (why.sys == EACCES || why.sys == EPERM)
        return error_set(e, ERROR_PERMISSION,
                         "tracepoints: %s is not readable by this user; run as root, or as root: "
                         "mount -o remount,mode=750,gid=%u %s",
                         root, (unsigned)getegid(), root);
    return error_set(e, why.class, "%s", why.text);
}

bool tracepoint_systems(struct namelist *out, struct error *e)
{
    const char *root = tracepoint_root();
    return root ? list_events(root, "", out, e) : tracefs_explain(e);
}

static bool plain_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

static bool no_such_system(const char *system, const struct namelist *systems, struct error *e)
{
    const char *near = namelist_nearest(systems, system);
    if (!strncmp(system, "sdt_", 4))
        error_set(e, ERROR_MISSING,
                  "'%s': markers in a program's file (SDT) need a probe to be events: perf probe '%s:…'",
                  system, system);
    else if (near)
        error_set(e, ERROR_MISSING, "no event or tracepoint system '%s'; did you mean '%s:…'?", system, near);
    else
        error_set(e, ERROR_MISSING, "no event or tracepoint system '%s'; --list-events shows all", system);
    return error_at(e, 0);
}

bool tracepoint_names(const char *system, struct namelist *out, struct error *e)
{
    struct namelist systems = { 0 };
    bool ok = tracepoint_systems(&systems, e), known = false;
    for (size_t i = 0; i < systems.n; i++)
        known |= !strcmp(systems.items[i], system);
    if (ok && (!known || !plain_name(system)))
        ok = no_such_system(system, &systems, e);
    namelist_done(&systems);
    return ok && list_events(tracepoint_root(), system, out, e);
}

static bool no_such_tracepoint(const char *system, const char *name, struct error *e)
{
    struct namelist names = { 0 };
    if (!tracepoint_names(system, &names, e)) {
        namelist_done(&names);
        return false;
    }
    const char *near = namelist_nearest(&names, name);
    if (strpbrk(name, "*?["))
        error_set(e, ERROR_ARGUMENT, "tracepoint '%s:%s': give one event, without wildcards", system, name);
    else if (near)
        error_set(e, ERROR_MISSING, "no tracepoint '%s:%s'; did you mean '%s:%s'?", system, name, system,
                  near);
    else
        error_set(e, ERROR_MISSING, "no tracepoint '%s:%s'; %s has %zu others: --list-events shows them",
                  system, name, system, names.n);
    namelist_done(&names);
    return error_at(e, strlen(system) + 1);
}

bool tracepoint_path(char path[PATH_MAX], const char *system, const char *name, const char *file)
{
    const char *root = tracepoint_root();
    if (!root || !plain_name(system) || !plain_name(name))
        return false;
    return snprintf(path, PATH_MAX, "%s/events/%s/%s/%s", root, system, name, file) < PATH_MAX;
}

bool tracepoint_exists(const char *system, const char *name)
{
    char path[PATH_MAX];
    return tracepoint_path(path, system, name, "id") && !access(path, F_OK);
}

bool tracepoint_meant(const char *name, char *dst, size_t cap)
{
    struct namelist systems = { 0 };
    bool found = false;
    tracepoint_systems(&systems, NULL);
    for (size_t i = 0; !found && i < systems.n; i++) {
        bool system = !strcmp(systems.items[i], name);
        if ((found = system || tracepoint_exists(systems.items[i], name)))
            snprintf(dst, cap, "%s:%s", systems.items[i], system ? "*" : name);
    }
    namelist_done(&systems);
    return found;
}

bool tracepoint_id(const char *system, const char *name, uint64_t *id, struct error *e)
{
    char path[PATH_MAX];
    struct error why = { 0 };
    struct buf b = { 0 };
    if (!tracepoint_path(path, system, name, "id"))
        return no_such_tracepoint(system, name, e);
    bool ok = file_read_u64(path, id);
    if (!ok && access(path, F_OK))
        no_such_tracepoint(system, name, e);
    else if (!ok && !file_read(path, 64, &b, &why))
        error_set(e, why.class, "tracepoint '%s:%s': %s; run as root", system, name, why.text);
    else if (!ok)
        error_set(e, ERROR_FORMAT, "tracepoint '%s:%s': %s contains no number", system, name, path);
    buf_done(&b);
    return ok;
}
