// SPDX-License-Identifier: GPL-2.0-or-later
/* The worker's side of WORKER_PROBE: finds functions, source lines and markers in a file. */
#include "symbols/probefile.h"

#include <elf.h>
#include <fnmatch.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "perf/probe.h"
#include "symbols/demangle.h"
#include "symbols/elf.h"
#include "symbols/minidebug.h"

#define CLONE_MARK "." /* "work.isra.0", "work.constprop.0": parameters are elsewhere */

/* ---- functions ---- */

#define NAMES_MAX 65536 /* that are compared with a wrong one */
struct names {
    VEC(const char *);
    struct arena strings;
};

struct match { /* one of the names that are joined by | */
    char pattern[PROBEFILE_NAME_MAX];
    bool glob, scoped; /* scoped: a name of a source, with :: */
    bool found;
    bool chosen; /* it names a function that is chosen at the start of the program (IFUNC) */
};

static bool is_same(const struct match *m, const char *name)
{
    return m->glob ? !fnmatch(m->pattern, name, 0) : !strcmp(m->pattern, name);
}

/* The demangled name without its parameters: "ns::work". */
static bool is_same_demangled(const struct match *m, const char *name)
{
    char text[DEMANGLE_OUTPUT_MAX];

    if (!m->scoped || !demangle_name(name, text, sizeof text))
        return false;
    text[strcspn(text, "(")] = '\0';
    return is_same(m, text);
}

/* False: the place is in the middle of an instruction, or behind the function; the refusal says so. */
static bool check_offset(struct probefile *p, const struct elf_symbol *s, const char *name)
{
    uint64_t around[2];
    char safe[PROBEFILE_NAME_MAX];

    text_clean(safe, sizeof safe, name, strlen(name));
    if (s->size && p->ask->offset >= s->size)
        return error_set(&p->refusal, ERROR_ARGUMENT, "%s has only %llu bytes", safe,
                         (unsigned long long)s->size);
    if (probefile_begins_instruction(&p->file, s->value, s->value + p->ask->offset, around))
        return true;
    return error_set(
        &p->refusal, ERROR_ARGUMENT,
        "%s+0x%llx is in the middle of an instruction, which a probe would damage: instructions begin at "
        "+0x%llx and +0x%llx",
        safe, (unsigned long long)p->ask->offset, (unsigned long long)(around[0] - s->value),
        (unsigned long long)(around[1] - s->value));
}

static bool add_function(struct probefile *p, const struct elf_symbol *s, const char *name)
{
    char details[PROBEFILE_DETAILS_MAX] = "";
    uint64_t offset, limit, address = s->value;

    if (!elffile_offset(&p->file, address, &offset, &limit) || !check_offset(p, s, name))
        return false;
    if (p->ask->wants_parameters && !p->ask->offset && p->file.wide && !strstr(name, CLONE_MARK))
        probefile_parameters(p, address, details);
    else if (p->ask->offset && *p->ask->variables)
        probefile_variables(p, address + p->ask->offset, offset + p->ask->offset, details);
    probefile_add(p, offset + p->ask->offset, 0, name, strlen(name), details);
    return true;
}

static void add_from(struct probefile *p, const struct elffile *f, size_t section, struct match *m)
{
    struct elf_symbols symbols;
    struct elf_symbol s;
    char name[PROBEFILE_NAME_MAX];

    if (!elffile_symbols(f, section, &symbols))
        return;
    for (size_t i = 0; i < symbols.n && elffile_symbol(&symbols, i, &s); i++) {
        if (!s.defined || !s.name_n || s.name_n >= sizeof name ||
            (s.type != STT_FUNC && s.type != STT_GNU_IFUNC))
            continue;
        memcpy(name, s.name, s.name_n);
        name[s.name_n] = '\0';
        char *version = strchr(name, '@');
        bool old = s.superseded || (version && version[1] != '@');
        if (version && version > name)
            *version = '\0';
        if (old || (!is_same(m, name) && !is_same_demangled(m, name)))
            continue;
        m->chosen |= s.type == STT_GNU_IFUNC;
        m->found |= s.type == STT_FUNC && add_function(p, &s, name);
    }
}

