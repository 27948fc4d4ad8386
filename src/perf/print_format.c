// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/print_format.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "perf/payload_field.h"
#include "perf/print_parse.h"

#define ARGUMENTS_MAX 64
#define WIDTH_MAX     256
#define HEX_MAX       256 /* bytes printed by __print_hex */
#define ARRAY_MAX     256 /* numbers printed by __print_array */
#define OUTPUT_MAX    4096

/* Part of the format that prints a single field: "%s%s" of "prev_state=%s%s". */
struct part {
    uint32_t from, to; /* offsets in tree.strings; to 0: none */
    uint32_t argument; /* the first one */
    bool is_text;      /* not only numbers */
};

struct print_format {
    struct print_tree tree;
    uint32_t format; /* offset in tree.strings */
    uint16_t arguments[ARGUMENTS_MAX];
    uint32_t n;
    struct part parts[PAYLOAD_FIELDS_MAX]; /* by field */
};

#define LINUX_AF_INET  2
#define LINUX_AF_INET6 10

/* ---- conversions: "%-5d", "%*pS" ---- */

struct conversion {
    char flags[8];
    int width, precision;              /* -1: none */
    bool width_given, precision_given; /* given by an argument: '*' */
    int size;                          /* of an integer, in bytes */
    char type;                         /* 'd' also for 'i' */
    char pointer[8];                   /* suffix of %p: "S", "I6c", "ISpc" */
};

static const char *read_amount(const char *s, int *amount, bool *given)
{
    *given = *s == '*';
    if (*given)
        return s + 1;
    for (*amount = 0; isdigit((unsigned char)*s); s++)
        *amount = *amount < WIDTH_MAX ? *amount * 10 + (*s - '0') : WIDTH_MAX;
    return s;
}

static const char *read_size(const char *s, int *size)
{
    *size = 4;
    for (; *s && strchr("hlLzjt", *s); s++)
        *size = *s == 'h' ? *size / 2 : 8;
    return s;
}

/* Parse a conversion; s points past the '%'. Returns the text behind it; NULL: not supported. */
static const char *read_conversion(const char *s, struct conversion *c)
{
    size_t n = 0;
    *c = (struct conversion){ .width = -1, .precision = -1 };
    for (; *s && strchr("-+ #0", *s); s++)
        if (n + 1 < sizeof c->flags && !strchr(c->flags, *s))
            c->flags[n++] = *s;
    if (isdigit((unsigned char)*s) || *s == '*')
        s = read_amount(s, &c->width, &c->width_given);
    if (*s == '.')
        s = read_amount(s + 1, &c->precision, &c->precision_given);
    s = read_size(s, &c->size);
    c->type = *s == 'i' ? 'd' : *s;
    if (!*s || !strchr("duxXocsp%", c->type) || !c->size)
        return NULL;
    s++;
    for (n = 0; c->type == 'p' && isalnum((unsigned char)*s); s++) {
        if (n + 1 >= sizeof c->pointer)
            return NULL;
        c->pointer[n++] = *s;
    }
    return s;
}

static bool is_pointer_known(const char *pointer)
{
    static const char *const known[] = { "",    "s",  "S",   "f",   "F",    "I4", "I6",
                                         "I6c", "IS", "ISc", "ISp", "ISpc", "M",  "U" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(pointer, known[i]))
            return true;
    return false;
}

/* True if all conversions are supported and the number of arguments matches. */
static bool format_is_known(const struct print_format *p)
{
    struct conversion c;
    uint32_t wanted = 0;
    for (const char *s = strchr(p->tree.strings.data + p->format, '%'); s; s = strchr(s, '%')) {
        s = read_conversion(s + 1, &c);
        if (!s || !is_pointer_known(c.pointer))
            return false;
        wanted += (uint32_t)c.width_given + (uint32_t)c.precision_given + (c.type != '%');
    }
    return wanted == p->n;
}

/* ---- parts that print single fields ---- */

#define FIELD_NONE    (-1) /* of an expression without fields, such as "a string" */
#define FIELD_SEVERAL (-2)

static int32_t join_fields(int32_t a, int32_t b)
{
    return a == FIELD_NONE || a == b ? b : b == FIELD_NONE ? a : FIELD_SEVERAL;
}

