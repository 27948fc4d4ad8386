// SPDX-License-Identifier: GPL-2.0-or-later
/* Rights to open files: those of a process, of the user who started flametop, or our own. */
#ifndef FLAMETOP_PROCESS_RIGHTS_H
#define FLAMETOP_PROCESS_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#define RIGHTS_GROUPS_MAX 64 /* of more groups, the rest is left out: the rights are fewer then, never more */
#define RIGHTS_NOBODY     65534

struct rights {
    bool own; /* our own, with all capabilities; the rest means nothing */
    uint32_t uid, gid;
    uint32_t n_groups;
    uint32_t groups[RIGHTS_GROUPS_MAX];
};

/* The rights of a process; proc_dir is its folder in /proc. Of its real, effective, saved and file system
 * user the first that is not root, in this order: who starts a setuid program has chosen the paths that it
 * uses. False with errno. */
bool rights_of_process(int proc_dir, struct rights *out);
/* The same from the text of /proc/PID/status. */
bool rights_parse_status(const char *status, struct rights *out);
/* The rights of the user who started flametop: $SUDO_UID and that user's groups if root runs it for
 * somebody, else our own. */
void rights_of_starter(struct rights *out);
/* Those of a user without supplementary groups. */
struct rights rights_of_user(uint32_t uid, uint32_t gid);
/* Of a file that a file of user `uid` names: who wrote a file chooses what it names. */
void rights_weaken(struct rights *r, uint32_t uid);

/* Takes the rights on, and gives up all capabilities that permit more than they do, for the calling
 * thread's next calls that open files. Only for a process with one thread. False with errno, and our own
 * rights: nothing may be opened then. */
bool rights_take(const struct rights *r);
/* Back to our own. */
void rights_return(void);

#endif
