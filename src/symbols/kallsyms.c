// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/kallsyms.h"

#include <stdint.h>
#include <string.h>

/* Limit of the last symbol of a part of the address space: no line gives its end. */
#define LAST_OF_MODULE_MAX (64 * 1024)

struct line {
    uint64_t addr;
    char type;
    const char *name, *module; /* module: its "[…]", or NULL */
    size_t name_n;
};

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ffffffff81000000 T _stext" or "ffffffffc0000000 t func\t[module]" */
static bool parse_line(const char *p, const char *end, struct line *l)
{
    const char *digits = p;
    const char *stop;

    *l = (struct line){ 0 };
    for (; p < end && p - digits <= 16 && hex_digit(*p) >= 0; p++)
        l->addr = l->addr << 4 | (unsigned)hex_digit(*p);
    if (p == digits || p - digits > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
        return false;
    l->type = p[1];
    l->name = p + 3;
    stop = memchr(l->name, '\t', (size_t)(end - l->name));
    l->name_n = (size_t)((stop ? stop : end) - l->name);
    if (stop)
        l->module = stop + 1;
    return l->name_n > 0;
}

static bool is_function(char type)
{
    return type == 'T' || type == 't' || type == 'W' || type == 'w';
}

static enum table_rank rank_of(char type)
{
    if (type == 'W' || type == 'w')
        return TABLE_WEAK;
    return type == 'T' ? TABLE_GLOBAL : TABLE_LOCAL;
}

static bool is_named(const struct line *l, const char *name)
{
    return l->name_n == strlen(name) && !memcmp(l->name, name, l->name_n);
}

static void note_reference(const struct line *l, struct table_builder *b)
{
    if (is_named(l, "_text") || (!b->header.reference && is_named(l, "_stext")))
        b->header.reference = l->addr;
}

static bool next_line(const char **p, const char *end, struct line *l)
{
    while (*p < end) {
        const char *start = *p;
        const char *stop = memchr(start, '\n', (size_t)(end - start));

        if (!stop)
            stop = end;
        *p = stop < end ? stop + 1 : end;
        if (parse_line(start, stop, l) && is_function(l->type))
            return true;
    }
    return false;
}

static bool all_zero(const char *text, const char *end)
{
    struct line l;
    bool any = false;

    while (next_line(&text, end, &l)) {
        if (l.addr)
            return false;
        any = true;
    }
    return any;
}

void kallsyms_parse(const char *text, size_t n, struct table_builder *b)
{
    const char *end = text + n;
    struct line l;

    if (all_zero(text, end)) {
        b->header.flags |= TABLE_HIDDEN;
        return;
    }
    b->header.flags |= TABLE_FULL;
    while (next_line(&text, end, &l)) {
        uint64_t limit = l.addr + LAST_OF_MODULE_MAX > l.addr ? l.addr + LAST_OF_MODULE_MAX : UINT64_MAX;
        if (!l.addr)
            continue; /* per-CPU offsets */
        note_reference(&l, b);
        if (!l.module && l.addr > b->header.core_end) /* modules and programs come last */
            b->header.core_end = l.addr;
        table_add(b, l.addr, 0, limit, l.name, l.name_n, rank_of(l.type));
    }
}

bool kallsyms_is_idle(const char *name)
{
    static const char *const names[] = {
        "acpi_idle_do_entry",
        "acpi_idle_enter",
        "acpi_processor_ffh_cstate_enter",
        "acpi_safe_halt",
        "arch_cpu_idle",
        "arch_cpu_idle_dead",
        "cpu_idle",
        "cpu_idle_poll",
        "cpu_startup_entry",
        "cpuidle_enter",
        "cpuidle_enter_state",
        "cpuidle_idle_call",
        "default_idle",
        "default_idle_call",
        "do_idle",
        "mwait_idle",
        "native_safe_halt",
        "poll_idle",
        "ppc64_runlatch_off",
        "pseries_dedicated_idle_sleep",
        "psw_idle",
        "psw_idle_exit",
        "pv_native_safe_halt",
        "xen_safe_halt",
    };
    static const char *const families[] = { "intel_idle", "mwait_idle_with_hints" }; /* intel_idle_ibrs, … */
    size_t i, n = strcspn(name, "."); /* the compiler's clones: mwait_idle.constprop.0 */

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (n == strlen(names[i]) && !memcmp(name, names[i], n))
            return true;
    for (i = 0; i < sizeof families / sizeof *families; i++)
        if (!strncmp(name, families[i], strlen(families[i])))
            return true;
    return false;
}