static void add_packed(struct probefile *p, struct match *m)
{
    struct elf_bytes packed;
    struct elffile inner;
    void *bytes;
    size_t n;

    if (!elffile_section(&p->file, ".gnu_debugdata", &packed, NULL) ||
        !xz_unpack(packed.p, packed.n, &bytes, &n, NULL))
        return;
    if (elffile_open_memory(&inner, bytes, n, NULL)) {
        add_from(p, &inner, inner.symtab, m);
        elffile_close(&inner);
    }
    mem_free(bytes);
}

/* A Go program keeps its names when it is stripped. */
static void add_go(struct probefile *p, struct match *m)
{
    struct gotable table;
    struct gotable_function g;
    char name[PROBEFILE_NAME_MAX];

    if (!p->file.go || !elf_go_table(&p->file, &table))
        return;
    for (uint64_t i = 0; i < table.n; i++) {
        if (!gotable_function(&table, i, &g) || !g.name_n || g.name_n >= sizeof name)
            continue;
        memcpy(name, g.name, g.name_n);
        name[g.name_n] = '\0';
        const struct elf_symbol s = { .value = g.entry, .size = g.end - g.entry };
        if (is_same(m, name))
            m->found |= add_function(p, &s, name);
    }
}

static void add_from_debug(struct probefile *p, struct match *m)
{
    struct elffile debug;

    if (p->debug_fd < 0 || !elffile_open(&debug, p->debug_fd, NULL))
        return;
    if (elf_is_debug_of(&p->file, &debug))
        add_from(p, &debug, debug.symtab, m);
    elffile_close(&debug);
}

static void add_names(const struct elffile *f, size_t section, struct names *names)
{
    struct elf_symbols symbols;
    struct elf_symbol s;

    if (!elffile_symbols(f, section, &symbols))
        return;
    for (size_t i = 0; i < symbols.n && names->n < NAMES_MAX && elffile_symbol(&symbols, i, &s); i++)
        if (s.defined && s.name_n && s.type == STT_FUNC) {
            char *name = arena_strndup(&names->strings, s.name, s.name_n);
            name[strcspn(name, "@")] = '\0';
            *VEC_PUSH(names) = name;
        }
}

/* Add the name that was meant. */
static bool hint_nearest(struct probefile *p, const char *wanted, struct error *e)
{
    struct names names = { 0 };
    char safe[PROBEFILE_NAME_MAX];

    add_names(&p->file, p->file.symtab, &names);
    add_names(&p->file, p->file.dynsym, &names);
    int near = text_nearest(wanted, names.items, names.n);
    if (near >= 0) {
        text_clean(safe, sizeof safe, names.items[near], strlen(names.items[near]));
        error_hint(e, "did you mean %s?", safe);
    }
    mem_free(names.items);
    arena_done(&names.strings);
    return false;
}

static bool no_function(struct probefile *p, const struct match *m, struct error *e)
{
    char safe[PROBEFILE_NAME_MAX];

    text_clean(safe, sizeof safe, m->pattern, strlen(m->pattern));
    if (m->chosen)
        return error_set(
            e, ERROR_UNSUPPORTED,
            "the program chooses %s among variants when it starts (IFUNC): probe one of them, such as "
            "'*%s*'",
            safe, safe);
    if (probefile_is_inlined(p, m->pattern))
        return error_set(e, ERROR_UNSUPPORTED,
                         "%s is inlined wherever it is called: probe one of its lines, SOURCE:LINE", safe);
    if (!p->file.symtab && p->debug_fd < 0)
        error_set(e, ERROR_MISSING,
                  "it has no function %s among those that it exports, and no symbol table (it is stripped): "
                  "install its debug symbols, or give 0xOFFSET",
                  safe);
    else
        error_set(e, ERROR_MISSING, "it has no function %s", safe);
    return hint_nearest(p, m->pattern, e);
}

static bool add_entry(struct probefile *p, struct error *e)
{
    uint64_t offset, limit;

    if (!p->file.entry || !elffile_offset(&p->file, p->file.entry, &offset, &limit))
        return error_set(e, ERROR_MISSING, "it has no entry point");
    probefile_add(p, offset, 0, "entry", strlen("entry"), "");
    return true;
}

