// SPDX-License-Identifier: GPL-2.0-or-later
/* libdw finds scopes by walking a unit from its start for each address. Here a unit is walked once, for the ranges
 * of its functions, and a function once, for what was inlined into it; after that an address costs three searches
 * in sorted ranges and one in libdw's line table. .debug_aranges is not used: compilers leave units out of it. */
#include "symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "symbols/elf.h"
#include "symbols/elffile.h"
#include "symbols/spans.h"
#include "symbols/splitranges.h"

#define UNITS_MAX      (1u << 20)
#define INLINED_MAX    (1u << 20) /* in one function */
#define RANGES_MAX     65536      /* of one function */
#define NEST_MAX       256        /* scopes within scopes */
#define STEPS_PER_LOOK 256        /* at the clock */

struct image { /* an open file with DWARF */
    int fd;
    bool opened;
    struct elffile file;
    Dwarf *dwarf;
};
struct inlined {
    Dwarf_Die die;
    uint32_t parent; /* number of the one further out; 0: the function itself */
    bool told;       /* the rest is filled in */
    const char *name, *file;
    uint32_t line;
};
struct function {
    Dwarf_Die die;
    bool walked;
    struct spans spans;    /* of the inlined */
    struct inlined *items; /* items[0] is not used */
    uint32_t n;
    size_t cap;
};
enum unit_state { UNIT_NEW, UNIT_READY, UNIT_GIVEN_UP };
struct unit {
    Dwarf_Die die; /* of a split unit: its skeleton's, which has the lines */
    enum unit_state state;
    bool is_skeleton, asked_split;
    uint64_t split_id;
    struct image split;
    struct splitranges ranges; /* of a split unit */
    const char *folder;
    struct spans spans;
    struct function *functions;
    uint32_t n;
    size_t cap;
};
struct lines_module {
    struct image main, alt;
    struct elf_segment *segments; /* of the file that was mapped */
    unsigned n_segments;
    struct unit *units;
    uint32_t n;
    size_t cap;
    struct spans spans; /* address → unit */
};

struct walk { /* through entries that a hostile file may have made endless */
    const struct lines_module *m;
    struct unit *unit;
    uint64_t deadline_ns;
    unsigned steps;
    bool stopped; /* late, or no memory */
};

static bool goes_on(struct walk *w)
{
    if (!w->stopped && ++w->steps % STEPS_PER_LOOK == 0)
        w->stopped = clock_now_ns() > w->deadline_ns;
    return !w->stopped;
}

static void image_close(struct image *i)
{
    dwarf_end(i->dwarf);
    if (i->opened) {
        elffile_close(&i->file);
        close(i->fd);
    }
    *i = (struct image){ 0 };
}

static bool image_open(struct image *i, int fd)
{
    *i = (struct image){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };
    if (i->fd < 0)
        return false;
    i->opened = elffile_open(&i->file, i->fd, NULL);
    if (!i->opened)
        close(i->fd);
    else if (!(i->dwarf = dwarf_begin_elf(i->file.elf, DWARF_C_READ, NULL)))
        image_close(i);
    return i->dwarf != NULL;
}

static void read_segments(struct lines_module *m, const struct elffile *file)
{
    unsigned i;

    m->segments = mem_array(file->n_segments, sizeof *m->segments);
    for (i = 0; i < file->n_segments; i++)
        if (file->segments[i].executable)
            m->segments[m->n_segments++] = file->segments[i];
}

static bool address_of(const struct lines_module *m, uint64_t offset, uint64_t *address)
{
    unsigned i;

    for (i = 0; i < m->n_segments; i++) {
        uint64_t into = offset - m->segments[i].offset;
        if (into < m->segments[i].size) {
            *address = m->segments[i].addr + into;
            return true;
        }
    }
    return false;
}

/* Functions that the linker threw away still have entries, at 0 or 1. */
static bool is_code(const struct lines_module *m, uint64_t address)
{
    unsigned i;

    for (i = 0; i < m->n_segments; i++)
        if (address - m->segments[i].addr < m->segments[i].size)
            return true;
    return false;
}

static void add_range(struct walk *w, struct spans *spans, uint64_t low, uint64_t high, uint32_t what)
{
    if (is_code(w->m, low) && !spans_add(spans, low, high, what))
        w->stopped = true;
}

static bool read_attribute(Dwarf_Die *die, unsigned name, struct splitranges_attribute *a)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;

    *a = (struct splitranges_attribute){ 0 };
    if (!dwarf_attr(die, name, &attribute))
        return false;
    a->form = attribute.form;
    a->bytes = attribute.valp;
    if (!dwarf_formudata(&attribute, &number)) {
        a->is_number = true;
        a->number = number;
    }
    return true;
}