/* The only field that an expression shows. Its depth is bounded by PRINT_DEPTH_MAX. */
static int32_t only_field(const struct print_tree *tree, uint16_t node)
{
    const struct print_node *n = &tree->nodes.items[node];
    int32_t own = n->kind == PRINT_FIELD ? n->field : FIELD_NONE;
    if (n->kind == PRINT_ELEMENT || n->kind == PRINT_LENGTH) /* not the whole field */
        return FIELD_SEVERAL;
    bool has_entries = n->kind == PRINT_FLAGS || n->kind == PRINT_SYMBOLIC; /* constants, in a long list */
    if (n->a)
        own = join_fields(own, only_field(tree, n->a));
    if (n->b)
        own = join_fields(own, only_field(tree, n->b));
    return n->c && !has_entries ? join_fields(own, only_field(tree, n->c)) : own;
}

/* True if text between two conversions keeps them one value: "%d,%d", but not "%u action=%s". */
static bool text_joins(const char *from, const char *to)
{
    for (; from < to; from++)
        if (isspace((unsigned char)*from) || *from == '=')
            return false;
    return true;
}

/* The first part that prints a field as a text is better than one with its number. */
static void add_part(struct print_format *p, int32_t field, const struct part *part)
{
    struct part *best = field >= 0 && field < PAYLOAD_FIELDS_MAX ? &p->parts[field] : NULL;
    if (best && (!best->to || (part->is_text && !best->is_text)))
        *best = *part;
}

static void find_parts(struct print_format *p)
{
    const char *strings = p->tree.strings.data, *behind = strings + p->format, *s;
    struct part part = { .to = 0 };
    int32_t field = FIELD_NONE;
    uint32_t next = 0;
    for (s = strchr(behind, '%'); s; s = strchr(behind, '%')) {
        struct conversion c;
        const char *from = s;
        s = read_conversion(s + 1, &c);
        next += (uint32_t)c.width_given + (uint32_t)c.precision_given;
        bool fixed = !c.width_given && !c.precision_given && c.type != '%';
        int32_t own = fixed ? only_field(&p->tree, p->arguments[next]) : FIELD_NONE;
        if (own != field || !text_joins(behind, from)) {
            add_part(p, field, &part);
            part = (struct part){ .from = (uint32_t)(from - strings), .argument = next };
            field = own;
        }
        part.to = (uint32_t)(s - strings);
        part.is_text |= c.type == 's' || c.type == 'p';
        next += c.type != '%';
        behind = s;
    }
    add_part(p, field, &part);
}

struct print_format *print_format_new(const char *text, size_t n, const struct payload_format *fields)
{
    struct print_format *p = mem_zalloc(sizeof *p);
    struct print_parser parser = { .at = text, .end = text + n, .fields = fields, .tree = &p->tree };
    bool good = print_parse_string(&parser, &p->format);
    while (good && print_parse_token(&parser, ","))
        good = p->n < ARGUMENTS_MAX && (p->arguments[p->n++] = print_parse_expression(&parser)) != 0;
    while (parser.at < parser.end && isspace((unsigned char)*parser.at))
        parser.at++;
    if (good && parser.at == parser.end && format_is_known(p)) {
        find_parts(p);
        return p;
    }
    print_format_free(p);
    return NULL;
}

void print_format_free(struct print_format *p)
{
    if (!p)
        return;
    print_tree_done(&p->tree);
    mem_free(p);
}

/* ---- values ---- */

struct print {
    const struct print_format *format;
    const struct payload *payload;
    struct buf *out;
    size_t end; /* limit of out->len */
};

static const struct print_node *node_of(const struct print *x, uint16_t node)
{
    return &x->format->tree.nodes.items[node];
}

static const char *text_of(const struct print *x, const struct print_node *n)
{
    return x->format->tree.strings.data + n->text;
}

static int64_t number_of(const struct print *x, uint16_t node)
{
    const struct print_node *n = node_of(x, node);
    const uint8_t *bytes;
    uint32_t length = 0;
    switch (n->kind) {
    case PRINT_NUMBER:
        return n->value;
    case PRINT_FIELD:
        return (int64_t)payload_number(x->payload, n->field);
    case PRINT_ELEMENT:
        return (int64_t)payload_element(x->payload, n->field, (uint64_t)number_of(x, n->a));
    case PRINT_LENGTH:
        return payload_bytes(x->payload, n->field, &bytes, &length) ? length : 0;
    case PRINT_CAST:
        return print_cast(number_of(x, n->a), n->size, n->is_signed);
    case PRINT_UNARY:
        return print_unary((char)n->op, number_of(x, n->a));
    case PRINT_BINARY:
        return print_binary(n->op, number_of(x, n->a), number_of(x, n->b));
    case PRINT_CHOICE:
        return number_of(x, number_of(x, n->a) ? n->b : n->c);
    default: /* a string */
        return 0;
    }
}

