// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "base/text.h"
#include "ui/term_signal.h"

/* Last: its term.h makes macros of words like "columns". */
#define NCURSES_WIDECHAR 1
#include <ncurses.h>
#include <term.h>

_Static_assert(STYLE_COUNT < 64, "a terminal of 8 colours has 64 colour pairs");

static struct {
    SCREEN *screen;
    WINDOW *input; /* never drawn: reading keys from stdscr would refresh it */
    FILE *in, *out;
    bool unicode, glyphs, mouse, own_colors;
    int colors, cursor_y, cursor_x, click_y, click_x;
    uint64_t click_ns;
    attr_t attributes[STYLE_COUNT];
    short pairs[STYLE_COUNT];
    bool gone;                   /* the terminal went away */
    bool fixed_rows, fixed_cols; /* by LINES and COLUMNS */
} term;

/* --- start and stop --- */

static void choose_locale(const struct term_config *cfg)
{
    (void)setlocale(LC_ALL, "");
    (void)setlocale(LC_NUMERIC, "C");
    const char *type = getenv("TERM");
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    /* Serial terminals of old: their locale may say UTF-8, they do not. */
    bool old = type && (strncmp(type, "vt", 2) == 0 || strncmp(type, "ansi", 4) == 0);
    term.unicode = utf8 && !old && !cfg->no_unicode;
    /* The Linux console's fonts have 256 or 512 glyphs; eighths of blocks are not among them. */
    term.glyphs = term.unicode && type && strncmp(type, "linux", 5) != 0;
}

/* Appends a terminfo string without its padding, which means nothing to anything built in this century. */
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