/* libdw follows a skeleton to its split unit only if it may open files itself, and has no way to be given one. */
static void add_split_ranges(struct walk *w, Dwarf_Die *die, struct spans *spans, uint32_t what)
{
    struct splitranges_attribute low, high, list;
    struct splitranges_pair pair;
    struct splitranges_iterator it;

    read_attribute(die, DW_AT_low_pc, &low);
    read_attribute(die, DW_AT_high_pc, &high);
    read_attribute(die, DW_AT_ranges, &list);
    splitranges_begin(&it, &w->unit->ranges, &low, &high, &list);
    while (goes_on(w) && it.seen < RANGES_MAX && splitranges_next(&it, &pair))
        add_range(w, spans, pair.low, pair.high, what);
}

static void add_ranges(struct walk *w, Dwarf_Die *die, struct spans *spans, uint32_t what)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    unsigned seen = 0;

    if (w->unit && w->unit->split.dwarf) {
        add_split_ranges(w, die, spans, what);
        return;
    }
    while (goes_on(w) && seen++ < RANGES_MAX && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
        add_range(w, spans, low, high, what);
}

/* Opening: the ranges of all units. */

static bool add_unit(struct walk *w, struct lines_module *m, Dwarf_CU *cu, Dwarf_Die *die, uint8_t type)
{
    struct unit *u;

    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 64;
        struct unit *grown = mem_try_resize(m->units, cap, sizeof *grown);
        if (!grown)
            return false;
        m->units = grown;
        m->cap = cap;
    }
    u = &m->units[m->n++];
    *u = (struct unit){ .die = *die, .is_skeleton = type == DW_UT_skeleton };
    if (u->is_skeleton && dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &u->split_id, NULL, NULL))
        u->is_skeleton = false;
    add_ranges(w, die, &m->spans, m->n - 1);
    return true;
}

static bool read_units(struct lines_module *m, uint64_t deadline_ns)
{
    struct walk w = { .m = m, .deadline_ns = deadline_ns };
    Dwarf_CU *cu = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die;

    while (m->n < UNITS_MAX && goes_on(&w) &&
           !dwarf_get_units(m->main.dwarf, cu, &cu, &version, &type, &die, NULL))
        if (die.addr && (type == DW_UT_compile || type == DW_UT_skeleton) &&
            !add_unit(&w, m, cu, &die, type))
            return false;
    return !w.stopped && spans_sort(&m->spans);
}

static enum lines_open_result open_alt(struct lines_module *m, const struct lines_files *files,
                                       struct lines_want *want)
{
    const char *name;
    const void *id;
    ssize_t n = dwelf_dwarf_gnu_debugaltlink(m->main.dwarf, &name, &id);

    if (n <= 0 || files->without_alt)
        return LINES_OPEN_READY;
    if (files->alt_fd < 0) {
        want->folder = "";
        want->id_size = n <= (ssize_t)sizeof want->id ? (unsigned)n : 0;
        memcpy(want->id, id, want->id_size);
        snprintf(want->path, sizeof want->path, "%s", name);
        return LINES_OPEN_WANTS_ALT;
    }
    if (!image_open(&m->alt, files->alt_fd) || m->alt.file.build_id_size != (size_t)n ||
        memcmp(m->alt.file.build_id, id, (size_t)n))
        return LINES_OPEN_OTHER_BUILD;
    dwarf_setalt(m->main.dwarf, m->alt.dwarf);
    return LINES_OPEN_READY;
}

static enum lines_open_result open_parts(struct lines_module *m, const struct lines_files *files,
                                         uint64_t deadline_ns, struct lines_want *want, struct error *e)
{
    enum lines_open_result result;
    struct elffile file;

    if (!elffile_open(&file, files->fd, e))
        return LINES_OPEN_FAILED;
    read_segments(m, &file);
    elffile_close(&file);
    if (files->debug_fd >= 0 && !elf_belongs(files->fd, files->debug_fd))
        return LINES_OPEN_OTHER_BUILD;
    if (!image_open(&m->main, files->debug_fd >= 0 ? files->debug_fd : files->fd))
        return LINES_OPEN_NO_DWARF;
    result = open_alt(m, files, want);
    if (result != LINES_OPEN_READY)
        return result;
    if (!read_units(m, deadline_ns)) {
        error_set(e, ERROR_LIMIT, "its debug information takes too long to read");
        return LINES_OPEN_FAILED;
    }
    return m->n ? LINES_OPEN_READY : LINES_OPEN_NO_DWARF;
}

enum lines_open_result lines_open(const struct lines_files *files, uint64_t deadline_ns, struct lines_module **m,
                                  struct lines_want *want, struct error *e)
{
    struct lines_module *opened = mem_zalloc(sizeof *opened);
    enum lines_open_result result = open_parts(opened, files, deadline_ns, want, e);

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
    image_close(&u->split);
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
    image_close(&m->main);
    image_close(&m->alt);
    mem_free(m);
}

