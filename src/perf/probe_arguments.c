// SPDX-License-Identifier: GPL-2.0-or-later
/* Write arguments of probes as uprobe_events wants them (Documentation/trace/uprobetracer.rst). */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "perf/probe_parts.h"

#define ARGUMENT      "$arg"
#define RETVAL        "$retval"
#define DETAILS_WORDS " "
#define FETCH_MAX     (PROBE_WORD_MAX + 64)

/* ---- registers ---- */

#if defined __x86_64__
static const char *const argument_registers[] = { "%di", "%si", "%dx", "%cx", "%r8", "%r9" };
#elif defined __aarch64__
static const char *const argument_registers[] = { "%x0", "%x1", "%x2", "%x3", "%x4", "%x5", "%x6", "%x7" };
#else
static const char *const argument_registers[] = { "" };
#endif
#define ARGUMENT_REGISTERS (sizeof argument_registers / sizeof *argument_registers)

/* The Nth argument at the entry of a function, N from 1 on. */
static bool put_argument_place(unsigned long n, bool wide, char dst[FETCH_MAX], struct error *e)
{
#if defined __x86_64__
    if (!wide) { /* i386: behind the return address */
        snprintf(dst, FETCH_MAX, "+%lu(%%sp)", 4 * n);
        return true;
    }
#endif
    if (!wide || !*argument_registers[0])
        return error_set(e, ERROR_UNSUPPORTED,
                         "arguments by number are not known on this machine: name registers");
    if (n > ARGUMENT_REGISTERS)
        return error_set(e, ERROR_ARGUMENT,
                         "the first %zu arguments of a function are in registers, not $arg%lu",
                         ARGUMENT_REGISTERS, n);
    snprintf(dst, FETCH_MAX, "%s", argument_registers[n - 1]);
    return true;
}

/* Replace the first $argN, also within memory: "+8($arg1)". */
static bool replace_argument(const char *value, bool wide, char dst[FETCH_MAX], struct error *e)
{
    const char *at = strstr(value, ARGUMENT);
    char *end, place[FETCH_MAX];
    unsigned long n = at ? strtoul(at + strlen(ARGUMENT), &end, 10) : 0;
    if (!at) {
        snprintf(dst, FETCH_MAX, "%s", value);
        return true;
    }
    if (!n || !isdigit((unsigned char)at[strlen(ARGUMENT)]))
        return error_set(e, ERROR_ARGUMENT, "'%s': arguments are numbered from $arg1 on", value);
    if (!put_argument_place(n, wide, place, e))
        return false;
    snprintf(dst, FETCH_MAX, "%.*s%.*s%s", (int)(at - value), value, FETCH_MAX / 4, place, end);
    return true;
}

/* ---- parameters ---- */

static bool is_string(const char *type)
{
    return !strcmp(type, "string") || !strcmp(type, "ustring");
}

/* A parameter or variable, as the details of a place say. */
struct parameter {
    char where[64]; /* a number: of the argument; else as the kernel reads it; "": not in one place */
    char type[32];
};

/* Find "name:WHERE:type". */
static bool find_parameter(const struct probe_place *place, const char *name, struct parameter *out)
{
    size_t len = strlen(name);
    for (const char *at = place->details; *at; at += strcspn(at, DETAILS_WORDS), at += *at == ' ') {
        if (strncmp(at, name, len) || at[len] != ':')
            continue;
        const char *where = at + len + 1, *type = where + strcspn(where, ": ");
        if (*type != ':')
            return false;
        snprintf(out->where, sizeof out->where, "%.*s", (int)(type - where), where);
        snprintf(out->type, sizeof out->type, "%.*s", (int)strcspn(type + 1, DETAILS_WORDS), type + 1);
        return true;
    }
    return false;
}

static bool no_parameter(const struct probe_spec *spec, const struct probe_place *place, const char *name,
                         struct error *e)
{
    char names[200];
    size_t at = 0;
    for (const char *p = place->details; *p && at + 40 < sizeof names;
         p += strcspn(p, DETAILS_WORDS), p += *p == ' ')
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%.*s", at ? ", " : "",
                               (int)(strcspn(p, ":") < 32 ? strcspn(p, ":") : 32), p);
    if (spec->kind != PROBE_FUNCTION || spec->offset)
        return error_set(e, ERROR_MISSING, "there is no variable '%s' at this place, or no debug information",
                         name);
    if (at)
        return error_set(e, ERROR_MISSING, "%s has no parameter '%s'; its parameters are %s", place->name,
                         name, names);
    return error_set(
        e, ERROR_MISSING,
        "'%s': parameters of %s are not known without debug information: use $arg1 or a register", name,
        place->name);
}

/* The text of a pointer is where it points, that of an array is the array. */
static bool point_to_text(const struct parameter *p, const char *name, char fetch[FETCH_MAX], struct error *e)
{
    char value[FETCH_MAX];
    bool array = !strcmp(p->type, "text");
    if (!array && *p->type != 'x')
        return error_set(e, ERROR_ARGUMENT, "'%s' is no pointer, and has no text", name);
    if (array)
        return true;
    snprintf(value, sizeof value, "%s", fetch);
    snprintf(fetch, FETCH_MAX, "+0(%.*s)", FETCH_MAX - 8, value);
    return true;
}

