// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds the names of containers in the files of their engines, without a query to a daemon.
 *
 * /var/lib/docker/containers/ID/config.v2.json: docker ("Name")
 * /var/lib/containers/storage/overlay-containers/containers.json: podman and CRI-O ("id", "names")
 * /var/log/containers: the kubelet's links, POD_NAMESPACE_CONTAINER-ID.log
 *
 * A separate thread reads them, as a disk may be slow. Thread-safe. */
#ifndef FLAMETOP_PROCESS_CONTAINERS_H
#define FLAMETOP_PROCESS_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTAINERS_NAME_MAX 256

struct containers;
struct containers *containers_new(const char *root); /* root: "/", or another root folder */
void containers_free(struct containers *c);          /* NULL is allowed; does not wait long */
/* Same as cgroup_label(), with the container's name if it is known. An unknown name is looked up in the
 * background. c may be NULL. Never blocks. */
size_t containers_label(struct containers *c, const char *path, char *dst, size_t cap);
uint32_t containers_generation(const struct containers *c); /* changes when a name was found; c may be NULL */

/* In containers_json.c: extracts the name from such a file, cleaned. False: no name, or another format. */
bool containers_docker_name(const char *text, size_t n, char dst[CONTAINERS_NAME_MAX]);
bool containers_storage_name(const char *text, size_t n, const char *id, char dst[CONTAINERS_NAME_MAX]);
/* Extracts "NAMESPACE/POD/CONTAINER" from the name of a kubelet link, if it has this id. */
bool containers_log_name(const char *file, const char *id, char dst[CONTAINERS_NAME_MAX]);

#endif
