// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of single addresses that are no frames: those in payloads of tracepoints, of data, of branches. */
#ifndef FLAMETOP_SESSION_NAMING_H
#define FLAMETOP_SESSION_NAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "process/module.h"
#include "session/session.h"

struct session_naming;
struct session_naming *session_naming_new(struct session *s); /* never NULL */
void session_naming_free(struct session_naming *n);

struct session_name {
    const char *text;            /* of the function there; NULL: it has none */
    uint64_t start;              /* address at which that begins */
    const struct module *module; /* NULL: nothing is mapped there */
};
/* What lies at an address of a thread (of world_thread; kernel: of the kernel, whatever the thread), by the maps as they
 * are now. Waits for names, as long as they come in time. Valid until the next call. */
const struct session_name *session_name_at(struct session_naming *n, uint32_t thread, uint64_t address,
                                           bool kernel);

#endif
