// SPDX-License-Identifier: GPL-2.0-or-later
#include "unwind/x86.h"

/* What follows an opcode, one letter per opcode:
 *
 *     .  nothing            m  ModRM              M  ModRM, imm8          Z  ModRM, imm16 or imm32
 *     b  imm8               z  imm16 or imm32     w  imm16                v  imm16, imm32 or imm64
 *     j  relative, 8 bits   J  relative, 32 bits  o  an address           e  imm16, imm8
 *     f  segment, address   p  prefix             r  REX; 32-bit: none    x  no instruction
 *     V  VEX, EVEX, XOP     E  another map        g  ModRM, and an immediate for /0 and /1 */
/* clang-format off */
static const char one_byte[] = "mmmmbzxx" "mmmmbzxE" "mmmmbzxx" "mmmmbzxx" /* 00 */
                               "mmmmbzpx" "mmmmbzpx" "mmmmbzpx" "mmmmbzpx" /* 20 */
                               "rrrrrrrr" "rrrrrrrr" "........" "........" /* 40 */
                               "xxVmpppp" "zZbM...." "jjjjjjjj" "jjjjjjjj" /* 60 */
                               "MZxMmmmm" "mmmmmmmV" "........" "..x....." /* 80 */
                               "oooo...." "bz......" "bbbbbbbb" "vvvvvvvv" /* a0 */
                               "MMw.VVMZ" "e.w..bx." "mmmmxxx." "mmmmmmmm" /* c0 */
                               "jjjjbbbb" "JJxj...." "p.pp..gg" "......mm"; /* e0 */
/* clang-format on */
/* clang-format off */
static const char two_byte[] = "mmmmx..." "..x.xm.M" "mmmmmmmm" "mmmmmmmm" /* 00 */
                               "mmmmxxxx" "mmmmmmmm" "......x." "ExExxxxx" /* 20 */
                               "mmmmmmmm" "mmmmmmmm" "mmmmmmmm" "mmmmmmmm" /* 40 */
                               "mmmmmmmm" "mmmmmmmm" "MMMMmmm." "mmmmmmmm" /* 60 */
                               "JJJJJJJJ" "JJJJJJJJ" "mmmmmmmm" "mmmmmmmm" /* 80 */
                               "...mMmmm" "...mMmmm" "mmmmmmmm" "mmMmmmmm" /* a0 */
                               "mmMmMMMm" "........" "mmmmmmmm" "mmmmmmmm" /* c0 */
                               "mmmmmmmm" "mmmmmmmm" "mmmmmmmm" "mmmmmmmm"; /* e0 */
/* clang-format on */

#define CALL_MAX 8 /* bytes: prefix, opcode, ModRM, SIB, 4 bytes */

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_OTHER };

struct decoder {
    const uint8_t *p;
    size_t n, at;
    bool wide, bad;
    /* Prefixes 66 and 67; VEX, EVEX or XOP. */
    bool short_operand, short_address, vector;
    bool w;                      /* 64-bit operands */
    uint8_t rex_r, rex_x, rex_b; /* 0 or 8 */
    uint8_t vvvv;                /* second register of a vector instruction */
    uint8_t map, op, modrm;
    bool memory;
    uint8_t base, index; /* of a memory operand; X86_NO_REG: none */
    bool rip;
    int64_t disp, imm;
};

static uint8_t next(struct decoder *d)
{
    if (d->at < d->n && d->at < X86_INSN_MAX)
        return d->p[d->at++];
    d->bad = true;
    return 0;
}

static int64_t read_immediate(struct decoder *d, unsigned bytes)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < bytes; i++)
        v |= (uint64_t)next(d) << (8 * i);
    switch (bytes) {
    case 1:
        return (int8_t)v;
    case 2:
        return (int16_t)v;
    case 4:
        return (int32_t)v;
    default:
        return (int64_t)v;
    }
}

static unsigned reg_of(const struct decoder *d)
{
    return (d->modrm >> 3 & 7) + d->rex_r;
}

static unsigned rm_of(const struct decoder *d)
{
    return (d->modrm & 7) + d->rex_b;
}

