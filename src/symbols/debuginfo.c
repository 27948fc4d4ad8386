// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/debuginfo.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unwind/dwarfread.h"

_Static_assert(sizeof(Dwarf_Die) <= sizeof(struct debuginfo_entry), "an entry holds what libdw keeps of it");

static Dwarf_Die *die_of(struct debuginfo_entry *entry)
{
    return (Dwarf_Die *)(void *)entry->words;
}

void debuginfo_close(struct debuginfo *d)
{
    dwarf_end(d->dwarf);
    if (d->opened) {
        elffile_close(&d->file);
        close(d->fd);
    }
    *d = (struct debuginfo){ 0 };
}

/* Open libdw. It also returns nothing when it is out of memory or does not know the format, which is not the
 * same as "no debug information". */
static Dwarf *open_dwarf(const struct elffile *f, struct error *e)
{
    Dwarf *dwarf = dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
    struct elf_bytes bytes;

    if (!dwarf && elffile_section(f, ".debug_info", &bytes, NULL))
        error_set(e, ERROR_FORMAT, "its debug information cannot be read: %s", dwarf_errmsg(-1));
    return dwarf;
}

/* Decompress the sections used here; others may be larger. libdw silently skips what it cannot decompress. */
static bool unpack_sections(const struct elffile *f, struct error *e)
{
    static const char *const names[] = {
        ".debug_info",         ".debug_types",    ".debug_abbrev",   ".debug_addr",
        ".debug_line",         ".debug_line_str", ".debug_str",      ".debug_str_offsets",
        ".debug_ranges",       ".debug_rnglists", ".debug_info.dwo", ".debug_types.dwo",
        ".debug_abbrev.dwo",   ".debug_line.dwo", ".debug_str.dwo",  ".debug_str_offsets.dwo",
        ".debug_rnglists.dwo", ".debug_loc",      ".debug_loclists",
    };
    struct elf_bytes bytes;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names && e->class == ERROR_NONE; i++)
        elffile_section(f, names[i], &bytes, e);
    return e->class == ERROR_NONE;
}

bool debuginfo_open(struct debuginfo *d, int fd, struct error *e)
{
    struct error why = { 0 };

    *d = (struct debuginfo){ .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0) };
    if (d->fd < 0)
        return false;
    d->opened = elffile_open(&d->file, d->fd, NULL);
    if (!d->opened)
        close(d->fd);
    else if (!unpack_sections(&d->file, &why))
        error_set(e, why.class, "%s", why.text);
    else
        d->dwarf = open_dwarf(&d->file, e);
    if (d->opened && !d->dwarf)
        debuginfo_close(d);
    return d->dwarf != NULL;
}

size_t debuginfo_alt(const struct debuginfo *d, const char **name, const void **id)
{
    ssize_t n = dwelf_dwarf_gnu_debugaltlink(d->dwarf, name, id);

    return n > 0 ? (size_t)n : 0;
}

void debuginfo_set_alt(struct debuginfo *d, const struct debuginfo *alt)
{
    dwarf_setalt(d->dwarf, alt->dwarf);
}

bool debuginfo_unit(const struct debuginfo *d, struct debuginfo_unit *unit)
{
    Dwarf_CU *cu = unit->next;
    Dwarf_Half version;
    uint8_t type;

    while (!dwarf_get_units(d->dwarf, cu, &cu, &version, &type, die_of(&unit->top), NULL)) {
        unit->next = cu;
        if (!die_of(&unit->top)->addr ||
            (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_split_compile))
            continue;
        unit->id = 0;
        unit->is_skeleton =
            !dwarf_cu_info(cu, NULL, NULL, NULL, NULL, &unit->id, NULL, NULL) && type == DW_UT_skeleton;
        return true;
    }
    return false;
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

static bool number_of(Dwarf_Die *die, unsigned name, uint64_t *number)
{
    Dwarf_Attribute attribute;
    Dwarf_Word word;

    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &word))
        return false;
    *number = word;
    return true;
}

const char *debuginfo_folder(struct debuginfo_entry *top)
{
    return text_of(die_of(top), DW_AT_comp_dir);
}

const char *debuginfo_split_name(struct debuginfo_entry *top)
{
    const char *name = text_of(die_of(top), DW_AT_dwo_name);

    return name ? name : text_of(die_of(top), DW_AT_GNU_dwo_name);
}

static struct splitranges_bytes section_bytes(const struct debuginfo *d, const char *name)
{
    struct elf_bytes bytes;

    if (!elffile_section(&d->file, name, &bytes, NULL))
        return (struct splitranges_bytes){ 0 };
    return (struct splitranges_bytes){ bytes.p, bytes.n };
}

/* Collect what a split unit's ranges need. libdw follows a skeleton to its split unit only if it may open
 * files itself; it cannot be given a file. */
