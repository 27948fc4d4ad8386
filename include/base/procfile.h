// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads /proc/PID/stat, comm, and the lines of status. */
#ifndef FLAMETOP_BASE_PROCFILE_H
#define FLAMETOP_BASE_PROCFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct procfile_stat { /* proc_pid_stat(5); times are in the kernel's ticks */
    char state;
    uint32_t ppid;
    uint64_t user, system;               /* of a process: all its threads, ended ones included */
    uint64_t waited_user, waited_system; /* of children that ended and were waited for, recursively */
    uint64_t start;                      /* since boot, including suspend */
    uint64_t ignored;                    /* mask of signals */
};
bool procfile_parse_stat(const char *text, struct procfile_stat *out); /* False: another format. */
/* False: the process does not exist or is hidden. */
bool procfile_read_stat(uint32_t pid, struct procfile_stat *out);
/* Finds the number in a column (from 0; -1: the last) of the line with this label, "\nUid:". False: none. */
bool procfile_number(const char *text, const char *label, int column, uint64_t *v);
/* The same in /proc/PID/status. */
bool procfile_read_status(uint32_t pid, const char *label, int column, uint64_t *v);
/* The name of a process or thread, cleaned; "" if it is gone. */
void procfile_read_comm(uint32_t pid, char *dst, size_t cap);

#endif
