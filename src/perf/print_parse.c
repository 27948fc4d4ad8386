// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/print_parse.h"

#include <ctype.h>
#include <string.h>

#include "base/mem.h"

#define NESTING_MAX 200 /* nested parentheses and signs */
#define WORD_MAX    64

void print_tree_done(struct print_tree *t)
{
    mem_free(t->nodes.items);
    buf_done(&t->strings);
    *t = (struct print_tree){ 0 };
}

/* ---- words ---- */

static void skip_blanks(struct print_parser *p)
{
    while (p->at < p->end && isspace((unsigned char)*p->at))
        p->at++;
}

static bool is_next(struct print_parser *p, const char *token)
{
    size_t n = strlen(token);
    skip_blanks(p);
    return (size_t)(p->end - p->at) >= n && !memcmp(p->at, token, n);
}

bool print_parse_token(struct print_parser *p, const char *token)
{
    if (!is_next(p, token))
        return false;
    p->at += strlen(token);
    return true;
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool read_word(struct print_parser *p, char word[WORD_MAX])
{
    size_t n = 0;
    skip_blanks(p);
    while (p->at + n < p->end && n + 1 < WORD_MAX && is_word_char(p->at[n])) {
        word[n] = p->at[n];
        n++;
    }
    word[n] = '\0';
    if (!n || (p->at + n < p->end && is_word_char(p->at[n])))
        return false;
    p->at += n;
    return true;
}

static char unescaped(char c)
{
    return (char)(c == 'n' ? '\n' : c == 't' ? '\t' : c);
}

bool print_parse_string(struct print_parser *p, uint32_t *text)
{
    struct buf *out = &p->tree->strings;
    *text = (uint32_t)out->len;
    if (!is_next(p, "\""))
        return false;
    while (print_parse_token(p, "\"")) {
        for (; p->at < p->end && *p->at != '"'; p->at++) {
            bool escape = *p->at == '\\' && p->at + 1 < p->end;
            p->at += escape;
            if (!*p->at)
                return false;
            buf_putc(out, escape ? unescaped(*p->at) : *p->at);
        }
        if (p->at >= p->end)
            return false;
        p->at++;
    }
    buf_putc(out, '\0');
    return true;
}

/* ---- nodes ---- */

static unsigned depth_of(const struct print_tree *t, uint16_t node)
{
    return node ? t->nodes.items[node].depth : 0;
}

static uint16_t add(struct print_parser *p, struct print_node node)
{
    struct print_tree *t = p->tree;
    unsigned depth = depth_of(t, node.a);
    depth = depth_of(t, node.b) > depth ? depth_of(t, node.b) : depth;
    if (node.kind == PRINT_CHOICE && depth_of(t, node.c) > depth)
        depth = depth_of(t, node.c);
    if (t->nodes.n >= PRINT_NODES_MAX || depth >= PRINT_DEPTH_MAX)
        return 0;
    if (!t->nodes.n)
        *VEC_PUSH(&t->nodes) = (struct print_node){ 0 }; /* node 0 means none */
    node.depth = (uint8_t)(depth + 1);
    *VEC_PUSH(&t->nodes) = node;
    return (uint16_t)(t->nodes.n - 1);
}

static uint16_t add_number(struct print_parser *p, int64_t value)
{
    return add(p, (struct print_node){ .kind = PRINT_NUMBER, .value = value });
}

/* ---- types ---- */

static const struct {
    const char *word;
    uint8_t size;
    int8_t is_signed; /* -1: not given by the word */
} type_words[] = {
    { "", 8, 0 }, /* for unknown type names */
    { "unsigned", 0, 0 },
    { "signed", 0, 1 },
    { "char", 1, -1 },
    { "short", 2, -1 },
    { "int", 4, -1 },
    { "long", 8, -1 },
    { "u8", 1, 0 },
    { "u16", 2, 0 },
    { "u32", 4, 0 },
    { "u64", 8, 0 },
    { "s8", 1, 1 },
    { "s16", 2, 1 },
    { "s32", 4, 1 },
    { "s64", 8, 1 },
    { "__u8", 1, 0 },
    { "__u16", 2, 0 },
    { "__u32", 4, 0 },
    { "__u64", 8, 0 },
    { "__s32", 4, 1 },
    { "__s64", 8, 1 },
    { "bool", 1, 0 },
    { "gfp_t", 4, 0 },
    { "pid_t", 4, 1 },
    { "uint", 4, 0 },
    { "int32_t", 4, 1 },
    { "uint32_t", 4, 0 },
    { "const", 0, -1 },
    { "void", 0, -1 },
    { "struct", 0, -1 },
    { "enum", 4, 1 },
    { "isolate_mode_t", 4, 0 },
    { "vm_fault_t", 4, 0 },
    { "dev_t", 4, 0 },
};
#define TYPE_WORDS (sizeof type_words / sizeof *type_words)

/* Index of a type word, -1: none. Unknown names ending in _t count as types of 8 bytes, which convert
 * nothing. */
static int type_word(const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i < TYPE_WORDS; i++)
        if (!strcmp(word, type_words[i].word))
            return (int)i;
    return n > 2 && !strcmp(word + n - 2, "_t") ? 0 : -1;
}

