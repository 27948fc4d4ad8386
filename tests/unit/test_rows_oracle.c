// SPDX-License-Identifier: GPL-2.0-or-later
/* Steps once from every row of a file's table, over made registers and memory, by the row and by
 * libunwind: pc, sp and all saved registers must be the same. Checks all files mapped by this program, or
 * by hand the given FILE...; differing rows are printed. */
#ifdef __x86_64__
#include <elf.h>
#include <link.h>
#include <fcntl.h>
#include <libunwind-x86_64.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/elf.h"
#include "unwind/general.h"
#include "unwind/rowformat.h"
#include "unwind/signalframe.h"

#define STACK UINT64_C(0x7ffe00000000)
#define BYTES (1u << 20)
#define BIAS  UINT64_C(0x100000000000)
#define SHOWN 8

int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di,
                                       unw_proc_info_t *pi, int need_unwind_info, void *arg);

static const unsigned compared[] = { 3, 6, 7, 12, 13, 14, 15, 16 }; /* rbx, rbp, rsp, r12-r15, pc */
#define COMPARED (sizeof compared / sizeof *compared)

struct file {
    void *blob; /* of the rows */
    const uint8_t *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    uint64_t hdr;
    struct unwind_rows rows;
    struct unwind_regs regs;
};

static uint8_t memory[BYTES]; /* each word holds an address in this memory, so that every pointer is valid */

static void make_memory(void)
{
    for (uint64_t at = 0; at < BYTES; at += 8) {
        uint64_t word = STACK + BYTES / 2 + (at * 2654435761u % (BYTES / 4) & ~UINT64_C(7));
        memcpy(memory + at, &word, 8);
    }
}

static const Elf64_Phdr *header_at(const struct file *f, unsigned i)
{
    return (const void *)(f->bytes + f->header->e_phoff + i * sizeof(Elf64_Phdr));
}

static const uint8_t *file_at(const struct file *f, uint64_t addr)
{
    for (unsigned i = 0; i < f->header->e_phnum; i++) {
        const Elf64_Phdr *p = header_at(f, i);
        if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr + 8 <= p->p_filesz)
            return f->bytes + p->p_offset + (addr - p->p_vaddr);
    }
    return NULL;
}

static uint64_t addr_of(const struct file *f, uint64_t offset)
{
    for (unsigned i = 0; i < f->header->e_phnum; i++) {
        const Elf64_Phdr *p = header_at(f, i);
        if (p->p_type == PT_LOAD && p->p_flags & PF_X && offset >= p->p_offset &&
            offset - p->p_offset < p->p_filesz)
            return BIAS + p->p_vaddr + offset - p->p_offset;
    }
    return 0;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
    struct file *f = arg;
    unw_dyn_info_t di = { .format = UNW_INFO_FORMAT_REMOTE_TABLE, .end_ip = UINT64_MAX };
    const uint8_t *hdr = file_at(f, f->hdr);
    uint32_t count;

    memcpy(&count, hdr + 8, 4);
    di.u.rti.segbase = BIAS + f->hdr;
    di.u.rti.table_data = BIAS + f->hdr + 12;
    di.u.rti.table_len = count * 8 / sizeof(unw_word_t);
    return UNW_OBJ(dwarf_search_unwind_table)(as, ip, &di, pi, need, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
    (void)as, (void)pi, (void)arg;
}

static int no_list(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
    (void)as, (void)addr, (void)arg;
    return -UNW_ENOINFO;
}

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
    const uint8_t *p;

    (void)as;
    if (write)
        return -UNW_EINVAL;
    p = addr - STACK <= BYTES - 8 ? memory + (addr - STACK) : file_at(arg, addr - BIAS);
    if (!p)
        return -UNW_EINVAL;
    memcpy(value, p, 8);
    return 0;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
    (void)as;
    if (write || reg < 0 || reg > 16)
        return -UNW_EBADREG;
    *value = ((struct file *)arg)->regs.r[reg];
    return 0;
}

static int no_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
    (void)as, (void)reg, (void)value, (void)write, (void)arg;
    return -UNW_EINVAL;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
    (void)as, (void)c, (void)arg;
    return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t addr, char *name, size_t n, unw_word_t *offset, void *arg)
{
    (void)as, (void)addr, (void)name, (void)n, (void)offset, (void)arg;
    return -UNW_EUNSPEC;
}

