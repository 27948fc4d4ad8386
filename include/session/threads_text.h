// SPDX-License-Identifier: GPL-2.0-or-later
/* Texts about the threads of a process, the same in text output and on the screen. */
#ifndef FLAMETOP_SESSION_THREADS_TEXT_H
#define FLAMETOP_SESSION_THREADS_TEXT_H

#include "session/threads_now.h"

/* "process 4242 shop: 9 threads. 9 stopped, one at a time, for 0.10 ms at most and 0.52 ms in all" */
void threads_text_process(struct buf *out, const struct threads_now *t);
const char *threads_text_state(const struct threads_now_row *row); /* "sleeping" */
/* The longest time for which a thread of the row has not run: "3.2 s"; "" if it runs or is not known. */
void threads_text_longest(struct buf *out, const struct threads_now_row *row);
/* "sleeping for 1.0 to 3.2 s: futex" */
void threads_text_wait(struct buf *out, const struct threads_now_row *row);
void threads_text_comms(struct buf *out, const struct threads_now_row *row); /* "998 worker, 2 main" */
/* "futex(0x55d0c0de4060) 2, (0x55d0c0de4088) 1"; "": not known, or there is nothing to say. */
void threads_text_call(struct buf *out, const struct threads_now_row *row);

const char *threads_text_end(
    enum remote_end end); /* why a user stack ends before its root; NULL: it does not */

enum threads_line_kind { THREADS_LINE_TEXT, THREADS_LINE_KERNEL, THREADS_LINE_USER };
struct threads_line {
    enum threads_line_kind kind;
    const char *label;  /* "call", "kernel", "user"; "": as the previous line */
    const char *text;   /* one line; valid in the callback only */
    const char *module; /* of a user function; else "" */
};
/* Calls `line` for the threads (if they are several), the call, and each frame of the stacks. */
void threads_text_lines(const struct threads_now_row *row,
                        void (*line)(void *ctx, const struct threads_line *line), void *ctx);

#endif
