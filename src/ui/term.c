// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/term_grid.h"
#include "ui/term_keys.h"
#include "ui/term_paint.h"
#include "ui/term_signal.h"
#include "ui/term_tty.h"
#include "ui/term_types.h"

/* Included last: its term.h defines words like "columns" as macros. */
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

#define PIECE_MAX     512 /* cells per call of ncurses */
#define MOUSE_MAX     16
#define MOUSE_BUTTONS (BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED)

static struct {
    struct term_tty tty;
    SCREEN *screen;
    WINDOW *input; /* never drawn: reading keys from stdscr would refresh it */
    bool mouse;
    int colors;              /* 0, 8 or 256 (also if there are more) */
    bool own_colors, direct; /* the terminal's default colours can be used; colours are RGB */
    int cursor_y, cursor_x;
    struct term_click click;
    struct term_mouse mice[MOUSE_MAX]; /* newest first */
    bool pasting, pasted;              /* pasted: the last key is part of a paste */
    uint64_t paste_ns;                 /* time of the last key */
    int n_mouse;
    struct term_grid grid;
    struct term_paints paints;
    cchar_t blanks[TERM_PAINTS]; /* a blank cell per paint */
    uint32_t n_blanks;
    struct map pairs; /* two colours → number of their pair */
    int n_pairs;
    bool gone; /* the terminal was closed */
} term;

/* --- start and stop --- */

/* Appends a terminfo string without its padding, which no terminal of this century needs. */
static size_t add_capability(char *dst, size_t cap, size_t n, const char *name)
{
    const char *s = tigetstr((char *)(uintptr_t)name);
    if (!s || s == (char *)-1)
        return n;
    while (*s && n + 1 < cap) {
        const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (end)
            s = end + 1;
        else
            dst[n++] = *s++;
    }
    return n;
}

void term_prepare(void)
{
    const char *type = getenv("TERM");
    int found;
    if (!type || !*type || !isatty(STDOUT_FILENO))
        return;
    if (setupterm(NULL, STDOUT_FILENO, &found) == OK) {
        (void)del_curterm(cur_term);
        return;
    }
    const struct term_type *own = term_type_find(type);
    if (own) {
        (void)setenv("TERM", own->name, 1);
        (void)setenv("TERMINFO", own->terminfo, 1);
    }
}

static bool check_terminal(struct error *e)
{
    const char *type = getenv("TERM");
    if (!type || !*type)
        return error_set(
            e, ERROR_ARGUMENT,
            "TERM is not set: set it to your terminal's type, as TERM=xterm-256color, or use --batch");
    if (!isatty(STDOUT_FILENO))
        return error_set(e, ERROR_ARGUMENT, "standard output is not a terminal: use --batch for plain text");
    char safe[64];
    text_clean(safe, sizeof safe, type, strlen(type));
    int found = 0;
    if (setupterm(NULL, STDOUT_FILENO, &found) != OK) {
        if (found < 0)
            return error_set(e, ERROR_MISSING,
                             "there is no terminfo database: install ncurses-base, or use --batch");
        return error_set(e, ERROR_ARGUMENT,
                         "unknown terminal type \"%s\": set TERM=xterm-256color, or use --batch", safe);
    }
    const char *move = tigetstr("cup");
    if (!move || move == (char *)-1)
        return error_set(
            e, ERROR_ARGUMENT,
            "terminal type \"%s\" cannot move its cursor: set TERM=xterm-256color, or use --batch", safe);
    return true;
}

/* Pasted text comes between marks (xterm's bracketed paste), so that it is not handled as keys. */
#define PASTE_ON         "\033[?2004h"
#define PASTE_OFF        "\033[?2004l"
#define PASTE_BEGIN      "200~"
#define PASTE_END        "201~"
#define PASTE_SILENCE_NS NS_PER_SEC /* after it, the end mark counts as lost */

