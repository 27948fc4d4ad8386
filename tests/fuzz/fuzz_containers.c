// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzes container names from the files of container engines, and cgroup names from paths: all output is
 * printable. The input is an id, a NUL, and the text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "process/cgroup_label.h"
#include "process/containers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *name, size_t cap)
{
    char clean[4096];
    if (!memchr(name, 0, cap) || cap > sizeof clean)
        abort();
    text_clean(clean, sizeof clean, name, strlen(name));
    if (strcmp(name, clean))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *whole = mem_alloc(size + 1), name[CONTAINERS_NAME_MAX], label[256];
    memcpy(whole, data, size);
    whole[size] = '\0';
    size_t id_n = strlen(whole);
    const char *text = id_n < size ? whole + id_n + 1 : "";
    size_t text_n = id_n < size ? size - id_n - 1 : 0;
    if (containers_docker_name(text, text_n, name))
        check(name, sizeof name);
    if (containers_storage_name(text, text_n, whole, name))
        check(name, sizeof name);
    if (containers_log_name(text, whole, name))
        check(name, sizeof name);
    struct cgroup_container c;
    if (cgroup_container(whole, &c) &&
        (!c.kind || !memchr(c.id, 0, sizeof c.id) || !memchr(c.pod, 0, sizeof c.pod)))
        abort();
    if (cgroup_label(whole, text, label, sizeof label) >= sizeof label)
        abort();
    check(label, sizeof label);
    mem_free(whole);
    return 0;
}
