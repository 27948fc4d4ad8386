// SPDX-License-Identifier: GPL-2.0-or-later
/* What containers are called, from the files in which their makers keep it, without asking a daemon:
 * /var/lib/docker/containers/ID/config.v2.json ("Name"), /var/lib/containers/storage/overlay-containers/containers.json
 * (podman and CRI-O: "id", "names") and the links in /var/log/containers (the kubelet: POD_NAMESPACE_CONTAINER-ID.log).
 * A thread of its own reads them, for a disk may take its time. Safe from any thread. */
#ifndef FLAMETOP_PROCESS_CONTAINERS_H
#define FLAMETOP_PROCESS_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTAINERS_NAME_MAX 256

struct containers;
struct containers *containers_new(const char *root); /* "/", or a folder in its place */
void containers_free(struct containers *c);          /* NULL is fine; never waits long */
/* cgroup_label() with the container's name if that is known; if it may come to be, it is looked for in the background.
 * c may be NULL. Never blocks. */
size_t containers_label(struct containers *c, const char *path, char *dst, size_t cap);
uint32_t containers_generation(const struct containers *c); /* changes when a name has come; c may be NULL */

/* containers_json.c: the name in such a file; cleaned. False: it has none, or is no such file. */
bool containers_docker_name(const char *text, size_t n, char dst[CONTAINERS_NAME_MAX]);
bool containers_storage_name(const char *text, size_t n, const char *id, char dst[CONTAINERS_NAME_MAX]);
/* "NAMESPACE/POD/CONTAINER" from the name of such a link, if it is of this id. */
bool containers_log_name(const char *file, const char *id, char dst[CONTAINERS_NAME_MAX]);

#endif
