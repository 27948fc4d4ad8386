// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations whose latency is measured: rows of src/perf/pair_rows.def, SYSCONFDIR/flametop/latency and
 * $XDG_CONFIG_HOME/flametop/latency. A later row replaces an earlier one of the same name. A file has a row
 * per line (base/rowfile.h):
 *
 *   NAME  BEGIN  END  KEY  NAMES  SIZE  STACK  DESCRIPTION
 *
 * BEGIN, END: tracepoints; of alternatives separated by |, the first one that this system has; behind them,
 * in brackets, conditions of their fields (perf/pair_conditions.h). Or definitions of probes (perf/probe.h),
 * with semicolons before arguments. Or runnable and running: the waits of threads for a CPU, which come from
 * the event off-cpu.
 * KEY: what the two events of an operation have in common, separated by commas: thread, process (the same for
 * its main thread only), cpu, or fields of both events. "nested" as well: operations with the same key nest.
 * "outermost": the same, and inner ones do not count. "first": a second begin before the end says that the
 * operation goes on. "successive": it ends the operation and begins the next one. Otherwise the first begin
 * is dropped then.
 * NAMES: how an operation is called: fields of the begin event, joined by +, or - for the name of the row. A
 * text is printed as it is, a number behind the name of its field. KIND(FIELD) prints a number as what it is:
 * syscall, device, softirq, lock, futex. slow(FIELD): a system call; only those on files that take
 * PAIR_SLOW_NS are counted, and named with the file's path. io(FIELD): the text of rwbs as read, write,
 * flush, discard. command(FIELD): the text of FIELD, a program's file, with the arguments that it begins with
 * (perf/pair_command.h). address(FIELD): the 4 or 16 bytes of an IP address. tcp(FIELD): the state of a TCP
 * socket, as the addresses and ports of its connection without the port that the connecting side chose, from
 * the fields saddr_v6, daddr_v6, sport and dport: "10.0.0.1 to 10.0.0.5:443" of a socket that connects (state
 * 2, SYN_SENT), else "10.0.0.5:443 from 10.0.0.1"; with the number of packets that it sent again, if any:
 * ", 3 retransmits". tcp-failed(FIELD): the same with the error that the socket reports at the end:
 * ", refused".
 * SIZE: a field of the begin event that has a number of bytes, or -. end(FIELD): of the end event.
 * end-sectors(FIELD): of the end event, in sectors of 512 bytes.
 * STACK: begin or end: the event whose stack the operation has. The process is that of the begin. Or process:
 * process and stack are those of the first event with the same key that no interrupt caused: the events of an
 * operation may interrupt any thread. This is an event of the begin's or the end's tracepoint, whether or not
 * it meets their conditions. Without such an event the process is unknown (WORLD_NO_PID). */
#ifndef FLAMETOP_PERF_PAIR_ROWS_H
#define FLAMETOP_PERF_PAIR_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "perf/pair_conditions.h"
#include "perf/payload.h"

/* PAIR_MORE: the event that completes the name of an operation: the arguments of command(FIELD), or a
 * retransmit of tcp(FIELD). PAIR_ERROR, of tcp-failed(FIELD): the error of a socket, right after its end. */
enum pair_side { PAIR_BEGIN, PAIR_END, PAIR_SIDES, PAIR_MORE = PAIR_SIDES, PAIR_ERROR, PAIR_PARTS };
enum pair_name_kind {
    PAIR_NAME_PLAIN,
    PAIR_NAME_SYSCALL,
    PAIR_NAME_DEVICE,
    PAIR_NAME_IO,
    PAIR_NAME_SOFTIRQ,
    PAIR_NAME_LOCK,
    PAIR_NAME_FUTEX,
    PAIR_NAME_SLOW,
    PAIR_NAME_ADDRESS,
    PAIR_NAME_TCP,
    PAIR_NAME_TCP_FAILED,
    PAIR_NAME_COMMAND,
    PAIR_NAME_KINDS
};

#define PAIR_FIELDS_MAX 4  /* of the key, and of the name */
#define PAIR_NAME_MAX   32 /* of a row's name */
#define PAIR_EVENT_MAX  128
#define PAIR_SLOW_NS    UINT64_C(10000000)

