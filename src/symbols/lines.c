// SPDX-License-Identifier: GPL-2.0-or-later
/* Read source lines and inlined functions from DWARF (lines.h).
 * libdw finds scopes by traversing a unit from its start for each address. Here a unit is traversed once, for
 * the ranges of its functions, and a function once, for the functions inlined into it. After that an address
 * costs three searches in sorted ranges and one in libdw's line table. .debug_aranges is not used: compilers
 * leave units out of it. */
#include "symbols/lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/debuginfo.h"
#include "symbols/elf.h"
#include "symbols/patience.h"
#include "symbols/scopes.h"
#include "symbols/spans.h"

#define UNITS_MAX   (1u << 20)
#define INLINED_MAX (1u << 20) /* in one function */
#define RANGES_MAX  65536      /* of one function */
#define NEST_MAX    2048       /* scopes within scopes */

struct inlined {
    struct debuginfo_entry entry;
    uint32_t parent;    /* number of the next outer one; 0: the function itself */
    bool deeper;        /* it has scopes beyond NEST_MAX */
    bool named, called; /* the fields below are filled in */
    const char *name, *file;
    uint32_t line;
};
struct function {
    struct debuginfo_entry entry;
    bool inlined_read;
    struct spans spans;    /* of the inlined functions */
    struct inlined *items; /* items[0] is not used */
    uint32_t n;
    size_t cap;
};
enum unit_state { UNIT_NEW, UNIT_READY, UNIT_GIVEN_UP };
struct unit {
    struct debuginfo_entry top; /* of a split unit: the skeleton's, which has the lines */
    enum unit_state state;
    bool is_skeleton, asked_split;
    uint64_t split_id;
    struct debuginfo split;
    struct splitranges ranges; /* of a split unit */
    const char *folder;
    struct spans spans;
    struct function *functions;
    uint32_t n;
    size_t cap;
};
struct lines_module {
    struct debuginfo main, alt;
    struct elf_segment *segments; /* of the mapped file */
    unsigned n_segments;
    struct unit *units;
    uint32_t n;
    size_t cap;
    struct spans spans; /* address → unit */
    struct scopes scopes;
    /* Used instead of the fields above for a Go program's own table, which is in go_file. */
    struct golines go;
    struct elffile go_file;
    int go_fd; /* -1: not open */
};

struct traversal { /* traversal of entries that a hostile file may have made endless */
    const struct lines_module *m;
    struct unit *unit;
    struct patience patience;
};

static void read_segments(struct lines_module *m, const struct elffile *file)
{
    unsigned i;

    m->segments = mem_array(file->n_segments, sizeof *m->segments);
    for (i = 0; i < file->n_segments; i++)
        if (file->segments[i].executable)
            m->segments[m->n_segments++] = file->segments[i];
}

/* Move the segments of a kernel: it runs elsewhere than at its link address, and its offsets are run-time
 * addresses. */
static void place_kernel(struct lines_module *m, uint64_t reference)
{
    uint64_t moved = m->n_segments ? reference - m->segments[0].addr : 0;
    unsigned i;

    for (i = 0; i < m->n_segments; i++)
        m->segments[i].offset = m->segments[i].addr + moved;
}

/* The address, and the part of [low, high) around it. */
struct around {
    uint64_t address, low, high;
};

static bool address_of(const struct lines_module *m, uint64_t offset, struct around *at)
{
    unsigned i;

    for (i = 0; i < m->n_segments; i++) {
        const struct elf_segment *s = &m->segments[i];
        uint64_t into = offset - s->offset;
        if (into < s->size) {
            *at = (struct around){ s->addr + into, s->addr, s->addr + s->size };
            return true;
        }
    }
    return false;
}

/* Whether an address is in the code: functions that the linker dropped still have entries, at 0 or 1. */
static bool is_code(const struct lines_module *m, uint64_t address)
{
    unsigned i;

    for (i = 0; i < m->n_segments; i++)
        if (address - m->segments[i].addr < m->segments[i].size)
            return true;
    return false;
}

