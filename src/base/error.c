// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static enum error_class class_of_errno(int errnum)
{
    switch (errnum) {
    case EACCES:
    case EPERM:
        return ERROR_PERMISSION;
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
    case ESRCH:
        return ERROR_MISSING;
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
        return ERROR_LIMIT;
    case EAFNOSUPPORT:
    case ENODEV:
    case ENOSYS:
    case EOPNOTSUPP:
        return ERROR_UNSUPPORTED;
    default:
        return ERROR_SYSTEM;
    }
}

/* Formats into a copy first: the arguments may point into e->text (an error wrapped in another). */
static void set_text(struct error *e, enum error_class class, int sys, const char *fmt, va_list ap)
{
    char text[sizeof e->text];
    int n = vsnprintf(text, sizeof text, fmt, ap);

    text_clean(e->text, sizeof e->text, n < 0 ? fmt : text, sizeof text);
    e->class = class;
    e->sys = sys;
    e->placed = false;
    e->at = 0;
    e->shown[0] = '\0';
    e->column = 0;
}

static void append(struct error *e, const char *separator, const char *text)
{
    size_t n = strlen(e->text);
    int added = snprintf(e->text + n, sizeof e->text - n, "%s%s", separator, text);

    /* snprintf may have split a character at the end of the buffer */
    if (added > 0)
        text_clean(e->text, sizeof e->text, e->text, sizeof e->text);
}

bool error_set(struct error *e, enum error_class class, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return false;
    va_start(ap, fmt);
    set_text(e, class, 0, fmt, ap);
    va_end(ap);
    return false;
}

bool error_sys(struct error *e, int errnum, const char *fmt, ...)
{
    va_list ap;

    if (!e)
        return false;
    va_start(ap, fmt);
    set_text(e, class_of_errno(errnum), errnum, fmt, ap);
    va_end(ap);
    append(e, ": ", strerror(errnum));
    return false;
}

bool error_hint(struct error *e, const char *fmt, ...)
{
    char hint[sizeof e->text];
    va_list ap;

    if (!e)
        return false;
    va_start(ap, fmt);
    if (vsnprintf(hint, sizeof hint, fmt, ap) < 0)
        hint[0] = '\0';
    va_end(ap);
    append(e, hint[0] == ';' || !e->text[0] ? "" : "; ", hint);
    return false;
}

const char *error_name(int errnum)
{
#ifdef HAVE_STRERRORNAME_NP
    return strerrorname_np(errnum);
#else
    (void)errnum;
    return NULL;
#endif
}

void error_clear(struct error *e)
{
    if (!e)
        return;
    e->class = ERROR_NONE;
    e->sys = 0;
    e->text[0] = '\0';
    e->placed = false;
    e->shown[0] = '\0';
    e->column = 0;
}

bool error_at(struct error *e, size_t at)
{
    if (e) {
        e->placed = true;
        e->at = at;
    }
    return false;
}

bool error_shift(struct error *e, size_t by)
{
    if (e && e->placed && !e->shown[0])
        e->at += by;
    return false;
}

/* A long text is shown as a window: half of it before the fault, starting at a whole character. */
bool error_show(struct error *e, const char *whole)
{
    if (!e || !e->placed || e->shown[0])
        return false;
    size_t len = strlen(whole), room = sizeof e->shown - 1, at = e->at < len ? e->at : len;
    size_t from = len > room && at > room / 2 ? at - room / 2 : 0;
    char before[sizeof e->shown];
    while (from && ((unsigned char)whole[from] & 0xc0) == 0x80)
        from++;
    text_clean(e->shown, sizeof e->shown, whole + from, len - from);
    text_clean(before, sizeof before, whole + from, at > from ? at - from : 0);
    e->column = (unsigned)text_width(before);
    return false;
}
