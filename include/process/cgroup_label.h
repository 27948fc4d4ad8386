// SPDX-License-Identifier: GPL-2.0-or-later
/* Formats a readable name for a cgroup: its container or systemd unit instead of a path of hashes. Follows
 * the conventions of the cgroup managers of runc and crun, of the kubelet ("kubepods"), of LXC
 * ("lxc.payload.NAME") and of systemd (CONTAINER_INTERFACE, systemd.unit(5)). Pure: uses only the path. */
#ifndef FLAMETOP_PROCESS_CGROUP_LABEL_H
#define FLAMETOP_PROCESS_CGROUP_LABEL_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup_container { /* the innermost container of a path */
    const char *kind;     /* "docker", "podman", "lxc", …; "pod" for a pod outside its containers */
    char id[65];          /* 64 hexadecimal digits, or a name; "" for a pod only */
    char pod[37];         /* Kubernetes: uid of the pod, with dashes; "": none */
    const char *below;    /* rest of the path below the container; "" or from a '/' on */
};
bool cgroup_container(const char *path, struct cgroup_container *c);
/* Formats "docker web", "podman 0123456789ab", "pod default/web-7d4/nginx", "lxc db", "ssh.service" or
 * "user@1000 app.scope"; the path itself if it follows no convention. name: of the container; NULL or "":
 * unknown. Cleaned. Returns the length written. */
size_t cgroup_label(const char *path, const char *name, char *dst, size_t cap);

#endif
