// SPDX-License-Identifier: GPL-2.0-or-later
/* The terminal: styled text in cells, keys, suspend, and a safe exit.
 * term.c is the only file that uses ncurses. There is one terminal per process. Call from the UI thread
 * only, except where noted. */
#ifndef FLAMETOP_UI_TERM_H
#define FLAMETOP_UI_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ui/theme.h"

struct term_config {
    bool no_color;   /* --no-color; NO_COLOR is read here */
    bool no_unicode; /* ASCII only, whatever the locale */
    bool mouse;
};

/* On a smaller terminal only a message about its size is drawn. */
#define TERM_MIN_ROWS 8
#define TERM_MIN_COLS 40

/* A key: a Unicode character, 1 … 26 for Ctrl-A … Ctrl-Z (unless named below), or one of these. */
enum term_key {
    TK_NONE = 0,
    TK_BASE = 0x200000,
    TK_UP,
    TK_DOWN,
    TK_LEFT,
    TK_RIGHT,
    TK_PGUP,
    TK_PGDN,
    TK_HOME,
    TK_END,
    TK_INSERT,
    TK_DELETE,
    TK_ENTER,
    TK_TAB,
    TK_SHIFT_TAB,
    TK_BACKSPACE,
    TK_ESC,
    TK_F1,
    TK_F2,
    TK_F3,
    TK_F4,
    TK_F5,
    TK_F6,
    TK_F7,
    TK_F8,
    TK_F9,
    TK_F10,
    TK_F11,
    TK_F12,
    TK_MOUSE,
    TK_LAST
};
struct term_mouse {
    int y, x;
    enum {
        TERM_MOUSE_PRESS,
        TERM_MOUSE_DOUBLE,
        TERM_MOUSE_RELEASE,
        TERM_MOUSE_WHEEL_UP,
        TERM_MOUSE_WHEEL_DOWN
    } what;
};

/* Puts the description of a terminal type that terminfo lacks (ui/term_types.h) into the environment. Call
 * before there are threads. */
void term_prepare(void);
/* Starts the terminal, sets the locale (LC_NUMERIC stays C), and installs the signal handlers. On error
 * nothing was drawn. */
bool term_start(const struct term_config *cfg, const struct theme *theme, struct error *e);
void term_stop(void); /* Restores the terminal and the signals; harmless when not started. */
void term_set_theme(const struct theme *theme);

void term_size(int *rows, int *cols);
bool term_unicode(void); /* whether text beyond ASCII may be written */
bool term_glyphs(void);  /* and the font has block elements (not on the Linux console) */
int term_colors(void);   /* 256, 8 or 0 */
enum theme_depth term_depth(void);

/* A frame: begin clears the frame in memory, end sends the difference from the screen. */
void term_frame_begin(void);
void term_frame_end(void);
void term_redraw_all(void); /* the next frame is sent in full (^L) */
/* Draws cleaned UTF-8 at a cell, at most `cols` columns, clipped to the screen. Returns the columns drawn.
 * Without Unicode, other characters become '?'. */
int term_text(int y, int x, int cols, enum style style, const char *text);
void term_fill(int y, int x, int cols, enum style style, char ch); /* ch: ASCII */
void term_restyle(int y, int x, int cols, enum style style);       /* restyles the cells' present text */
/* Returns shade `which` of a style: its background a little lighter or darker (theme_color.h). With fewer
 * than 256 colours: the style itself. */
enum style term_shade(enum style style, uint32_t which);
bool term_halves(void); /* whether term_half() can draw two colours */
/* Draws a cell whose left and right half have the backgrounds of two styles. */
void term_half(int y, int x, enum style left, enum style right);
/* Shows the cursor there at the end of the frame; else it is hidden. */
void term_cursor(int y, int x);

enum term_event {
    TERM_NOTHING, /* timeout */
    TERM_KEY,
    TERM_RESIZED, /* resized, or continued after a stop: draw */
    TERM_QUIT,    /* SIGINT, SIGTERM, SIGHUP, SIGQUIT, or the terminal was closed */
};
/* Waits for the next event, at most timeout_ms (0: polls). TERM_KEY sets *key (and *mouse for TK_MOUSE).
 * Handles ^Z: restores the terminal, stops the process, and returns TERM_RESIZED when it continues. */
enum term_event term_wait(int timeout_ms, uint32_t *key, struct term_mouse *mouse);
bool term_pasted(void);       /* the last key is part of a pasted text */
void term_quit_forgive(void); /* ignores that signal: it was handled otherwise */
int term_quit_signal(void);   /* the signal of TERM_QUIT; SIGHUP when the terminal was closed */

#endif
