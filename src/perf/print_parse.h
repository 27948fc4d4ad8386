// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse expressions in the arguments of a "print fmt" into an array of nodes. */
#ifndef FLAMETOP_PERF_PRINT_PARSE_H
#define FLAMETOP_PERF_PRINT_PARSE_H

#include "base/mem.h"
#include "perf/payload.h"

enum print_kind {
    PRINT_NUMBER,   /* value */
    PRINT_STRING,   /* text */
    PRINT_FIELD,    /* field: a number, or the bytes of an array */
    PRINT_ELEMENT,  /* field, a: index */
    PRINT_LENGTH,   /* field: size in bytes of a dynamic array */
    PRINT_CAST,     /* a, converted to `size` bytes, signed or not */
    PRINT_UNARY,    /* op, a */
    PRINT_BINARY,   /* op, a, b */
    PRINT_CHOICE,   /* a ? b : c */
    PRINT_FLAGS,    /* a, text: separator of flags, c: first entry */
    PRINT_SYMBOLIC, /* a, c: first entry */
    PRINT_ENTRY,    /* value, text, c: next entry */
    PRINT_ARRAY,    /* a: array of numbers of `size` bytes, b: how many */
    PRINT_HEX,      /* a: bytes, b: how many; op ' ': separated by blanks */
};
/* An operator of two characters: the second one is shifted by 8. */
#define PRINT_OP(first, second) ((unsigned)(first) | (unsigned)(second) << 8)

struct print_node {
    uint8_t kind, size, depth;
    bool is_signed;
    uint16_t op;
    uint16_t a, b, c; /* nodes; 0: none, as node 0 is unused */
    int32_t field;
    int64_t value;
    uint32_t text; /* offset into print_tree.strings, NUL-terminated */
};
#define PRINT_NODES_MAX 4096
#define PRINT_DEPTH_MAX 100

struct print_tree {
    VEC(struct print_node) nodes;
    struct buf strings;
};
void print_tree_done(struct print_tree *t);

struct print_parser {
    const char *at, *end;
    const struct payload_format *fields;
    struct print_tree *tree;
    unsigned depth;
};
/* Each advances p->at past what it parsed. False, or node 0: no match, or a limit is exceeded. */
bool print_parse_token(struct print_parser *p, const char *token);
bool print_parse_string(struct print_parser *p, uint32_t *text); /* "a" "b": one string */
uint16_t print_parse_expression(struct print_parser *p);

/* 64-bit arithmetic: an invalid division yields 0, shift counts are 0 to 63. */
int64_t print_cast(int64_t value, unsigned size, bool is_signed); /* convert to `size` bytes and back */
int64_t print_unary(char op, int64_t x);
int64_t print_binary(unsigned op, int64_t x, int64_t y);

#endif