static void add_range(struct traversal *w, struct spans *spans, uint64_t low, uint64_t high, uint32_t what)
{
    if (is_code(w->m, low) && !spans_add(spans, low, high, what))
        w->patience.over = true;
}

static void add_split_ranges(struct traversal *w, struct debuginfo_entry *entry, struct spans *spans,
                             uint32_t what)
{
    struct splitranges_iterator it;
    struct splitranges_pair pair;

    debuginfo_split_range(entry, &w->unit->ranges, &it);
    while (patience_lasts(&w->patience) && it.seen < RANGES_MAX && splitranges_next(&it, &pair))
        add_range(w, spans, pair.low, pair.high, what);
}

static void add_ranges(struct traversal *w, struct debuginfo_entry *entry, struct spans *spans, uint32_t what)
{
    struct debuginfo_ranges ranges = { 0 };
    uint64_t low, high;
    unsigned seen = 0;

    if (w->unit && w->unit->split.dwarf) {
        add_split_ranges(w, entry, spans, what);
        return;
    }
    while (patience_lasts(&w->patience) && seen++ < RANGES_MAX &&
           debuginfo_range(entry, &ranges, &low, &high))
        add_range(w, spans, low, high, what);
}

/* Open: collect the ranges of all units. */

static bool add_unit(struct traversal *w, struct lines_module *m, struct debuginfo_unit *from)
{
    if (!MEM_TRY_GROW(m->units, m->cap, m->n + 1))
        return false;
    m->units[m->n++] =
        (struct unit){ .top = from->top, .is_skeleton = from->is_skeleton, .split_id = from->id };
    add_ranges(w, &from->top, &m->spans, m->n - 1);
    return true;
}

static bool read_units(struct lines_module *m, uint64_t deadline_ns)
{
    struct traversal w = { .m = m, .patience.deadline_ns = deadline_ns };
    struct debuginfo_unit unit = { 0 };

    while (m->n < UNITS_MAX && patience_lasts(&w.patience) && debuginfo_unit(&m->main, &unit))
        if (!add_unit(&w, m, &unit))
            return false;
    return !w.patience.over && spans_sort(&m->spans);
}

static enum lines_open_result open_alt(struct lines_module *m, const struct lines_files *files,
                                       struct lines_want *want)
{
    const char *name;
    const void *id;
    size_t n = debuginfo_alt(&m->main, &name, &id);

    if (!n || files->without_alt)
        return LINES_OPEN_READY;
    if (files->alt_fd < 0) {
        want->folder = "";
        want->id_size = n <= sizeof want->id ? (unsigned)n : 0;
        memcpy(want->id, id, want->id_size);
        snprintf(want->path, sizeof want->path, "%s", name);
        return LINES_OPEN_WANTS_ALT;
    }
    if (!debuginfo_open(&m->alt, files->alt_fd, NULL) || m->alt.file.build_id_size != n ||
        memcmp(m->alt.file.build_id, id, n))
        return LINES_OPEN_OTHER_BUILD;
    debuginfo_set_alt(&m->main, &m->alt);
    return LINES_OPEN_READY;
}

/* Open a module without debug information. */
static enum lines_open_result open_go(struct lines_module *m, const struct lines_files *files)
{
    if (files->reference || files->debug_fd >= 0 || (m->go_fd = fcntl(files->fd, F_DUPFD_CLOEXEC, 0)) < 0)
        return LINES_OPEN_NO_DWARF;
    if (!elffile_open(&m->go_file, m->go_fd, NULL)) {
        close(m->go_fd);
        m->go_fd = -1;
        return LINES_OPEN_NO_DWARF;
    }
    if (!elf_go_lines(&m->go_file, &m->go))
        return LINES_OPEN_NO_DWARF;
    return files->go_table ? LINES_OPEN_READY : LINES_OPEN_GO_TABLE;
}