static bool add_functions(struct probefile *p, struct error *e)
{
    if (!strcmp(p->ask->name, PROBE_ENTRY))
        return add_entry(p, e);

    for (const char *at = p->ask->name;; at++) {
        struct match m = { .glob = false };
        size_t n = strcspn(at, "|");
        memcpy(m.pattern, at, n);
        m.glob = strpbrk(m.pattern, "*?[") != NULL;
        m.scoped = strstr(m.pattern, "::") != NULL;
        add_from(p, &p->file, p->file.symtab, &m);
        if (!m.found) /* the full table has these, too */
            add_from(p, &p->file, p->file.dynsym, &m);
        add_packed(p, &m);
        if (!m.found)
            add_go(p, &m);
        add_from_debug(p, &m);
        if (p->refusal.class)
            return error_set(e, p->refusal.class, "%s", p->refusal.text);
        if (!m.found && !no_function(p, &m, e))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

/* ---- requests ---- */

/* Raise *start to the last function that begins at or before the address. */
static void find_start(const struct elffile *f, size_t section, uint64_t address, uint64_t *start,
                       bool *found)
{
    struct elf_symbols symbols;
    struct elf_symbol s;

    if (!elffile_symbols(f, section, &symbols))
        return;
    for (size_t i = 0; i < symbols.n && elffile_symbol(&symbols, i, &s); i++)
        if (s.defined && s.type == STT_FUNC && s.value <= address && (!*found || s.value > *start)) {
            *start = s.value;
            *found = true;
        }
}

static bool check_address(const struct probefile *p, uint64_t address, struct error *e)
{
    uint64_t start = 0, around[2];
    bool found = false;

    find_start(&p->file, p->file.symtab, address, &start, &found);
    find_start(&p->file, p->file.dynsym, address, &start, &found);
    return !found || probefile_begins_instruction(&p->file, start, address, around) ||
           error_set(e, ERROR_ARGUMENT,
                     "the offset 0x%llx is in the middle of an instruction, which a probe would damage",
                     (unsigned long long)p->ask->offset);
}

static bool add_offset(struct probefile *p, struct error *e)
{
    for (unsigned i = 0; i < p->file.n_segments; i++) {
        const struct elf_segment *s = &p->file.segments[i];
        if (!s->executable || p->ask->offset < s->offset || p->ask->offset - s->offset >= s->size)
            continue;
        probefile_add(p, p->ask->offset, 0, "", 0, "");
        return check_address(p, s->addr + (p->ask->offset - s->offset), e);
    }
    return error_set(e, ERROR_ARGUMENT, "it has no code at the offset 0x%llx",
                     (unsigned long long)p->ask->offset);
}

static bool add_markers(struct probefile *p, struct error *e)
{
    uint32_t n = probefile_add_markers(p);
    char safe[PROBEFILE_NAME_MAX];

    text_clean(safe, sizeof safe, p->ask->name, strlen(p->ask->name));
    return p->n_places || error_set(e, ERROR_MISSING,
                                    n ? "it has no marker %s: --list-events 'sdt:FILE:*' lists its markers"
                                      : "it has no markers (no .note.stapsdt), so no %s",
                                    safe);
}

static bool find(struct probefile *p, struct error *e)
{
    switch (p->ask->kind) {
    case PROBEFILE_FUNCTION:
        return add_functions(p, e);
    case PROBEFILE_OFFSET:
        return add_offset(p, e);
    case PROBEFILE_LINE:
        return probefile_add_line(p, e);
    default:
        return add_markers(p, e);
    }
}

bool probefile_serve(const void *ask, size_t ask_n, const int *fds, unsigned n_fds, struct buf *reply,
                     struct error *e)
{
    struct probefile_ask q;
    struct probefile p = { .ask = &q, .fd = fds[0], .debug_fd = n_fds > 1 ? fds[1] : -1 };
    struct gotable go;

    if (ask_n != sizeof q)
        return error_set(e, ERROR_FORMAT, "the symbol worker does not know this request");
    memcpy(&q, ask, sizeof q);
    if (q.kind >= PROBEFILE_KINDS || !memchr(q.name, '\0', sizeof q.name) ||
        !memchr(q.variables, '\0', sizeof q.variables))
        return error_set(e, ERROR_FORMAT, "the symbol worker does not know this request");
    if (!elffile_open(&p.file, p.fd, e))
        return false;
    bool ok = find(&p, e);
    if (ok) {
        struct probefile_header h = { .magic = PROBEFILE_MAGIC,
                                      .n_places = p.n_places,
                                      .wide = p.file.wide,
                                      .go = p.file.go && elf_go_table(&p.file, &go) };
        buf_add(reply, &h, sizeof h);
        buf_add(reply, buf_str(&p.places), p.places.len);
    }
    buf_done(&p.places);
    elffile_close(&p.file);
    return ok;
}