static size_t leave_string(char *dst, size_t cap)
{
    size_t n = 0;
    const char *off = term.mouse ? PASTE_OFF "\033[?1000l\033[?1006l" : PASTE_OFF;
    memcpy(dst, off, n = strlen(off));
    static const char *const names[] = { "sgr0", "op", "cnorm", "rmkx", "rmcup" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        n = add_capability(dst, cap, n, names[i]);
    dst[n++] = '\r';
    return n;
}

static bool starts_color(const struct term_config *cfg)
{
    const char *no = getenv("NO_COLOR");
    return !cfg->no_color && !(no && *no) && has_colors();
}

static const struct {
    int code;
    uint32_t key;
} function_keys[] = {
    { KEY_UP, TK_UP },       { KEY_DOWN, TK_DOWN },
    { KEY_LEFT, TK_LEFT },   { KEY_RIGHT, TK_RIGHT },
    { KEY_PPAGE, TK_PGUP },  { KEY_NPAGE, TK_PGDN },
    { KEY_HOME, TK_HOME },   { KEY_FIND, TK_HOME },
    { KEY_END, TK_END },     { KEY_SELECT, TK_END },
    { KEY_IC, TK_INSERT },   { KEY_DC, TK_DELETE },
    { KEY_ENTER, TK_ENTER }, { KEY_BTAB, TK_SHIFT_TAB },
    { KEY_MOUSE, TK_MOUSE }, { KEY_BACKSPACE, TK_BACKSPACE },
};
#define N_FUNCTION_KEYS (sizeof function_keys / sizeof *function_keys)

static uint32_t key_of_code(wint_t code)
{
    for (size_t i = 0; i < N_FUNCTION_KEYS; i++)
        if ((wint_t)function_keys[i].code == code)
            return function_keys[i].key;
    return code >= KEY_F(1) && code <= KEY_F(12) ? TK_F1 + (uint32_t)(code - KEY_F(1)) : TK_NONE;
}

static int code_of_key(uint32_t key)
{
    for (size_t i = 0; i < N_FUNCTION_KEYS; i++)
        if (function_keys[i].key == key)
            return function_keys[i].code;
    return KEY_F(1 + (int)(key - TK_F1));
}

static void define_keys(void)
{
    for (size_t i = 0; i < term_sequences_n; i++)
        if (!key_defined(term_sequences[i].text))
            (void)define_key(term_sequences[i].text, code_of_key(term_sequences[i].key));
}

/* Ends the screen once before it is visible. Until endwin() was called once, ncurses believes that initscr()
 * was never called, and writes each piece of a frame separately. The screen continues before colours are
 * started: later, ncurses would reset them to the terminal's initial ones. */
static void end_once(void)
{
    if (!term_tty_collect(&term.tty))
        return;
    (void)endwin();
    term_tty_drop(&term.tty);
    term_signal_output(true);
    (void)doupdate();
    term_signal_output(false);
}

static void start_screen(const struct term_config *cfg)
{
    end_once();
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)set_escdelay(25);
    (void)curs_set(0);
    (void)typeahead(-1); /* frames are never interrupted by keys */
    (void)scrollok(stdscr, FALSE);
    (void)idlok(stdscr, FALSE);
    term_tty_send(&term.tty, PASTE_ON);
    term.input = newpad(1, 1);
    (void)keypad(term.input, TRUE);
    (void)nodelay(term.input, TRUE);
    (void)meta(term.input, TRUE);
    define_keys();
    if (term.mouse) {
        (void)mousemask(MOUSE_BUTTONS, NULL);
        /* terminfo of tmux, screen and old xterms has only the mode that ends at column 223 */
        term_tty_send(&term.tty, "\033[?1006h");
        (void)mouseinterval(0);
    }
    if (starts_color(cfg) && start_color() == OK) {
        term.own_colors = use_default_colors() == OK;
        term.colors = COLORS >= 256 ? 256 : COLORS >= 8 ? 8 : 0;
        term.direct = COLORS > 256 && tigetflag((char *)(uintptr_t) "RGB") > 0;
    }
}