static void put_flags(const struct print *x, const struct print_node *n, struct buf *out)
{
    uint64_t left = (uint64_t)number_of(x, n->a);
    bool any = false;
    for (const struct print_node *e = n->c ? node_of(x, n->c) : NULL; e; e = e->c ? node_of(x, e->c) : NULL) {
        uint64_t flag = (uint64_t)e->value;
        bool none = e->value < 0 && !left && !any; /* unknown value: print the entry for no flags */
        if (!none && (e->value <= 0 || (left & flag) != flag))
            continue;
        buf_printf(out, "%s%s", any ? text_of(x, n) : "", text_of(x, e));
        any = true;
        left &= ~flag;
        if (none)
            break;
    }
    if (left)
        buf_printf(out, "%s0x%llx", any ? text_of(x, n) : "", (unsigned long long)left);
}

/* Append the symbol of a value. False: there is none, and the number was appended. */
static bool put_symbolic(const struct print *x, const struct print_node *n, struct buf *out)
{
    int64_t value = number_of(x, n->a);
    for (const struct print_node *e = n->c ? node_of(x, n->c) : NULL; e; e = e->c ? node_of(x, e->c) : NULL) {
        if (e->value == value) {
            buf_puts(out, text_of(x, e));
            return true;
        }
    }
    buf_printf(out, "0x%llx", (unsigned long long)value);
    return false;
}

static bool bytes_of(const struct print *x, uint16_t node, const uint8_t **bytes, uint32_t *n)
{
    const struct print_node *at = node_of(x, node);
    return at->kind == PRINT_FIELD && payload_bytes(x->payload, at->field, bytes, n);
}

static void put_hex(const struct print *x, const struct print_node *n, struct buf *out)
{
    const uint8_t *bytes;
    uint32_t length;
    int64_t wanted = number_of(x, n->b);
    if (!bytes_of(x, n->a, &bytes, &length))
        return;
    for (uint32_t i = 0; i < length && i < HEX_MAX && i < wanted; i++)
        buf_printf(out, "%s%02x", i && n->op ? " " : "", bytes[i]);
}

/* Append "{0x1,0x2}". */
static void put_array(const struct print *x, const struct print_node *n, struct buf *out)
{
    const uint8_t *bytes;
    uint32_t length;
    uint64_t wanted = (uint64_t)number_of(x, n->b);
    bool there = bytes_of(x, n->a, &bytes, &length);
    buf_putc(out, '{');
    for (uint64_t i = 0; there && i < wanted && i < ARRAY_MAX && (i + 1) * n->size <= length; i++)
        buf_printf(out, "%s0x%llx", i ? "," : "",
                   (unsigned long long)payload_number_at(x->payload, bytes + i * n->size, n->size));
    buf_putc(out, '}');
}

/* Append a string; a field's ends at its NUL. */
static void put_text(const struct print *x, uint16_t node, struct buf *out)
{
    const struct print_node *n = node_of(x, node);
    const uint8_t *bytes;
    uint32_t length;
    switch (n->kind) {
    case PRINT_STRING:
        buf_puts(out, text_of(x, n));
        break;
    case PRINT_CHOICE:
        put_text(x, number_of(x, n->a) ? n->b : n->c, out);
        break;
    case PRINT_FLAGS:
        put_flags(x, n, out);
        break;
    case PRINT_SYMBOLIC:
        (void)put_symbolic(x, n, out);
        break;
    case PRINT_HEX:
        put_hex(x, n, out);
        break;
    case PRINT_ARRAY:
        put_array(x, n, out);
        break;
    default:
        if (bytes_of(x, node, &bytes, &length))
            buf_add(out, (const char *)bytes, strnlen((const char *)bytes, length));
        else if (n->kind != PRINT_FIELD || payload_is_number(x->payload->format, n->field))
            /* a pointer prints its value */
            buf_printf(out, "%llx", (unsigned long long)number_of(x, node));
    }
}

/* ---- output ---- */