static void take_memory16(struct decoder *d, unsigned mod)
{
    d->base = d->index = X86_NO_REG;
    if (mod == 1)
        read_immediate(d, 1);
    else if (mod == 2 || (d->modrm & 7) == 6)
        read_immediate(d, 2);
}

static void take_sib(struct decoder *d, unsigned mod)
{
    uint8_t sib = next(d);
    unsigned index = (sib >> 3 & 7) + d->rex_x;

    d->index = index == X86_SP ? X86_NO_REG : (uint8_t)index;
    d->base = (uint8_t)((sib & 7) + d->rex_b);
    if ((sib & 7) == 5 && mod == 0) {
        d->base = X86_NO_REG;
        d->disp = read_immediate(d, 4);
    }
}

static void take_modrm(struct decoder *d)
{
    unsigned mod;

    d->modrm = next(d);
    mod = d->modrm >> 6;
    d->memory = mod != 3;
    d->base = d->index = X86_NO_REG;
    /* Moves of control registers have no memory operand, whatever mod is. */
    if (!d->memory || (d->map == MAP_0F && d->op >= 0x20 && d->op <= 0x23))
        return;
    if (d->short_address && !d->wide) {
        take_memory16(d, mod);
        return;
    }
    if ((d->modrm & 7) == 4) {
        take_sib(d, mod);
    } else if ((d->modrm & 7) == 5 && mod == 0) {
        d->rip = d->wide;
        d->disp = read_immediate(d, 4);
    } else {
        d->base = (uint8_t)rm_of(d);
    }
    if (mod == 1)
        d->disp = read_immediate(d, 1);
    else if (mod == 2)
        d->disp = read_immediate(d, 4);
}

static void take_operands(struct decoder *d, char form)
{
    unsigned z = d->short_operand ? 2 : 4;

    if (form == 'm' || form == 'M' || form == 'Z' || form == 'g')
        take_modrm(d);
    switch (form) {
    case 'M':
    case 'b':
    case 'j':
        d->imm = read_immediate(d, 1);
        break;
    case 'Z':
    case 'z':
        d->imm = read_immediate(d, z);
        break;
    case 'J':
        d->imm = read_immediate(d, d->wide ? 4 : z);
        break;
    case 'w':
        d->imm = read_immediate(d, 2);
        break;
    case 'v':
        d->imm = read_immediate(d, d->w && d->wide ? 8 : z);
        break;
    case 'o':
        read_immediate(d, d->wide ? (d->short_address ? 4 : 8) : d->short_address ? 2 : 4);
        break;
    case 'e':
        read_immediate(d, 3);
        break;
    case 'f':
        read_immediate(d, z + 2);
        break;
    case 'g':
        if ((d->modrm & 0x30) == 0)
            d->imm = read_immediate(d, d->op == 0xf6 ? 1 : z);
        break;
    case 'x':
        d->bad = true;
        break;
    default:
        break;
    }
}

/* Returns the form of an opcode in 32-bit code, which has more instructions. */
static char form_32(uint8_t op, char form)
{
    switch (op) {
    case 0x82:
        return 'M';
    case 0x9a:
    case 0xea:
        return 'f';
    case 0xd4:
    case 0xd5:
        return 'b';
    default:
        return form == 'x' || form == 'r' ? '.' : form;
    }
}

static void take_vector_operands(struct decoder *d, unsigned map)
{
    char form = 'm';

    d->vector = true;
    d->map = map == 1 ? MAP_0F : map == 2 ? MAP_0F38 : map == 3 ? MAP_0F3A : MAP_OTHER;
    d->op = next(d);
    if (d->map == MAP_0F)
        form = two_byte[d->op] == 'M' || d->op == 0x77 ? two_byte[d->op] : 'm';
    else if (d->map == MAP_0F3A || map == 8)
        form = 'M';
    else if (map == 10)
        form = 'Z';
    d->short_operand = false;
    take_operands(d, form);
}