bool term_start(const struct term_config *cfg, const struct theme *theme, struct error *e)
{
    memset(&term, 0, sizeof term);
    term.cursor_y = -1;
    term.mouse = cfg->mouse;
    if (!check_terminal(e) || !term_tty_open(&term.tty, cfg->no_unicode, e))
        goto fail;
    char leave[200];
    size_t leave_n = leave_string(leave, sizeof leave);
    (void)del_curterm(cur_term); /* newterm makes its own */
    if (!term_signal_start(fileno(term.tty.in), term.tty.terminal, leave, leave_n, e))
        goto fail;
    term.screen = newterm(NULL, term.tty.out, term.tty.in);
    if (!term.screen) {
        term_signal_stop();
        error_set(e, ERROR_SYSTEM, "the terminal cannot be used: set TERM=xterm-256color, or use --batch");
        goto fail;
    }
    start_screen(cfg);
    term_signal_retake(); /* ncurses installed its own handlers */
    term_set_theme(theme);
    return true;
fail:
    term_tty_close(&term.tty);
    return false;
}

void term_stop(void)
{
    if (!term.screen)
        return;
    term_signal_output(true);
    if (term.mouse)
        term_tty_send(&term.tty, "\033[?1006l");
    term_tty_send(&term.tty, PASTE_OFF);
    (void)delwin(term.input);
    (void)endwin();
    term_signal_output(false);
    term_signal_stop();
    delscreen(term.screen);
    term.screen = NULL;
    term_grid_done(&term.grid);
    term_paint_done(&term.paints);
    map_done(&term.pairs);
    term_tty_close(&term.tty);
}

/* --- styles --- */

static int pair_color(int32_t c, int fallback)
{
    if (c < 0)
        return term.own_colors ? -1 : fallback;
    if (term.direct) {
        c = theme_color_direct(c);
        return c >= THEME_RGB ? c - THEME_RGB : c;
    }
    return term.colors < 256 ? theme_color_8(c) : theme_color_256(c);
}

/* Returns the pair of two colours. Paints share pairs: a terminal of 8 colours has 64. */
static int pair_of(const struct theme_style *s)
{
    int fg = pair_color(s->fg, COLOR_WHITE), bg = pair_color(s->bg, COLOR_BLACK);
    bool created;
    uint64_t *pair = map_at(&term.pairs, (uint64_t)(uint32_t)fg << 32 | (uint32_t)bg, 0, &created);
    if (created && term.n_pairs + 1 < COLOR_PAIRS) {
        *pair = (uint64_t)++term.n_pairs;
        (void)init_extended_pair((int)*pair, fg, bg);
    }
    return (int)*pair;
}

static void make_blank(uint32_t paint)
{
    const struct theme_style *s = &term.paints.styles[paint];
    attr_t a = 0;
    if (s->attributes & THEME_BOLD)
        a |= A_BOLD;
    if (s->attributes & THEME_DIM)
        a |= A_DIM;
    if (s->attributes & THEME_REVERSE)
        a |= A_REVERSE;
    if (s->attributes & THEME_UNDERLINE)
        a |= A_UNDERLINE;
    /* Colours of the terminal's default use pair 0, as blanks do: changing between pairs costs bytes. */
    bool plain = !term.colors || (term.own_colors && s->fg < 0 && s->bg < 0);
    (void)setcchar(&term.blanks[paint], L" ", a, (short)(plain ? 0 : pair_of(s)), NULL);
}

void term_set_theme(const struct theme *theme)
{
    term.paints.rich = term.colors >= 256;
    term.paints.direct = term.direct;
    term_paint_theme(&term.paints, theme->styles[term_depth()],
                     (uint32_t)(COLOR_PAIRS > 1 ? COLOR_PAIRS - 1 : 0));
    term.n_blanks = 0;
    map_clear(&term.pairs);
    term.n_pairs = 0;
    term.grid.whole = true;
}

enum theme_depth term_depth(void)
{
    return term.colors >= 256 ? THEME_256 : term.colors ? THEME_8 : THEME_MONO;
}

int term_colors(void)
{
    return term.colors;
}

bool term_unicode(void)
{
    return term.tty.unicode;
}

bool term_glyphs(void)
{
    return term.tty.glyphs;
}

/* --- drawing --- */

void term_size(int *rows, int *cols)
{
    *rows = LINES;
    *cols = COLS;
}

