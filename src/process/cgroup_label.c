// SPDX-License-Identifier: GPL-2.0-or-later
#include "process/cgroup_label.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define ID_CHARS    64
#define SHORT_CHARS 12 /* shown of an id, as in docker ps and podman ps */
#define POD_SHORT   8

struct part { /* of a path */
    const char *s;
    size_t n;
};

/* Returns the component that ends at `end`; empty at the root. */
static struct part part_before(const char *path, const char *end)
{
    const char *s = end;

    while (s > path && s[-1] != '/')
        s--;
    return (struct part){ s, (size_t)(end - s) };
}

static bool stack_subset_is(struct part p, const char *text)
{
    return p.n == strlen(text) && !memcmp(p.s, text, p.n);
}

static bool take_prefix(struct part *p, const char *prefix)
{
    size_t n = strlen(prefix);

    if (p->n <= n || memcmp(p->s, prefix, n))
        return false;
    p->s += n;
    p->n -= n;
    return true;
}

static bool ends_with(struct part p, const char *suffix)
{
    size_t n = strlen(suffix);

    return p.n > n && !memcmp(p.s + p.n - n, suffix, n);
}

static bool take_suffix(struct part *p, const char *suffix)
{
    if (!ends_with(*p, suffix))
        return false;
    p->n -= strlen(suffix);
    return true;
}

static bool is_id(struct part p)
{
    return p.n == ID_CHARS && strspn(p.s, "0123456789abcdef") >= ID_CHARS;
}

static bool set(struct cgroup_container *c, const char *kind, struct part id)
{
    c->kind = kind;
    snprintf(c->id, sizeof c->id, "%.*s", (int)id.n, id.s);
    return true;
}

/* ---- containers ---- */

/* Longer prefixes come before prefixes that they start with. */
static bool read_hash(struct part at, struct part before, struct cgroup_container *c)
{
    static const struct {
        const char *prefix, *kind;
    } makers[] = {
        { "docker-", "docker" },
        { "libpod-conmon-", "podman conmon" },
        { "libpod-payload-", "podman" },
        { "libpod-", "podman" },
        { "crio-conmon-", "cri-o conmon" },
        { "crio-", "cri-o" },
        { "cri-containerd-", "containerd" },
        { "nerdctl-", "nerdctl" },
    };
    const char *colon = memrchr(at.s, ':', at.n);
    size_t i;

    if (colon) { /* "SLICE:cri-containerd:ID": from a cgroup manager without slices */
        at.n -= (size_t)(colon + 1 - at.s);
        at.s = colon + 1;
    }
    take_suffix(&at, ".scope");
    for (i = 0; i < sizeof makers / sizeof *makers; i++)
        if (take_prefix(&at, makers[i].prefix))
            return is_id(at) && set(c, makers[i].kind, at);
    return is_id(at) && set(c, stack_subset_is(before, "docker") ? "docker" : "container", at);
}

static bool read_named(struct part at, struct part before, struct cgroup_container *c)
{
    if (stack_subset_is(before, "lxc") || stack_subset_is(before, "lxc.payload") ||
        take_prefix(&at, "lxc.payload."))
        return set(c, "lxc", at);
    if (take_prefix(&at, "lxc.monitor."))
        return set(c, "lxc monitor", at);
    if (take_prefix(&at, "systemd-nspawn@"))
        return take_suffix(&at, ".service") && set(c, "nspawn", at);
    return take_prefix(&at, "machine-") && take_suffix(&at, ".scope") && set(c, "machine", at);
}

/* Finds the pod's uid in "…kubepods…/…pod8d5cdf4e_…_….slice/…" or "…kubepods/…/pod8d5cdf4e-…/…". Returns the
 * text after the uid, or NULL. */
static const char *read_pod(const char *path, char pod[37])
{
    const char *p = strstr(path, "kubepods");
    size_t n, i;

    while (p && (p = strstr(p, "pod"))) {
        p += 3;
        n = strspn(p, "0123456789abcdef_-");
        if (n != 32 && n != 36)
            continue;
        for (i = 0; i < n; i++)
            pod[i] = p[i] == '_' ? '-' : p[i];
        pod[n] = '\0';
        return p + n;
    }
    pod[0] = '\0';
    return NULL;
}