/* Decodes VEX, EVEX or XOP. 62, 8f, c4 and c5 are older instructions if the second byte says so. */
static void take_vector(struct decoder *d, uint8_t op)
{
    uint8_t b = d->at < d->n ? d->p[d->at] : 0, c;

    if (op == 0x8f ? (b & 0x1f) < 8 : !d->wide && b < 0xc0) {
        d->op = op;
        take_operands(d, 'm');
        return;
    }
    next(d);
    d->rex_r = b & 0x80 ? 0 : 8;
    if (op == 0xc5) {
        d->vvvv = ~b >> 3 & 15;
        take_vector_operands(d, 1);
        return;
    }
    d->rex_x = b & 0x40 ? 0 : 8;
    d->rex_b = b & 0x20 ? 0 : 8;
    c = next(d);
    d->w = c & 0x80;
    d->vvvv = ~c >> 3 & 15;
    if (op == 0x62)
        next(d);
    take_vector_operands(d, op == 0x62 ? b & 7 : b & 31);
}

static void take_escape(struct decoder *d)
{
    char form;

    d->map = MAP_0F;
    d->op = next(d);
    form = two_byte[d->op];
    if (form == 'E') {
        d->map = d->op == 0x38 ? MAP_0F38 : MAP_0F3A;
        form = d->op == 0x38 ? 'm' : 'M';
        d->op = next(d);
    }
    take_operands(d, form);
}

static void take_instruction(struct decoder *d)
{
    uint8_t op = next(d);
    char form;

    for (; !d->bad && one_byte[op] == 'p'; op = next(d)) {
        d->short_operand |= op == 0x66;
        d->short_address |= op == 0x67;
    }
    if (d->wide && (op & 0xf0) == 0x40) {
        d->w = op & 8;
        d->rex_r = op & 4 ? 8 : 0;
        d->rex_x = op & 2 ? 8 : 0;
        d->rex_b = op & 1 ? 8 : 0;
        op = next(d);
    }
    d->op = op;
    form = d->wide ? one_byte[op] : form_32(op, one_byte[op]);
    if (form == 'E')
        take_escape(d);
    else if (form == 'V')
        take_vector(d, op);
    else if (form == 'p' || form == 'r')
        d->bad = true; /* REX must be right before the opcode */
    else
        take_operands(d, form);
}

static uint16_t bit(unsigned reg)
{
    return (uint16_t)(1u << reg);
}

static uint16_t rm_bit(const struct decoder *d)
{
    return d->memory ? 0 : bit(rm_of(d));
}

static uint16_t writes_one(const struct decoder *d)
{
    uint8_t op = d->op, ext = d->modrm >> 3 & 7;

    if (op < 0x40 && (op & 7) < 4)
        return op >= 0x38 ? 0 : op & 2 ? bit(reg_of(d)) : rm_bit(d);
    if (op < 0x40 || (op >= 0xa8 && op <= 0xa9))
        return op < 0x38 ? bit(0) : 0;
    if (!d->wide && op >= 0x40 && op < 0x50)
        return bit(op & 7);
    if (op >= 0x90 && op <= 0x97)
        return op == 0x90 && !d->rex_b ? 0 : bit(0) | bit((op & 7u) + d->rex_b);
    if (op >= 0xb0 && op <= 0xbf)
        return bit((op & 7u) + d->rex_b);
    switch (op) {
    case 0x63:
    case 0x69:
    case 0x6b:
    case 0x8a:
    case 0x8b:
    case 0x8d:
        return bit(reg_of(d));
    case 0x80:
    case 0x81:
    case 0x82:
    case 0x83:
        return ext == 7 ? 0 : rm_bit(d);
    case 0x86:
    case 0x87:
        return bit(reg_of(d)) | rm_bit(d);
    case 0x88:
    case 0x89:
    case 0x8c:
    case 0x8f:
    case 0xc0:
    case 0xc1:
    case 0xc6:
    case 0xc7:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return rm_bit(d);
    case 0xf6:
    case 0xf7:
        return ext < 2 ? 0 : ext < 4 ? rm_bit(d) : bit(0) | bit(2);
    case 0xfe:
    case 0xff:
        return ext < 2 ? rm_bit(d) : 0;
    case 0x98:
        return bit(0);
    case 0x99:
        return bit(2);
    case 0x61: /* popa, then string instructions */
        return 0xffff;
    case 0xa4:
    case 0xa5:
    case 0xa6:
    case 0xa7:
        return bit(1) | bit(6) | bit(7);
    case 0xaa:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xae:
    case 0xaf:
        return bit(0) | bit(1) | bit(6) | bit(7);
    default:
        return 0;
    }
}