static enum lines_open_result open_parts(struct lines_module *m, const struct lines_files *files,
                                         uint64_t deadline_ns, struct lines_want *want, struct error *e)
{
    enum lines_open_result result;
    struct elffile file;
    struct error why = { 0 };

    if (!elffile_open(&file, files->fd, e))
        return LINES_OPEN_FAILED;
    read_segments(m, &file);
    elffile_close(&file);
    if (files->reference)
        place_kernel(m, files->reference);
    if (files->debug_fd >= 0 && !elf_belongs(files->fd, files->debug_fd))
        return LINES_OPEN_OTHER_BUILD;
    if (!debuginfo_open(&m->main, files->debug_fd >= 0 ? files->debug_fd : files->fd, &why)) {
        if (why.class == ERROR_NONE)
            return open_go(m, files);
        error_set(e, why.class, "%s", why.text);
        return LINES_OPEN_FAILED;
    }
    result = open_alt(m, files, want);
    if (result != LINES_OPEN_READY)
        return result;
    if (!read_units(m, deadline_ns)) {
        error_set(e, ERROR_LIMIT, "its debug information takes too long to read");
        return LINES_OPEN_FAILED;
    }
    return m->n ? LINES_OPEN_READY : open_go(m, files);
}

enum lines_open_result lines_open(const struct lines_files *files, uint64_t deadline_ns,
                                  struct lines_module **m, struct lines_want *want, struct error *e)
{
    struct lines_module *opened = mem_zalloc(sizeof *opened);
    enum lines_open_result result;

    opened->go_fd = -1;
    result = open_parts(opened, files, deadline_ns, want, e);
    if (result == LINES_OPEN_READY) {
        *m = opened;
        return result;
    }
    lines_close(opened);
    return result;
}

static void free_unit(struct unit *u)
{
    uint32_t i;

    for (i = 0; i < u->n; i++) {
        spans_done(&u->functions[i].spans);
        mem_free(u->functions[i].items);
    }
    mem_free(u->functions);
    spans_done(&u->spans);
    debuginfo_close(&u->split);
}

void lines_close(struct lines_module *m)
{
    uint32_t i;

    if (!m)
        return;
    for (i = 0; i < m->n; i++)
        free_unit(&m->units[i]);
    mem_free(m->units);
    mem_free(m->segments);
    spans_done(&m->spans);
    scopes_done(&m->scopes);
    debuginfo_close(&m->main);
    debuginfo_close(&m->alt);
    if (m->go_fd >= 0) {
        elffile_close(&m->go_file);
        close(m->go_fd);
    }
    mem_free(m);
}

/* Collect a unit's functions. */

static bool add_function(struct traversal *w, struct debuginfo_entry *entry)
{
    struct unit *u = w->unit;
    size_t before = u->spans.n;

    add_ranges(w, entry, &u->spans, u->n);
    if (u->spans.n == before)
        return !w->patience.over;
    if (!MEM_TRY_GROW(u->functions, u->cap, u->n + 1))
        return false;
    u->functions[u->n++] = (struct function){ .entry = *entry };
    return true;
}

/* Also within functions: GNU C, Pascal, Ada and D nest them. */
static void collect_functions(struct traversal *w, struct debuginfo_entry *holder, unsigned depth)
{
    struct debuginfo_entry entry;

    if (depth >= NEST_MAX || !debuginfo_child(holder, &entry))
        return;
    do {
        enum debuginfo_kind kind = debuginfo_kind(&entry);
        if (kind == DEBUGINFO_FUNCTION && !add_function(w, &entry))
            w->patience.over = true;
        if (patience_lasts(&w->patience) &&
            (kind == DEBUGINFO_FUNCTION || kind == DEBUGINFO_BLOCK || kind == DEBUGINFO_HOLDER))
            collect_functions(w, &entry, depth + 1);
    } while (patience_lasts(&w->patience) && debuginfo_sibling(&entry));
}

/* Find a unit's top entry. False: its split file has no such unit. */
static bool find_top(struct unit *u, struct debuginfo_entry *top)
{
    struct debuginfo_unit unit = { 0 };

    *top = u->top;
    if (!u->split.dwarf)
        return true;
    while (debuginfo_unit(&u->split, &unit))
        if (unit.id == u->split_id) {
            *top = unit.top;
            return true;
        }
    return false;
}

