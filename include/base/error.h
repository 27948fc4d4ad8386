// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors as values: a class, the kernel's errno if there was one, and a sentence for a person. */
#ifndef FLAMETOP_BASE_ERROR_H
#define FLAMETOP_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

enum error_class {
    ERROR_NONE,
    ERROR_ARGUMENT,    /* what the caller or the user gave is wrong */
    ERROR_SYSTEM,      /* a system call failed */
    ERROR_PERMISSION,  /* the kernel refuses for lack of privilege */
    ERROR_MISSING,     /* a thing that was named does not exist */
    ERROR_FORMAT,      /* bytes from elsewhere are not what they should be */
    ERROR_LIMIT,       /* a limit of ours or of the system was met */
    ERROR_UNSUPPORTED, /* this machine or this build cannot */
};

struct error {
    enum error_class class;
    int sys;        /* errno, or 0 */
    char text[480]; /* what was tried, what the kernel said, what to do; one line, cleaned */
    /* In a text that somebody typed: where the fault is. */
    bool placed;
    size_t at; /* that many bytes into what the function was given */
    char shown
        [128]; /* the text, or the part of it around the fault, cleaned; "": error_show was not called yet */
    unsigned column; /* of the fault in `shown` */
};

/* All three return false, so that `return error_set(e, …);` reads well. `e` may be NULL. */
bool error_set(struct error *e, enum error_class class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends ": <strerror(errnum)>" and chooses the class from errnum. */
bool error_sys(struct error *e, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Adds a hint ("run as root") to an error that is set already; "; " is put before it if it has none. */
bool error_hint(struct error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void error_clear(struct error *e);
/* Puts the place to an error that is set already. Who gave only a part of its text moves it by where that part begins;
 * who has the whole text shows it, for a caret below. False; nothing without a place, or for what is shown already. */
bool error_at(struct error *e, size_t at);
bool error_shift(struct error *e, size_t by);
bool error_show(struct error *e, const char *whole);

#endif