static void put_padded(const struct print *x, const struct conversion *c, const struct buf *text)
{
    size_t n = text->len, width = c->width > 0 ? (size_t)c->width : 0;
    if (c->precision >= 0 && (size_t)c->precision < n)
        n = (size_t)c->precision;
    size_t blanks = width > n ? width - n : 0;
    bool left = strchr(c->flags, '-') != NULL;
    for (size_t i = 0; i < blanks && !left; i++)
        buf_putc(x->out, ' ');
    if (n)
        buf_add(x->out, text->data, n);
    for (size_t i = 0; i < blanks && left; i++)
        buf_putc(x->out, ' ');
}

static void put_string(const struct print *x, const struct conversion *c, uint16_t node)
{
    struct buf text = { 0 };
    const struct print_node *n = node_of(x, node);
    bool padded = true;
    if (n->kind == PRINT_SYMBOLIC)
        padded = put_symbolic(x, n, &text); /* libtraceevent pads strings only */
    else
        put_text(x, node, &text);
    put_padded(x, padded ? c : &(struct conversion){ .width = -1, .precision = -1 }, &text);
    buf_done(&text);
}

static void put_integer(const struct print *x, const struct conversion *c, int64_t value)
{
    char spec[64];
    size_t n = (size_t)snprintf(spec, sizeof spec, "%%%s", c->flags);
    if (c->width >= 0)
        n += (size_t)snprintf(spec + n, sizeof spec - n, "%d", c->width);
    if (c->precision >= 0 && c->type != 'c')
        n += (size_t)snprintf(spec + n, sizeof spec - n, ".%d", c->precision);
    if (c->type == 'c') {
        buf_putc(x->out, (char)value);
        return;
    }
    (void)snprintf(spec + n, sizeof spec - n, "ll%c", c->type);
    value = print_cast(value, (unsigned)c->size, c->type == 'd');
    char text[2 * WIDTH_MAX + 64];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    (void)snprintf(text, sizeof text, spec, (long long)value);
#pragma GCC diagnostic pop
    buf_puts(x->out, text);
}

static void put_address(const struct print *x, const struct conversion *c, uint64_t address)
{
    uint64_t start = 0;
    const char *name =
        *c->pointer && x->payload->name ? x->payload->name(x->payload->ctx, address, &start) : NULL;
    if (name)
        buf_puts(x->out, name);
    if (name && toupper((unsigned char)*c->pointer) == *c->pointer)
        buf_printf(x->out, "+0x%llx", (unsigned long long)(address - start));
    else if (!name && (address || *c->pointer))
        buf_printf(x->out, "0x%llx", (unsigned long long)address);
    else if (!name)
        buf_puts(x->out, "(nil)"); /* as in the C library's printf, which perf uses */
}

/* Write all eight groups: 39 characters. */
static void put_long_ip6(const uint8_t *bytes, char text[64])
{
    for (int i = 0; i < 8; i++)
        (void)snprintf(text + 5 * i, 64 - 5 * (size_t)i, "%02x%02x%s", bytes[2 * i], bytes[2 * i + 1],
                       i < 7 ? ":" : "");
}

static void put_network(const struct print *x, const struct conversion *c, uint16_t node)
{
    const uint8_t *bytes = NULL;
    uint32_t n = 0, wanted = c->pointer[0] == 'M' ? 6 : c->pointer[1] == '4' ? 4 : 16;
    char text[64] = "";
    if (!bytes_of(x, node, &bytes, &n) || n < wanted)
        n = 0;
    if (n && c->pointer[0] == 'U')
        for (int i = 0, at = 0; i < 16; i++)
            at += snprintf(text + at, sizeof text - (size_t)at, "%02x%s", bytes[i],
                           strchr("\3\5\7\11", i) && i ? "-" : "");
    else if (n && wanted == 6)
        (void)snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2],
                       bytes[3], bytes[4], bytes[5]);
    else if (n && wanted == 16 && c->pointer[2] != 'c')
        put_long_ip6(bytes, text);
    else if (n)
        (void)inet_ntop(wanted == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
    buf_puts(x->out, text);
}

/* Append a struct sockaddr_in or sockaddr_in6 as described in the kernel's printk-formats.rst:
 * "127.0.0.1:80", "[::1]:80". 'p' adds the port. Other families print nothing. */