static void read_unit(struct lines_module *m, struct unit *u, uint64_t deadline_ns)
{
    struct traversal w = { .m = m, .unit = u, .patience.deadline_ns = deadline_ns };
    struct debuginfo_entry top;

    u->folder = debuginfo_folder(&u->top);
    if (find_top(u, &top))
        collect_functions(&w, &top, 0);
    u->state = w.patience.over || !spans_sort(&u->spans) ? UNIT_GIVEN_UP : UNIT_READY;
}

/* Collect the functions inlined into a function. */

static bool add_inlined(struct traversal *w, struct function *f, struct debuginfo_entry *entry,
                        uint32_t parent)
{
    if (f->n + 1 >= INLINED_MAX || !MEM_TRY_GROW(f->items, f->cap, f->n + 2))
        return false;
    f->items[++f->n] = (struct inlined){ .entry = *entry, .parent = parent };
    add_ranges(w, entry, &f->spans, f->n);
    return !w->patience.over;
}

static void collect_inlined(struct traversal *w, struct function *f, struct debuginfo_entry *scope,
                            uint32_t parent, unsigned depth)
{
    struct debuginfo_entry entry;

    if (!debuginfo_child(scope, &entry))
        return;
    if (depth >= NEST_MAX) {
        if (parent)
            f->items[parent].deeper = true;
        return;
    }
    do {
        enum debuginfo_kind kind = debuginfo_kind(&entry);
        if (kind == DEBUGINFO_BLOCK)
            collect_inlined(w, f, &entry, parent, depth + 1);
        else if (kind == DEBUGINFO_INLINED && add_inlined(w, f, &entry, parent))
            collect_inlined(w, f, &entry, f->n, depth + 1);
        else if (kind == DEBUGINFO_INLINED)
            w->patience.over = true;
    } while (patience_lasts(&w->patience) && debuginfo_sibling(&entry));
}

static bool read_function(struct lines_module *m, struct unit *u, struct function *f, uint64_t deadline_ns)
{
    struct traversal w = { .m = m, .unit = u, .patience.deadline_ns = deadline_ns };

    if (f->inlined_read)
        return true;
    f->inlined_read = true;
    collect_inlined(&w, f, &f->entry, 0, 0);
    if (!w.patience.over && spans_sort(&f->spans))
        return true;
    f->spans.n = 0;
    return false;
}

/* Report the results. */

static void tell_inlined(struct lines_module *m, struct unit *u, struct inlined *i, bool only_inlined,
                         uint64_t deadline_ns)
{
    if (!i->named)
        i->name = scopes_name(&m->scopes, &i->entry, deadline_ns);
    i->named = true;
    if (!i->called && !only_inlined)
        debuginfo_call(&i->entry, &u->top, &i->file, &i->line);
    i->called |= !only_inlined;
}

/* Omitted functions are replaced by one entry, so that the chain does not look complete. */
static void tell_chain(struct lines_module *m, struct unit *u, struct function *f, uint32_t innermost,
                       bool only_inlined, uint64_t deadline_ns, struct lines_location *location)
{
    uint32_t i;

    if (f->items[innermost].deeper)
        location->inlined[location->n++] = (struct lines_inlined){ .name = LINES_MORE };
    for (i = innermost; i && location->n < LINES_DEPTH_MAX; i = f->items[i].parent) {
        struct inlined *item = &f->items[i];
        tell_inlined(m, u, item, only_inlined, deadline_ns);
        location->inlined[location->n++] = (struct lines_inlined){
            .name = item->name, .folder = u->folder, .file = item->file, .line = item->line
        };
    }
    if (i)
        location->inlined[location->n - 1] = (struct lines_inlined){ .name = LINES_MORE };
}

static bool wants_split(struct unit *u, struct lines_want *want)
{
    const char *name = u->is_skeleton && !u->asked_split ? debuginfo_split_name(&u->top) : NULL;
    const char *folder = debuginfo_folder(&u->top);

    if (!name)
        return false;
    want->folder = folder ? folder : "";
    want->id_size = sizeof u->split_id;
    memcpy(want->id, &u->split_id, sizeof u->split_id);
    snprintf(want->path, sizeof want->path, "%s", name);
    return true;
}

