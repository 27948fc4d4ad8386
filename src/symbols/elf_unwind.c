// SPDX-License-Identifier: GPL-2.0-or-later
/* Find the call-frame information and the code of an ELF file, for unwind/cfi.h and unwind/calls.h to
 * compile. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/mem.h"
#include "base/search.h"
#include "symbols/elf.h"
#include "unwind/calls.h"
#include "unwind/cfi.h"
#include "unwind/dwarfread.h"
#include "unwind/gorows.h"
#include "unwind/rowformat.h"

#define EXECUTABLE_MAX 64

static enum unwind_arch arch_of(const struct elffile *f)
{
    if (f->swapped)
        return UNWIND_ARCH_NONE;
    if (!f->wide)
        return f->machine == EM_386 ? UNWIND_ARCH_I386 : UNWIND_ARCH_NONE;
    return f->machine == EM_X86_64    ? UNWIND_ARCH_X86_64
           : f->machine == EM_AARCH64 ? UNWIND_ARCH_ARM64
                                      : UNWIND_ARCH_NONE;
}

/* Find .eh_frame without section headers, through .eh_frame_hdr, which the program's own unwinder uses. */
static bool find_by_header(const struct elffile *f, struct elf_bytes *out)
{
    struct elf_bytes hdr;
    struct cursor c;
    uint8_t version, encoding;
    uint64_t v, at;

    if (!f->eh_frame_hdr || !elffile_loaded(f, f->eh_frame_hdr, &hdr))
        return false;
    c = cursor_of(hdr.p, hdr.n, false);
    version = cursor_u8(&c);
    encoding = cursor_u8(&c);
    cursor_skip(&c, 2);
    switch (encoding & 0x0f) {
    case DW_EH_PE_sdata4:
        v = (uint64_t)(int64_t)(int32_t)cursor_u32(&c);
        break;
    case DW_EH_PE_udata4:
        v = cursor_u32(&c);
        break;
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        v = f->wide ? cursor_u64(&c) : cursor_u32(&c);
        break;
    default:
        return false;
    }
    at = (encoding & 0x70) == DW_EH_PE_pcrel     ? hdr.addr + 4
         : (encoding & 0x70) == DW_EH_PE_datarel ? hdr.addr
                                                 : 0;
    return version == 1 && !c.bad && elffile_loaded(f, at + v, out);
}

static struct cfi_section section_of(const struct elf_bytes *b)
{
    return (struct cfi_section){ b->p, b->n, b->addr };
}

static size_t list_executable(const struct elffile *f, struct cfi_segment *list)
{
    struct elf_bytes code;
    size_t n = 0;
    unsigned i;

    for (i = 0; i < f->n_segments && n < EXECUTABLE_MAX; i++) {
        const struct elf_segment *s = &f->segments[i];
        if (!s->executable)
            continue;
        list[n] = (struct cfi_segment){ s->addr, s->offset, s->size, NULL };
        if (elffile_loaded(f, s->addr, &code) && code.n >= s->size)
            list[n].bytes = code.p;
        n++;
    }
    return n;
}

struct functions { /* starts of functions, from symbols */
    const struct elffile *f;
    uint64_t *list;
    size_t n, cap;
};

static void add_offset(struct functions *to, uint64_t offset)
{
    if (MEM_TRY_GROW(to->list, to->cap, to->n + 1))
        to->list[to->n++] = offset;
}

static void add_functions(struct functions *to, size_t section)
{
    struct elf_symbols symbols;
    struct elf_symbol symbol;
    uint64_t offset, limit;

    if (!elffile_symbols(to->f, section, &symbols))
        return;
    for (size_t i = 0; i < symbols.n; i++) {
        if (!elffile_symbol(&symbols, i, &symbol) || !symbol.defined ||
            (symbol.type != STT_FUNC && symbol.type != STT_GNU_IFUNC) ||
            !elffile_offset(to->f, symbol.value, &offset, &limit))
            continue;
        add_offset(to, offset);
    }
}

static size_t list_functions(void *ctx, const uint64_t **list)
{
    struct functions *functions = ctx;

    add_functions(functions, functions->f->symtab);
    add_functions(functions, functions->f->dynsym);
    if (functions->n)
        qsort(functions->list, functions->n, sizeof *functions->list, search_compare_u64);
    *list = functions->list;
    return functions->n;
}

/* Linkers give a library without an entry point the beginning of its code as entry point. */
static uint64_t entry_of(const struct elffile *f, uint64_t text)
{
    return f->moves && f->entry == text ? 0 : f->entry;
}

/* Go's own table is exact at every instruction, and is in stripped programs as well. */
static struct gorows *find_go(const struct elffile *f, struct gotable *table, struct gorows *rows)
{
    struct elf_bytes code;
    struct gotable_function first;

