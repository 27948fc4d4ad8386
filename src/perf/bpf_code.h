// SPDX-License-Identifier: GPL-2.0-or-later
/* An assembler for BPF programs, and the system call. Source:
 * Documentation/bpf/standardization/instruction-set.rst. */
#ifndef FLAMETOP_PERF_BPF_CODE_H
#define FLAMETOP_PERF_BPF_CODE_H

#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INSNS_MAX 240

static inline long bpf(int command, union bpf_attr *attr)
{
    return syscall(SYS_bpf, command, attr, sizeof *attr);
}

static inline int make_map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t n)
{
    union bpf_attr a;

    memset(&a, 0, sizeof a);
    a.map_type = type;
    a.key_size = key;
    a.value_size = value;
    a.max_entries = n;
    return (int)bpf(BPF_MAP_CREATE, &a);
}

struct code {
    struct bpf_insn insns[INSNS_MAX];
    unsigned n;
};

static inline unsigned put(struct code *c, unsigned op, unsigned dst, unsigned src, int16_t off, int32_t imm)
{
    c->insns[c->n] = (struct bpf_insn){ .code = (uint8_t)op,
                                        .dst_reg = (uint8_t)(dst & 15),
                                        .src_reg = (uint8_t)(src & 15),
                                        .off = off,
                                        .imm = imm };
    return c->n++;
}

static inline void move(struct code *c, unsigned dst, unsigned src)
{
    put(c, BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0);
}

static inline void set(struct code *c, unsigned dst, int32_t value)
{
    put(c, BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value);
}

static inline void add(struct code *c, unsigned dst, int32_t value)
{
    put(c, BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value);
}

static inline void load(struct code *c, unsigned size, unsigned dst, unsigned src, int16_t off)
{
    put(c, BPF_LDX | BPF_MEM | size, dst, src, off, 0);
}

static inline void store(struct code *c, unsigned size, unsigned dst, int16_t off, unsigned src)
{
    put(c, BPF_STX | BPF_MEM | size, dst, src, off, 0);
}

static inline void call(struct code *c, int32_t helper)
{
    put(c, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static inline void load_map(struct code *c, unsigned dst, int fd)
{
    put(c, BPF_LD | BPF_DW | BPF_IMM, dst, BPF_PSEUDO_MAP_FD, 0, fd);
    put(c, 0, 0, 0, 0, 0);
}

/* Emit a jump; land() sets its target. */
static inline unsigned jump(struct code *c, unsigned how, unsigned reg, int32_t value)
{
    return put(c, BPF_JMP | how | BPF_K, reg, 0, 0, value);
}

static inline void land(struct code *c, unsigned jump)
{
    c->insns[jump].off = (int16_t)(c->n - jump - 1);
}

/* Jump back to an instruction: the end of a loop. */
static inline void jump_back(struct code *c, unsigned to)
{
    put(c, BPF_JMP | BPF_JA, 0, 0, (int16_t)((int)to - (int)c->n - 1), 0);
}

/* Returns the descriptor, or -1 with errno. */
static inline int load_code(const struct code *c, enum bpf_prog_type type)
{
    union bpf_attr a;

    memset(&a, 0, sizeof a);
    a.prog_type = type;
    a.insns = (uintptr_t)c->insns;
    a.insn_cnt = c->n;
    a.license = (uintptr_t) "GPL";
    return (int)bpf(BPF_PROG_LOAD, &a);
}

#endif
