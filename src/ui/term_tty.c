// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_tty.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.h"
#include "ui/term_signal.h"

static bool asks_for_utf8(void)
{
    static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *locale = getenv(variables[i]);
        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}

static void set_locale(void)
{
#ifdef FLAMETOP_STATIC
    /* Other encodings need modules of the system's libc, which may differ from the linked one. */
    if (asks_for_utf8() && !setlocale(LC_CTYPE, "C.UTF-8"))
        (void)setlocale(LC_CTYPE, "");
#else
    /* A locale that came over SSH and is missing here still tells what the terminal can show. */
    if (!setlocale(LC_ALL, "") && asks_for_utf8())
        (void)setlocale(LC_ALL, "C.UTF-8");
#endif
}

static void choose_locale(struct term_tty *t, bool no_unicode)
{
    set_locale();
    (void)setlocale(LC_NUMERIC, "C");
    const char *type = getenv("TERM");
    bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    /* Old serial terminals cannot show UTF-8, whatever their locale says. */
    bool old = type && (strncmp(type, "vt", 2) == 0 || strncmp(type, "ansi", 4) == 0);
    t->unicode = utf8 && !old && !no_unicode;
    /* The Linux console's fonts have 256 or 512 glyphs, without eighths of blocks. */
    t->glyphs = t->unicode && type && strncmp(type, "linux", 5) != 0;
}

bool term_tty_open(struct term_tty *t, bool no_unicode, struct error *e)
{
    *t = (struct term_tty){ 0 };
    choose_locale(t, no_unicode);
    int in = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
                                  : open("/dev/tty", O_RDONLY | O_CLOEXEC);
    if (in < 0)
        return error_sys(e, errno, "standard input is not a terminal, and /dev/tty cannot be opened");
    t->in = fdopen(in, "r");
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    t->out = out >= 0 ? fdopen(out, "w") : NULL;
    t->terminal = t->out ? fcntl(out, F_DUPFD_CLOEXEC, 3) : 0;
    int why = errno;
    if (t->in && t->out && t->terminal > 0) {
        t->frame = memfd_create("flametop-frame", MFD_CLOEXEC);
        return true;
    }
    term_tty_close(t);
    return error_sys(e, why, "cannot open the terminal");
}

void term_tty_close(struct term_tty *t)
{
    if (t->in)
        (void)fclose(t->in);
    if (t->out)
        (void)fclose(t->out);
    if (t->terminal > 0)
        (void)close(t->terminal);
    if (t->frame > 0)
        (void)close(t->frame);
    *t = (struct term_tty){ 0 };
}

bool term_tty_collect(struct term_tty *t)
{
    return t->frame > 0 && lseek(t->frame, 0, SEEK_SET) == 0 &&
           dup3(t->frame, fileno(t->out), O_CLOEXEC) >= 0;
}

void term_tty_drop(struct term_tty *t)
{
    (void)dup3(t->terminal, fileno(t->out), O_CLOEXEC);
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t wrote = write(fd, bytes, n);
        if (wrote < 0 && errno == EINTR && !term_signal_quit())
            continue;
        /* the next wait for keys notices */
        if (wrote <= 0)
            return false;
        bytes += wrote;
        n -= (size_t)wrote;
    }
    return true;
}

void term_tty_send(struct term_tty *t, const char *bytes)
{
    (void)write_all(t->terminal, bytes, strlen(bytes));
}

void term_tty_deliver(struct term_tty *t)
{
    char bytes[16384];
    off_t at = 0, end = t->frame > 0 ? lseek(t->frame, 0, SEEK_CUR) : 0;
    term_tty_drop(t);
    while (at < end) {
        size_t left = (size_t)(end - at);
        ssize_t n = pread(t->frame, bytes, left < sizeof bytes ? left : sizeof bytes, at);
        if (n <= 0 || !write_all(t->terminal, bytes, (size_t)n))
            return;
        at += n;
    }
}

static bool fixed(const char *variable, int *value)
{
    const char *text = getenv(variable);
    uint64_t n;
    if (!text || !text_parse_u64(text, 1, 10000, &n))
        return false;
    *value = (int)n;
    return true;
}

bool term_tty_size(const struct term_tty *t, int *rows, int *cols)
{
    struct winsize ws;
    if (ioctl(fileno(t->out), TIOCGWINSZ, &ws) != 0 || !ws.ws_row || !ws.ws_col)
        return false;
    *rows = ws.ws_row;
    *cols = ws.ws_col;
    (void)fixed("LINES", rows);
    (void)fixed("COLUMNS", cols);
    return true;
}

bool term_tty_is_gone(const struct term_tty *t)
{
    struct termios settings;
    return tcgetattr(fileno(t->in), &settings) != 0;
}
