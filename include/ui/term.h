// SPDX-License-Identifier: GPL-2.0-or-later
/* The terminal: styled text on cells, keys, suspend and a safe way out. term.c is the only file that knows
 * ncurses. One terminal per process; UI thread only, but for what says otherwise. */
#ifndef FLAMETOP_UI_TERM_H
#define FLAMETOP_UI_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "ui/theme.h"

struct term_config {
    bool no_color;   /* --no-color; NO_COLOR is looked at here */
    bool no_unicode; /* ASCII only, whatever the locale says */
    bool mouse;
};

/* Smaller than this only a line that says so is drawn. */
#define TERM_MIN_ROWS 8
#define TERM_MIN_COLS 40

/* A key: a Unicode character, 1 … 26 for Ctrl-A … Ctrl-Z (but for those with a name here), or one of these. */
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

/* Has a type that the machine's terminfo does not know described by ui/term_types.h, in the environment: to be called
 * before there are threads. */
void term_prepare(void);
/* Says in which way the terminal cannot be used, before anything is drawn. Sets the locale (LC_NUMERIC stays C),
 * installs the handlers of signals. */
bool term_start(const struct term_config *cfg, const struct theme *theme, struct error *e);
void term_stop(void); /* restores the terminal and the signals; harmless when not started */
void term_set_theme(const struct theme *theme);

void term_size(int *rows, int *cols);
bool term_unicode(void); /* text beyond ASCII may be written */
bool term_glyphs(void);  /* and the font is known to have block elements (not on the Linux console) */
int term_colors(void);   /* 256, 8 or 0 */
enum theme_depth term_depth(void);

/* A frame: begin wipes the picture in memory, end sends what differs from the screen. */
void term_frame_begin(void);
void term_frame_end(void);
void term_redraw_all(void); /* the next frame is sent whole (^L) */
/* Draws cleaned UTF-8 at a cell, at most `cols` columns of it, never beyond the screen; returns the columns drawn.
 * Without Unicode other characters become '?'. */
int term_text(int y, int x, int cols, enum style style, const char *text);
void term_fill(int y, int x, int cols, enum style style, char ch); /* ASCII ch */
void term_restyle(int y, int x, int cols, enum style style);       /* of what is there already */
/* Shade `which` of a style, to be used in its place: its background a little lighter or darker
 * (theme_color.h). With fewer than 256 colours the style itself. */
enum style term_shade(enum style style, uint32_t which);
bool term_halves(void); /* term_half() has two colours */
/* A cell whose left half has the background of one style and whose right half that of another. */
void term_half(int y, int x, enum style left, enum style right);
void term_cursor(int y, int x); /* shows the cursor there at the end of the frame (else it is hidden) */

enum term_event {
    TERM_NOTHING, /* the time was over */
    TERM_KEY,
    TERM_RESIZED, /* or came back from being stopped: draw */
    TERM_QUIT,    /* SIGINT, SIGTERM, SIGHUP, SIGQUIT, or the terminal is gone */
};
/* Waits for the next event, at most timeout_ms (0: only looks). TERM_KEY sets *key (and the mouse if TK_MOUSE).
 * ^Z is answered here: the terminal is restored, the process stops, and goes on with TERM_RESIZED. */
enum term_event term_wait(int timeout_ms, uint32_t *key, struct term_mouse *mouse);
bool term_pasted(void);       /* the last key is of a text that was pasted */
void term_quit_forgive(void); /* that signal was meant for something else: go on */
int term_quit_signal(void);   /* the signal of TERM_QUIT; SIGHUP when the terminal went */

/* Async-signal-safe: puts the terminal back as it was, without ever blocking. For last words. */
void term_emergency_restore(void);

#endif