static uint16_t writes_0f(const struct decoder *d)
{
    uint8_t op = d->op;

    if ((op >= 0x40 && op < 0x50 && !d->vector) || (op >= 0xc8 && op <= 0xcf))
        return op < 0x50 ? bit(reg_of(d)) : bit((op & 7u) + d->rex_b);
    switch (op) {
    case 0x2c:
    case 0x2d:
    case 0x50:
    case 0xaf:
    case 0xb6:
    case 0xb7:
    case 0xb8:
    case 0xbc:
    case 0xbd:
    case 0xbe:
    case 0xbf:
    case 0xc5:
    case 0xd7:
        return bit(reg_of(d));
    case 0x93: /* setcc, and kmov to a general register */
        return d->vector ? bit(reg_of(d)) : rm_bit(d);
    case 0x7e:
    case 0xa4:
    case 0xa5:
    case 0xab:
    case 0xac:
    case 0xad:
    case 0xb3:
    case 0xba:
    case 0xbb:
        return rm_bit(d);
    case 0xb0:
    case 0xb1:
        return bit(0) | rm_bit(d);
    case 0xc0:
    case 0xc1:
        return bit(reg_of(d)) | rm_bit(d);
    case 0x05:
        return bit(0) | bit(1) | bit(11);
    case 0xa2:
        return bit(0) | bit(1) | bit(2) | bit(3);
    case 0x01:
    case 0x31:
        return bit(0) | bit(1) | bit(2);
    default:
        return op >= 0x90 && op <= 0x9f && !d->vector ? rm_bit(d) : 0;
    }
}

static uint16_t writes_of(const struct decoder *d)
{
    switch (d->map) {
    case MAP_ONE:
        return writes_one(d);
    case MAP_0F:
        return writes_0f(d);
    case MAP_0F38:
        if (!d->vector)
            return d->op == 0xf0 || d->op == 0xf1 || d->op == 0xf6 ? bit(reg_of(d)) : 0;
        if (d->op == 0xf3)
            return bit(d->vvvv);
        return d->op == 0xf6 ? bit(reg_of(d)) | bit(d->vvvv) : d->op >= 0xf0 ? bit(reg_of(d)) : 0;
    case MAP_0F3A:
        return d->op == 0xf0 ? bit(reg_of(d)) : d->op >= 0x14 && d->op <= 0x17 ? rm_bit(d) : 0;
    default: /* AMD's XOP: some bit operations */
        return d->vector && !d->memory ? bit(reg_of(d)) | bit(d->vvvv) : bit(reg_of(d));
    }
}

static void set(struct x86_insn *out, enum x86_kind kind, unsigned reg, unsigned base, int64_t value)
{
    out->kind = (uint8_t)kind;
    out->reg = (uint8_t)reg;
    out->base = (uint8_t)base;
    out->value = value;
}

/* Sets the effect of add, sub and and with a constant, lea, and mov of a full word. */
static void tell_arithmetic(const struct decoder *d, struct x86_insn *out)
{
    unsigned reg = reg_of(d), rm = rm_of(d), ext = d->modrm >> 3 & 7;
    bool whole = d->wide ? d->w : !d->short_operand;
    bool plain = d->memory && d->index == X86_NO_REG && d->base != X86_NO_REG && !d->short_address;

    out->rip = d->rip;
    if (d->rip)
        out->value = d->disp;
    if (!whole)
        return;
    if ((d->op == 0x81 || d->op == 0x83) && !d->memory) {
        if (ext == 0 || ext == 5)
            set(out, X86_COPY, rm, rm, ext == 0 ? d->imm : -d->imm);
        else if (ext == 4)
            set(out, X86_ALIGN, rm, rm, d->imm);
    } else if (d->op == 0x8d && plain) {
        set(out, X86_COPY, reg, d->base, d->disp);
    } else if (d->op == 0x89) {
        if (!d->memory)
            set(out, X86_COPY, rm, reg, 0);
        else if (plain)
            set(out, X86_STORE, reg, d->base, d->disp);
    } else if (d->op == 0x8b) {
        if (!d->memory)
            set(out, X86_COPY, reg, rm, 0);
        else if (plain)
            set(out, X86_LOAD, reg, d->base, d->disp);
    }
}

