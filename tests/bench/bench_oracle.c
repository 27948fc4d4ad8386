// SPDX-License-Identifier: GPL-2.0-or-later
/* libunwind as the oracle of bench_unwind: its remote interface over the same registers, dumps and files. Uncached, so
 * that what one process maps is never taken for what another does. */
#include "bench_unwind.h"

#ifndef BENCH_LIBUNWIND

bool bench_compare(struct bench_sample *s, const struct unwind_frame *frames, uint32_t n, enum unwind_end end,
                   bool verbose)
{
    (void)s, (void)frames, (void)n, (void)end, (void)verbose;
    return true;
}

void bench_compare_report(void)
{
}

#else

#include <elf.h>
#include <libunwind-x86_64.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"

#define NEAR   64
#define LISTED 40
#define RED_ZONE 128

int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
                                       int need_unwind_info, void *arg);

struct image { /* a file, and what its program headers say */
    const uint8_t *bytes;
    size_t size;
    Elf64_Phdr load[32];
    unsigned n_load;
    uint64_t hdr; /* virtual address of .eh_frame_hdr */
};
struct near { /* an image that the sample has come across */
    const struct image *image;
    uint64_t bias;
};
struct ctx {
    struct bench_sample *s;
    struct near near[NEAR];
    unsigned n_near;
    bool below_sp; /* it wanted a register that an epilogue had popped already: not in the dump */
};

static struct tally {
    uint64_t stacks, equal, popped, ours_longer, theirs_longer, other;
} tallies[2]; /* [1]: of stacks that met code without a table, where libunwind's step by frame pointer loses rbp */
static uint64_t listed, spent_ns;

static const struct image *image_of(struct bench_module *m)
{
    struct image *i = m->oracle;
    const Elf64_Ehdr *h;
    struct stat st;

    if (i || m->fd < 0)
        return i;
    m->oracle = i = mem_zalloc(sizeof *i);
    if (fstat(m->fd, &st) || st.st_size < (off_t)sizeof *h)
        return i;
    i->size = (size_t)st.st_size;
    i->bytes = mmap(NULL, i->size, PROT_READ, MAP_PRIVATE, m->fd, 0);
    h = (const void *)i->bytes;
    if (i->bytes == MAP_FAILED || memcmp(h, ELFMAG, SELFMAG))
        return i;
    for (unsigned k = 0; k < h->e_phnum && i->n_load < 32; k++) {
        const Elf64_Phdr *p = (const void *)(i->bytes + h->e_phoff + k * sizeof *p);
        if (p->p_type == PT_LOAD)
            i->load[i->n_load++] = *p;
        else if (p->p_type == PT_GNU_EH_FRAME)
            i->hdr = p->p_vaddr;
    }
    return i;
}

static const uint8_t *bytes_at(const struct image *i, uint64_t addr)
{
    for (unsigned k = 0; k < i->n_load; k++) {
        uint64_t into = addr - i->load[k].p_vaddr;
        if (addr >= i->load[k].p_vaddr && into + 8 <= i->load[k].p_filesz)
            return i->bytes + i->load[k].p_offset + into;
    }
    return NULL;
}

static bool find_image(struct ctx *c, uint64_t addr, struct near *out, bool *jit)
{
    struct location place;
    struct bench_module *m;

    *jit = false;
    if (!world_resolve(c->s->w->world, c->s->thread, addr, false, &place) ||
        !(m = bench_module_at(c->s->w, place.module)))
        return false;
    *jit = m->jit;
    out->image = image_of(m);
    for (unsigned k = 0; out->image && k < out->image->n_load; k++) {
        const Elf64_Phdr *p = &out->image->load[k];
        if (p->p_flags & PF_X && place.offset >= p->p_offset && place.offset - p->p_offset < p->p_filesz) {
            out->bias = addr - (p->p_vaddr + place.offset - p->p_offset);
            return true;
        }
    }
    return false;
}

