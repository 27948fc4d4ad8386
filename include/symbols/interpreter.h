// SPDX-License-Identifier: GPL-2.0-or-later
/* Interpreters whose frames are read from a live process: where they keep frames, and how to name a frame's
 * code.
 *
 * perf/stackprobe.h copies the words of the frames at the moment of a sample. The code objects that they
 * point to (name, file, lines) do not change while the program runs; they are read a moment later, through
 * struct interpreter_memory. None of that memory is trusted: each read may fail or return anything. To add a
 * language, add a row to interpreters[] (interpreter.c). */
#ifndef FLAMETOP_SYMBOLS_INTERPRETER_H
#define FLAMETOP_SYMBOLS_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/stackprobe.h"

struct interpreter_memory {
    void *ctx;
    /* Copy n bytes from the process's address. False: not all are readable. */
    bool (*read)(void *ctx, uint64_t address, void *to, size_t n);
};

struct interpreter;
#define PYTHON_NO 0xffff /* this version has none */
struct python_offsets {
    uint16_t interpreters, main_thread, current; /* in _PyRuntime; current: to 3.11 */
    uint16_t threads, gil;                       /* in an interpreter state; gil: from 3.12 on */
    uint16_t holder;                             /* in the GIL */
    uint16_t next, thread, top;                  /* in a thread state */
    uint16_t indirect;                           /* in the _PyCFrame at `top` */
    uint16_t code, instr, flags, back;           /* in a frame */
    uint16_t code_name, code_file, code_first, code_lines, code_bytes; /* in a code object */
    uint16_t text_data, text_wide_data; /* in a str: of ASCII, of other characters */
};
struct interpreter_process { /* of one process; plain data */
    const struct interpreter *of;
    unsigned minor; /* of the language's version 3.MINOR */
    struct stackprobe_layout layout;
    uint64_t head;        /* address of the word with the first interpreter state */
    uint64_t main_thread; /* pthread_self of the main thread; 0: not known */
    /* Addresses of the types of code, str and bytes objects. */
    uint64_t code_type, text_type, bytes_type;
    struct python_offsets at; /* from a table or from the process itself */
    unsigned owner_shift;     /* of a byte in a frame's flags */
};

#define INTERPRETER_NAME_MAX 256
struct interpreter_code {
    char name[INTERPRETER_NAME_MAX]; /* UTF-8, not trusted, not cleaned */
    /* Last part of the path; "pkg/__init__.py" for files of this kind. */
    char file[INTERPRETER_NAME_MAX];
    /* The interpreter's own code, not a function: no other field is set. */
    bool shim;
    uint32_t first_line;
    /* Address of the first instruction; 0: frames count instructions from 0. */
    uint64_t start;
    uint32_t size;  /* of its instructions, in bytes */
    uint8_t *lines; /* line table; owned: interpreter_code_done */
    uint32_t n_lines;
};
void interpreter_code_done(struct interpreter_code *c);

struct interpreter_thread {
    uint64_t state, thread; /* thread: pthread_self */
    uint32_t tid;           /* by interpreter_tids; 0: not known */
};

enum interpreter_frame {
    /* The native function that runs it also runs its caller. */
    INTERPRETER_FRAME_INNER,
    INTERPRETER_FRAME_ENTRY, /* the outermost one that the native function runs */
    INTERPRETER_FRAME_SHIM,  /* no function: marks the previous one as the outermost */
};

struct interpreter {
    const char *name;      /* "Python" */
    const char *evaluator; /* the native function that runs frames */
    bool (*is_module)(const char *name);
    /* Find the interpreter. module: the file's name; base: where its first bytes may be mapped. */
    bool (*find)(const struct interpreter_memory *m, const char *module, uint64_t base,
                 struct interpreter_process *out, struct error *e);
    /* List the states of its threads, up to cap; returns their number. */
    uint32_t (*threads)(const struct interpreter_memory *m, const struct interpreter_process *p,
                        struct interpreter_thread *out, uint32_t cap);
    bool (*read_code)(const struct interpreter_memory *m, const struct interpreter_process *p,
                      uint64_t address, struct interpreter_code *out);
    enum interpreter_frame (*frame)(const struct interpreter_process *p, const struct stackprobe_frame *f);
    /* Return the current line of a frame; 0: its words contradict the code. */
    uint32_t (*line)(const struct interpreter_process *p, const struct interpreter_code *c, uint64_t instr);
};
/* Return the interpreter whose program or library has this name; NULL: none. */
const struct interpreter *interpreter_of_module(const char *name);

#endif