/* Parse a type and its ')': "( unsigned long )", "(void *)". False: not a type, and p->at is unchanged.
 * size 0: a pointer, which converts nothing. */
static bool read_type(struct print_parser *p, uint8_t *size, bool *is_signed)
{
    const char *start = p->at;
    char word[WORD_MAX];
    int known = -1;
    bool named = false; /* the next word is the name of a struct or enum */
    *size = 0;
    *is_signed = true;
    while (read_word(p, word)) {
        int type = named ? -1 : type_word(word);
        if (type < 0 && !named)
            break;
        named = type >= 0 && (!strcmp(word, "struct") || !strcmp(word, "enum"));
        known = type >= 0 ? type : known;
        if (type >= 0 && type_words[type].size &&
            !(*size && !strcmp(word, "int"))) /* "long int", "short int" */
            *size = type_words[type].size;
        if (type >= 0 && type_words[type].is_signed >= 0)
            *is_signed = type_words[type].is_signed;
        if (type >= 0 && !strcmp(word, "unsigned") && !*size)
            *size = 4;
    }
    if (known < 0) {
        p->at = start;
        return false;
    }
    while (print_parse_token(p, "*"))
        *size = 0;
    if (print_parse_token(p, ")"))
        return true;
    p->at = start;
    return false;
}

/* ---- primary expressions ---- */

static uint16_t read_number(struct print_parser *p)
{
    uint64_t value = 0;
    unsigned base = 10;
    if (p->at + 1 < p->end && *p->at == '0') {
        base = p->at[1] == 'x' || p->at[1] == 'X' ? 16 : 8;
        p->at += base == 16 ? 2 : 1;
    }
    for (; p->at < p->end && isxdigit((unsigned char)*p->at); p->at++) {
        unsigned digit =
            isdigit((unsigned char)*p->at) ? (unsigned)(*p->at - '0') : (unsigned)((*p->at | 32) - 'a' + 10);
        if (digit >= base)
            return 0;
        value = value * base + digit;
    }
    while (p->at < p->end && strchr("uUlL", *p->at) && *p->at)
        p->at++;
    return p->at < p->end && is_word_char(*p->at) ? 0 : add_number(p, (int64_t)value);
}

static uint16_t read_field(struct print_parser *p, enum print_kind kind)
{
    char name[WORD_MAX];
    int32_t field;
    if (!read_word(p, name) || (field = payload_field_find(p->fields, name)) < 0)
        return 0;
    struct print_node node = { .kind = (uint8_t)kind, .field = field };
    if (kind == PRINT_FIELD && print_parse_token(p, "[")) {
        node.kind = PRINT_ELEMENT;
        if (!(node.a = print_parse_expression(p)) || !print_parse_token(p, "]"))
            return 0;
    }
    return add(p, node);
}

static uint16_t field_in_brackets(struct print_parser *p, enum print_kind kind)
{
    uint16_t node = print_parse_token(p, "(") ? read_field(p, kind) : 0;
    return print_parse_token(p, ")") ? node : 0;
}