static void tell_stack(const struct decoder *d, struct x86_insn *out)
{
    uint8_t op = d->op, ext = d->modrm >> 3 & 7;

    if (op >= 0x50 && op <= 0x5f)
        set(out, op < 0x58 ? X86_PUSH : X86_POP, (op & 7u) + d->rex_b, X86_NO_REG, 0);
    else if (op == 0x68 || op == 0x6a || op == 0x9c || (op == 0xff && ext == 6))
        set(out, X86_PUSH, X86_NO_REG, X86_NO_REG, 0);
    else if (op == 0x9d || (op == 0x8f && !d->vector))
        set(out, X86_POP, X86_NO_REG, X86_NO_REG, 0);
    else if (op == 0xc9)
        set(out, X86_LEAVE, X86_FP, X86_FP, 0);
    /* of 16 bits, or with more than one word */
    if ((out->kind == X86_PUSH || out->kind == X86_POP) && d->short_operand)
        set(out, X86_COPY, X86_SP, X86_NO_REG, 0);
    if (op == 0xc8 || (!d->wide && (op == 0x60 || op == 0x61)))
        set(out, X86_COPY, X86_SP, X86_NO_REG, 0);
}

static void tell_way(const struct decoder *d, struct x86_insn *out)
{
    uint8_t op = d->op, ext = d->modrm >> 3 & 7;

    if (op == 0xe8)
        set(out, X86_CALL, X86_NO_REG, X86_NO_REG, d->imm);
    else if (op == 0xe9 || op == 0xeb)
        set(out, X86_JUMP, X86_NO_REG, X86_NO_REG, d->imm);
    else if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3))
        set(out, X86_BRANCH, X86_NO_REG, X86_NO_REG, d->imm);
    else if (op == 0xff && (ext == 2 || ext == 3))
        set(out, X86_CALL_INDIRECT, X86_NO_REG, X86_NO_REG, d->disp);
    else if (op == 0xff && (ext == 4 || ext == 5))
        set(out, X86_JUMP_INDIRECT, X86_NO_REG, X86_NO_REG, d->disp);
    else if (op == 0xc3 || op == 0xc2 || op == 0xcb || op == 0xca || op == 0xcf)
        set(out, X86_RETURN, X86_NO_REG, X86_NO_REG, 0);
    else if (op == 0xcc || op == 0xf4)
        set(out, X86_TRAP, X86_NO_REG, X86_NO_REG, 0);
    out->rip = d->rip;
}

bool x86_decode(const uint8_t *p, size_t n, bool wide, struct x86_insn *out)
{
    struct decoder d;

    *out = (struct x86_insn){ .reg = X86_NO_REG, .base = X86_NO_REG };
    if (wide && n > 0 && one_byte[p[0]] == 'x') /* skips megabytes of data in code fast */
        return false;
    d = (struct decoder){ .p = p, .n = n, .wide = wide, .base = X86_NO_REG, .index = X86_NO_REG };
    take_instruction(&d);
    if (d.bad)
        return false;
    out->size = (uint8_t)d.at;
    if (d.map == MAP_ONE && !d.vector) {
        tell_way(&d, out);
        if (out->kind == X86_OTHER)
            tell_stack(&d, out);
        if (out->kind == X86_OTHER)
            tell_arithmetic(&d, out);
    } else if (d.map == MAP_0F && !d.vector && (d.op & 0xf0) == 0x80) {
        set(out, X86_BRANCH, X86_NO_REG, X86_NO_REG, d.imm);
    } else if (d.map == MAP_0F && !d.vector && d.op == 0x0b) {
        set(out, X86_TRAP, X86_NO_REG, X86_NO_REG, 0);
    }
    if (out->kind == X86_OTHER)
        out->writes = writes_of(&d);
    return true;
}

bool x86_call_ends(const uint8_t *p, size_t n, bool wide)
{
    struct x86_insn insn;

    for (size_t size = 2; size <= n && size <= CALL_MAX; size++)
        if (x86_decode(p + n - size, size, wide, &insn) && insn.size == size &&
            (insn.kind == X86_CALL || insn.kind == X86_CALL_INDIRECT))
            return true;
    return false;
}