/* A unit's functions. */

static bool add_function(struct walk *w, Dwarf_Die *die)
{
    struct unit *u = w->unit;
    size_t before = u->spans.n;

    add_ranges(w, die, &u->spans, u->n);
    if (u->spans.n == before)
        return !w->stopped;
    if (u->n == u->cap) {
        size_t cap = u->cap ? u->cap * 2 : 16;
        struct function *grown = mem_try_resize(u->functions, cap, sizeof *grown);
        if (!grown)
            return false;
        u->functions = grown;
        u->cap = cap;
    }
    u->functions[u->n++] = (struct function){ .die = *die };
    return true;
}

static bool may_hold_functions(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram: /* GNU C, Pascal, Ada and D nest them */
    case DW_TAG_lexical_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
        return true;
    default:
        return false;
    }
}

static void collect_functions(struct walk *w, Dwarf_Die *holder, unsigned depth)
{
    Dwarf_Die die;

    if (depth >= NEST_MAX || dwarf_child(holder, &die))
        return;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_subprogram && !add_function(w, &die))
            w->stopped = true;
        if (goes_on(w) && may_hold_functions(tag))
            collect_functions(w, &die, depth + 1);
    } while (goes_on(w) && !dwarf_siblingof(&die, &die));
}

static void read_unit(struct lines_module *m, struct unit *u, uint64_t deadline_ns)
{
    struct walk w = { .m = m, .unit = u, .deadline_ns = deadline_ns };
    Dwarf_Attribute attribute;
    Dwarf_Die top = u->die;
    Dwarf_CU *cu = NULL;
    uint64_t id = ~u->split_id;

    u->folder = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &attribute));
    while (u->split.dwarf && id != u->split_id && !dwarf_get_units(u->split.dwarf, cu, &cu, NULL, NULL, &top, NULL))
        if (dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &id, NULL, NULL))
            break;
    if (!u->split.dwarf || id == u->split_id)
        collect_functions(&w, &top, 0);
    u->state = w.stopped || !spans_sort(&u->spans) ? UNIT_GIVEN_UP : UNIT_READY;
}

/* What was inlined into a function. */

static bool add_inlined(struct walk *w, struct function *f, Dwarf_Die *die, uint32_t parent)
{
    if (f->n + 1 >= f->cap) {
        size_t cap = f->cap ? f->cap * 2 : 8;
        struct inlined *grown = cap <= INLINED_MAX ? mem_try_resize(f->items, cap, sizeof *grown) : NULL;
        if (!grown)
            return false;
        f->items = grown;
        f->cap = cap;
    }
    f->items[++f->n] = (struct inlined){ .die = *die, .parent = parent };
    add_ranges(w, die, &f->spans, f->n);
    return !w->stopped;
}

static void collect_inlined(struct walk *w, struct function *f, Dwarf_Die *scope, uint32_t parent, unsigned depth)
{
    Dwarf_Die die;

    if (depth >= NEST_MAX || dwarf_child(scope, &die))
        return;
    do {
        switch (dwarf_tag(&die)) {
        case DW_TAG_inlined_subroutine:
            if (add_inlined(w, f, &die, parent))
                collect_inlined(w, f, &die, f->n, depth + 1);
            else
                w->stopped = true;
            break;
        case DW_TAG_lexical_block:
        case DW_TAG_try_block:
        case DW_TAG_catch_block:
        case DW_TAG_with_stmt:
            collect_inlined(w, f, &die, parent, depth + 1);
            break;
        }
    } while (goes_on(w) && !dwarf_siblingof(&die, &die));
}

static bool read_function(struct lines_module *m, struct unit *u, struct function *f, uint64_t deadline_ns)
{
    struct walk w = { .m = m, .unit = u, .deadline_ns = deadline_ns };

    if (f->walked)
        return true;
    f->walked = true;
    collect_inlined(&w, f, &f->die, 0, 0);
    if (!w.stopped && spans_sort(&f->spans))
        return true;
    f->spans.n = 0;
    return false;
}

/* Telling. */

static const char *name_of(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    const char *name;

    name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute));
    return name ? name : dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

