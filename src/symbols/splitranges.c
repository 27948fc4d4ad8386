// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/splitranges.h"

#include "unwind/dwarfread.h"

/* Size of the header of .debug_rnglists.dwo in 32-bit DWARF. Offsets of the lists, from its end, follow. */
#define LISTS_HEADER 12

static struct cursor cursor_at(const struct splitranges *unit, const struct splitranges_bytes *bytes,
                               uint64_t at)
{
    struct cursor c = cursor_of(bytes->data, bytes->size, unit->swap);

    if (at > bytes->size)
        c.bad = true;
    else
        cursor_skip(&c, (size_t)at);
    return c;
}

static uint64_t read_address(const struct splitranges *unit, struct cursor *c)
{
    return unit->address_size == 4 ? cursor_u32(c) : cursor_u64(c);
}

static bool indexed_address(const struct splitranges *unit, uint64_t index, uint64_t *address)
{
    struct cursor c;

    if (index > unit->addresses.size || unit->addresses_base > unit->addresses.size)
        return false;
    c = cursor_at(unit, &unit->addresses, unit->addresses_base + index * (unit->address_size == 4 ? 4 : 8));
    *address = read_address(unit, &c);
    return !c.bad;
}

/* Return a cursor at the attribute's value in .debug_info.dwo. */
static struct cursor cursor_of_attribute(const struct splitranges *unit,
                                         const struct splitranges_attribute *a)
{
    const uint8_t *data = unit->info.data;

    if (!data || !a->bytes || a->bytes < data || a->bytes >= data + unit->info.size)
        return (struct cursor){ .bad = true };
    return cursor_at(unit, &unit->info, (uint64_t)(a->bytes - data));
}

static uint64_t read_index(struct cursor *c, unsigned form)
{
    uint64_t low;

    switch (form) {
    case DW_FORM_addrx1:
        return cursor_u8(c);
    case DW_FORM_addrx2:
        return cursor_u16(c);
    case DW_FORM_addrx3:
        low = cursor_u16(c);
        return c->swap ? low << 8 | cursor_u8(c) : low | (uint64_t)cursor_u8(c) << 16;
    case DW_FORM_addrx4:
        return cursor_u32(c);
    default:
        return dwarf_uleb(c);
    }
}

static bool is_index(unsigned form)
{
    return form == DW_FORM_addrx || form == DW_FORM_GNU_addr_index ||
           (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4);
}

static bool attribute_address(const struct splitranges *unit, const struct splitranges_attribute *a,
                              uint64_t *address)
{
    struct cursor c = cursor_of_attribute(unit, a);
    uint64_t index;

    if (a->form == DW_FORM_addr) {
        *address = read_address(unit, &c);
        return !c.bad;
    }
    if (!is_index(a->form))
        return false;
    index = read_index(&c, a->form);
    return !c.bad && indexed_address(unit, index, address);
}

/* Return a cursor at a list. DW_FORM_rnglistx is an index into the table of offsets after the header. */
static struct cursor find_list(const struct splitranges *unit, const struct splitranges_attribute *list)
{
    struct cursor at = cursor_of_attribute(unit, list), c;
    uint64_t number = list->form == DW_FORM_sec_offset ? cursor_u32(&at) : dwarf_uleb(&at), offset;
    const struct cursor none = { .bad = true };

    if (at.bad || (list->form != DW_FORM_sec_offset && list->form != DW_FORM_rnglistx))
        return none;
    if (unit->version < 5)
        return unit->old_lists_base <= unit->old_lists.size && number <= unit->old_lists.size
                   ? cursor_at(unit, &unit->old_lists, unit->old_lists_base + number)
                   : none;
    if (list->form == DW_FORM_sec_offset)
        return cursor_at(unit, &unit->lists, number);
    if (number > unit->lists.size)
        return none;
    c = cursor_at(unit, &unit->lists, LISTS_HEADER + number * 4);
    offset = cursor_u32(&c);
    return c.bad ? none : cursor_at(unit, &unit->lists, LISTS_HEADER + offset);
}

void splitranges_begin(struct splitranges_iterator *it, const struct splitranges *unit,
                       const struct splitranges_attribute *low, const struct splitranges_attribute *high,
                       const struct splitranges_attribute *list)
{
    *it = (struct splitranges_iterator){ .unit = unit, .base = unit->low };
    if (list->form) {
        it->list = find_list(unit, list);
        return;
    }
    it->done = true;
    if (!low->form || !high->form || !attribute_address(unit, low, &it->only.low))
        return;
    if (high->is_number && !is_index(high->form))
        it->only.high = it->only.low + high->number;
    else if (!attribute_address(unit, high, &it->only.high))
        return;
    it->has_only = true;
}

/* Read one entry. *is_range: whether it is a range; else it only affects later entries. */
static bool next_of_list(struct splitranges_iterator *it, struct splitranges_pair *pair, bool *is_range)
{
    const struct splitranges *unit = it->unit;
    struct cursor *c = &it->list;
    uint8_t kind = cursor_u8(c);
    bool ok = true;

    *is_range = kind != DW_RLE_base_addressx && kind != DW_RLE_base_address;
    switch (kind) {
    case DW_RLE_base_addressx:
        ok = indexed_address(unit, dwarf_uleb(c), &it->base);
        break;
    case DW_RLE_base_address:
        it->base = read_address(unit, c);
        break;
    case DW_RLE_startx_endx:
        ok = indexed_address(unit, dwarf_uleb(c), &pair->low);
        ok = ok && indexed_address(unit, dwarf_uleb(c), &pair->high);
        break;
    case DW_RLE_startx_length:
        ok = indexed_address(unit, dwarf_uleb(c), &pair->low);
        pair->high = pair->low + dwarf_uleb(c);
        break;
    case DW_RLE_offset_pair:
        pair->low = it->base + dwarf_uleb(c);
        pair->high = it->base + dwarf_uleb(c);
        break;
    case DW_RLE_start_end:
        pair->low = read_address(unit, c);
        pair->high = read_address(unit, c);
        break;
    case DW_RLE_start_length:
        pair->low = read_address(unit, c);
        pair->high = pair->low + dwarf_uleb(c);
        break;
    default:
        return false;
    }
    return ok && !c->bad;
}

static bool next_of_old_list(struct splitranges_iterator *it, struct splitranges_pair *pair, bool *is_range)
{
    const struct splitranges *unit = it->unit;
    uint64_t low = read_address(unit, &it->list), high = read_address(unit, &it->list);

    if (it->list.bad || (!low && !high))
        return false;
    *is_range = low != (unit->address_size == 4 ? UINT32_MAX : UINT64_MAX);
    if (*is_range)
        *pair = (struct splitranges_pair){ it->base + low, it->base + high };
    else
        it->base = high;
    return true;
}

bool splitranges_next(struct splitranges_iterator *it, struct splitranges_pair *pair)
{
    bool is_range = false;

    it->seen++;
    if (it->has_only) {
        *pair = it->only;
        it->has_only = false;
        return true;
    }
    while (!it->done && !is_range) {
        *pair = (struct splitranges_pair){ 0 };
        it->done = !(it->unit->version < 5 ? next_of_old_list(it, pair, &is_range)
                                           : next_of_list(it, pair, &is_range));
    }
    return !it->done;
}
