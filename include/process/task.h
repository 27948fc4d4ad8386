// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what /proc/PID/task/TID says about a thread at this moment: state, system call, kernel stack. */
#ifndef FLAMETOP_PROCESS_TASK_H
#define FLAMETOP_PROCESS_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/buf.h"
#include "base/mem.h"

#define TASK_CALL_ARGUMENTS 6
#define TASK_FUNCTIONS_MAX  64 /* of a kernel stack; /proc/PID/stack has at most 64 */

struct task_stat {
    char comm[64]; /* cleaned */
    char state;    /* proc(5): R S D T t Z X I P */
    bool kernel;   /* a kernel thread */
    uint32_t cpu;  /* where it ran last */
};
/* Opens the folder of a thread in /proc. -1: see errno; ENOENT: it has ended. */
int task_open(uint32_t pid, uint32_t tid);
/* Reads what /proc says about one thread; dir: its folder. False: it has ended. */
bool task_read_stat(int dir, struct task_stat *out);
/* Reads the kernel functions in which the thread waits, innermost first: its stack or, without the right to
 * read it (*whole false), only the innermost one. Returns their number, at most TASK_FUNCTIONS_MAX; they are
 * parts of `text`, which the caller frees. */
size_t task_read_functions(int dir, struct buf *text, const char **functions, bool *whole);
/* Reads a number that grows when the thread runs; else it stays the same, for at least a tick of the kernel's
 * clock. False: the thread has ended, or the kernel does not tell. */
bool task_read_progress(int dir, uint32_t tid, uint64_t *progress);
/* Parses the text of schedstat. False: malformed, or the kernel does not count (0 0 0). */
bool task_parse_progress(const char *text, uint64_t *progress);
/* Finds in the text of status how often the thread left a CPU; 0: not in the text. */
uint64_t task_parse_switches(const char *text);
/* Parses the text of stat. False: malformed. */
bool task_parse_stat(const char *text, struct task_stat *out);

enum task_call_state {
    TASK_CALL_HIDDEN,  /* the kernel refuses it; or a kernel thread or a zombie, which is in none */
    TASK_CALL_RUNNING, /* on a CPU or waiting for one: the kernel does not say */
    TASK_CALL_NONE,    /* in the kernel, but not by a system call: a page fault, an interrupt */
    TASK_CALL_IN,      /* in the system call `number` */
};
struct task_call {
    enum task_call_state state;
    uint64_t number, arguments[TASK_CALL_ARGUMENTS];
    uint64_t stack, counter; /* stack pointer and program counter in user space; 0: unknown */
    bool of_32_bits;         /* a 32-bit program on a 64-bit kernel: numbers have another meaning */
};
/* Reads the system call of a thread. path: of its file syscall, from dir on. */
struct task_call task_read_call(int dir, const char *path);
/* Parses the text of syscall. Malformed: TASK_CALL_HIDDEN. */
struct task_call task_parse_call(const char *text);
/* True if the call waits for a futex, perhaps of a lock: then task_lock_holder says more. */
bool task_call_is_lock(const struct task_call *call);
/* Returns the thread that holds the lock, as its process numbers its threads; 0: not a lock with a known
 * holder. words: the memory at the call's first argument. Any memory may look like a lock: check that there
 * is such a thread. */
#define TASK_LOCK_WORDS 3
uint32_t task_lock_holder(const struct task_call *call, const uint32_t words[TASK_LOCK_WORDS]);

/* Finds the functions in the text of stack, innermost first, and ends each with a NUL in place: a line is
 * "[<0>] name+0x10/0x20 [module]". Returns their number, at most cap. */
size_t task_parse_stack(char *text, const char **functions, size_t cap);
/* Finds in the text of sched when the thread ran last, on its CPU's own clock. False: not in the
 * text, or the thread is being moved to another CPU. */
bool task_parse_last_run(const char *text, uint64_t *ns);
/* Finds in the text of sched how often the thread has begun to wait; 0: not in the text. */
uint64_t task_parse_waits(const char *text);
/* Finds the tracer's process id in the text of status; 0: none. */
uint32_t task_parse_tracer(const char *text);
/* Finds in the text of status the thread's id as its process sees it, in its own pid namespace; 0: not in the
 * text. */
uint32_t task_parse_inner_id(const char *text);

/* Adds the sockets in the text of /proc/PID/net/KIND (tcp, tcp6, udp, udp6 or unix), which it changes, to a
 * map of inodes to descriptions: "tcp 127.0.0.1:80 listening", cleaned, in `strings`. */
void task_parse_sockets(const char *kind, char *text, struct map *by_inode, struct arena *strings);

/* Returns the name of a system call of this machine; NULL: unknown. of_32_bits: of a 32-bit program on a
 * 64-bit machine. */
const char *task_call_name(uint64_t number, bool of_32_bits);
enum task_argument {
    TASK_ARGUMENT_NUMBER, /* an address or something else */
    TASK_ARGUMENT_FILE,   /* a file descriptor */
    TASK_ARGUMENT_PATH,   /* the address of a path */
    TASK_ARGUMENT_AT,     /* a folder's descriptor, or AT_FDCWD; the second one is the address of a path */
    TASK_ARGUMENT_CHILD,  /* a process id as of waitpid(2): -1 is any child */
    TASK_ARGUMENT_ID,     /* of a message queue or a set of semaphores */
    TASK_ARGUMENT_NONE,   /* the call has no arguments, or the first one says nothing of its wait */
};
/* Returns what the first argument of a call is. */
enum task_argument task_call_argument(const char *name);
/* Returns the address of the path that the call has; 0: none. */
uint64_t task_call_path(const struct task_call *call);

struct task_now {
    uint32_t tid;
    struct task_stat stat;
    bool since_known;
    uint64_t since_ns; /* how long it has not run; 0 while it runs */
    uint64_t waits;    /* see task_parse_waits; 0 unless since_known */
    struct task_call call;
    const char *call_name; /* NULL: no call, or unknown */
    /* Of the first argument, cleaned: as a link of /proc/PID/fd, "socket:[7] tcp 127.0.0.1:80 listening".
     * NULL: none, or hidden. */
    const char *file;
    const char *path; /* of a call that has one, cleaned; NULL: none, or not read */
    uint32_t holder;  /* thread of the process that holds the lock for which this one waits; 0: unknown */
    /* Innermost first; cleaned. Without rights only the innermost (whole_stack false), or none. */
    const char **functions;
    uint32_t n_functions;
    bool whole_stack;
};
struct tasks {
    uint32_t pid, n, tracer; /* tracer: process that traces it; 0: none */
    struct task_now *items;
    size_t cap;
    bool truncated; /* there are more than TASKS_MAX */
    struct arena strings;
    bool sockets_read;
    struct map sockets; /* inode → description, in strings */
};
#define TASKS_MAX 32768u
/* Reads all threads of a process. Never waits for the process. False: it has ended; `out` is then empty. */
bool tasks_read(uint32_t pid, struct tasks *out);
void tasks_done(struct tasks *t);

#endif
