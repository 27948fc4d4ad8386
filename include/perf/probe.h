// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes: events at functions of programs and libraries, defined in tracefs (uprobe_events) while flametop
 * needs them. A probe is then a tracepoint. Its definition:
 *
 *   probe:FILE:PLACE[%return] [ARGUMENT ...]      sdt:FILE:PROVIDER:NAME
 *
 * FILE: a path, a library as processes map it (libc.so.6; all files of this name, also in containers), or a
 *     program in PATH. Several names without folders are joined by |.
 * PLACE: FUNCTION, FUNCTION+OFFSET, SOURCE:LINE, or 0xOFFSET in the file (of a marker:
 *     0xOFFSET(0xSEMAPHORE)), or @entry: where the file begins as a program. FUNCTION may be a glob; several
 *     are joined by |, and are one event.
 * %return: at the return of the function.
 * ARGUMENT, as in perf probe: [NAME=]VALUE[:TYPE], separated by blanks or semicolons.
 *     VALUE: a register (%di), memory (+8(%sp), @ADDRESS), $argN (the Nth argument of the function, as it is
 *     called), $retval (at a return), or with debug information the name of a parameter, and away from a
 *     function's entry of a variable.
 *     TYPE: u8 to u64, s8 to s64, x8 to x64, string; of a register or pointer, string is the text that it
 *     points to.
 * sdt: a marker (USDT probe) of the file, with its own arguments (arg1, arg2, ...). Globs match several. */
#ifndef FLAMETOP_PERF_PROBE_H
#define FLAMETOP_PERF_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#define PROBE_PREFIX        "probe:"
#define PROBE_MARKER_PREFIX "sdt:"
#define PROBE_ENTRY         "@entry"
#define PROBE_TEXT_MAX      2048
#define PROBE_WORD_MAX      256 /* of FILE: PROBE_FILE_MAX */
#define PROBE_FILE_MAX      1024
#define PROBE_ARGUMENTS_MAX 48
#define PROBE_PLACES_MAX    1024 /* locations of one event */

/* True if the text is a definition, and not tracepoints of a system "probe" or "sdt". */
bool probe_is_definition(const char *text);

enum probe_kind {
    PROBE_FUNCTION, /* `name`: functions, joined by | */
    PROBE_OFFSET,   /* `offset` in the file */
    PROBE_LINE,     /* `name`: a source file, `line` */
    PROBE_MARKER,   /* `name`: "provider:name" */
};
struct probe_spec {
    enum probe_kind kind;
    char file[PROBE_FILE_MAX];
    char name[PROBE_WORD_MAX];
    uint64_t offset;    /* of PROBE_FUNCTION: from its start */
    uint64_t semaphore; /* of PROBE_OFFSET, in the file; 0: none */
    uint32_t line;
    bool at_return;
    uint32_t n_arguments;
    struct probe_argument {
        char name[32]; /* "": none given */
        char value[PROBE_WORD_MAX];
        char type[32]; /* "": none given */
    } arguments[PROBE_ARGUMENTS_MAX];
};
/* False: e says what is wrong, and where in the text. */
bool probe_parse(const char *text, struct probe_spec *out, struct error *e);

/* True if the value is the name of a parameter or variable. */
bool probe_is_parameter(const struct probe_argument *a);

/* A location that a definition means. */
struct probe_place {
    const char *path; /* by which the kernel finds the file, while the places exist */
    const char *name; /* of the function or the marker */
    /* PROBE_MARKER: its arguments, "8@%rdi -4@8(%rbp)". Else its parameters, or the variables that the
     * arguments name, "fd:1:s32 path:2:x64 count:-20(%bp):s32": name, place (or number of the argument) and
     * type; "": not known. */
    const char *details;
    uint64_t offset;    /* in the file */
    uint64_t semaphore; /* offset in the file of the marker's semaphore; 0: none */
    bool wide;          /* of a 64-bit program */
    bool go;            /* of a Go program */
};
struct probe_places { /* zero-initialised: empty */
    VEC(struct probe_place);
    VEC(int) fds; /* open while the places are needed */
    struct arena strings;
};
/* Finds the locations. False: there are none, and e says why. Set by the program, as it needs ELF and DWARF,
 * which are read elsewhere. */
typedef bool probe_find_fn(const struct probe_spec *spec, struct probe_places *out, struct error *e);
void probe_set_finder(probe_find_fn *find);

#define PROBE_NAME_MAX 128
/* Defines the probe, unless this process has defined the same text before, and sets tracepoint to its
 * "system:name". Any thread may call it. */
bool probe_define(const char *text, char tracepoint[PROBE_NAME_MAX], struct error *e);
/* Adds the definition as lines for machines without debug information: "probe:/bin/x:0x1139 n=%di:s32". */
bool probe_print_definition(const char *text, struct buf *out, struct error *e);
/* The field of the event that holds argument i. */
void probe_argument_name(const struct probe_spec *spec, uint32_t i, char dst[64]);
/* The name of its event: without the folder of the file and without arguments. */
void probe_display_name(const char *text, char *dst, size_t cap);
/* Removes the probes of this process. Called at its end, too. Open ones stay in the kernel. */
void probe_remove_own(void);

/* Raise the signal that came since a probe was defined, after the program has installed its handlers. Without
 * these it would have ended the program and left the probe behind. */
void probe_release_signals(void);

/* All probes that are defined on this system. */
struct probe_row {
    char event[PROBE_NAME_MAX]; /* "group:name" */
    const char *text;           /* "p:group/name /bin/x:0x1139"; borrowed for the call */
    pid_t owner;                /* flametop's; 0: another program's */
    bool dead;                  /* that flametop has ended */
};
bool probe_each(void (*row)(void *ctx, const struct probe_row *r), void *ctx, struct error *e);
/* Removes the probes of flametops that have ended. *removed, *kept: how many; kept are those in use. */
bool probe_remove_dead(uint32_t *removed, uint32_t *kept, struct error *e);

#endif