bool cgroup_container(const char *path, struct cgroup_container *c)
{
    const char *end = path + strlen(path), *pod_end;

    *c = (struct cgroup_container){ .below = end };
    pod_end = read_pod(path, c->pod);
    while (end > path) {
        struct part at = part_before(path, end);
        struct part before = part_before(path, at.s > path ? at.s - 1 : path);
        c->below = end;
        if (read_hash(at, before, c) || read_named(at, before, c))
            return true;
        end = at.s > path ? at.s - 1 : path;
    }
    if (!pod_end)
        return false;
    c->kind = "pod";
    c->below = pod_end + strcspn(pod_end, "/");
    return true;
}

/* ---- units ---- */

static bool is_unit(struct part p)
{
    static const char *const suffixes[] = { ".service", ".scope", ".socket", ".mount", ".swap" };
    size_t i;

    for (i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (ends_with(p, suffixes[i]))
            return true;
    return false;
}

/* systemd writes "\x2d" for a character that a unit's name may not contain. */
static size_t unescape(struct part p, char *dst, size_t cap)
{
    unsigned code;
    size_t n = 0, i;

    for (i = 0; i < p.n && n + 1 < cap; i++) {
        bool escaped = p.n - i >= 4 && p.s[i] == '\\' && p.s[i + 1] == 'x' &&
                       sscanf(p.s + i + 2, "%2x", &code) == 1 && code >= 0x20 && code < 0x7f;
        dst[n++] = escaped ? (char)code : p.s[i];
        i += escaped ? 3 : 0;
    }
    dst[n] = '\0';
    return n;
}

/* Stores the user manager of the unit ("user@1000 "); "" for the system's. */
static void read_manager(const char *path, const char *unit, char *dst, size_t cap)
{
    const char *at = strstr(path, "/user@");
    size_t n = at && at + 1 < unit ? strcspn(at + 1, "./") : 0;

    snprintf(dst, cap, "%.*s%s", (int)n, n ? at + 1 : "", n ? " " : "");
}

static void label_unit(const char *path, char *dst, size_t cap)
{
    const char *end = path + strlen(path);
    struct part unit = part_before(path, end);
    char name[256], manager[64];

    if (!ends_with(unit, ".slice"))
        while (!is_unit(unit) && unit.s > path + 1)
            unit = part_before(path, unit.s - 1);
    if (!is_unit(unit) && !ends_with(unit, ".slice")) {
        snprintf(dst, cap, "%s", path);
        return;
    }
    unescape(unit, name, sizeof name);
    read_manager(path, unit.s, manager, sizeof manager);
    snprintf(dst, cap, "%s%s%s", manager, name, unit.s + unit.n);
}

/* ---- labels ---- */

static void label_container(const struct cgroup_container *c, const char *name, char *dst, size_t cap)
{
    struct part id = { c->id, strlen(c->id) };
    char shown[256];

    if (name && *name)
        snprintf(shown, sizeof shown, "%s", name);
    else if (is_id(id))
        snprintf(shown, sizeof shown, "%.*s", SHORT_CHARS, c->id);
    else
        unescape(id, shown, sizeof shown);
    if (!c->pod[0])
        snprintf(dst, cap, "%s %s", c->kind, shown);
    else if (name && *name)
        snprintf(dst, cap, "pod %s", shown); /* the name holds namespace, pod and container */
    else
        snprintf(dst, cap, "pod %.*s%s%s", POD_SHORT, c->pod, *shown ? "/" : "", shown);
}

size_t cgroup_label(const char *path, const char *name, char *dst, size_t cap)
{
    struct cgroup_container c;
    char label[1024], below[512];
    size_t n;

    if (!cgroup_container(path, &c)) {
        label_unit(path, label, sizeof label);
        return text_clean(dst, cap, label, strlen(label));
    }
    label_container(&c, name, label, sizeof label);
    if (c.below[0] && strcmp(c.below, "/container")) { /* omit crun's own subfolder */
        label_unit(c.below, below, sizeof below);
        n = strlen(label);
        snprintf(label + n, sizeof label - n, "%s%s", below[0] == '/' ? "" : "/", below);
    }
    return text_clean(dst, cap, label, strlen(label));
}