    if (f->machine != EM_X86_64 || !elf_go_table(f, table) || !gotable_function(table, 0, &first))
        return NULL;
    gorows_begin(rows, table);
    if (elffile_loaded(f, first.entry, &code)) {
        rows->code = code.p;
        rows->code_size = code.n;
        rows->code_addr = code.addr;
    }
    rows->entry = f->entry;
    return rows;
}

/* Compile the table. debug: NULL, or the file that must have .debug_frame. */
static bool compile(const struct elffile *f, const struct elffile *debug, void **blob, size_t *size,
                    struct error *e)
{
    struct cfi_segment segments[EXECUTABLE_MAX];
    struct elf_bytes eh, frame, text, got;
    struct functions functions = { .f = f };
    struct cfi_input in = { .arch = arch_of(f),
                            .segments = segments,
                            .n_segments = list_executable(f, segments),
                            .build_id = f->build_id,
                            .build_id_size = f->build_id_size,
                            .functions = list_functions,
                            .functions_ctx = &functions };
    struct error why = { 0 };
    struct gotable go;
    struct gorows go_rows;
    bool ok;

    if (in.arch == UNWIND_ARCH_NONE)
        return error_set(e, ERROR_UNSUPPORTED,
                         "stacks of this machine's code (ELF machine %u, %d bits) are not unwound by tables",
                         f->machine, f->wide ? 64 : 32);
    if (elffile_section(f, ".eh_frame", &eh, &why) || find_by_header(f, &eh))
        in.eh_frame = section_of(&eh);
    if (elffile_section(debug ? debug : f, ".debug_frame", &frame, &why))
        in.debug_frame = section_of(&frame);
    if (elffile_section(f, ".text", &text, NULL))
        in.text_addr = text.addr, in.code = section_of(&text);
    in.entry = entry_of(f, in.text_addr);
    if (elffile_section(f, ".got", &got, NULL))
        in.data_addr = got.addr;
    if (debug && !in.debug_frame.bytes)
        return error_set(e, ERROR_MISSING, "%s",
                         why.text[0] ? why.text : "no .debug_frame in the debug file");
    in.go = find_go(f, &go, &go_rows);
    ok = cfi_compile(&in, blob, size, e);
    mem_free(functions.list);
    if (!ok && e && e->class == ERROR_MISSING && why.text[0])
        error_set(e, ERROR_MISSING, "%s", why.text);
    return ok;
}

bool elf_read_unwind(int fd, int debug_fd, void **blob, size_t *size, char link[ELF_LINK_MAX],
                     struct error *e)
{
    struct elffile f, debug;
    bool ok;

    if (!elffile_open(&f, fd, e))
        return false;
    memcpy(link, f.link, ELF_LINK_MAX);
    if (debug_fd < 0) {
        ok = compile(&f, NULL, blob, size, e);
    } else if ((ok = elffile_open(&debug, debug_fd, e))) {
        ok = elf_is_debug_of(&f, &debug) ? compile(&f, &debug, blob, size, e)
                                         : error_set(e, ERROR_FORMAT, "the debug file is of another build");
        elffile_close(&debug);
    }
    elffile_close(&f);
    return ok;
}

static bool machine_of(const struct elffile *f, enum calls_machine *out)
{
    *out = f->machine == EM_X86_64 ? CALLS_X86_64 : f->machine == EM_AARCH64 ? CALLS_ARM64 : CALLS_I386;
    return !f->swapped && (f->machine == EM_X86_64 || f->machine == EM_AARCH64 || f->machine == EM_386);
}

/* Add function starts from the unwind table: files without symbols have it, too. */
static void add_by_rows(struct functions *to)
{
    struct unwind_rows rows;
    void *blob;
    size_t size;

    if (!compile(to->f, NULL, &blob, &size, NULL))
        return;
    if (unwind_rows_view(&rows, blob, size, NULL))
        for (uint32_t i = 0; i < rows.header->n_rows; i++)
            if (rows.rows[i] & UNWIND_ROW_FUNCTION)
                add_offset(to, rows.header->base + rows.pcs[i]);
    mem_free(blob);
}

bool elf_read_calls(int fd, void **blob, size_t *size, struct error *e)
{
    struct cfi_segment segments[EXECUTABLE_MAX];
    struct calls_input in = { .segments = segments };
    struct elffile f;
    struct functions functions = { .f = &f };
    bool ok;

    if (!elffile_open(&f, fd, e))
        return false;
    ok = machine_of(&f, &in.machine) ||
         error_set(e, ERROR_UNSUPPORTED, "calls of ELF machine %u are not known", f.machine);
    if (ok) {
        add_by_rows(&functions);
        in.n_functions = list_functions(&functions, &in.functions);
        in.n_segments = list_executable(&f, segments);
        ok = calls_build(&in, blob, size, e);
    }
    mem_free(functions.list);
    elffile_close(&f);
    return ok;
}