/* Translate the bounds low and high from addresses to offsets. */
static void set_bounds(const struct around *at, uint64_t offset, uint64_t *low, uint64_t *high)
{
    *low = offset - (at->address - at->low);
    *high = offset + (at->high - at->address);
}

static enum lines_find_result find_inlined(struct lines_module *m, struct unit *u, struct around *at,
                                           uint64_t offset, bool only_inlined, uint64_t deadline_ns,
                                           struct lines_location *location)
{
    struct function *f;
    uint32_t i;
    bool found = spans_find(&u->spans, at->address, &i);

    spans_narrow(&u->spans, at->address, &at->low, &at->high);
    set_bounds(at, offset, &location->low, &location->high);
    if (!found)
        return LINES_FIND_DONE;
    f = &u->functions[i];
    if (!read_function(m, u, f, deadline_ns))
        return LINES_FIND_LATE;
    found = spans_find(&f->spans, at->address, &i);
    spans_narrow(&f->spans, at->address, &at->low, &at->high);
    set_bounds(at, offset, &location->low, &location->high);
    if (found)
        tell_chain(m, u, f, i, only_inlined, deadline_ns, location);
    return LINES_FIND_DONE;
}

/* Look up the address in the Go table, and translate its bounds from addresses to offsets. */
static enum lines_find_result find_by_go(struct lines_module *m, const struct around *at, uint64_t offset,
                                         bool only_inlined, uint64_t deadline_ns,
                                         struct lines_location *location)
{
    enum lines_find_result result = golines_find(&m->go, at->address, only_inlined, deadline_ns, location);
    uint64_t moved = offset - at->address;

    location->low = moved + (location->low > at->low ? location->low : at->low);
    location->high = moved + (location->high < at->high ? location->high : at->high);
    if (location->unit_high) {
        location->unit_low = moved + (location->unit_low > at->low ? location->unit_low : at->low);
        location->unit_high = moved + (location->unit_high < at->high ? location->unit_high : at->high);
    }
    return result;
}

enum lines_find_result lines_find(struct lines_module *m, uint64_t offset, bool only_inlined,
                                  uint64_t deadline_ns, struct lines_location *location,
                                  struct lines_want *want)
{
    struct around at;
    struct unit *u;
    uint32_t i;
    bool found;

    lines_location_reset(location, offset);
    if (!address_of(m, offset, &at))
        return LINES_FIND_DONE;
    if (m->go.table.n)
        return find_by_go(m, &at, offset, only_inlined, deadline_ns, location);
    found = spans_find(&m->spans, at.address, &i);
    spans_narrow(&m->spans, at.address, &at.low, &at.high);
    set_bounds(&at, offset, &location->low, &location->high);
    if (!found)
        return LINES_FIND_DONE;
    u = &m->units[i];
    if (u->state == UNIT_NEW && wants_split(u, want))
        return LINES_FIND_WANTS_SPLIT;
    if (u->state == UNIT_NEW)
        read_unit(m, u, deadline_ns);
    if (u->state == UNIT_GIVEN_UP)
        return LINES_FIND_LATE;
    location->folder = u->folder;
    location->lacking = u->asked_split && !u->split.dwarf;
    location->unit_low = location->low;
    location->unit_high = location->high;
    if (!only_inlined)
        debuginfo_line(&u->top, at.address, &location->file, &location->line);
    return find_inlined(m, u, &at, offset, only_inlined, deadline_ns, location);
}

void lines_give_split(struct lines_module *m, uint64_t id, int fd)
{
    uint32_t i;

    for (i = 0; i < m->n; i++) {
        struct unit *u = &m->units[i];
        if (!u->is_skeleton || u->split_id != id || u->asked_split)
            continue;
        u->asked_split = true;
        if (fd >= 0 && debuginfo_open(&u->split, fd, NULL))
            debuginfo_split(&m->main, &u->top, &u->split, &u->ranges);
    }
}
