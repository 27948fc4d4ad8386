// SPDX-License-Identifier: GPL-2.0-or-later
/* Names what a thread waits for, by the kernel functions in which it waits. */
#ifndef FLAMETOP_PROCESS_WAIT_REASON_H
#define FLAMETOP_PROCESS_WAIT_REASON_H

#include <stdbool.h>
#include <stddef.h>

enum wait_reason {
    WAIT_UNKNOWN,
    WAIT_FUTEX,
    WAIT_KERNEL_LOCK,
    WAIT_DISK_READ,
    WAIT_WRITE_BACK, /* and the journal of a file system */
    WAIT_REMOTE_FILE,
    WAIT_FILE_LOCK,
    WAIT_PAGE_FAULT,
    WAIT_RECLAIM,
    WAIT_PIPE,
    WAIT_SOCKET,
    WAIT_ACCEPT,
    WAIT_POLL,
    WAIT_TIMER,
    WAIT_SIGNAL,
    WAIT_CHILD,
    WAIT_TERMINAL,
    WAIT_QUEUE, /* System V and POSIX message queues and semaphores */
    WAIT_IO_URING,
    WAIT_STOPPED,
    WAIT_RUN_QUEUE,
    WAIT_KERNEL_WORK, /* a kernel thread without work */
    WAIT_RUNNING,     /* no wait: it ran, but no sample says where; only in wall-clock time */
    WAIT_NOT_TAKEN,   /* unknown: to save time, no stack was sampled */
    WAIT_EXIT,        /* ends, and waits for other threads or for what it holds */
    WAIT_DISK_WRITE,  /* past the cache, or by the kernel's own threads */
    WAIT_LOST,        /* unknown: records were lost, and it may have run; only in wall-clock time */
    WAIT_REASONS      /* files store these numbers: add new ones at the end */
};

/* Returns the reason for a kernel stack: names of functions, innermost first, with or without a suffix of the
 * compiler (".isra.0"). A single function, as in /proc/PID/wchan, is a stack too. WAIT_UNKNOWN: no function
 * is in the table. */
enum wait_reason wait_reason_of(const char *const *function, size_t n);
/* Returns the reason by the name of the system call alone, if the kernel stack is not readable. file: what
 * its first argument refers to, as a link of /proc/PID/fd ("pipe:[12]"); NULL or "": not known. */
enum wait_reason wait_reason_of_call(const char *call, const char *file);
const char *wait_reason_name(enum wait_reason r);  /* "futex", "disk read"; unknown: "" */
const char *wait_reason_title(enum wait_reason r); /* the same; unknown: "unknown" */
/* The frame on top of a stack that waits: "[wait: futex]", "[wait]", "[runnable]" for the run queue. A number
 * that is no reason, of a damaged file: "[wait]". */
const char *wait_reason_frame(enum wait_reason r);
/* True if a thread that waits for this mostly waits for work: its waiting says nothing about a problem. */
bool wait_reason_is_for_work(enum wait_reason r);
/* False if a sample of wall-clock time with this reason is no wait. */
bool wait_reason_is_wait(enum wait_reason r);

#endif
