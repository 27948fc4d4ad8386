// SPDX-License-Identifier: GPL-2.0-or-later
/* The terminal as files: what it is opened by, how large it is, and what its locale and its type let us write. */
#ifndef FLAMETOP_UI_TERM_TTY_H
#define FLAMETOP_UI_TERM_TTY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct term_tty {
    FILE *in, *out; /* of our own, so that standard input and output may be something else */
    int terminal;   /* what `out` is, but while a frame is collected */
    int frame;      /* where that goes then; 0 in both: none */
    bool unicode;   /* text beyond ASCII may be written */
    bool glyphs;    /* and the font has block elements */
};
/* Sets the locale (LC_NUMERIC stays C), opens the files. Standard input may be a pipe: then /dev/tty is read. */
bool term_tty_open(struct term_tty *t, bool no_unicode, struct error *e);
void term_tty_close(struct term_tty *t); /* harmless when not open */
/* Rows and columns as the kernel has them; false: unknown. What LINES and COLUMNS say goes first. */
bool term_tty_size(const struct term_tty *t, int *rows, int *cols);
/* Between these what is written to `out` is kept, and then given to the terminal in one piece, or to nobody: ncurses calls
 * write(2) whenever its buffer is full, and each wakes whoever reads, sends a packet and draws. False: it is not kept. */
bool term_tty_collect(struct term_tty *t);
/* Sends bytes to the terminal at once, past ncurses. */
void term_tty_send(struct term_tty *t, const char *bytes);
void term_tty_deliver(struct term_tty *t);
void term_tty_drop(struct term_tty *t);
bool term_tty_is_gone(const struct term_tty *t);

#endif
