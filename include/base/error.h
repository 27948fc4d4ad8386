// SPDX-License-Identifier: GPL-2.0-or-later
/* Errors as values: a class, the kernel's errno if there is one, and a sentence for the user. */
#ifndef FLAMETOP_BASE_ERROR_H
#define FLAMETOP_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

enum error_class {
    ERROR_NONE,
    ERROR_ARGUMENT,    /* invalid input from the caller or the user */
    ERROR_SYSTEM,      /* a system call failed */
    ERROR_PERMISSION,  /* the kernel refuses: missing privilege */
    ERROR_MISSING,     /* a named object does not exist */
    ERROR_FORMAT,      /* malformed input data */
    ERROR_LIMIT,       /* a limit of flametop or of the system was reached */
    ERROR_UNSUPPORTED, /* this machine or this build does not support it */
};

struct error {
    enum error_class class;
    int sys;        /* errno, or 0 */
    char text[480]; /* one line, cleaned: what failed, the kernel's reason, what to do */
    /* Location of a fault in text that the user typed; valid if `placed`. */
    bool placed;
    size_t at; /* byte offset in the text that the function received */
    /* The text, or the part around the fault, cleaned. Empty until error_show is called. */
    char shown[128];
    unsigned column; /* column of the fault in `shown` */
};

/* error_set, error_sys and error_hint return false, so that `return error_set(e, …);` reads well. `e` may
 * be NULL. */
bool error_set(struct error *e, enum error_class class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Appends ": <strerror(errnum)>" and chooses the class from errnum. */
bool error_sys(struct error *e, int errnum, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Appends a hint ("run as root") to an error that is already set. Puts "; " before the hint unless it starts
 * with ';'. */
bool error_hint(struct error *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void error_clear(struct error *e);
const char *error_name(int errnum); /* "ENOENT"; NULL: unknown, or this C library cannot tell */
/* error_at adds the byte offset of the fault to an error that is already set. A caller that passed on only
 * part of its text adds the offset of that part with error_shift. A caller that has the whole text calls
 * error_show, to print a caret below the fault. All return false. error_shift and error_show do nothing
 * without an offset or after error_show. */
bool error_at(struct error *e, size_t at);
bool error_shift(struct error *e, size_t by);
bool error_show(struct error *e, const char *whole);

#endif