void term_frame_begin(void)
{
    term_grid_begin(&term.grid, LINES, COLS, TERM_PAINT_NONE);
    term.cursor_y = -1;
}

/* Draws cells, not text: ncurses does not wrap, scroll or interpret cells. With text, that was the largest
 * cost of a frame. */
static void put_cells(int y, int x, const uint32_t *from, int n)
{
    cchar_t cells[PIECE_MAX];
    for (int i = 0; i < n;) {
        int start = i, k = 0;
        for (; i < n && (k < PIECE_MAX || !term_grid_character(from[i])); i++) {
            uint32_t ch = term_grid_character(from[i]);
            if (!ch) /* drawn with its left half */
                continue;
            cells[k] = term.blanks[from[i] >> TERM_GRID_STYLE];
            cells[k++].chars[0] = (wchar_t)ch;
        }
        (void)mvadd_wchnstr(y, x + start, cells, k);
    }
}

void term_frame_end(void)
{
    while (term.n_blanks < term.paints.n)
        make_blank(term.n_blanks++);
    (void)attr_set(A_NORMAL, 0, NULL); /* the window's attributes would colour cells that have none */
    for (int y = 0; y < term.grid.rows; y++) {
        int x, n;
        const uint32_t *cells = term_grid_changed(&term.grid, y, &x, &n);
        if (cells)
            put_cells(y, x, cells, n);
    }
    term.grid.whole = false;
    term_signal_output(true);
    (void)term_tty_collect(&term.tty);
    (void)curs_set(term.cursor_y >= 0);
    if (term.cursor_y >= 0)
        (void)move(term.cursor_y, term.cursor_x);
    (void)wnoutrefresh(stdscr);
    (void)doupdate();
    term_tty_deliver(&term.tty);
    term_signal_output(false);
}

void term_redraw_all(void)
{
    (void)clearok(curscr, TRUE);
}

void term_cursor(int y, int x)
{
    term.cursor_y = y;
    term.cursor_x = x;
}

int term_text(int y, int x, int cols, enum style style, const char *text)
{
    return term_grid_text(&term.grid, y, x, cols, style, text, term.tty.unicode);
}

void term_fill(int y, int x, int cols, enum style style, char ch)
{
    term_grid_fill(&term.grid, y, x, cols, style, ch);
}

void term_restyle(int y, int x, int cols, enum style style)
{
    term_grid_restyle(&term.grid, y, x, cols, style);
}

enum style term_shade(enum style style, uint32_t which)
{
    return term_paint_shade(&term.paints, style, which);
}

bool term_halves(void)
{
    return term.tty.glyphs && term.colors >= 256;
}

void term_half(int y, int x, enum style left, enum style right)
{
    const char *character;
    enum style style = term_paint_half(&term.paints, left, right, &character);
    (void)term_text(y, x, 1, style, character);
}

/* --- keys --- */

static bool decode_mouse(const MEVENT *ev, struct term_mouse *m)
{
    *m = (struct term_mouse){ .y = ev->y, .x = ev->x, .what = TERM_MOUSE_PRESS };
    if (ev->bstate & BUTTON4_PRESSED)
        m->what = TERM_MOUSE_WHEEL_UP;
    else if (ev->bstate & BUTTON5_PRESSED)
        m->what = TERM_MOUSE_WHEEL_DOWN;
    else if (ev->bstate & BUTTON1_RELEASED)
        m->what = TERM_MOUSE_RELEASE;
    return ev->bstate & MOUSE_BUTTONS;
}

/* ncurses returns mouse events that came together as one key, newest first: reads them all, to be returned
 * in order. */
static void take_mouse(void)
{
    MEVENT ev;
    while (term.n_mouse < MOUSE_MAX && getmouse(&ev) == OK)
        if (decode_mouse(&ev, &term.mice[term.n_mouse]))
            term.n_mouse++;
}

static uint32_t next_mouse(struct term_mouse *m)
{
    if (!term.n_mouse)
        return TK_NONE;
    *m = term.mice[--term.n_mouse];
    if (m->what == TERM_MOUSE_PRESS && term_click_is_double(&term.click, m, clock_now_ns()))
        m->what = TERM_MOUSE_DOUBLE;
    return TK_MOUSE;
}

