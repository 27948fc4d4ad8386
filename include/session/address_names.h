// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of single addresses that are not frames: in payloads of tracepoints, of data, of branches. */
#ifndef FLAMETOP_SESSION_ADDRESS_NAMES_H
#define FLAMETOP_SESSION_ADDRESS_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "process/module.h"
#include "session/session.h"

struct session_address_names;
struct session_address_names *session_address_names_new(struct session *s); /* never NULL */
void session_address_names_free(struct session_address_names *n);

struct session_name {
    const char *text;            /* name of the function there; NULL: none */
    uint64_t start;              /* start address of the function */
    const struct module *module; /* NULL: nothing is mapped there */
};
/* Finds what is at an address of a thread (a world_thread; kernel: a kernel address, any thread), by the
 * current maps. Waits for a name, at most session_patience_ns; once one came too late, waits no more. Valid
 * until the next call. */
const struct session_name *session_name_at(struct session_address_names *n, uint32_t thread, uint64_t address,
                                           bool kernel);

#endif
