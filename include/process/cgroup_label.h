// SPDX-License-Identifier: GPL-2.0-or-later
/* What a person calls a cgroup: its container or systemd unit in place of a path of hashes. The conventions are those
 * of runc's and crun's cgroup managers, of the kubelet ("kubepods"), of LXC ("lxc.payload.NAME") and of systemd
 * (CONTAINER_INTERFACE, systemd.unit(5)). Pure: reads nothing but the path. */
#ifndef FLAMETOP_PROCESS_CGROUP_LABEL_H
#define FLAMETOP_PROCESS_CGROUP_LABEL_H

#include <stdbool.h>
#include <stddef.h>

struct cgroup_container { /* the innermost that a path lies in */
    const char *kind;     /* "docker", "podman", "lxc", …; of a pod without a container in it "pod" */
    char id[65];          /* 64 hexadecimal digits, or a name; of a pod alone "" */
    char pod[37];         /* of Kubernetes: the pod's uid, with dashes; "": none */
    const char *below;    /* the rest of the path, in it; "" or from a '/' on */
};
bool cgroup_container(const char *path, struct cgroup_container *c);
/* "docker web", "podman 0123456789ab", "pod default/web-7d4/nginx", "lxc db", "ssh.service", "user@1000 app.scope";
 * the path itself where it tells nothing. name: what the container is called, NULL or "": not known. Cleaned.
 * Returns the length written. */
size_t cgroup_label(const char *path, const char *name, char *dst, size_t cap);

#endif