/* Parse a constant. An enum name that the kernel did not replace by its value is not a flag (-1), as in
 * libtraceevent. */
static bool constant_of(struct print_parser *p, int64_t *value)
{
    const char *start = p->at;
    char word[WORD_MAX];
    skip_blanks(p);
    if (p->at < p->end && !isdigit((unsigned char)*p->at) && read_word(p, word) && is_next(p, ",")) {
        *value = -1;
        return true;
    }
    p->at = start;
    uint16_t node = print_parse_expression(p);
    if (!node || p->tree->nodes.items[node].kind != PRINT_NUMBER)
        return false;
    *value = p->tree->nodes.items[node].value;
    return true;
}

/* Parse ", { 1, "S" }, { 2, "D" } )". Returns the first entry; 0 with *good: there are none. */
static uint16_t read_entries(struct print_parser *p, bool *good)
{
    uint16_t first = 0, last = 0;
    *good = false;
    while (print_parse_token(p, ",")) {
        struct print_node entry = { .kind = PRINT_ENTRY };
        if (!print_parse_token(p, "{") || !constant_of(p, &entry.value) || !print_parse_token(p, ","))
            return 0;
        bool named = is_next(p, "\""); /* the last entry may have no string */
        if (!(named ? print_parse_string(p, &entry.text) : print_parse_expression(p) != 0) ||
            !print_parse_token(p, "}"))
            return 0;
        if (!named)
            continue;
        uint16_t node = add(p, entry);
        if (!node)
            return 0;
        if (last)
            p->tree->nodes.items[last].c = node;
        first = first ? first : node;
        last = node;
    }
    *good = print_parse_token(p, ")");
    return first;
}

static uint16_t read_table(struct print_parser *p, enum print_kind kind)
{
    struct print_node node = { .kind = (uint8_t)kind };
    bool good;
    if (!print_parse_token(p, "(") || !(node.a = print_parse_expression(p)))
        return 0;
    if (kind == PRINT_FLAGS && (!print_parse_token(p, ",") || !print_parse_string(p, &node.text)))
        return 0;
    node.c = read_entries(p, &good);
    return good ? add(p, node) : 0;
}

static uint16_t read_hex(struct print_parser *p, char between)
{
    struct print_node node = { .kind = PRINT_HEX, .op = (uint16_t)between };
    if (!print_parse_token(p, "(") || !(node.a = print_parse_expression(p)) || !print_parse_token(p, ",") ||
        !(node.b = print_parse_expression(p)) || !print_parse_token(p, ")"))
        return 0;
    return add(p, node);
}

/* Parse a character such as 'F'. */
static uint16_t read_character(struct print_parser *p)
{
    if (p->end - p->at < 3 || p->at[1] == '\\' || p->at[2] != '\'')
        return 0;
    p->at += 3;
    return add_number(p, p->at[-2]);
}

/* Parse the argument of sizeof(u64). */
static uint16_t read_sizeof(struct print_parser *p)
{
    uint8_t size;
    bool is_signed;
    return print_parse_token(p, "(") && read_type(p, &size, &is_signed) ? add_number(p, size ? size : 8) : 0;
}

/* Parse the arguments of __print_array(__get_dynamic_array(x), n, 8). */
static uint16_t read_array(struct print_parser *p)
{
    struct print_node node = { .kind = PRINT_ARRAY };
    int64_t size;
    if (!print_parse_token(p, "(") || !(node.a = print_parse_expression(p)) || !print_parse_token(p, ",") ||
        !(node.b = print_parse_expression(p)) || !print_parse_token(p, ",") || !constant_of(p, &size) ||
        !print_parse_token(p, ")"))
        return 0;
    node.size = (uint8_t)size;
    return size == 1 || size == 2 || size == 4 || size == 8 ? add(p, node) : 0;
}