static void tell_inlined(struct unit *u, struct inlined *i)
{
    Dwarf_Attribute attribute;
    Dwarf_Files *files;
    Dwarf_Word number;
    size_t n;

    i->told = true;
    i->name = name_of(&i->die);
    if (!dwarf_formudata(dwarf_attr(&i->die, DW_AT_call_line, &attribute), &number) && number <= UINT32_MAX)
        i->line = (uint32_t)number;
    if (!dwarf_formudata(dwarf_attr(&i->die, DW_AT_call_file, &attribute), &number) &&
        !dwarf_getsrcfiles(&u->die, &files, &n) && number < n)
        i->file = dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

static void tell_chain(struct unit *u, struct function *f, uint32_t innermost, struct lines_place *place)
{
    uint32_t i;

    for (i = innermost; i && place->n < LINES_DEPTH_MAX; i = f->items[i].parent) {
        struct inlined *item = &f->items[i];
        if (!item->told)
            tell_inlined(u, item);
        place->inlined[place->n++] =
            (struct lines_inlined){ .name = item->name, .folder = u->folder, .file = item->file, .line = item->line };
    }
}

static void tell_line(struct unit *u, uint64_t address, struct lines_place *place)
{
    Dwarf_Line *line = dwarf_getsrc_die(&u->die, address);
    int number;

    if (!line)
        return;
    place->folder = u->folder;
    place->file = dwarf_linesrc(line, NULL, NULL);
    place->line = dwarf_lineno(line, &number) || number < 0 ? 0 : (uint32_t)number;
}

static bool wants_split(struct unit *u, struct lines_want *want)
{
    Dwarf_Attribute attribute;
    const char *name, *folder;

    if (!u->is_skeleton || u->asked_split)
        return false;
    name = dwarf_formstring(dwarf_attr(&u->die, DW_AT_dwo_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr(&u->die, DW_AT_GNU_dwo_name, &attribute));
    if (!name)
        return false;
    folder = dwarf_formstring(dwarf_attr(&u->die, DW_AT_comp_dir, &attribute));
    want->folder = folder ? folder : "";
    want->id_size = sizeof u->split_id;
    memcpy(want->id, &u->split_id, sizeof u->split_id);
    snprintf(want->path, sizeof want->path, "%s", name);
    return true;
}

enum lines_find_result lines_find(struct lines_module *m, uint64_t offset, uint64_t deadline_ns,
                                  struct lines_place *place, struct lines_want *want)
{
    uint64_t address;
    uint32_t i, inlined;
    struct unit *u;

    place->folder = place->file = NULL;
    place->line = place->n = 0;
    if (!address_of(m, offset, &address) || !spans_find(&m->spans, address, &i))
        return LINES_FIND_DONE;
    u = &m->units[i];
    if (u->state == UNIT_NEW && wants_split(u, want))
        return LINES_FIND_WANTS_SPLIT;
    if (u->state == UNIT_NEW)
        read_unit(m, u, deadline_ns);
    if (u->state == UNIT_GIVEN_UP)
        return LINES_FIND_LATE;
    tell_line(u, address, place);
    if (!spans_find(&u->spans, address, &i))
        return LINES_FIND_DONE;
    if (!read_function(m, u, &u->functions[i], deadline_ns))
        return LINES_FIND_LATE;
    if (spans_find(&u->functions[i].spans, address, &inlined))
        tell_chain(u, &u->functions[i], inlined, place);
    return LINES_FIND_DONE;
}

/* Split units. */

static struct splitranges_bytes section_bytes(const struct image *image, const char *name)
{
    struct elf_bytes bytes;

    if (!elffile_section(&image->file, name, &bytes, NULL))
        return (struct splitranges_bytes){ 0 };
    return (struct splitranges_bytes){ bytes.p, bytes.n };
}

static uint64_t number_of(Dwarf_Die *die, unsigned name, unsigned older_name)
{
    struct splitranges_attribute a;

    if (!read_attribute(die, name, &a))
        read_attribute(die, older_name, &a);
    return a.number;
}

static void describe_split(struct lines_module *m, struct unit *u)
{
    Dwarf_Half version = 0;
    uint8_t address_size = 0;
    Dwarf_Addr low = 0;

    dwarf_cu_info(u->die.cu, &version, NULL, NULL, NULL, NULL, &address_size, NULL);
    dwarf_lowpc(&u->die, &low);
    u->ranges = (struct splitranges){ .version = version,
                                      .address_size = address_size,
                                      .low = low,
                                      .info = section_bytes(&u->split, ".debug_info.dwo"),
                                      .lists = section_bytes(&u->split, ".debug_rnglists.dwo"),
                                      .old_lists = section_bytes(&m->main, ".debug_ranges"),
                                      .swap = u->split.file.swapped,
                                      .addresses = section_bytes(&m->main, ".debug_addr"),
                                      .addresses_base = number_of(&u->die, DW_AT_addr_base, DW_AT_GNU_addr_base),
                                      .old_lists_base = number_of(&u->die, DW_AT_GNU_ranges_base, 0) };
}

void lines_give_split(struct lines_module *m, uint64_t id, int fd)
{
    uint32_t i;

    for (i = 0; i < m->n; i++) {
        struct unit *u = &m->units[i];
        if (!u->is_skeleton || u->split_id != id || u->asked_split)
            continue;
        u->asked_split = true;
        if (fd >= 0 && image_open(&u->split, fd))
            describe_split(m, u);
    }
}
