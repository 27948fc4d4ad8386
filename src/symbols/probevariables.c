// SPDX-License-Identifier: GPL-2.0-or-later
/* Describe where variables are at a location of a probe, as uprobe_events reads them. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "symbols/probefile.h"
#include "symbols/probevariables.h"

/* Names of the kernel by DWARF's numbers, which the psABIs of the machines define. */
static const char *register_name(uint16_t machine, unsigned number, char dst[8])
{
    static const char *const x86_64[] = { "ax", "dx", "cx", "bx", "si", "di", "bp", "sp" };
    static const char *const i386[] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };
    bool low = number < sizeof x86_64 / sizeof *x86_64;

    if (machine == EM_X86_64 && low)
        return x86_64[number];
    if (machine == EM_386 && low)
        return i386[number];
    if (machine == EM_AARCH64 && number == 31)
        return "sp";
    if ((machine != EM_X86_64 || number > 15) && (machine != EM_AARCH64 || number > 30))
        return NULL;
    snprintf(dst, 8, "%c%u", machine == EM_AARCH64 ? 'x' : 'r', number);
    return dst;
}

/* "%di", "-20(%bp)" or "@+16400"; "": it cannot be read. */
static void put_location(const struct debuginfo_location *l, const struct elffile *code, uint64_t address,
                         uint64_t offset, char dst[64])
{
    char number[8];
    const char *reg = l->kind == DEBUGINFO_STATIC ? "" : register_name(code->machine, l->number, number);

    dst[0] = '\0';
    if (l->kind ==
        DEBUGINFO_STATIC) /* the kernel adds the distance between the code and its offset in the file */
        snprintf(dst, 64, "@+%llu", (unsigned long long)((uint64_t)l->offset - address + offset));
    else if (reg && l->kind == DEBUGINFO_REGISTER)
        snprintf(dst, 64, "%%%s", reg);
    else if (reg)
        snprintf(dst, 64, "%+lld(%%%s)", (long long)l->offset, reg);
}

void probevariables_type(const struct debuginfo_value *v, char dst[8])
{
    bool fits = v->size == 1 || v->size == 2 || v->size == 4 || v->size == 8;
    char letter = v->kind == DEBUGINFO_SIGNED     ? 's'
                  : v->kind == DEBUGINFO_UNSIGNED ? 'u'
                  : v->kind == DEBUGINFO_POINTER  ? 'x'
                                                  : 0;

    dst[0] = '\0';
    if (v->kind == DEBUGINFO_TEXT)
        snprintf(dst, 8, "text");
    else if (letter && fits)
        snprintf(dst, 8, "%c%u", letter, v->size * 8);
}

static bool find(const struct debuginfo *d, uint64_t address, const char *name,
                 struct debuginfo_entry *variable)
{
    struct debuginfo_unit unit = { 0 };

    while (debuginfo_unit(d, &unit))
        if (debuginfo_variable(&unit.top, address, name, variable))
            return true;
    return false;
}

static void describe(const struct debuginfo *d, const struct elffile *code, const char *name,
                     uint64_t address, uint64_t offset, char *dst, size_t cap)
{
    struct debuginfo_entry variable;
    struct debuginfo_location location;
    struct debuginfo_value value;
    char type[8], place[64] = "";
    size_t at = strlen(dst);

    if (!find(d, address, name, &variable))
        return;
    debuginfo_value(&variable, &value);
    probevariables_type(&value, type);
    if (debuginfo_location(&variable, d, code, address, &location))
        put_location(&location, code, address, offset, place);
    int n = snprintf(dst + at, cap - at, "%s%s:%s:%s", at ? " " : "", name, place, type);
    if (n < 0 || (size_t)n >= cap - at)
        dst[at] = '\0';
}

void probevariables_describe(const struct debuginfo *d, const struct elffile *code, const char *names,
                             uint64_t address, uint64_t offset, char dst[PROBEFILE_DETAILS_MAX])
{
    char name[PROBEFILE_NAME_MAX];

    for (size_t n; names += strspn(names, " "), *names; names += n) {
        n = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, names);
        describe(d, code, name, address, offset, dst, PROBEFILE_DETAILS_MAX);
    }
}