/* Parse the arguments of __builtin_expect(x, 0), which is x. */
static uint16_t read_expected(struct print_parser *p)
{
    uint16_t node = print_parse_token(p, "(") ? print_parse_expression(p) : 0;
    return node && print_parse_token(p, ",") && print_parse_expression(p) && print_parse_token(p, ")") ? node
                                                                                                       : 0;
}

/* Parse a name. An enum name that the kernel did not replace by its value is 0, as in libtraceevent;
 * unknown calls are not supported. */
static uint16_t read_named(struct print_parser *p)
{
    char word[WORD_MAX];
    if (!read_word(p, word))
        return 0;
    if (!strcmp(word, "REC"))
        return print_parse_token(p, "->") ? read_field(p, PRINT_FIELD) : 0;
    if (!strcmp(word, "__get_str") || !strcmp(word, "__get_rel_str") ||
        !strcmp(word, "__get_dynamic_array") || !strcmp(word, "__get_rel_dynamic_array"))
        return field_in_brackets(p, PRINT_FIELD);
    if (!strcmp(word, "__get_dynamic_array_len") || !strcmp(word, "__get_rel_dynamic_array_len"))
        return field_in_brackets(p, PRINT_LENGTH);
    if (!strcmp(word, "__print_flags"))
        return read_table(p, PRINT_FLAGS);
    if (!strcmp(word, "__print_symbolic"))
        return read_table(p, PRINT_SYMBOLIC);
    if (!strcmp(word, "__print_hex") || !strcmp(word, "__print_hex_str"))
        return read_hex(p, strcmp(word, "__print_hex") ? '\0' : ' ');
    if (!strcmp(word, "__print_array"))
        return read_array(p);
    if (!strcmp(word, "sizeof"))
        return read_sizeof(p);
    if (!strcmp(word, "__builtin_expect"))
        return read_expected(p);
    return is_next(p, "(") || is_next(p, "->") || is_next(p, "[") || is_next(p, ".") ? 0 : add_number(p, 0);
}

static uint16_t read_unary(struct print_parser *p);

static uint16_t read_brackets(struct print_parser *p)
{
    uint8_t size;
    bool is_signed;
    if (read_type(p, &size, &is_signed)) {
        uint16_t of = read_unary(p);
        if (!of || !size || p->tree->nodes.items[of].kind == PRINT_STRING)
            return of;
        if (p->tree->nodes.items[of].kind == PRINT_NUMBER)
            return add_number(p, print_cast(p->tree->nodes.items[of].value, size, is_signed));
        return add(p,
                   (struct print_node){ .kind = PRINT_CAST, .a = of, .size = size, .is_signed = is_signed });
    }
    uint16_t node = print_parse_expression(p);
    return print_parse_token(p, ")") ? node : 0;
}

static uint16_t read_primary(struct print_parser *p)
{
    uint32_t text;
    skip_blanks(p);
    if (p->at >= p->end)
        return 0;
    if (print_parse_token(p, "("))
        return read_brackets(p);
    if (*p->at == '"')
        return print_parse_string(p, &text)
                   ? add(p, (struct print_node){ .kind = PRINT_STRING, .text = text })
                   : 0;
    if (*p->at == '\'')
        return read_character(p);
    return isdigit((unsigned char)*p->at) ? read_number(p) : read_named(p);
}

static uint16_t unary_of(struct print_parser *p, char op, uint16_t of)
{
    if (!of)
        return 0;
    const struct print_node *n = &p->tree->nodes.items[of];
    if (n->kind == PRINT_NUMBER)
        return add_number(p, print_unary(op, n->value));
    return add(p, (struct print_node){ .kind = PRINT_UNARY, .op = (uint16_t)op, .a = of });
}

static uint16_t read_unary(struct print_parser *p)
{
    static const char ops[] = "!~-";
    skip_blanks(p);
    if (p->depth >= NESTING_MAX)
        return 0;
    p->depth++;
    uint16_t node;
    if (p->at < p->end && *p->at && strchr(ops, *p->at)) {
        char op = *p->at++;
        node = unary_of(p, op, read_unary(p));
    } else {
        node = read_primary(p);
    }
    p->depth--;
    return node;
}

/* ---- binary operators ---- */

