// SPDX-License-Identifier: GPL-2.0-or-later
/* Gives libunwind a thread as it was: registers and stack from copies, tables and all other memory from
 * /proc/PID/mem. It opens no file, so it works for deleted files and in containers, and needs no rights.
 * Where a file's code has no table, Go's own table is used if there is one. Else libunwind follows the frame
 * pointer; such a step is believed only if a call instruction ends at the return address. */
#include "unwind/remote.h"

#include "base/mem.h"

#ifdef HAVE_LIBUNWIND
#include <errno.h>
#include <libunwind-ptrace.h>
#include <string.h>
#include <unistd.h>

#include "process/maps.h"
#include "unwind/ehframe.h"
#include "unwind/remote_go.h"

_Static_assert(UNW_REG_LAST < REMOTE_REGISTERS, "room for all registers of libunwind");

/* Not declared in libunwind's headers, but exported for perf, which declares it like this. */
int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
                                       unw_proc_info_t *pi, int need_unwind_info, void *arg);

#define PAGE  4096u
#define PAGES 4096u /* of the cache: 16 MB */
#define MAPS  1000000u

struct region {
    uint64_t start, end, pgoff, ino;
    uint32_t maj, min;
    bool code, generated;
    enum { TABLE_UNREAD, TABLE_NONE, TABLE_FOUND } table;
    struct ehframe ehframe;
    struct remote_go *go; /* NULL: none */
    bool looked_for_go;
};

struct page {
    uint64_t address; /* 0: unused */
    bool readable;
    uint8_t *bytes;
};

struct remote {
    struct region *regions; /* ascending */
    size_t n, cap;
    int memory;
    struct page pages[PAGES];
    unw_addr_space_t space;
    const struct remote_stack *stack;
    struct remote_stack caller; /* in Go code: the stack as its function's caller has it */
    enum remote_end why;        /* the last step could not be made by a table */
    bool guessed;               /* libunwind may have followed the frame pointer instead */
};

/* GO_INTERRUPTED: a signal interrupted the caller, it made no call. */
enum go_step { GO_NONE, GO_CALLER, GO_INTERRUPTED, GO_ENDS };

/* ---- memory ---- */

static const struct page *page_at(struct remote *r, uint64_t address)
{
    struct page *p = &r->pages[address / PAGE % PAGES];
    if (p->address == address && p->bytes)
        return p;
    if (!p->bytes)
        p->bytes = mem_alloc(PAGE);
    p->address = address;
    p->readable = pread(r->memory, p->bytes, PAGE, (off_t)address) == PAGE;
    return p;
}

static bool read_memory(void *ctx, uint64_t address, void *to, size_t n)
{
    struct remote *r = ctx;
    for (uint8_t *at = to; n;) {
        uint64_t offset = address % PAGE, part = PAGE - offset < n ? PAGE - offset : n;
        const struct page *p = page_at(r, address - offset);
        if (!p->readable)
            return false;
        memcpy(at, p->bytes + offset, part);
        at += part;
        address += part;
        n -= part;
    }
    return true;
}

/* The thread runs on, so its stack may only come from the copy. */
static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int write, void *arg)
{
    struct remote *r = arg;
    const struct remote_stack *s = r->stack;
    (void)space;
    if (write)
        return -UNW_EINVAL;
    if (address >= s->start && address < s->end) {
        if (address - s->start + sizeof *value > s->size) {
            r->why = REMOTE_COPY_END;
            return -UNW_EINVAL;
        }
        memcpy(value, s->bytes + (address - s->start), sizeof *value);
        return 0;
    }
    return read_memory(r, address, value, sizeof *value) ? 0 : -UNW_EINVAL;
}

/* ---- mappings ---- */

static void add_region(struct remote *r, const struct maps_entry *e)
{
    if (r->n == MAPS || (r->n && e->start < r->regions[r->n - 1].end))
        return;
    MEM_GROW(r->regions, r->cap, r->n + 1);
    r->regions[r->n++] = (struct region){ .start = e->start,
                                          .end = e->end,
                                          .pgoff = e->pgoff,
                                          .ino = e->ino,
                                          .maj = e->maj,
                                          .min = e->min,
                                          .code = e->exec,
                                          .generated = !e->ino && strcmp(e->path, "[vdso]") };
}

static struct region *region_of(const struct remote *r, uint64_t address)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address >= r->regions[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < r->n && address >= r->regions[low].start ? &r->regions[low] : NULL;
}

