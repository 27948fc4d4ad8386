// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints the fields of a sample that only its record has. */
#include "export/export.h"
#include "export/script.h"

#define BIT(field) SCRIPT_BIT(field)

static bool is_kernel_address(uint64_t address)
{
    return address >> 63;
}

static const struct session_name *name_of(const struct script_data *d, uint64_t address)
{
    return session_name_at(d->naming, d->thread, address, is_kernel_address(address));
}

static void put_name(const struct script_data *d, uint64_t address, bool with_offset, struct buf *out)
{
    const struct session_name *name = name_of(d, address);
    buf_puts(out, name->text ? name->text : "[unknown]");
    if (name->text && with_offset)
        buf_printf(out, "+0x%llx", (unsigned long long)(address - name->start));
}

static void put_address_name(const void *data, uint64_t address, struct buf *out)
{
    put_name(data, address, true, out);
}

static void put_address_module(const void *data, uint64_t address, struct buf *out)
{
    const struct script_data *d = data;
    const struct session_name *name = name_of(d, address);
    const char *mapped = name->module ? NULL : session_recorded_path(d->at, d->r, address);
    char path[EXPORT_PATH_MAX];
    buf_putc(out, '(');
    export_put_path(out, name->module ? export_module_path(name->module, path, sizeof path)
                         : mapped     ? mapped
                                      : "[unknown]");
    buf_putc(out, ')');
}

/* perf names data addresses only of page faults: addresses of other events may be anything. */
static bool names_addresses(const struct perf_event_attr *a)
{
    return a->type == PERF_TYPE_SOFTWARE &&
           (a->config == PERF_COUNT_SW_PAGE_FAULTS || a->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
            a->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static void put_addr(const struct script_data *d, struct buf *out)
{
    uint64_t address = d->r->sample.addr;
    buf_printf(out, "%16llx", (unsigned long long)address);
    if (!names_addresses(d->attr))
        return;
    if (d->fields & BIT(SCRIPT_SYM)) {
        buf_putc(out, ' ');
        put_name(d, address, d->fields & BIT(SCRIPT_SYMOFF), out);
    }
    if (d->fields & BIT(SCRIPT_DSO)) {
        buf_putc(out, ' ');
        put_address_module(d, address, out);
    }
}

void script_put_data(const struct script_data *d, struct buf *out)
{
    const struct record_sample *s = &d->r->sample;
    if (d->fields & BIT(SCRIPT_ADDR))
        put_addr(d, out);
    if (d->fields & BIT(SCRIPT_DATA_SRC))
        script_put_data_src(s->data_src, d->data_src_width, out);
    if (d->fields & BIT(SCRIPT_WEIGHT))
        buf_printf(out, "%16llu", (unsigned long long)s->weight);
    if (d->fields & BIT(SCRIPT_INS_LAT))
        buf_printf(out, "%16llu", (unsigned long long)s->ins_lat);
}

void script_put_state(const struct script_data *d, struct buf *out)
{
    const struct record_sample *s = &d->r->sample;
    script_name_fn *module = d->fields & BIT(SCRIPT_DSO) ? put_address_module : NULL;
    if (d->fields & BIT(SCRIPT_IREGS))
        script_put_registers(s->intr_regs, s->intr_abi, d->attr->sample_regs_intr, d->r->swap, d->arch, out);
    if (d->fields & BIT(SCRIPT_UREGS))
        script_put_registers(s->user_regs, s->user_abi, d->attr->sample_regs_user, d->r->swap, d->arch, out);
    if (d->fields & BIT(SCRIPT_BRSTACK))
        script_put_branches(d->r, NULL, module, d, out);
    else if (d->fields & BIT(SCRIPT_BRSTACKSYM))
        script_put_branches(d->r, put_address_name, module, d, out);
    if (d->fields & BIT(SCRIPT_PHYS_ADDR))
        buf_printf(out, "%16llx", (unsigned long long)s->phys_addr);
    if (d->fields & BIT(SCRIPT_DATA_PAGE_SIZE))
        script_put_page_size(s->data_page_size, out);
    if (d->fields & BIT(SCRIPT_CODE_PAGE_SIZE))
        script_put_page_size(s->code_page_size, out);
}
