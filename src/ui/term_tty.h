// SPDX-License-Identifier: GPL-2.0-or-later
/* The terminal as files: opening it, its size, and the characters that its locale and type can show. */
#ifndef FLAMETOP_UI_TERM_TTY_H
#define FLAMETOP_UI_TERM_TTY_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct term_tty {
    FILE *in, *out; /* opened here, so that standard input and output may be redirected */
    int terminal;   /* descriptor behind `out`, except while a frame is collected */
    int frame;      /* descriptor that collects a frame; 0 in both: none */
    bool unicode;   /* text beyond ASCII may be written */
    bool glyphs;    /* and the font has block elements */
};
/* Sets the locale (LC_NUMERIC stays C), opens the files. If standard input is a pipe, reads /dev/tty. */
bool term_tty_open(struct term_tty *t, bool no_unicode, struct error *e);
void term_tty_close(struct term_tty *t); /* harmless when not open */
/* Returns the kernel's rows and columns; LINES and COLUMNS override them. False: unknown. */
bool term_tty_size(const struct term_tty *t, int *rows, int *cols);
/* Starts collecting what is written to `out`; term_tty_deliver sends it in one piece, term_tty_drop
 * discards it. ncurses calls write(2) whenever its buffer is full, and each call wakes the reader, sends a
 * packet and draws. Returns false if it is not collected. */
bool term_tty_collect(struct term_tty *t);
/* Sends bytes to the terminal at once, bypassing ncurses. */
void term_tty_send(struct term_tty *t, const char *bytes);
void term_tty_deliver(struct term_tty *t);
void term_tty_drop(struct term_tty *t);
bool term_tty_is_gone(const struct term_tty *t);

#endif