uint64_t remote_map_end(const struct remote *r, uint64_t address)
{
    const struct region *g = region_of(r, address);
    return g ? g->end : 0;
}

static bool is_same_file(const struct region *a, const struct region *b)
{
    return a->ino == b->ino && a->maj == b->maj && a->min == b->min;
}

/* The beginning of a file is mapped below its code. */
static bool find_table(struct remote *r, struct region *code)
{
    for (const struct region *g = code; code->table == TABLE_UNREAD && g >= r->regions; g--)
        if (g->pgoff == 0 && is_same_file(g, code)) {
            code->table = ehframe_find(read_memory, r, g->start, &code->ehframe) ? TABLE_FOUND : TABLE_NONE;
            return code->table == TABLE_FOUND;
        }
    if (code->table == TABLE_UNREAD)
        code->table = TABLE_NONE;
    return code->table == TABLE_FOUND;
}

/* ---- what libunwind calls ---- */

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *info, int all, void *arg)
{
    struct remote *r = arg;
    struct region *g = region_of(r, ip);
    if (!g || !g->code || g->generated) {
        r->why = g && g->code ? REMOTE_GENERATED : REMOTE_NO_CODE;
        return -UNW_ESTOPUNWIND;
    }
    if (find_table(r, g)) {
        unw_dyn_info_t found = { .start_ip = g->start,
                                 .end_ip = g->end,
                                 .format = UNW_INFO_FORMAT_REMOTE_TABLE };
        found.u.rti.segbase = g->ehframe.header;
        found.u.rti.table_data = g->ehframe.table;
        found.u.rti.table_len = g->ehframe.entries * 8 / sizeof(unw_word_t);
        if (UNW_OBJ(dwarf_search_unwind_table)(space, ip, &found, info, all, arg) >= 0)
            return 0;
    }
    r->why = REMOTE_NO_TABLE;
    r->guessed = true;
    return -UNW_ENOINFO;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
    (void)space, (void)info, (void)arg;
}

static int no_dynamic_list(unw_addr_space_t space, unw_word_t *list, void *arg)
{
    (void)space, (void)list, (void)arg;
    return -UNW_ENOINFO;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int write,
                           void *arg)
{
    const struct remote *r = arg;
    (void)space;
    if (write || number < 0 || number >= REMOTE_REGISTERS || !r->stack->registers.known[number])
        return -UNW_EBADREG;
    *value = (unw_word_t)r->stack->registers.value[number];
    return 0;
}

static int no_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write, void *arg)
{
    (void)space, (void)number, (void)value, (void)write, (void)arg;
    return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
    (void)space, (void)cursor, (void)arg;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t ip, char *name, size_t cap, unw_word_t *offset,
                   void *arg)
{
    (void)space, (void)ip, (void)name, (void)cap, (void)offset, (void)arg;
    return -UNW_ENOINFO;
}

static unw_accessors_t accessors = {
    .find_proc_info = find_proc_info,
    .put_unwind_info = put_unwind_info,
    .get_dyn_info_list_addr = no_dynamic_list,
    .access_mem = access_memory,
    .access_reg = access_register,
    .access_fpreg = no_float,
    .resume = no_resume,
    .get_proc_name = no_name,
};

/* ---- registers ---- */

bool remote_read_registers(pid_t tid, struct remote_registers *out)
{
    void *traced = _UPT_create(tid);
    memset(out, 0, sizeof *out);
    errno = ENOMEM;
    for (int i = 0; traced && i <= UNW_REG_LAST; i++) {
        unw_word_t value = 0;
        out->known[i] = _UPT_access_reg(NULL, i, &value, 0, traced) >= 0;
        out->value[i] = value;
    }
    if (traced)
        _UPT_destroy(traced);
    return out->known[UNW_TDEP_IP] && out->known[UNW_TDEP_SP];
}

uint64_t remote_stack_pointer(const struct remote_registers *r)
{
    return r->value[UNW_TDEP_SP];
}

/* ---- unwinding ---- */

static void remote_free(struct remote *r)
{
    if (r->space)
        unw_destroy_addr_space(r->space);
    for (size_t i = 0; i < PAGES; i++)
        mem_free(r->pages[i].bytes);
    for (size_t i = 0; i < r->n; i++)
        if (r->regions[i].go)
            remote_go_free(r->regions[i].go);
    mem_free(r->regions);
    mem_free(r);
}