/* Drops a sequence that ncurses does not know (Ctrl-Right, a paste mark): ESC [ … letter. As single keys
 * it would trigger unwanted actions. Mouse reports in it are kept. */
static bool drops_sequence(void)
{
    wint_t c = 0;
    if (wget_wch(term.input, &c) != OK)
        return false;
    wint_t intro = c;
    if ((intro != '[' && intro != 'O') || wget_wch(term.input, &c) != OK) {
        (void)unget_wch((wchar_t)intro);
        return false;
    }
    char text[33] = "";
    int n = 0;
    for (; intro == '[' && n < 31 && c >= 0x20 && c < 0x40; n++) {
        text[n] = (char)c;
        if (wget_wch(term.input, &c) != OK)
            break;
    }
    text[n] = c < 0x7f ? (char)c : '\0';
    if (intro == '[' && (!strcmp(text, PASTE_BEGIN) || !strcmp(text, PASTE_END)))
        term.pasting = !strcmp(text, PASTE_BEGIN);
    if (term.mouse && intro == '[' && term_parse_mouse(text, &term.mice[0]))
        term.n_mouse = 1;
    return true;
}

static uint32_t read_key(struct term_mouse *mouse)
{
    wint_t c = 0;
    if (term.n_mouse)
        return next_mouse(mouse);
    int got = wget_wch(term.input, &c);
    if (got == ERR)
        return TK_NONE;
    uint64_t now_ns = clock_now_ns();
    term.pasting = term.pasting && now_ns - term.paste_ns < PASTE_SILENCE_NS;
    term.pasted = term.pasting;
    term.paste_ns = now_ns;
    if (got != KEY_CODE_YES && c == 27 && drops_sequence())
        return next_mouse(mouse);
    if (got != KEY_CODE_YES)
        return term_key_of_character(c);
    uint32_t key = key_of_code(c);
    if (key != TK_MOUSE)
        return key;
    take_mouse();
    return next_mouse(mouse);
}

static void resize(void)
{
    int rows, cols;
    if (term_tty_size(&term.tty, &rows, &cols))
        (void)resizeterm(rows, cols);
}

static void stop_and_continue(void)
{
    term_signal_output(true);
    term_tty_send(&term.tty, PASTE_OFF);
    (void)endwin();
    term_signal_output(false);
    term_signal_stop_self();
    term_tty_send(&term.tty, PASTE_ON);
    resize();
    (void)clearok(curscr, TRUE);
}

static bool take_signals(enum term_event *event)
{
    term_signal_drain();
    if (term_signal_quit() || term.gone) {
        *event = TERM_QUIT;
        return true;
    }
    bool stopped = term_signal_take_stop(), resized = term_signal_take_resize();
    if (stopped)
        stop_and_continue();
    else if (resized)
        resize();
    *event = TERM_RESIZED;
    return stopped || resized;
}

bool term_pasted(void)
{
    return term.pasted;
}

enum term_event term_wait(int timeout_ms, uint32_t *key, struct term_mouse *mouse)
{
    enum term_event event;
    struct pollfd fds[2] = { { .fd = fileno(term.tty.in), .events = POLLIN },
                             { .fd = term_signal_fd(), .events = POLLIN } };
    if (take_signals(&event))
        return event;
    *key = read_key(mouse); /* ncurses may hold keys that poll does not see */
    if (*key != TK_NONE)
        return TERM_KEY;
    if (poll(fds, 2, timeout_ms) < 0 && errno != EINTR)
        term.gone = true;
    if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        term.gone = true;
    if (take_signals(&event))
        return event;
    if (!(fds[0].revents & POLLIN))
        return TERM_NOTHING;
    *key = read_key(mouse);
    if (*key != TK_NONE)
        return TERM_KEY;
    term.gone = term_tty_is_gone(&term.tty);
    return term.gone ? TERM_QUIT : TERM_NOTHING;
}

void term_quit_forgive(void)
{
    term_signal_forgive();
}

int term_quit_signal(void)
{
    int sig = term_signal_quit();
    return sig ? sig : SIGHUP;
}
