// SPDX-License-Identifier: GPL-2.0-or-later
/* Find source lines and parameters of functions in debug information, for probes. */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "symbols/debuginfo.h"
#include "symbols/elf.h"
#include "symbols/patience.h"
#include "symbols/probefile.h"
#include "symbols/probevariables.h"

#define SEARCH_NS     (3 * NS_PER_SEC)
#define NEST_MAX      64
#define HIDDEN_RESULT 16 /* bytes: a larger result is returned through a hidden first argument, on x86-64 */

struct search {
    struct probefile *p;
    struct debuginfo debug;
    struct patience patience;
    /* what is searched for: a function by address, or (name set) an inlined one by name */
    uint64_t address;
    const char *name;
    struct debuginfo_entry found;
    bool is_found, is_whole; /* is_whole: the name has code of its own somewhere */
};

/* The file's own debug information, or that of its debug file. */
static bool open_debug(struct search *s)
{
    s->patience.deadline_ns = clock_now_ns() + SEARCH_NS;
    if (debuginfo_open(&s->debug, s->p->fd, NULL))
        return true;
    return s->p->debug_fd >= 0 && elf_belongs(s->p->fd, s->p->debug_fd) &&
           debuginfo_open(&s->debug, s->p->debug_fd, NULL);
}

/* ---- functions ---- */

static void look_at(struct search *s, struct debuginfo_entry *entry)
{
    uint64_t address;
    const char *name;

    if (!s->name) {
        if (debuginfo_entry_address(entry, &address) && address == s->address) {
            s->found = *entry;
            s->is_found = true;
        }
        return;
    }
    name = debuginfo_plain_name(entry);
    if (!name || strcmp(name, s->name))
        return;
    s->is_found |= debuginfo_is_inlined(entry);
    s->is_whole |= debuginfo_entry_address(entry, &address);
}

static void visit(struct search *s, struct debuginfo_entry *holder, unsigned depth)
{
    struct debuginfo_entry entry;

    if (depth == NEST_MAX || !debuginfo_child(holder, &entry))
        return;
    do {
        enum debuginfo_kind kind = debuginfo_kind(&entry);
        if (kind == DEBUGINFO_FUNCTION)
            look_at(s, &entry);
        else if (kind == DEBUGINFO_HOLDER)
            visit(s, &entry, depth + 1);
    } while ((s->name || !s->is_found) && patience_lasts(&s->patience) && debuginfo_sibling(&entry));
}

static void search(struct search *s)
{
    struct debuginfo_unit unit = { 0 };

    while ((s->name || !s->is_found) && patience_lasts(&s->patience) && debuginfo_unit(&s->debug, &unit))
        visit(s, &unit.top, 0);
}

bool probefile_is_inlined(struct probefile *p, const char *name)
{
    struct search s = { .p = p, .name = name };

    if (!open_debug(&s))
        return false;
    search(&s);
    debuginfo_close(&s.debug);
    return s.is_found && !s.is_whole;
}

/* Registers are used in the order of the parameters; numbers behind one that is passed in another way are not
 * known. */
static void describe(struct debuginfo_entry *function, uint16_t machine, char dst[PROBEFILE_DETAILS_MAX])
{
    struct debuginfo_entry child;
    struct debuginfo_value v;
    unsigned next = 1;
    bool known = true;
    size_t at = 0;

    debuginfo_value(function, &v);
    if (machine == EM_X86_64 && v.kind == DEBUGINFO_AGGREGATE && (v.size > HIDDEN_RESULT || v.by_reference))
        next = 2;
    for (bool more = debuginfo_child(function, &child); more; more = debuginfo_sibling(&child)) {
        char type[8];
        if (!debuginfo_parameter(&child, &v))
            continue;
        probevariables_type(&v, type);
        bool fits = *type && v.kind != DEBUGINFO_TEXT;
        int n = v.name ? snprintf(dst + at, PROBEFILE_DETAILS_MAX - at, "%s%.64s:%u:%s", at ? " " : "",
                                  v.name, known && fits ? next : 0, fits ? type : "")
                       : 0;
        if (n < 0 || (size_t)n >= PROBEFILE_DETAILS_MAX - at) {
            dst[at] = '\0';
            return;
        }
        at += (size_t)n;
        next += fits;
        known = known && (fits || v.kind == DEBUGINFO_FLOAT);
    }
}

void probefile_parameters(struct probefile *p, uint64_t address, char dst[PROBEFILE_DETAILS_MAX])
{
    struct search s = { .p = p, .address = address };

    if (!open_debug(&s))
        return;
    search(&s);
    if (s.is_found)
        describe(&s.found, p->file.machine, dst);
    debuginfo_close(&s.debug);
}

void probefile_variables(struct probefile *p, uint64_t address, uint64_t offset,
                         char dst[PROBEFILE_DETAILS_MAX])
{
    struct search s = { .p = p };

    if (!open_debug(&s))
        return;
    probevariables_describe(&s.debug, &p->file, p->ask->variables, address, offset, dst);
    debuginfo_close(&s.debug);
}

/* ---- lines ---- */

struct line_search {
    struct search s;
    bool has_file;
    uint32_t next; /* the next line with code; 0: none */
};

/* "dir/main.c" is named by "main.c" and by "dir/main.c". */
static bool is_file(const char *path, const char *name)
{
    size_t n = strlen(path), m = strlen(name);

    return m <= n && !strcmp(path + n - m, name) && (m == n || path[n - m - 1] == '/');
}

static bool add_row(void *ctx, const char *file, uint32_t line, uint64_t address)
{
    struct line_search *l = ctx;
    struct probefile *p = l->s.p;
    uint64_t offset, limit;

    if (!patience_lasts(&l->s.patience))
        return false;
    if (!is_file(file, p->ask->name))
        return true;
    l->has_file = true;
    if (line > p->ask->line && (!l->next || line < l->next))
        l->next = line;
    if (line != p->ask->line || !elffile_offset(&p->file, address, &offset, &limit))
        return true;
    char details[PROBEFILE_DETAILS_MAX] = "";
    probevariables_describe(&l->s.debug, &p->file, p->ask->variables, address, offset, details);
    probefile_add(p, offset, 0, text_base_name(file), strlen(text_base_name(file)), details);
    return true;
}

bool probefile_add_line(struct probefile *p, struct error *e)
{
    struct line_search l = { .s = { .p = p } };
    struct debuginfo_unit unit = { 0 };
    char safe[PROBEFILE_NAME_MAX];

    text_clean(safe, sizeof safe, p->ask->name, strlen(p->ask->name));
    if (!open_debug(&l.s))
        return error_set(e, ERROR_MISSING, "it has no debug information (gcc -g), so no lines of %s", safe);
    while (!l.s.patience.over && debuginfo_unit(&l.s.debug, &unit))
        debuginfo_statements(&unit.top, add_row, &l);
    debuginfo_close(&l.s.debug);
    if (p->n_places)
        return true;
    if (!l.has_file)
        return error_set(e, ERROR_MISSING, "its debug information has no source file %s", safe);
    error_set(e, ERROR_MISSING, "line %u of %s has no code", p->ask->line, safe);
    return l.next ? error_hint(e, "the next line with code is %u", l.next) : false;
}