void debuginfo_split(const struct debuginfo *d, struct debuginfo_entry *skeleton,
                     const struct debuginfo *split, struct splitranges *ranges)
{
    Dwarf_Die *die = die_of(skeleton);
    Dwarf_Half version = 0;
    uint8_t address_size = 0;
    Dwarf_Addr low = 0;

    dwarf_cu_info(die->cu, &version, NULL, NULL, NULL, NULL, &address_size, NULL);
    dwarf_lowpc(die, &low);
    *ranges = (struct splitranges){ .version = version,
                                    .address_size = address_size,
                                    .swap = split->file.swapped,
                                    .low = low,
                                    .info = section_bytes(split, ".debug_info.dwo"),
                                    .lists = section_bytes(split, ".debug_rnglists.dwo"),
                                    .old_lists = section_bytes(d, ".debug_ranges"),
                                    .addresses = section_bytes(d, ".debug_addr") };
    if (!number_of(die, DW_AT_addr_base, &ranges->addresses_base))
        number_of(die, DW_AT_GNU_addr_base, &ranges->addresses_base);
    number_of(die, DW_AT_GNU_ranges_base, &ranges->old_lists_base);
}

bool debuginfo_child(struct debuginfo_entry *entry, struct debuginfo_entry *child)
{
    return !dwarf_child(die_of(entry), die_of(child));
}

bool debuginfo_sibling(struct debuginfo_entry *entry)
{
    return !dwarf_siblingof(die_of(entry), die_of(entry));
}

enum debuginfo_kind debuginfo_kind(struct debuginfo_entry *entry)
{
    switch (dwarf_tag(die_of(entry))) {
    case DW_TAG_subprogram:
        return DEBUGINFO_FUNCTION;
    case DW_TAG_inlined_subroutine:
        return DEBUGINFO_INLINED;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
        return DEBUGINFO_BLOCK;
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_enumeration_type:
    case DW_TAG_interface_type:
        return DEBUGINFO_HOLDER;
    default:
        return DEBUGINFO_OTHER;
    }
}

bool debuginfo_range(struct debuginfo_entry *entry, struct debuginfo_ranges *ranges, uint64_t *low,
                     uint64_t *high)
{
    Dwarf_Addr base = ranges->base, from, to;

    ranges->at = dwarf_ranges(die_of(entry), ranges->at, &base, &from, &to);
    if (ranges->at <= 0)
        return false;
    ranges->base = base;
    *low = from;
    *high = to;
    return true;
}

static struct splitranges_attribute split_attribute(Dwarf_Die *die, unsigned name)
{
    struct splitranges_attribute a = { 0 };
    Dwarf_Attribute attribute;

    if (!dwarf_attr(die, name, &attribute))
        return a;
    a.form = attribute.form;
    a.bytes = attribute.valp;
    a.is_number = number_of(die, name, &a.number);
    return a;
}

void debuginfo_split_range(struct debuginfo_entry *entry, const struct splitranges *unit,
                           struct splitranges_iterator *it)
{
    Dwarf_Die *die = die_of(entry);
    struct splitranges_attribute low = split_attribute(die, DW_AT_low_pc);
    struct splitranges_attribute high = split_attribute(die, DW_AT_high_pc);
    struct splitranges_attribute list = split_attribute(die, DW_AT_ranges);

    splitranges_begin(it, unit, &low, &high, &list);
}

const char *debuginfo_linkage_name(struct debuginfo_entry *entry)
{
    const char *name = text_of(die_of(entry), DW_AT_linkage_name);

    return name ? name : text_of(die_of(entry), DW_AT_MIPS_linkage_name);
}

const char *debuginfo_plain_name(struct debuginfo_entry *entry)
{
    return text_of(die_of(entry), DW_AT_name);
}

bool debuginfo_origin(struct debuginfo_entry *entry)
{
    Dwarf_Attribute attribute;
    Dwarf_Die *die = die_of(entry), origin;

    if (!dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
        !dwarf_attr(die, DW_AT_specification, &attribute))
        return false;
    if (!dwarf_formref_die(&attribute, &origin))
        return false;
    *die = origin;
    return true;
}

bool debuginfo_is_namespace(struct debuginfo_entry *entry)
{
    return dwarf_tag(die_of(entry)) == DW_TAG_namespace;
}

void debuginfo_top(struct debuginfo_entry *entry, struct debuginfo_entry *top)
{
    *top = *entry;
    dwarf_diecu(die_of(entry), die_of(top), NULL, NULL);
}

uint64_t debuginfo_key(const struct debuginfo_entry *entry)
{
    return (uintptr_t)entry->words[0]; /* address of its bytes */
}

