// SPDX-License-Identifier: GPL-2.0-or-later
/* Confine a child process: user, capabilities, resource limits and system calls. Private to src/symbols.
 * Each step either holds or returns false with the reason; the child must not go on after false. */
#ifndef FLAMETOP_SYMBOLS_SANDBOX_H
#define FLAMETOP_SYMBOLS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What a seccomp filter allows. A call without a rule ends the process. Several rules for one call are
 * alternatives. */
enum sandbox_action {
    SANDBOX_ALLOW,  /* with any arguments */
    SANDBOX_ONLY,   /* only if (argument & mask) == value */
    SANDBOX_REFUSE, /* the call fails with EACCES, and the process goes on */
};
struct sandbox_rule {
    const char *call; /* name; skipped if this machine does not have the call */
    enum sandbox_action action;
    unsigned argument; /* SANDBOX_ONLY: number of the argument, from 0 */
    uint64_t mask, value;
};

struct sandbox_limits { /* resource limits; 0: as inherited */
    uint64_t cpu_seconds, files, file_bytes;
    /* Not set under a sanitizer, which reserves terabytes. */
    uint64_t memory_bytes, address_bytes;
};

/* Forbid this process and its children to gain rights, also by exec. */
bool sandbox_no_new_privileges(struct error *e);
/* Drop all capabilities, keep the user. Without libcap-ng it does nothing unless the user is root. */
bool sandbox_drop_capabilities(struct error *e);
/* Drop capabilities; root becomes a user that no other process has, without groups; any other user stays.
 * In a user namespace that does not map such a user, root stays root (outside of the namespace: the mapped
 * user), without capabilities: then a system-call filter is required, and a build without libseccomp fails.
 * Afterwards no process of the same user may trace this one, and this one ends with its parent. */
bool sandbox_drop_user(struct error *e);
void sandbox_limit(const struct sandbox_limits *limits);
/* Install the filter. True without a filter in a build without libseccomp, or with a sanitizer, which makes
 * calls of its own. */
bool sandbox_filter(const struct sandbox_rule *rules, size_t n, struct error *e);
bool sandbox_has_filter(void); /* whether this build has it */
/* The reverse filter: only these calls fail, with EPERM. For a child whose libraries make unknown calls. */
bool sandbox_refuse(const char *const *calls, size_t n, struct error *e);

/* Confine the symbol worker, which has its socket as descriptor SANDBOX_WORKER_SOCKET. */
#define SANDBOX_WORKER_SOCKET 3
bool sandbox_enter_worker(struct error *e);

/* Return the environment of a child: only the variables that the program loader and sanitizers need. Ends
 * with NULL; entries are borrowed from environ. The caller frees the array. */
char **sandbox_environment(void);

#endif
