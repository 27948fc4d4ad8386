// SPDX-License-Identifier: GPL-2.0-or-later
/* Confines a child process: user, capabilities, resource limits and system calls. Private to src/symbols. Each step
 * either holds or returns false with the reason, and then the child must not go on. */
#ifndef FLAMETOP_SYMBOLS_SANDBOX_H
#define FLAMETOP_SYMBOLS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What a seccomp filter lets through. A call without any rule ends the process. Several rules of one call are
 * alternatives. */
enum sandbox_action {
    SANDBOX_ALLOW,  /* whatever its arguments are */
    SANDBOX_ONLY,   /* only if (argument & mask) == value */
    SANDBOX_REFUSE, /* the call fails with EACCES, and the process goes on */
};
struct sandbox_rule {
    const char *call; /* its name; one that this machine does not have is left out */
    enum sandbox_action action;
    unsigned argument; /* SANDBOX_ONLY: number of the argument, from 0 */
    uint64_t mask, value;
};

struct sandbox_limits { /* of resources; 0: as inherited */
    uint64_t cpu_seconds, files, file_bytes;
    uint64_t memory_bytes, address_bytes; /* not set under a sanitizer, which reserves terabytes */
};

/* Processes made from now on, by exec as well, cannot gain rights. */
bool sandbox_no_new_privileges(struct error *e);
/* Gives up all capabilities; the user stays. Without libcap-ng nothing is done for another user than root. */
bool sandbox_drop_capabilities(struct error *e);
/* Root becomes a user that no other process is, without groups; any other user stays. All capabilities go. In a user
 * namespace that maps no such user, root stays what it is outside of the namespace, without capabilities: then a
 * system-call filter is required, and a build without libseccomp fails. Afterwards no process of the same user may
 * trace this one, and this one ends with its parent. */
bool sandbox_drop_user(struct error *e);
void sandbox_limit(const struct sandbox_limits *limits);
/* True without a filter: in a build without libseccomp, or with a sanitizer, which makes calls of its own. */
bool sandbox_filter(const struct sandbox_rule *rules, size_t n, struct error *e);
bool sandbox_has_filter(void); /* this build has */
/* The reverse: only these calls fail, with EPERM. For a child whose libraries make calls that nobody can list. */
bool sandbox_refuse(const char *const *calls, size_t n, struct error *e);

/* The confinement of the symbol worker, which has its socket as descriptor SANDBOX_WORKER_SOCKET. */
#define SANDBOX_WORKER_SOCKET 3
bool sandbox_enter_worker(struct error *e);

/* The environment of a child: of ours, only what the program loader and sanitizers need. Ends with NULL; entries are
 * borrowed from environ. The caller frees the array. */
char **sandbox_environment(void);

#endif