struct remote *remote_new(char *maps, size_t n, int memory)
{
    struct remote *r = mem_zalloc(sizeof *r);
    struct maps_entry e;
    r->memory = memory;
    for (char *line = maps, *end = maps + n, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (!next)
            break;
        if (maps_parse_line(line, (size_t)(next - line), &e))
            add_region(r, &e);
    }
    r->space = unw_create_addr_space(&accessors, 0);
    if (!r->space) {
        remote_free(r);
        return NULL;
    }
    unw_set_caching_policy(r->space, UNW_CACHE_GLOBAL);
    return r;
}

/* Whether a call instruction ends at this address. */
static bool follows_call(struct remote *r, uint64_t address)
{
#if defined __x86_64__ || defined __i386__
    uint8_t code[7]; /* e8 and four bytes; or ff /2 with one to five more */
    if (!read_memory(r, address - sizeof code, code, sizeof code))
        return false;
    if (code[2] == 0xe8)
        return true;
    for (size_t i = 0; i <= 5; i++)
        if (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2)
            return true;
#elif defined __aarch64__
    uint32_t code; /* bl; blr */
    if (read_memory(r, address - 4, &code, sizeof code))
        return code >> 26 == 0x25 || (code & 0xfffffc1f) == 0xd63f0000;
#else
    (void)r, (void)address;
#endif
    return false;
}

/* Whether a signal handler returns to this address: the code is the system call rt_sigreturn. libunwind's
 * unw_is_signal_frame does not see it in frames that it unwinds by a table. */
static bool is_trampoline(struct remote *r, uint64_t address)
{
#if defined __x86_64__
    static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
#elif defined __aarch64__
    static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
#else
    static const uint8_t code[1]; /* unknown: no address is one */
    return (void)r, (void)address, code[0];
#endif
    uint8_t found[sizeof code];
    return read_memory(r, address, found, sizeof found) && !memcmp(found, code, sizeof code);
}

#if defined __x86_64__
#define FRAME_POINTER UNW_X86_64_RBP

/* Go's table is in the data of its file. */
static struct remote_go *find_go(struct remote *r, struct region *code)
{
    for (const struct region *g = r->regions; !code->looked_for_go && g < r->regions + r->n && !code->go; g++)
        if (g->ino && !g->code && is_same_file(g, code))
            code->go = remote_go_find(read_memory, r, g->start, g->end, code->start, code->end);
    code->looked_for_go = true;
    return code->go;
}

/* True if no unwind table covers the address of the frame. */
static bool has_no_table(struct remote *r, unw_cursor_t *cursor)
{
    unw_proc_info_t info;
    r->guessed = false;
    unw_get_proc_info(cursor, &info);
    return r->guessed;
}

/* Moves the cursor to the caller of a Go function: of its registers only these three are known. */
static bool go_to_caller(struct remote *r, unw_cursor_t *cursor, uint64_t sp, uint64_t fp,
                         const struct unwind_entry *e)
{
    struct remote_registers *to = &r->caller.registers;
    uint64_t cfa = sp + (uint64_t)(int64_t)e->cfa_offset;
    unw_word_t back, saved = fp;
    bool read = access_memory(r->space, cfa + (uint64_t)(int64_t)e->ra_offset, &back, 0, r) == 0 &&
                (!(e->flags & UNWIND_ENTRY_FP_SAVED) ||
                 access_memory(r->space, cfa + (uint64_t)(int64_t)e->fp_offset, &saved, 0, r) == 0);
    const struct region *g = read && back ? region_of(r, back) : NULL;
    if (read && !(g && g->code))
        r->why = back ? REMOTE_NO_CODE : REMOTE_COMPLETE;
    if (!g || !g->code)
        return false;
    r->caller = *r->stack;
    memset(to->known, 0, sizeof to->known);
    to->known[UNW_TDEP_IP] = to->known[UNW_TDEP_SP] = to->known[FRAME_POINTER] = true;
    to->value[UNW_TDEP_IP] = back;
    to->value[UNW_TDEP_SP] = cfa;
    to->value[FRAME_POINTER] = saved;
    r->stack = &r->caller;
    return unw_init_remote(cursor, r->space, r) >= 0;
}

/* Steps from a Go function to its caller. exact: the thread, or a signal, is at the address. GO_NONE: it is
 * none, or its caller is not known from its table. */