void debuginfo_call(struct debuginfo_entry *entry, struct debuginfo_entry *top, const char **file,
                    uint32_t *line)
{
    Dwarf_Files *files;
    uint64_t number;
    size_t n;

    *file = NULL;
    *line = 0;
    if (number_of(die_of(entry), DW_AT_call_line, &number) && number <= UINT32_MAX)
        *line = (uint32_t)number;
    if (number_of(die_of(entry), DW_AT_call_file, &number) && !dwarf_getsrcfiles(die_of(top), &files, &n) &&
        number < n)
        *file = dwarf_filesrc(files, (size_t)number, NULL, NULL);
}

void debuginfo_line(struct debuginfo_entry *top, uint64_t address, const char **file, uint32_t *line)
{
    Dwarf_Line *found = dwarf_getsrc_die(die_of(top), address);
    int number;

    *file = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
    *line = found && !dwarf_lineno(found, &number) && number > 0 ? (uint32_t)number : 0;
}

/* ---- functions and lines, for probes ---- */

bool debuginfo_is_inlined(struct debuginfo_entry *entry)
{
    uint64_t how;

    return number_of(die_of(entry), DW_AT_inline, &how) &&
           (how == DW_INL_inlined || how == DW_INL_declared_inlined);
}

bool debuginfo_entry_address(struct debuginfo_entry *entry, uint64_t *address)
{
    Dwarf_Addr found;

    if (dwarf_entrypc(die_of(entry), &found))
        return false;
    *address = found;
    return true;
}

static enum debuginfo_value_kind kind_of_base(Dwarf_Die *type)
{
    uint64_t encoding;

    if (!number_of(type, DW_AT_encoding, &encoding))
        return DEBUGINFO_NOTHING;
    switch (encoding) {
    case DW_ATE_signed:
    case DW_ATE_signed_char:
        return DEBUGINFO_SIGNED;
    case DW_ATE_float:
    case DW_ATE_complex_float:
        return DEBUGINFO_FLOAT;
    default:
        return DEBUGINFO_UNSIGNED;
    }
}

/* The type behind typedefs and qualifiers. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;

    return dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), type) &&
           !dwarf_peel_type(type, type);
}

static bool is_of_characters(Dwarf_Die *array)
{
    Dwarf_Die of;
    uint64_t encoding;

    return type_of(array, &of) && number_of(&of, DW_AT_encoding, &encoding) && dwarf_bytesize(&of) == 1 &&
           (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static void read_type(Dwarf_Die *type, struct debuginfo_value *out)
{
    int size = dwarf_bytesize(type);
    uint64_t passing;

    out->size = size > 0 ? (unsigned)size : 0;
    switch (dwarf_tag(type)) {
    case DW_TAG_base_type:
        out->kind = kind_of_base(type);
        break;
    case DW_TAG_enumeration_type:
        out->kind = DEBUGINFO_SIGNED;
        break;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        out->kind = DEBUGINFO_POINTER;
        out->size = out->size ? out->size : sizeof(void *);
        break;
    case DW_TAG_array_type:
        out->kind = is_of_characters(type) ? DEBUGINFO_TEXT : DEBUGINFO_AGGREGATE;
        break;
    default:
        out->kind = DEBUGINFO_AGGREGATE;
        out->by_reference =
            number_of(type, DW_AT_calling_convention, &passing) && passing == DW_CC_pass_by_reference;
        break;
    }
}

void debuginfo_value(struct debuginfo_entry *variable, struct debuginfo_value *out)
{
    Dwarf_Die type;

    *out = (struct debuginfo_value){ .name = text_of(die_of(variable), DW_AT_name) };
    if (type_of(die_of(variable), &type))
        read_type(&type, out);
}

bool debuginfo_parameter(struct debuginfo_entry *entry, struct debuginfo_value *out)
{
    if (dwarf_tag(die_of(entry)) != DW_TAG_formal_parameter)
        return false;
    debuginfo_value(entry, out);
    return true;
}

void debuginfo_statements(struct debuginfo_entry *top,
                          bool (*each)(void *ctx, const char *file, uint32_t line, uint64_t address),
                          void *ctx)
{
    Dwarf_Lines *lines;
    const char *file = NULL, *before = NULL;
    int number, last = 0;
    size_t n;

    if (dwarf_getsrclines(die_of(top), &lines, &n))
        return;
    for (size_t i = 0; i < n; i++) {
        Dwarf_Line *line = dwarf_onesrcline(lines, i);
        Dwarf_Addr address;
        bool begins, ends;
        if (dwarf_lineno(line, &number) || dwarf_lineaddr(line, &address) ||
            dwarf_linebeginstatement(line, &begins) || dwarf_lineendsequence(line, &ends) ||
            !(file = dwarf_linesrc(line, NULL, NULL)))
            continue;
        bool same = !ends && number == last && before && !strcmp(file, before);
        last = ends ? 0 : number;
        before = file;
        if (begins && !ends && number > 0 && !same && !each(ctx, file, (uint32_t)number, address))
            return;
    }
}

/* ---- variables, for probes ---- */

