// SPDX-License-Identifier: GPL-2.0-or-later
/* Rights to open files: those of a process, of the user who started flametop, or flametop's own. */
#ifndef FLAMETOP_PROCESS_RIGHTS_H
#define FLAMETOP_PROCESS_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

#define RIGHTS_GROUPS_MAX 64 /* more groups are left out, which only reduces the rights */
#define RIGHTS_NOBODY     65534

struct rights {
    bool own; /* flametop's own, with all capabilities; the other fields are unused */
    uint32_t uid, gid;
    uint32_t n_groups;
    uint32_t groups[RIGHTS_GROUPS_MAX];
};

/* Reads the rights of a process; proc_dir is its folder in /proc. Uses the first of its real, effective,
 * saved and file system user that is not root: the user who starts a setuid program chooses the paths that it
 * uses. False with errno. */
bool rights_of_process(int proc_dir, struct rights *out);
/* Same from the text of /proc/PID/status. */
bool rights_parse_status(const char *status, struct rights *out);
/* Returns the rights of the user who started flametop: $SUDO_UID and that user's groups under sudo, else
 * flametop's own. */
void rights_of_starter(struct rights *out);
/* Returns a user's rights without supplementary groups. */
struct rights rights_of_user(uint32_t uid, uint32_t gid);
/* Reduces the rights for a path that was read from a file of user `uid`: the writer of that file chose the
 * path. */
void rights_weaken(struct rights *r, uint32_t uid);

/* Takes on the rights and drops all capabilities that exceed them, for later open calls of the thread. Only
 * for a process with one thread. False with errno: the process's own rights are in force, and no file may be
 * opened. */
bool rights_take(const struct rights *r);
/* Restores the process's own rights. */
void rights_return(void);

#endif