struct pair_row {
    char name[PAIR_NAME_MAX];
    const char *events[PAIR_SIDES]; /* with their alternatives, without conditions */
    struct pair_conditions conditions[PAIR_SIDES];
    const char *help;
    bool slow;              /* named by slow(FIELD) */
    bool command;           /* named by command(FIELD) */
    bool tcp;               /* named by tcp(FIELD) or tcp-failed(FIELD) */
    bool failed;            /* named by tcp-failed(FIELD) */
    bool of_waits;          /* from runnable to running */
    bool by_thread, by_cpu; /* parts of the key */
    bool by_process;        /* by_thread, too: events of other threads than the main one do not count */
    bool nested, outermost, first, successive;
    uint32_t n_keys, n_names;
    char keys[PAIR_FIELDS_MAX][PAIR_FIELD_MAX];
    struct {
        enum pair_name_kind kind;
        char field[PAIR_FIELD_MAX];
    } names[PAIR_FIELDS_MAX];
    char size[PAIR_FIELD_MAX]; /* "": none */
    enum pair_side size_side;
    uint32_t size_unit; /* bytes */
    enum pair_side stack;
    bool of_process; /* stack "process"; `stack` is PAIR_BEGIN */
    char from[160];  /* "FILE:LINE: ", for messages; "" for pair_rows.def */
};
struct pair_rows { /* zero-initialised: empty */
    VEC(struct pair_row);
    struct arena strings;
};
/* Reads all rows. False if a file has errors: e says where, and the rows before it are kept. */
bool pair_rows_read(struct pair_rows *rows, struct error *e);
/* The same for one text; label is its name in messages. */
bool pair_rows_read_text(struct pair_rows *rows, const char *label, const char *text, struct error *e);
void pair_rows_done(struct pair_rows *rows);
/* The rows of all files, read at the first call; valid until the process ends. */
const struct pair_rows *pair_rows_all(void);
/* The row with this name among them. NULL:
 * there is none (e names the nearest), or a file has errors. */
const struct pair_row *pair_row_find(const char *name, struct error *e);
/* The row of a function's durations, from its entry to its return: "probe:FILE:FUNCTION [ARGUMENT ...]". The
 * arguments are the names of the operations. NULL: e says why. */
const struct pair_row *pair_row_of_probe(const char *definition, struct error *e);

/* The fields of a TCP socket's event, in the order of their values. */
enum pair_tcp_field {
    PAIR_TCP_LOCAL,
    PAIR_TCP_PEER,
    PAIR_TCP_LOCAL_PORT,
    PAIR_TCP_PEER_PORT,
    PAIR_TCP_FIELDS
};
/* Fields with the words of a command line: argv[0], argv[1], ... */
#define PAIR_COMMAND_WORDS 20
#define PAIR_COMMAND_MAX   200 /* bytes of its text */
struct pair_command {
    int32_t argc, words[PAIR_COMMAND_WORDS];
    int32_t at[PAIR_COMMAND_WORDS + 2]; /* addresses of the words, NULL, and the environment's first text */
};
/* Sets out to the command line of a program: "/bin/cp -a 'my file' ...", if argv[0] is another name
 * "/bin/busybox as cp ...". What is longer ends with "...". */
void pair_command_put(const struct pair_command *c, const struct payload *p, const char *file,
                      struct buf *out);

/* The fields of a row's events in this kernel. */
struct pair_events {
    /* "block:block_rq_issue"; of PAIR_MORE and PAIR_ERROR "": there is none */
    char names[PAIR_PARTS][PAIR_EVENT_MAX];
    struct payload_format *formats[PAIR_PARTS];
    int32_t keys[PAIR_PARTS][PAIR_FIELDS_MAX]; /* not of PAIR_ERROR */
    int32_t name_fields[PAIR_FIELDS_MAX];
    struct pair_checks checks[PAIR_SIDES];
    /* of a name tcp(FIELD): of the begin; if PAIR_ERROR exists, of it and of the end */
    int32_t tcp[PAIR_PARTS][PAIR_TCP_FIELDS];
    int32_t error;               /* of PAIR_ERROR: an errno */
    int32_t context[PAIR_SIDES]; /* of_process, failed: common_flags */
    int32_t size;                /* of size_side; -1: none */
    int32_t args;                /* of a slow row: arguments of the begin */
    int32_t call, ret;           /* of a row of system calls: number and result at the end; -1: not known */
    struct pair_command command;
    struct error no_command; /* why command lines are not known; class 0: they are */
};
/* False: an event is missing or not readable, or lacks a field or a value; e says which. */
bool pair_events_open(const struct pair_row *row, struct pair_events *out, struct error *e);
/* "tcp:tcp_retransmit_skb": the tracepoint of PAIR_MORE or PAIR_ERROR; NULL: the row has none. */
const char *pair_row_tracepoint(const struct pair_row *row, enum pair_side side);
/* The same for known names and formats, such as a file has. False: a field or a value is missing. */
bool pair_events_find(const struct pair_row *row, struct pair_events *out, struct error *e);
void pair_events_close(struct pair_events *events);

#endif