static bool put_parameter(const struct probe_spec *spec, const struct probe_place *place,
                          const struct probe_argument *a, char fetch[FETCH_MAX], char type[32],
                          struct error *e)
{
    struct parameter p;
    if (spec->at_return)
        return error_set(e, ERROR_ARGUMENT,
                         "'%s': parameters are known at the entry of a function only; a return has $retval",
                         a->value);
    if (spec->kind == PROBE_OFFSET || !find_parameter(place, a->value, &p))
        return no_parameter(spec, place, a->value, e);
    bool array = !strcmp(p.type, "text"), text = is_string(a->type);
    if (!*p.type || !*p.where || !strcmp(p.where, "0") || (array && !text))
        return error_set(e, ERROR_UNSUPPORTED,
                         array
                             ? "'%s' is an array of characters: give it the type string"
                             : "'%s' is no number and no pointer, or is not in a register or in memory there",
                         a->value);
    if (!isdigit((unsigned char)*p.where))
        snprintf(fetch, FETCH_MAX, "%s", p.where);
    else if (!put_argument_place(strtoul(p.where, NULL, 10), place->wide, fetch, e))
        return false;
    snprintf(type, 32, "%s", *a->type ? a->type : p.type);
    return !text || point_to_text(&p, a->value, fetch, e);
}

/* ---- arguments ---- */

/* The text of a register, or of an argument on the stack of a 32-bit program, is where it points. */
static bool is_pointer(const char *value, const char *fetch)
{
    return *fetch == '%' || !strcmp(fetch, RETVAL) || !strncmp(value, ARGUMENT, strlen(ARGUMENT));
}

static void put_one(const char *name, const char *fetch, bool follow, const char *type,
                    const struct probe_place *place, struct buf *out)
{
    const char *plain = place->wide ? "u64" : "u32";
    buf_printf(out, " %s=%s%s%s:%s", name, follow ? "+0(" : "", fetch, follow ? ")" : "",
               *type ? type : plain);
}

bool probe_is_parameter(const struct probe_argument *a)
{
    return isalpha((unsigned char)*a->value) || *a->value == '_';
}

void probe_argument_name(const struct probe_spec *spec, uint32_t i, char dst[64])
{
    const struct probe_argument *a = &spec->arguments[i];
    if (*a->name)
        snprintf(dst, 32, "%s", a->name);
    else if (!strcmp(a->value, RETVAL))
        snprintf(dst, 32, "ret");
    else if (probe_is_parameter(a))
        snprintf(dst, 32, "%.31s", a->value);
    else
        snprintf(dst, 32, "arg%u", i + 1);
}

bool probe_put_arguments(const struct probe_spec *spec, const struct probe_place *place, struct buf *out,
                         struct error *e)
{
    for (uint32_t i = 0; i < spec->n_arguments; i++) {
        const struct probe_argument *a = &spec->arguments[i];
        char name[64], fetch[FETCH_MAX], type[32] = "";
        if (!spec->at_return && strstr(a->value, RETVAL))
            return error_set(e, ERROR_ARGUMENT, "$retval is known at a return only: FUNCTION%%return");
        if (spec->at_return && strstr(a->value, ARGUMENT))
            return error_set(e, ERROR_ARGUMENT,
                             "'%s': arguments are known at the entry of a function only; a "
                             "return has $retval",
                             a->value);
        if (!(probe_is_parameter(a) ? put_parameter(spec, place, a, fetch, type, e)
                                    : replace_argument(a->value, place->wide, fetch, e)))
            return false;
        probe_argument_name(spec, i, name);
        bool follow = is_string(a->type) && !probe_is_parameter(a) && is_pointer(a->value, fetch);
        put_one(name, fetch, follow, *a->type ? a->type : type, place, out);
    }
    return true;
}

/* ---- arguments of markers, as assemblers write operands ---- */

struct operand {
    int size;              /* bytes; negative: signed; 0: cannot be read */
    char fetch[FETCH_MAX]; /* "" cannot be read */
};

#if defined __aarch64__
/* "x0", "w0", "sp" → "%x0", "%sp" */
static bool put_register(const char *name, size_t n, char *dst, size_t cap)
{
    bool stack = n == 2 && !strncmp(name, "sp", 2);
    if (!stack && (n < 2 || n > 3 || !strchr("xw", *name) || !isdigit((unsigned char)name[1])))
        return false;
    snprintf(dst, cap, stack ? "%%sp" : "%%x%.*s", (int)n - 1, name + 1);
    return true;
}