static void remember(struct ctx *c, const struct near *n)
{
    for (unsigned k = 0; k < c->n_near; k++)
        if (c->near[k].image == n->image && c->near[k].bias == n->bias)
            return;
    if (c->n_near < NEAR)
        c->near[c->n_near++] = *n;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi, int need, void *arg)
{
    struct ctx *c = arg;
    unw_dyn_info_t di = { .format = UNW_INFO_FORMAT_REMOTE_TABLE };
    const uint8_t *hdr;
    struct near n;
    uint32_t count;
    bool jit;

    if (!find_image(c, ip, &n, &jit) || !n.image->hdr || !(hdr = bytes_at(n.image, n.image->hdr)) || hdr[3] != 0x3b)
        return -UNW_ENOINFO;
    remember(c, &n);
    memcpy(&count, hdr + 8, 4);
    di.start_ip = 0;
    di.end_ip = UINT64_MAX;
    di.u.rti.segbase = n.bias + n.image->hdr;
    di.u.rti.table_data = n.bias + n.image->hdr + 12;
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
    struct ctx *c = arg;
    uint64_t at = addr - c->s->in.regs.sp;
    struct near n;
    bool jit;

    (void)as;
    if (write)
        return -UNW_EINVAL;
    if (c->s->in.stack_bytes >= 8 && at <= c->s->in.stack_bytes - 8) {
        memcpy(value, c->s->stack + at, 8);
        return 0;
    }
    c->below_sp |= -at <= RED_ZONE;
    for (unsigned k = c->n_near; k-- > 0;) {
        const uint8_t *p = bytes_at(c->near[k].image, addr - c->near[k].bias);
        if (p) {
            memcpy(value, p, 8);
            return 0;
        }
    }
    *value = 0;
    return find_image(c, addr, &n, &jit) || jit ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
    struct ctx *c = arg;

    (void)as;
    if (write || reg < 0 || reg >= UNWIND_REGS_MAX || !(c->s->in.regs.known >> reg & 1))
        return -UNW_EBADREG;
    *value = c->s->in.regs.r[reg];
    return 0;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
    (void)as, (void)reg, (void)value, (void)write, (void)arg;
    return -UNW_EINVAL;
}

static int resume(unw_addr_space_t as, unw_cursor_t *c, void *arg)
{
    (void)as, (void)c, (void)arg;
    return -UNW_EINVAL;
}

static int proc_name(unw_addr_space_t as, unw_word_t addr, char *name, size_t n, unw_word_t *offset, void *arg)
{
    (void)as, (void)addr, (void)name, (void)n, (void)offset, (void)arg;
    return -UNW_EUNSPEC;
}

static unsigned theirs(struct bench_sample *s, uint64_t *ips, int *last, bool *popped)
{
    static unw_accessors_t accessors = { find_proc_info, put_unwind_info, no_list, access_mem,
                                         access_reg,     access_fpreg,    resume,  proc_name };
    static unw_addr_space_t as;
    struct ctx c = { .s = s };
    unw_cursor_t cursor;
    unw_word_t ip;
    unsigned n = 0;

    if (!as) {
        as = unw_create_addr_space(&accessors, 0);
        unw_set_caching_policy(as, UNW_CACHE_NONE);
    }
    *last = unw_init_remote(&cursor, as, &c);
    while (*last >= 0 && n < BENCH_FRAMES) {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        if (!ip)
            break;
        ips[n++] = ip;
        *last = unw_step(&cursor);
        if (*last <= 0)
            break;
    }
    *popped = c.below_sp;
    return n;
}

static void count_difference(struct tally *t, uint32_t n, unsigned m, uint32_t same)
{
    if (same == m)
        t->ours_longer++;
    else if (same == n)
        t->theirs_longer++;
    else
        t->other++;
}

bool bench_compare(struct bench_sample *s, const struct unwind_frame *frames, uint32_t n, enum unwind_end end,
                   bool verbose)
{
    struct tally *t = &tallies[s->untabled];
    uint64_t ips[BENCH_FRAMES];
    struct timespec a, b;
    uint32_t same = 0;
    unsigned m;
    int last;
    bool popped;

    (void)end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    m = theirs(s, ips, &last, &popped);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    spent_ns += (uint64_t)(b.tv_sec - a.tv_sec) * 1000000000u + (uint64_t)(b.tv_nsec - a.tv_nsec);
    t->stacks++;
    /* An address in no mapping is no frame here. */
    for (unsigned k = 1; k < m; k++)
        if (!world_resolve(s->w->world, s->thread, ips[k] - 1, false, &(struct location){ 0 }))
            m = k;
    while (same < n && same < m && frames[same].addr + !frames[same].exact == ips[same])
        same++;
    if (same == n && same == m) {
        t->equal++;
        return true;
    }
    if (popped) {
        t->popped++;
        return true;
    }
    count_difference(t, n, m, same);
    if (!verbose || s->untabled || listed++ >= LISTED)
        return true;
    printf("--- libunwind: %u frames, last step %d; equal up to %u\n", m, last, same);
    for (unsigned k = same; k < m; k++)
        printf("   %2u %16llx\n", k, (unsigned long long)ips[k]);
    return false;
}

void bench_compare_report(void)
{
    uint64_t stacks = tallies[0].stacks + tallies[1].stacks;

    printf("libunwind: %.0f k stacks/s\n", (double)stacks * 1e6 / (double)(spent_ns + 1));
    for (unsigned i = 0; i < 2; i++) {
        const struct tally *t = &tallies[i];
        printf("  %s: %llu stacks, equal %.3f %% (%llu differ at a popped register, "
               "%llu longer here, %llu longer there, %llu otherwise)\n",
               i ? "with code that has no table" : "all by tables", (unsigned long long)t->stacks,
               t->stacks ? 100.0 * (double)t->equal / (double)t->stacks : 0.0, (unsigned long long)t->popped,
               (unsigned long long)t->ours_longer, (unsigned long long)t->theirs_longer, (unsigned long long)t->other);
    }
}

#endif
