// SPDX-License-Identifier: GPL-2.0-or-later
/* Interpreters whose frames are read from a live process: where they keep them, and what a frame's code is called.
 *
 * perf/stackprobe.h copies the words of the frames at the moment of a sample. What they point to (code objects: name, file, lines)
 * does not change while the program runs and is read a moment later, through struct interpreter_memory. All of that memory is a
 * stranger's: each read may fail or bring anything. A new language is one more row in interpreters[] (interpreter.c). */
#ifndef FLAMETOP_SYMBOLS_INTERPRETER_H
#define FLAMETOP_SYMBOLS_INTERPRETER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "perf/stackprobe.h"

struct interpreter_memory {
    void *ctx;
    /* Copies n bytes at the address of the process; false: they are not all there. */
    bool (*read)(void *ctx, uint64_t address, void *to, size_t n);
};
bool interpreter_word(const struct interpreter_memory *m, uint64_t address,
                      uint64_t *value); /* of 8 bytes, aligned */

struct interpreter;
struct python_offsets;
struct interpreter_process { /* of one process; plain data */
    const struct interpreter *of;
    unsigned minor; /* of the language's version 3.MINOR */
    struct stackprobe_layout layout;
    uint64_t head;                             /* address of the word with the first interpreter state */
    uint64_t main_thread;                      /* pthread_self of the main thread; 0: not known */
    uint64_t code_type, text_type, bytes_type; /* addresses that such objects name as their type */
    struct {                            /* offsets, from a table or from what the process itself tells */
        uint32_t threads, next, thread; /* in an interpreter state, a thread state */
        uint32_t code_name, code_file, code_first, code_lines, code_bytes;
        uint32_t text_data, text_wide_data;
        uint32_t owner_shift, entry_shift; /* of a byte in a frame's flags */
    } at;
};

#define INTERPRETER_NAME_MAX 256
struct interpreter_code {
    char name[INTERPRETER_NAME_MAX]; /* UTF-8, of a stranger: not cleaned */
    char file[INTERPRETER_NAME_MAX]; /* its last part; "pkg/__init__.py" for files of that kind */
    bool shim; /* code of the interpreter's own, of no function: nothing else is known of it */
    uint32_t first_line;
    uint64_t start; /* address of the first instruction; 0: frames count instructions from 0 */
    uint32_t size;  /* of its instructions, in bytes */
    uint8_t *lines; /* the table of lines; owned: interpreter_code_done */
    uint32_t n_lines;
};
void interpreter_code_done(struct interpreter_code *c);

struct interpreter_thread {
    uint64_t state, thread; /* thread: pthread_self */
};

enum interpreter_frame {
    INTERPRETER_FRAME_INNER, /* the native function that runs it runs its caller, too */
    INTERPRETER_FRAME_ENTRY, /* the outermost one that the native function runs */
    INTERPRETER_FRAME_SHIM,  /* no function: marks that the one before it was the outermost */
};

struct interpreter {
    const char *name;      /* "Python" */
    const char *evaluator; /* the native function that runs frames */
    bool (*is_module)(const char *name);
    /* module: the file's name; base: where its first bytes may be mapped. */
    bool (*find)(const struct interpreter_memory *m, const char *module, uint64_t base,
                 struct interpreter_process *out, struct error *e);
    /* The states of its threads, up to cap; their number. */
    uint32_t (*threads)(const struct interpreter_memory *m, const struct interpreter_process *p,
                        struct interpreter_thread *out, uint32_t cap);
    bool (*read_code)(const struct interpreter_memory *m, const struct interpreter_process *p,
                      uint64_t address, struct interpreter_code *out);
    enum interpreter_frame (*frame)(const struct interpreter_process *p, const struct stackprobe_frame *f);
    /* The line that a frame has come to; 0: its words contradict the code. */
    uint32_t (*line)(const struct interpreter_process *p, const struct interpreter_code *c, uint64_t instr);
};
/* The interpreter whose program or library has this name; NULL: none. */
const struct interpreter *interpreter_of_module(const char *name);

#endif
