// SPDX-License-Identifier: GPL-2.0-or-later
/* Signals while the terminal is in use: a clean exit within a second, even when the terminal accepts no
 * more bytes.
 * A crash leaves the terminal as it was. Knows descriptors and bytes, not ncurses. */
#ifndef FLAMETOP_UI_TERM_SIGNAL_H
#define FLAMETOP_UI_TERM_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* Saves the settings of terminal `in` and the bytes to write to `out` on exit; installs the handlers. */
bool term_signal_start(int in, int out, const char *leave, size_t leave_n, struct error *e);
/* Installs only the handlers again: newterm() replaces them with those of ncurses. */
void term_signal_retake(void);
void term_signal_stop(void);
int term_signal_fd(void); /* readable after a signal */
void term_signal_drain(void);
int term_signal_quit(void);     /* the first signal that ends the program, or 0; stays set */
void term_signal_forgive(void); /* ignores that signal: it was handled otherwise */
bool term_signal_take_resize(void);
bool term_signal_take_stop(void);
/* Stops the process as without a handler; returns when continued. */
void term_signal_stop_self(void);
/* Call around writes that may block on the terminal: there a process that quits may be interrupted. */
void term_signal_output(bool begins);

#endif