static int step_theirs(struct file *f, uint64_t *out)
{
    static unw_accessors_t accessors = { find_proc_info, put_unwind_info, no_list,   access_mem,
                                         access_reg,     no_fpreg,        no_resume, no_name };
    static unw_addr_space_t as;
    unw_cursor_t cursor;
    int result;

    if (!as) {
        as = unw_create_addr_space(&accessors, 0);
        unw_set_caching_policy(as, UNW_CACHE_NONE);
    }
    result = unw_init_remote(&cursor, as, f);
    if (result >= 0)
        result = unw_step(&cursor);
    for (unsigned i = 0; i < COMPARED; i++) {
        unw_word_t value = 0;
        unw_get_reg(&cursor, (int)compared[i], &value);
        out[i] = value;
    }
    return result;
}

static uint64_t word(uint64_t addr)
{
    uint64_t value = 0;

    if (addr - STACK <= BYTES - 8)
        memcpy(&value, memory + (addr - STACK), 8);
    return value;
}

static void step_simple(const struct unwind_entry *e, struct unwind_regs *r)
{
    const struct unwind_abi *abi = unwind_arch_abi(UNWIND_ARCH_X86_64);
    uint64_t cfa, base, fp = r->r[6];

    if (e->kind == UNWIND_ROW_SP)
        cfa = r->r[7] + (uint64_t)(int64_t)e->cfa_offset;
    else if (e->kind == UNWIND_ROW_FP)
        cfa = fp + (uint64_t)(int64_t)e->cfa_offset;
    else if (e->kind == UNWIND_ROW_PLT)
        cfa = r->r[7] + 8 + ((int64_t)(r->r[16] & 15) >= e->cfa_offset ? 8 : 0);
    else
        cfa = word(fp + (uint64_t)(int64_t)e->cfa_offset);
    base = e->kind == UNWIND_ROW_DRAP ? fp : cfa;
    r->r[16] = e->flags & UNWIND_ENTRY_RA_IN_REGISTER ? r->r[e->ra_register]
                                                      : word(cfa + (uint64_t)(int64_t)e->ra_offset);
    if (e->flags & UNWIND_ENTRY_FP_SAVED)
        r->r[6] = word(base + (uint64_t)(int64_t)e->fp_offset);
    for (unsigned i = 0; i < abi->n_saved; i++)
        if (e->saved[i] != UNWIND_NOT_SAVED)
            r->r[abi->saved[i]] = word(base + (uint64_t)((int64_t)e->saved[i] * 8));
    r->r[7] = cfa;
}

/* False: the step is not supported. */
static bool step_ours(struct file *f, const struct unwind_entry *e, uint64_t *out)
{
    struct unwind_memory m = { .bytes = memory, .size = BYTES, .base = STACK };
    struct unwind_regs r = f->regs;
    uint64_t missing;
    bool signal, ok = true;

    if (e->kind == UNWIND_ROW_NONE || e->kind == UNWIND_ROW_END)
        return false;
    if (e->kind == UNWIND_ROW_GENERAL) {
        ok = unwind_general_step(&f->rows, (uint32_t)e->cfa_offset, UNWIND_ARCH_X86_64, &m, &r, &signal,
                                 &missing);
        r.r[16] = r.pc;
    } else if (e->kind == UNWIND_ROW_SIGNAL) {
        ok = unwind_signal_take(UNWIND_ARCH_X86_64, &m, r.r[7], &r);
    } else {
        step_simple(e, &r);
    }
    for (unsigned i = 0; i < COMPARED; i++)
        out[i] = r.r[compared[i]];
    return ok;
}

static void set_regs(struct file *f, uint64_t pc)
{
    f->regs = (struct unwind_regs){ .known = (1u << 17) - 1, .pc = pc };
    for (unsigned i = 0; i < 16; i++)
        f->regs.r[i] = STACK + BYTES / 2 + 0x1000 * i;
    f->regs.r[7] = f->regs.sp = STACK + BYTES / 4;
    f->regs.fp = f->regs.r[6];
    f->regs.r[16] = pc;
}