static enum go_step step_go(struct remote *r, unw_cursor_t *cursor, bool exact)
{
    unw_word_t ip = 0, sp = 0, fp = 0;
    struct unwind_entry e;
    unw_get_reg(cursor, UNW_REG_IP, &ip);
    unw_get_reg(cursor, UNW_REG_SP, &sp);
    unw_get_reg(cursor, FRAME_POINTER, &fp);
    struct region *g = region_of(r, ip);
    if (!g || !g->code || g->generated || !has_no_table(r, cursor) || !find_go(r, g) ||
        !remote_go_row(g->go, read_memory, r, ip - !exact, &e))
        return GO_NONE;
    switch (e.kind) {
    case UNWIND_ROW_END:
        r->why = REMOTE_COMPLETE;
        return GO_ENDS;
    case UNWIND_ROW_SWITCH:
        r->why = REMOTE_ELSEWHERE;
        return GO_ENDS;
    case UNWIND_ROW_SP:
        break;
    default:
        return GO_NONE;
    }
    if (e.more & UNWIND_MORE_BOTH_STACKS || e.flags & UNWIND_ENTRY_STANDS_IN) {
        r->why = REMOTE_ELSEWHERE;
        return GO_ENDS;
    }
    r->why = REMOTE_FAILED;
    if (!go_to_caller(r, cursor, sp, fp, &e))
        return GO_ENDS;
    return e.flags & UNWIND_ENTRY_INJECTED ? GO_INTERRUPTED : GO_CALLER;
}
#else
static enum go_step step_go(struct remote *r, unw_cursor_t *cursor, bool exact)
{
    (void)r, (void)cursor, (void)exact;
    return GO_NONE;
}
#endif

/* Makes one step. False: the stack ends with r->why. */
static bool step(struct remote *r, unw_cursor_t *cursor)
{
    unw_word_t ip = 0, sp = 0, next_ip = 0, next_sp = 0;
    unw_get_reg(cursor, UNW_REG_IP, &ip);
    unw_get_reg(cursor, UNW_REG_SP, &sp);
    r->why = REMOTE_FAILED;
    r->guessed = false;
    int moved = unw_step(cursor);
    if (moved == 0)
        r->why = REMOTE_COMPLETE;
    if (moved <= 0)
        return false;
    unw_get_reg(cursor, UNW_REG_IP, &next_ip);
    unw_get_reg(cursor, UNW_REG_SP, &next_sp);
    if (!next_ip) {
        r->why = REMOTE_COMPLETE;
        return false;
    }
    const struct region *g = region_of(r, next_ip);
    if (!g || !g->code) {
        r->why = r->guessed ? REMOTE_NO_TABLE : REMOTE_NO_CODE;
        return false;
    }
    if (r->guessed && (next_sp <= sp || !follows_call(r, next_ip)))
        return false;
    return next_ip != ip || next_sp != sp; /* else it would repeat itself */
}

enum remote_end remote_unwind(struct remote *r, const struct remote_stack *stack, uint64_t *frames,
                              uint32_t cap, uint32_t *n)
{
    unw_cursor_t cursor;
    bool exact = true; /* the thread is at this address; else a call returns to it */
    *n = 0;
    r->stack = stack;
    r->why = REMOTE_FAILED;
    if (unw_init_remote(&cursor, r->space, r) < 0)
        return r->why;
    do {
        unw_word_t ip = 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (*n == cap)
            return REMOTE_DEEP;
        bool signal = is_trampoline(r, ip); /* a handler returns to the start of this code */
        frames[(*n)++] = ip - !(exact || signal);
        enum go_step by_go = step_go(r, &cursor, exact || signal);
        if (by_go == GO_ENDS || (by_go == GO_NONE && !step(r, &cursor)))
            return r->why;
        exact = signal || by_go == GO_INTERRUPTED;
    } while (true);
}

bool remote_available(void)
{
    return true;
}
#else
bool remote_available(void)
{
    return false;
}

bool remote_read_registers(pid_t tid, struct remote_registers *out)
{
    (void)tid, (void)out;
    return false;
}

uint64_t remote_stack_pointer(const struct remote_registers *r)
{
    return (void)r, 0;
}

struct remote *remote_new(char *maps, size_t n, int memory)
{
    (void)maps, (void)n, (void)memory;
    return NULL;
}

uint64_t remote_map_end(const struct remote *r, uint64_t address)
{
    return (void)r, (void)address, 0;
}

enum remote_end remote_unwind(struct remote *r, const struct remote_stack *stack, uint64_t *frames,
                              uint32_t cap, uint32_t *n)
{
    (void)r, (void)stack, (void)frames, (void)cap;
    *n = 0;
    return REMOTE_FAILED;
}
#endif
