// SPDX-License-Identifier: GPL-2.0-or-later
/* Unwinds the stack of a thread of another process by libunwind, from a copy of its registers and its stack.
 * libunwind loops or crashes on hostile tables, so remote_unwind is only for a confined process. */
#ifndef FLAMETOP_UNWIND_REMOTE_H
#define FLAMETOP_UNWIND_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define REMOTE_REGISTERS 128

bool remote_available(void); /* whether this build has libunwind; else all functions fail */

struct remote_registers {
    uint64_t value[REMOTE_REGISTERS]; /* by libunwind's numbers */
    bool known[REMOTE_REGISTERS];
};
/* Reads the registers of a thread that this thread traces and has stopped. False with errno. */
bool remote_read_registers(pid_t tid, struct remote_registers *out);
uint64_t remote_stack_pointer(const struct remote_registers *r);

struct remote_stack {
    struct remote_registers registers;
    const uint8_t *bytes; /* from the stack pointer on */
    uint64_t start, size; /* address and number of the bytes */
    uint64_t end;         /* of the stack's memory: bytes between start + size and this are not in the copy */
};

enum remote_end { /* why a stack ends */
                  REMOTE_COMPLETE,
                  REMOTE_NO_TABLE,  /* code of a file without an unwind table */
                  REMOTE_GENERATED, /* code in anonymous memory: a JIT's */
                  REMOTE_NO_CODE,   /* an address that is not code */
                  REMOTE_COPY_END,  /* deeper than the copy */
                  REMOTE_ELSEWHERE, /* Go code that was called on another stack, which is not in the copy */
                  REMOTE_DEEP,      /* more frames than the caller wanted */
                  REMOTE_FAILED,    /* the table does not allow the step */
                  REMOTE_ENDS
};

struct remote;
/* `maps`: text of /proc/PID/maps, which is changed. memory: descriptor of /proc/PID/mem, borrowed. NULL: no
 * memory, or no libunwind. It lives as long as the process. */
struct remote *remote_new(char *maps, size_t n, int memory);
/* Returns the end of the mapping that contains the address; 0: none. */
uint64_t remote_map_end(const struct remote *r, uint64_t address);
/* Stores at most cap frames, innermost first. Each address is inside the instruction that runs or calls, so
 * that it can be looked up as it is. */
enum remote_end remote_unwind(struct remote *r, const struct remote_stack *stack, uint64_t *frames,
                              uint32_t cap, uint32_t *n);

#endif