static void put_socket(const struct print *x, const struct conversion *c, uint16_t node)
{
    const uint8_t *bytes = NULL;
    uint32_t n = 0;
    char text[64] = "";
    bool port = strchr(c->pointer, 'p') != NULL;
    if (!bytes_of(x, node, &bytes, &n) || n < 8)
        return;
    uint64_t family = payload_number_at(x->payload, bytes, 2);
    if (family == LINUX_AF_INET)
        (void)inet_ntop(AF_INET, bytes + 4, text, sizeof text);
    else if (family == LINUX_AF_INET6 && n >= 24 && strchr(c->pointer, 'c'))
        (void)inet_ntop(AF_INET6, bytes + 8, text, sizeof text);
    else if (family == LINUX_AF_INET6 && n >= 24)
        put_long_ip6(bytes + 8, text);
    else
        return;
    buf_printf(x->out, port && family != LINUX_AF_INET ? "[%s]" : "%s", text);
    if (port)
        buf_printf(x->out, ":%u", (unsigned)(bytes[2] << 8 | bytes[3]));
}

static void put_one(const struct print *x, const struct conversion *c, uint16_t node)
{
    if (c->type == 's')
        put_string(x, c, node);
    else if (c->type != 'p')
        put_integer(x, c, number_of(x, node));
    else if (c->pointer[0] == 'I' && c->pointer[1] == 'S')
        put_socket(x, c, node);
    else if (strchr("IMU", *c->pointer) && *c->pointer)
        put_network(x, c, node);
    else
        put_address(x, c, (uint64_t)number_of(x, node));
}

/* Clamp a width or precision; negative ones mean none. */
static int bounded(int64_t amount)
{
    int32_t wanted = (int32_t)amount;
    return wanted < 0 ? -1 : wanted > WIDTH_MAX ? WIDTH_MAX : wanted;
}

/* Prints a part of the format, whose first argument is `next`. */
static void put_part(struct print *x, const char *s, const char *end, uint32_t next)
{
    const struct print_format *p = x->format;
    while (s < end && x->out->len < x->end) {
        struct conversion c;
        if (*s != '%') {
            buf_putc(x->out, *s++);
            continue;
        }
        s = read_conversion(s + 1, &c); /* all were checked when the format was parsed */
        if (c.width_given)
            c.width = bounded(number_of(x, p->arguments[next++]));
        if (c.precision_given)
            c.precision = bounded(number_of(x, p->arguments[next++]));
        if (c.type == '%')
            buf_putc(x->out, '%');
        else
            put_one(x, &c, p->arguments[next++]);
    }
}

/* ---- names of numbers ---- */

static bool is_of_field(const struct print_format *p, const struct print_node *symbolic, int32_t field)
{
    const struct print_node *of = &p->tree.nodes.items[symbolic->a];
    while (of->kind == PRINT_CAST)
        of = &p->tree.nodes.items[of->a];
    return of->kind == PRINT_FIELD && of->field == field;
}

bool print_format_symbol(const struct print_format *p, int32_t field, const char *name, uint64_t *number,
                         struct buf *names)
{
    for (size_t i = 1; p && i < p->tree.nodes.n; i++) {
        const struct print_node *symbolic = &p->tree.nodes.items[i];
        if (symbolic->kind != PRINT_SYMBOLIC || !is_of_field(p, symbolic, field))
            continue;
        for (uint16_t entry = symbolic->c; entry; entry = p->tree.nodes.items[entry].c) {
            const char *text = p->tree.strings.data + p->tree.nodes.items[entry].text;
            if (!strcmp(text, name)) {
                *number = (uint64_t)p->tree.nodes.items[entry].value;
                return true;
            }
            buf_printf(names, "%s%s", names->len ? ", " : "", text);
        }
    }
    return false;
}

void print_format_put(const struct print_format *p, const struct payload *payload, struct buf *out)
{
    struct print x = { .format = p, .payload = payload, .out = out, .end = out->len + OUTPUT_MAX };
    const char *s = p->tree.strings.data + p->format;
    put_part(&x, s, s + strlen(s), 0);
}

bool print_format_put_field(const struct print_format *p, const struct payload *payload, int32_t field,
                            struct buf *out)
{
    struct print x = { .format = p, .payload = payload, .out = out, .end = out->len + OUTPUT_MAX };
    const struct part *part = &p->parts[field];
    const char *strings = p->tree.strings.data;
    if (part->to)
        put_part(&x, strings + part->from, strings + part->to, part->argument);
    return part->to;
}
