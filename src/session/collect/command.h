// SPDX-License-Identifier: GPL-2.0-or-later
/* The command that a session started, and its output.
 *
 * The session owns the process and the pipe, not `argv`. command_spawn sets all before there are threads;
 * then only the collector's thread writes (command_poll), and command_end when that thread has ended. Others
 * read `status` and `pid`. */
#ifndef FLAMETOP_SESSION_COLLECT_COMMAND_H
#define FLAMETOP_SESSION_COLLECT_COMMAND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct session;

struct session_command {
    char *const *argv; /* NULL: no command */
    pid_t pid;
    int hold_fd;    /* one byte to it releases the command; -1: none */
    int failure_fd; /* returns the command's errno if exec fails; -1: none */
    int pipe;       /* its output, drained into the log; -1: none */
    char line[256]; /* the incomplete last line of its output */
    uint32_t line_n;
    bool floods;       /* it prints more than is kept: its output is read less often */
    uint64_t cpu_ns;   /* its CPU time, once it was reaped */
    atomic_int status; /* -1: still running, or no command */
};

/* command.c */
bool command_spawn(struct session *s, struct error *e);   /* forks, and holds the command before exec */
bool command_release(struct session *s, struct error *e); /* lets it go on to exec */
/* Waits for exec, and fails if exec does. On a busy system that takes a while: rings are drained already. */
bool command_runs(struct session *s, struct error *e);
void command_poll(struct session *s); /* reaps it, moves its output to the log */
/* Sends SIGTERM if it still runs, waits a moment for it, and moves its last output to the log. */
void command_end(struct session *s);

#endif