static bool open_files(struct error *e)
{
    int in = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                  : open("/dev/tty", O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return error_sys(e, errno, "standard input is not a terminal, and /dev/tty cannot be opened");
    term.in = fdopen(in, "r");
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    term.out = out >= 0 ? fdopen(out, "w") : NULL;
    if (!term.in || !term.out)
        return error_sys(e, errno, "cannot open the terminal");
    return true;
}

static void close_files(void)
{
    if (term.in)
        (void)fclose(term.in);
    if (term.out)
        (void)fclose(term.out);
    term.in = term.out = NULL;
}

static size_t leave_string(char *dst, size_t cap)
{
    size_t n = 0;
    if (term.mouse) {
        static const char off[] = "\033[?1000l\033[?1006l";
        memcpy(dst, off, sizeof off - 1);
        n = sizeof off - 1;
    }
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

/* Keys as terminals send them in the mode that terminfo does not describe (cursor keys come as ESC [ or ESC O), and
 * the old names of Home, End and the first function keys. */
static void define_keys(void)
{
    static const struct {
        const char *sequence;
        int key;
    } keys[] = {
        { "\033[A", KEY_UP },     { "\033OA", KEY_UP },     { "\033[B", KEY_DOWN },   { "\033OB", KEY_DOWN },
        { "\033[C", KEY_RIGHT },  { "\033OC", KEY_RIGHT },  { "\033[D", KEY_LEFT },   { "\033OD", KEY_LEFT },
        { "\033[H", KEY_HOME },   { "\033OH", KEY_HOME },   { "\033[1~", KEY_HOME },  { "\033[7~", KEY_HOME },
        { "\033[F", KEY_END },    { "\033OF", KEY_END },    { "\033[4~", KEY_END },   { "\033[8~", KEY_END },
        { "\033[5~", KEY_PPAGE }, { "\033[6~", KEY_NPAGE }, { "\033[3~", KEY_DC },    { "\033[2~", KEY_IC },
        { "\033[Z", KEY_BTAB },   { "\033OP", KEY_F(1) },   { "\033OQ", KEY_F(2) },   { "\033OR", KEY_F(3) },
        { "\033OS", KEY_F(4) },   { "\033[11~", KEY_F(1) }, { "\033[12~", KEY_F(2) }, { "\033[13~", KEY_F(3) },
        { "\033[14~", KEY_F(4) }, { "\033[[A", KEY_F(1) },  { "\033[[B", KEY_F(2) },  { "\033[[C", KEY_F(3) },
        { "\033[[D", KEY_F(4) },  { "\033[[E", KEY_F(5) },  { "\033[15~", KEY_F(5) }, { "\033[17~", KEY_F(6) },
        { "\033[18~", KEY_F(7) }, { "\033[19~", KEY_F(8) }, { "\033[20~", KEY_F(9) }, { "\033[21~", KEY_F(10) },
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!key_defined(keys[i].sequence))
            (void)define_key(keys[i].sequence, keys[i].key);
}

static void start_screen(const struct term_config *cfg)
{
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)set_escdelay(25);
    (void)curs_set(0);
    (void)scrollok(stdscr, FALSE);
    (void)idlok(stdscr, FALSE);
    term.input = newpad(1, 1);
    (void)keypad(term.input, TRUE);
    (void)nodelay(term.input, TRUE);
    (void)meta(term.input, TRUE);
    define_keys();
    if (term.mouse) {
        (void)mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
        (void)mouseinterval(0);
    }
    term.colors = 0;
    if (starts_color(cfg) && start_color() == OK) {
        term.own_colors = use_default_colors() == OK;
        term.colors = COLORS >= 256 ? 256 : COLORS >= 8 ? 8 : 0;
    }
}

bool term_start(const struct term_config *cfg, const struct theme *theme, struct error *e)
{
    memset(&term, 0, sizeof term);
    term.cursor_y = -1;
    term.mouse = cfg->mouse;
    choose_locale(cfg);
    const char *rows = getenv("LINES"), *cols = getenv("COLUMNS");
    uint64_t n;
    term.fixed_rows = rows && text_parse_u64(rows, 1, 10000, &n);
    term.fixed_cols = cols && text_parse_u64(cols, 1, 10000, &n);
    if (!check_terminal(e) || !open_files(e))
        goto fail;
    char leave[200];
    size_t leave_n = leave_string(leave, sizeof leave);
    (void)del_curterm(cur_term); /* newterm makes its own */
    if (!term_signal_start(fileno(term.in), fileno(term.out), leave, leave_n, e))
        goto fail;
    term.screen = newterm(NULL, term.out, term.in);
    if (!term.screen) {
        term_signal_stop();
        error_set(e, ERROR_SYSTEM, "the terminal cannot be used: set TERM=xterm-256color, or use --batch");
        goto fail;
    }
    start_screen(cfg);
    term_signal_retake(); /* ncurses took signals for itself: they are ours */
    term_set_theme(theme);
    return true;
fail:
    close_files();
    return false;
}

void term_stop(void)
{
    if (!term.screen)
        return;
    term_signal_output(true);
    (void)delwin(term.input);
    (void)endwin();
    term_signal_output(false);
    term_signal_stop();
    delscreen(term.screen);
    term.screen = NULL;
    close_files();
}

/* --- styles --- */

static int own_color(int16_t c, int fallback)
{
    return c >= 0 ? c : term.own_colors ? -1 : fallback;
}

void term_set_theme(const struct theme *theme)
{
    const struct theme_style *styles = theme->styles[term_depth()];
    for (int i = 0; i < STYLE_COUNT; i++) {
        attr_t a = 0;
        if (styles[i].attributes & THEME_BOLD)
            a |= A_BOLD;
        if (styles[i].attributes & THEME_DIM)
            a |= A_DIM;
        if (styles[i].attributes & THEME_REVERSE)
            a |= A_REVERSE;
        if (styles[i].attributes & THEME_UNDERLINE)
            a |= A_UNDERLINE;
        term.attributes[i] = a;
        /* The terminal's own colours are pair 0, as blanks have it: changing between pairs costs bytes. */
        bool plain = !term.colors || (term.own_colors && styles[i].fg < 0 && styles[i].bg < 0);
        term.pairs[i] = plain ? 0 : (short)(i + 1);
        if (!plain)
            (void)init_pair((short)(i + 1), (short)own_color(styles[i].fg, COLOR_WHITE),
                            (short)own_color(styles[i].bg, COLOR_BLACK));
    }
}

static short style_pair(enum style s)
{
    return term.pairs[s];
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
    return term.unicode;
}

bool term_glyphs(void)
{
    return term.glyphs;
}

/* --- drawing --- */

void term_size(int *rows, int *cols)
{
    *rows = LINES;
    *cols = COLS;
}

void term_frame_begin(void)
{
    (void)erase();
    term.cursor_y = -1;
}

void term_frame_end(void)
{
    term_signal_output(true);
    (void)curs_set(term.cursor_y >= 0);
    if (term.cursor_y >= 0)
        (void)move(term.cursor_y, term.cursor_x);
    (void)wnoutrefresh(stdscr);
    (void)doupdate();
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

/* Puts one character's cells; 0 when it does not fit. What ncurses (by the C library) would measure differently
 * from us would shift the line: it becomes '?'. */
static int put_wide(wchar_t *dst, int *n, uint32_t c, int room)
{
    int width = text_char_width(c);
    if (width <= 0)
        return 0;
    if (width > room)
        return -1;
    bool plain = c < 0x80;
    if (c < 0x20 || c == 0x7f || (!plain && (!term.unicode || wcwidth((wchar_t)c) != width))) {
        for (int i = 0; i < width; i++)
            dst[(*n)++] = L'?';
        return width;
    }
    dst[(*n)++] = (wchar_t)c;
    return width;
}

int term_text(int y, int x, int cols, enum style style, const char *text)
{
    if (y < 0 || y >= LINES || x < 0 || x >= COLS || cols <= 0)
        return 0;
    if (cols > COLS - x)
        cols = COLS - x;
    wchar_t out[512];
    int n = 0, used = 0, start = x;
    size_t left = strlen(text);
    (void)attr_set(term.attributes[style], style_pair(style), NULL);
    while (left && used < cols) {
        uint32_t c;
        size_t took = text_decode(text, left, &c);
        int width = put_wide(out, &n, c, cols - used);
        if (width < 0)
            break;
        used += width;
        text += took;
        left -= took;
        if (n >= 500) {
            (void)mvaddnwstr(y, start, out, n);
            start = x + used;
            n = 0;
        }
    }
    (void)mvaddnwstr(y, start, out, n);
    return used;
}

void term_fill(int y, int x, int cols, enum style style, char ch)
{
    if (y < 0 || y >= LINES || x < 0 || x >= COLS || cols <= 0)
        return;
    if (cols > COLS - x)
        cols = COLS - x;
    (void)attr_set(term.attributes[style], style_pair(style), NULL);
    (void)move(y, x);
    (void)hline((chtype)(unsigned char)ch | term.attributes[style] | (chtype)COLOR_PAIR(style_pair(style)),
                cols);
}

void term_restyle(int y, int x, int cols, enum style style)
{
    if (y < 0 || y >= LINES || x < 0 || x >= COLS || cols <= 0)
        return;
    (void)mvchgat(y, x, cols, term.attributes[style], style_pair(style), NULL);
}

/* --- keys --- */

static uint32_t decode_function_key(wint_t c)
{
    switch (c) {
    case KEY_UP:
        return TK_UP;
    case KEY_DOWN:
        return TK_DOWN;
    case KEY_LEFT:
        return TK_LEFT;
    case KEY_RIGHT:
        return TK_RIGHT;
    case KEY_PPAGE:
        return TK_PGUP;
    case KEY_NPAGE:
        return TK_PGDN;
    case KEY_HOME:
    case KEY_FIND:
        return TK_HOME;
    case KEY_END:
    case KEY_SELECT:
        return TK_END;
    case KEY_IC:
        return TK_INSERT;
    case KEY_DC:
        return TK_DELETE;
    case KEY_ENTER:
        return TK_ENTER;
    case KEY_BTAB:
        return TK_SHIFT_TAB;
    case KEY_BACKSPACE:
        return TK_BACKSPACE;
    case KEY_MOUSE:
        return TK_MOUSE;
    default:
        return c >= KEY_F(1) && c <= KEY_F(12) ? TK_F1 + (uint32_t)(c - KEY_F(1)) : TK_NONE;
    }
}

static uint32_t decode_character(wint_t c)
{
    switch (c) {
    case '\r':
    case '\n':
        return TK_ENTER;
    case '\t':
        return TK_TAB;
    case 8:
    case 127:
        return TK_BACKSPACE;
    case 27:
        return TK_ESC;
    default:
        return c;
    }
}

/* ncurses tells double clicks only by holding each click back for a while. */
static bool is_double(const struct term_mouse *m)
{
    uint64_t now = clock_now_ns();
    bool twice = now - term.click_ns < 400 * NS_PER_MS && m->y == term.click_y && m->x == term.click_x;
    term.click_ns = twice ? 0 : now;
    term.click_y = m->y;
    term.click_x = m->x;
    return twice;
}

static bool decode_mouse(struct term_mouse *m)
{
    MEVENT ev;
    if (getmouse(&ev) != OK)
        return false;
    *m = (struct term_mouse){ .y = ev.y, .x = ev.x };
    if (ev.bstate & BUTTON4_PRESSED)
        m->what = TERM_MOUSE_WHEEL_UP;
    else if (ev.bstate & BUTTON5_PRESSED)
        m->what = TERM_MOUSE_WHEEL_DOWN;
    else if (ev.bstate & BUTTON1_PRESSED)
        m->what = is_double(m) ? TERM_MOUSE_DOUBLE : TERM_MOUSE_PRESS;
    else
        return false;
    return true;
}

/* What ncurses does not know of this terminal (Ctrl-Right, a paste mark) comes as ESC [ … letter. As single keys it
 * would do things that nobody asked for: all of it is dropped. */
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
    for (int n = 0; intro == '[' && n < 32 && c >= 0x20 && c < 0x40; n++)
        if (wget_wch(term.input, &c) != OK)
            break;
    return true;
}

static uint32_t read_key(struct term_mouse *mouse)
{
    wint_t c = 0;
    int got = wget_wch(term.input, &c);
    if (got == ERR)
        return TK_NONE;
    if (got != KEY_CODE_YES && c == 27 && drops_sequence())
        return TK_NONE;
    if (got != KEY_CODE_YES)
        return decode_character(c);
    uint32_t key = decode_function_key(c);
    return key == TK_MOUSE && !decode_mouse(mouse) ? (uint32_t)TK_NONE : key;
}

static void resize(void)
{
    struct winsize ws;
    if (ioctl(fileno(term.out), TIOCGWINSZ, &ws) != 0 || !ws.ws_row || !ws.ws_col)
        return;
    (void)resizeterm(term.fixed_rows ? LINES : ws.ws_row, term.fixed_cols ? COLS : ws.ws_col);
}

static void stop_and_continue(void)
{
    term_signal_output(true);
    (void)endwin();
    term_signal_output(false);
    term_signal_stop_self();
    resize();
    (void)clearok(curscr, TRUE);
}

static bool terminal_is_gone(void)
{
    struct termios t;
    return tcgetattr(fileno(term.in), &t) != 0;
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

enum term_event term_wait(int timeout_ms, uint32_t *key, struct term_mouse *mouse)
{
    enum term_event event;
    struct pollfd fds[2] = { { .fd = fileno(term.in), .events = POLLIN },
                             { .fd = term_signal_fd(), .events = POLLIN } };
    if (take_signals(&event))
        return event;
    *key = read_key(mouse); /* ncurses may hold keys that poll knows nothing of */
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
    term.gone = terminal_is_gone();
    return term.gone ? TERM_QUIT : TERM_NOTHING;
}

int term_quit_signal(void)
{
    int sig = term_signal_quit();
    return sig ? sig : SIGHUP;
}