struct verdict {
    uint64_t equal, differ, ends, unknown;
};

static struct verdict check(struct file *f)
{
    uint64_t ours[COMPARED], theirs[COMPARED];
    struct verdict v = { 0 };

    for (uint32_t i = 0; i < f->rows.header->n_rows; i++) {
        uint64_t offset = f->rows.header->base + f->rows.pcs[i], pc = addr_of(f, offset);
        const struct unwind_entry *e = unwind_rows_entry(&f->rows, offset);
        int result;
        bool ok;
        if (!e || !pc)
            continue;
        set_regs(f, pc);
        ok = step_ours(f, e, ours);
        result = step_theirs(f, theirs);
        if (!ok && e->kind == UNWIND_ROW_END && result == 0) {
            v.ends++;
        } else if ((e->flags & UNWIND_ENTRY_DEDUCED || (!ok && e->kind == UNWIND_ROW_NONE)) && result <= 0) {
            v.unknown++;
        } else if (ok && result >= 0 && !memcmp(ours, theirs, sizeof ours)) {
            v.equal++;
        } else if (++v.differ <= SHOWN) {
            printf("#   %llx: kind %u, theirs %d\n", (unsigned long long)(pc - BIAS), e->kind, result);
            for (unsigned k = 0; ok && k < COMPARED; k++)
                if (ours[k] != theirs[k])
                    printf("#     r%u: %llx, theirs %llx\n", compared[k], (unsigned long long)ours[k],
                           (unsigned long long)theirs[k]);
        }
    }
    return v;
}

static bool open_file(struct file *f, const char *path)
{
    char link[ELF_LINK_MAX];
    struct error e = { 0 };
    struct stat st;
    size_t size;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) || !elf_read_unwind(fd, -1, &f->blob, &size, link, &e) ||
        !unwind_rows_view(&f->rows, f->blob, size, &e)) {
        printf("# %s: %s\n", path, e.text);
        return false;
    }
    f->size = (size_t)st.st_size;
    f->bytes = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, fd, 0);
    f->header = (const void *)f->bytes;
    for (unsigned i = 0; i < f->header->e_phnum; i++)
        if (header_at(f, i)->p_type == PT_GNU_EH_FRAME)
            f->hdr = header_at(f, i)->p_vaddr;
    return f->hdr && file_at(f, f->hdr)[3] == 0x3b;
}

/* libunwind ignores rules for sp alone, and the tables of hand-written assembly contradict themselves: one
 * row in two thousand may differ. In a small file that would be less than one. */
static bool agrees(const struct verdict *v)
{
    return v->differ * 2000 <= v->equal + v->differ || v->differ < 5;
}

static int test_file(unsigned number, const char *path)
{
    struct file f = { 0 };
    struct verdict v;

    if (!open_file(&f, path)) {
        printf("not ok %u - %s can be read\n", number, path);
        return 1;
    }
    v = check(&f);
    mem_free(f.blob);
    printf("# %llu rows equal, %llu ends, %llu gaps, %llu differ\n", (unsigned long long)v.equal,
           (unsigned long long)v.ends, (unsigned long long)v.unknown, (unsigned long long)v.differ);
    printf("%sok %u - rows of %s say what libunwind says\n", agrees(&v) ? "" : "not ", number, path);
    return !agrees(&v);
}

static unsigned n_loaded;
static char loaded[64][4096];

static int note_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size, (void)ctx;
    if (n_loaded < 64 && info->dlpi_name[0] == '/')
        snprintf(loaded[n_loaded++], sizeof loaded[0], "%s", info->dlpi_name);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    make_memory();
    strcpy(loaded[n_loaded++], "/proc/self/exe");
    dl_iterate_phdr(note_object, NULL);
    unsigned n = argc > 1 ? (unsigned)argc - 1 : n_loaded;
    printf("1..%u\n", n);
    for (unsigned i = 0; i < n; i++)
        failed += test_file(i + 1, argc > 1 ? argv[i + 1] : loaded[i]);
    return failed != 0;
}

#else

#include <stdio.h>

int main(void)
{
    puts("1..1\nok 1 # SKIP made for x86-64");
    return 0;
}

#endif