static const struct {
    const char *text;
    int binds; /* precedence: higher binds tighter */
} operators[] = {
    { "||", 1 }, { "&&", 2 }, { "==", 6 }, { "!=", 6 }, { "<=", 7 }, { ">=", 7 },
    { "<<", 8 }, { ">>", 8 }, { "|", 3 },  { "^", 4 },  { "&", 5 },  { "<", 7 },
    { ">", 7 },  { "+", 9 },  { "-", 9 },  { "*", 10 }, { "/", 10 }, { "%", 10 },
};

static int next_operator(struct print_parser *p, int least)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (is_next(p, operators[i].text))
            return operators[i].binds >= least ? (int)i : -1;
    return -1;
}

static uint16_t binary_of(struct print_parser *p, unsigned op, uint16_t a, uint16_t b)
{
    if (!a || !b)
        return 0;
    const struct print_node *x = &p->tree->nodes.items[a], *y = &p->tree->nodes.items[b];
    if (x->kind == PRINT_NUMBER && y->kind == PRINT_NUMBER)
        return add_number(p, print_binary(op, x->value, y->value));
    return add(p, (struct print_node){ .kind = PRINT_BINARY, .op = (uint16_t)op, .a = a, .b = b });
}

static uint16_t read_binary(struct print_parser *p, int least)
{
    uint16_t left = read_unary(p);
    int i;
    while (left && (i = next_operator(p, least)) >= 0) {
        const char *text = operators[i].text;
        p->at += strlen(text);
        left = binary_of(p, PRINT_OP(text[0], text[1]), left, read_binary(p, operators[i].binds + 1));
    }
    return left;
}

uint16_t print_parse_expression(struct print_parser *p)
{
    if (p->depth >= NESTING_MAX)
        return 0;
    p->depth++;
    struct print_node node = { .kind = PRINT_CHOICE, .a = read_binary(p, 1) };
    uint16_t result = node.a;
    if (result && print_parse_token(p, "?")) {
        node.b = print_parse_expression(p);
        node.c = print_parse_token(p, ":") ? print_parse_expression(p) : 0;
        result = node.b && node.c ? add(p, node) : 0;
    }
    p->depth--;
    return result;
}

/* ---- arithmetic as in libtraceevent: unsigned, 64 bits ---- */

int64_t print_cast(int64_t value, unsigned size, bool is_signed)
{
    unsigned shift = 64 - 8 * size;
    if (size >= 8)
        return value;
    uint64_t up = (uint64_t)value << shift;
    return is_signed ? (int64_t)up >> shift : (int64_t)(up >> shift);
}

int64_t print_unary(char op, int64_t x)
{
    return op == '!' ? !x : op == '~' ? ~x : (int64_t)(0 - (uint64_t)x);
}

static int64_t compared(unsigned op, uint64_t x, uint64_t y)
{
    switch (op) {
    case PRINT_OP('=', '='):
        return x == y;
    case PRINT_OP('!', '='):
        return x != y;
    case PRINT_OP('<', '='):
        return x <= y;
    case PRINT_OP('>', '='):
        return x >= y;
    case '<':
        return x < y;
    case '>':
        return x > y;
    case PRINT_OP('&', '&'):
        return x && y;
    default:
        return x || y;
    }
}

int64_t print_binary(unsigned op, int64_t sx, int64_t sy)
{
    uint64_t x = (uint64_t)sx, y = (uint64_t)sy;
    switch (op) {
    case '+':
        return (int64_t)(x + y);
    case '-':
        return (int64_t)(x - y);
    case '*':
        return (int64_t)(x * y);
    case '/':
        return y ? (int64_t)(x / y) : 0;
    case '%':
        return y ? (int64_t)(x % y) : 0;
    case '&':
        return (int64_t)(x & y);
    case '|':
        return (int64_t)(x | y);
    case '^':
        return (int64_t)(x ^ y);
    case PRINT_OP('<', '<'):
        return (int64_t)(x << (y & 63));
    case PRINT_OP('>', '>'):
        return (int64_t)(x >> (y & 63));
    default:
        return compared(op, x, y);
    }
}