/* "x0", "5", "[sp, 16]", "[x1]" */
static bool put_operand(const char *text, size_t n, char dst[FETCH_MAX])
{
    char reg[16], *end;
    if (put_register(text, n, dst, FETCH_MAX))
        return true;
    if (n < 3 || *text != '[' || text[n - 1] != ']') {
        snprintf(dst, FETCH_MAX, "\\%lld", strtoll(text, &end, 0));
        return n && end == text + n;
    }
    const char *comma = memchr(text, ',', n);
    size_t reg_n = comma ? (size_t)(comma - text) - 1 : n - 2;
    long long offset = comma ? strtoll(comma + 1, &end, 0) : 0;
    if (!put_register(text + 1, reg_n, reg, sizeof reg) || (comma && end != text + n - 1))
        return false;
    snprintf(dst, FETCH_MAX, "%+lld(%s)", offset, reg);
    return true;
}
#elif !defined __x86_64__
static bool put_operand(const char *text, size_t n, char dst[FETCH_MAX])
{
    (void)text, (void)n, (void)dst;
    return false;
}
#else
/* "%rdi", "%edi", "%di", "%dil", "%r8d" → "%di", "%r8" */
static bool put_register(const char *name, size_t n, char *dst, size_t cap)
{
    static const char *const names[][5] = {
        { "rax", "eax", "ax", "al", "%ax" },  { "rbx", "ebx", "bx", "bl", "%bx" },
        { "rcx", "ecx", "cx", "cl", "%cx" },  { "rdx", "edx", "dx", "dl", "%dx" },
        { "rsi", "esi", "si", "sil", "%si" }, { "rdi", "edi", "di", "dil", "%di" },
        { "rbp", "ebp", "bp", "bpl", "%bp" }, { "rsp", "esp", "sp", "spl", "%sp" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t k = 0; k < 4; k++)
            if (strlen(names[i][k]) == n && !strncmp(names[i][k], name, n)) {
                snprintf(dst, cap, "%s", names[i][4]);
                return true;
            }
    size_t digits = n > 1 && *name == 'r' ? strspn(name + 1, "0123456789") : 0;
    if (!digits || digits > 2 || digits + 1 > n || n > digits + 2 ||
        (n == digits + 2 && !strchr("dwb", name[n - 1])))
        return false;
    snprintf(dst, cap, "%%%.*s", (int)digits + 1, name);
    return true;
}

/* "%rdi", "$5", "-8(%rbp)", "(%rax)"; not "8(%rax,%rbx,4)" and "name(%rip)", which uprobes cannot read */
static bool put_operand(const char *text, size_t n, char dst[FETCH_MAX])
{
    char reg[16], *end;
    const char *open = memchr(text, '(', n);
    if (n > 1 && *text == '%' && put_register(text + 1, n - 1, dst, FETCH_MAX))
        return true;
    if (n > 1 && *text == '$') {
        snprintf(dst, FETCH_MAX, "\\%lld", strtoll(text + 1, &end, 0));
        return end == text + n;
    }
    if (!open || n < (size_t)(open - text) + 4 || open[1] != '%' || text[n - 1] != ')' ||
        !put_register(open + 2, n - (size_t)(open - text) - 3, reg, sizeof reg))
        return false;
    long long offset = open > text ? strtoll(text, &end, 0) : 0;
    if (open > text && end != open)
        return false;
    snprintf(dst, FETCH_MAX, "%+lld(%s)", offset, reg);
    return true;
}
#endif

/* The argument "-4@8(%rbp)" of n bytes. */
static struct operand operand_of(const char *text, size_t n)
{
    struct operand o = { 0 };
    char *end;
    const char *at = memchr(text, '@', n);
    long size = at ? strtol(text, &end, 10) : 0;
    long bytes = size < -8 ? 0 : size < 0 ? -size : size;
    bool known = at && end == at && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8);
    if (known && put_operand(at + 1, n - (size_t)(at + 1 - text), o.fetch))
        o.size = (int)size;
    else
        o.fetch[0] = '\0';
    return o;
}

/* Arguments are separated by blanks, which brackets may contain as well. Returns the rest. */
static const char *next_operand(const char *at, struct operand *out)
{
    at += strspn(at, " ");
    size_t n = 0;
    for (int depth = 0; at[n] && (depth || at[n] != ' '); n++)
        depth += (at[n] == '[') - (at[n] == ']');
    *out = operand_of(at, n);
    return n ? at + n : NULL;
}

/* The type of argument `nth` at all places: of several sizes, the smallest; 0: one of them cannot be read. */
static int common_size(const struct probe_places *places, unsigned nth)
{
    int size = 0;
    for (size_t i = 0; i < places->n; i++) {
        struct operand o = { 0 };
        const char *at = places->items[i].details;
        for (unsigned k = 0; at && k <= nth; k++)
            at = next_operand(at, &o);
        if (!at || !o.size)
            return 0;
        if (!i || abs(o.size) < abs(size))
            size = o.size;
    }
    return size;
}

void probe_put_marker_arguments(const struct probe_places *places, size_t place, struct buf *out)
{
    struct operand o;
    const char *at = places->items[place].details;
    for (unsigned n = 0; n < PROBE_ARGUMENTS_MAX && (at = next_operand(at, &o)); n++) {
        int size = common_size(places, n);
        if (size)
            buf_printf(out, " arg%u=%s:%c%d", n + 1, o.fetch, size < 0 ? 's' : 'u', abs(size) * 8);
    }
}