bool debuginfo_variable(struct debuginfo_entry *top, uint64_t address, const char *name,
                        struct debuginfo_entry *out)
{
    Dwarf_Die *scopes = NULL;
    int n = dwarf_getscopes(die_of(top), address, &scopes);
    int at = n > 0 ? dwarf_getscopevar(scopes, n, name, 0, NULL, 0, 0, die_of(out)) : -1;

    free(scopes);
    return at >= 0;
}

/* The single expression of a location at an address. */
static bool expression_at(Dwarf_Die *die, unsigned name, uint64_t address, Dwarf_Op **ops, size_t *n)
{
    Dwarf_Attribute attribute;

    return dwarf_attr_integrate(die, name, &attribute) &&
           dwarf_getlocation_addr(&attribute, address, ops, n, 1) == 1 && *n > 0;
}

/* An expression of one operation, other than DW_OP_fbreg. */
static bool read_operation(const Dwarf_Op *op, struct debuginfo_location *out)
{
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
        *out = (struct debuginfo_location){ DEBUGINFO_REGISTER, op->atom - DW_OP_reg0, 0 };
    else if (op->atom == DW_OP_regx && op->number < 64)
        *out = (struct debuginfo_location){ DEBUGINFO_REGISTER, (unsigned)op->number, 0 };
    else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        *out = (struct debuginfo_location){ DEBUGINFO_MEMORY, op->atom - DW_OP_breg0, (int64_t)op->number };
    else if (op->atom == DW_OP_bregx && op->number < 64)
        *out = (struct debuginfo_location){ DEBUGINFO_MEMORY, (unsigned)op->number, (int64_t)op->number2 };
    else if (op->atom == DW_OP_addr)
        *out = (struct debuginfo_location){ DEBUGINFO_STATIC, 0, (int64_t)op->number };
    else
        return false;
    return true;
}

/* The canonical frame address there, by a table of calls: a register and an offset. */
static bool frame_address_in(Dwarf_CFI *cfi, uint64_t address, struct debuginfo_location *out)
{
    Dwarf_Frame *frame;
    Dwarf_Op *ops;
    size_t n;
    bool ok = cfi && !dwarf_cfi_addrframe(cfi, address, &frame);

    if (!ok)
        return false;
    ok = !dwarf_frame_cfa(frame, &ops, &n) && n == 1 && read_operation(ops, out) &&
         out->kind == DEBUGINFO_MEMORY;
    free(frame);
    return ok;
}

static bool frame_address(const struct debuginfo *d, const struct elffile *code, uint64_t address,
                          struct debuginfo_location *out)
{
    Dwarf_CFI *own = dwarf_getcfi_elf(code->elf); /* addresses are those of the file: it is not loaded */
    bool ok = frame_address_in(own, address, out) || frame_address_in(dwarf_getcfi(d->dwarf), address, out);

    dwarf_cfi_end(own);
    return ok;
}

/* What DW_OP_fbreg counts from, in the function at the address. */
static bool frame_base(const struct debuginfo *d, const struct elffile *code, uint64_t address,
                       struct debuginfo_entry *variable, struct debuginfo_location *out)
{
    Dwarf_Die top, *scopes = NULL;
    Dwarf_Op *ops;
    size_t length;
    bool found = false;

    if (!dwarf_diecu(die_of(variable), &top, NULL, NULL))
        return false;
    int n = dwarf_getscopes(&top, address, &scopes);
    for (int i = 0; i < n && !found; i++)
        if (expression_at(&scopes[i], DW_AT_frame_base, address, &ops, &length) && length == 1) {
            found = true;
            if (ops->atom == DW_OP_call_frame_cfa)
                found = frame_address(d, code, address, out);
            else if ((found = read_operation(ops, out)) && out->kind == DEBUGINFO_REGISTER)
                out->kind = DEBUGINFO_MEMORY; /* its value is the base */
            break;
        }
    free(scopes);
    return found && out->kind == DEBUGINFO_MEMORY;
}

bool debuginfo_location(struct debuginfo_entry *variable, const struct debuginfo *d,
                        const struct elffile *code, uint64_t address, struct debuginfo_location *out)
{
    Dwarf_Op *ops;
    size_t n;

    if (!expression_at(die_of(variable), DW_AT_location, address, &ops, &n) || n != 1)
        return false;
    if (ops->atom != DW_OP_fbreg)
        return read_operation(ops, out);
    int64_t offset = (int64_t)ops->number;
    if (!frame_base(d, code, address, variable, out) ||
        __builtin_add_overflow(out->offset, offset, &out->offset))
        return false;
    return true;
}
