// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals while the terminal is ours: what ends us ends us cleanly and within a second, even when the terminal
 * takes no more bytes; a crash leaves it as it was. Knows descriptors and bytes, not ncurses. */
#ifndef FLAMETOP_UI_TERM_SIGNAL_H
#define FLAMETOP_UI_TERM_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Saves the terminal's settings (of `in`) and what to write to `out` to leave it; installs the handlers. */
bool term_signal_start(int in, int out, const char *leave, size_t leave_n, struct error *e);
void term_signal_retake(void); /* the handlers only: newterm() puts ncurses' own in their place */
void term_signal_stop(void);
int term_signal_fd(void); /* readable when a signal came */
void term_signal_drain(void);
int term_signal_quit(void);     /* the first signal that asked us to end, or 0; stays */
void term_signal_forgive(void); /* that one was meant for something else */
bool term_signal_take_resize(void);
bool term_signal_take_stop(void);
void term_signal_stop_self(void); /* stops as if we had no handler; returns when continued */
/* Around calls that may block on the terminal: there a quitting process may be cut short. */
void term_signal_output(bool begins);

#endif
