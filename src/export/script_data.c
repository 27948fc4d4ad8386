// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints fields of samples as perf script does: layouts of <linux/perf_event.h>, words of perf 6.1. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "export/script.h"

/* ---- misc ---- */

void script_put_misc(uint16_t misc, struct buf *out)
{
    static const struct {
        uint16_t bits;
        char letter;
    } modes[] = { { PERF_RECORD_MISC_KERNEL, 'K' },
                  { PERF_RECORD_MISC_USER, 'U' },
                  { PERF_RECORD_MISC_HYPERVISOR, 'H' },
                  { PERF_RECORD_MISC_GUEST_KERNEL, 'G' },
                  { PERF_RECORD_MISC_GUEST_USER, 'g' } };
    size_t before = out->len;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if ((misc & modes[i].bits) == modes[i].bits)
            buf_putc(out, modes[i].letter);
    buf_printf(out, "%*s", 6 - (int)(out->len - before), " ");
}

/* ---- data source ---- */

#define DATA_SRC_MAX 100 /* perf truncates the text here */

struct words {
    char text[DATA_SRC_MAX];
    int n;
};

static void add(struct words *w, const char *text)
{
    int n = snprintf(w->text + w->n, sizeof w->text - (size_t)w->n, "%s", text);
    w->n = w->n + n < (int)sizeof w->text ? w->n + n : (int)sizeof w->text - 1;
}

/* Adds the names of the set bits, separated by " or "; `or`: also before the first. Returns true if there
 * were some, or if `or` is true. */
static bool add_bits(struct words *w, uint64_t bits, const char *const *names, unsigned n, bool or)
{
    for (unsigned i = 0; i < n; i++) {
        if (!(bits >> i & 1))
            continue;
        add(w, or ? " or " : "");
        add(w, names[i]);
        or = true;
    }
    return or ;
}

static void add_hit(struct words *w, uint64_t bits)
{
    add(w, bits & PERF_MEM_LVL_HIT ? " hit" : "");
    add(w, bits & PERF_MEM_LVL_MISS ? " miss" : "");
}

static void add_op(struct words *w, uint64_t op)
{
    static const char *const ops[] = { "N/A", "LOAD", "STORE", "PFETCH", "EXEC" };
    unsigned i = 0;
    while (i < 5 && !(op >> i & 1))
        i++;
    add(w, "|OP ");
    add(w, i < 5 ? ops[i] : "No");
}

static void add_level(struct words *w, union perf_mem_data_src d)
{
    static const char *const levels[] = { "N/A",
                                          "HIT",
                                          "MISS",
                                          "L1",
                                          "LFB/MAB",
                                          "L2",
                                          "L3",
                                          "Local RAM",
                                          "Remote RAM (1 hop)",
                                          "Remote RAM (2 hops)",
                                          "Remote Cache (1 hop)",
                                          "Remote Cache (2 hops)",
                                          "I/O",
                                          "Uncached" };
    static const char *const numbers[16] = {
        [9] = "CXL",  [10] = "I/O",  [11] = "Any cache", [12] = "LFB/MAB",
        [13] = "RAM", [14] = "PMEM", [15] = "N/A"
    };
    static const char *const hops[8] = {
        "",        "core, same node ", "node, same socket ", "socket, same board ", "board ", "5 hops ",
        "6 hops ", "7 hops "
    };
    bool some = false;
    char number[8];
    add(w, "|LVL ");
    int before = w->n;
    add(w, d.mem_remote ? "Remote " : "");
    if (d.mem_hops)
        add(w, hops[d.mem_hops]);
    else
        some = add_bits(w, d.mem_lvl & ~(uint64_t)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS), levels, 14, false);
    if (d.mem_lvl_num) {
        snprintf(number, sizeof number, "L%u", (unsigned)d.mem_lvl_num);
        add(w, some ? " or " : "");
        add(w, numbers[d.mem_lvl_num] ? numbers[d.mem_lvl_num] : number);
    }
    add(w, w->n == before ? "N/A" : "");
    add_hit(w, d.mem_lvl);
}

static void add_snoop(struct words *w, union perf_mem_data_src d)
{
    static const char *const snoops[] = { "N/A", "None", "Hit", "Miss", "HitM" }, *const more[] = { "Fwd",
                                                                                                    "Peer" };
    add(w, "|SNP ");
    bool some = add_bits(w, d.mem_snoop, snoops, 5, false);
    add(w, add_bits(w, d.mem_snoopx, more, 2, some) ? "" : "N/A");
}

static void add_tlb(struct words *w, uint64_t tlb)
{
    static const char *const tlbs[] = { "N/A", "HIT", "MISS", "L1", "L2", "Walker", "Fault" };
    add(w, "|TLB ");
    add(w, add_bits(w, tlb & ~(uint64_t)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), tlbs, 7, false) ? "" : "N/A");
    add_hit(w, tlb); /* the same bits */
}

void script_put_data_src(uint64_t data_src, int *width, struct buf *out)
{
    union perf_mem_data_src d = { .val = data_src };
    struct words w = { 0 };
    char text[DATA_SRC_MAX];
    add_op(&w, d.mem_op);
    add_level(&w, d);
    add_snoop(&w, d);
    add_tlb(&w, d.mem_dtlb);
    add(&w, d.mem_lock & PERF_MEM_LOCK_NA       ? "|LCK N/A"
            : d.mem_lock & PERF_MEM_LOCK_LOCKED ? "|LCK Yes"
                                                : "|LCK No");
    add(&w, "|BLK ");
    add(&w, !d.mem_blk || d.mem_blk & PERF_MEM_BLK_NA ? " N/A" : "");
    add(&w, !(d.mem_blk & PERF_MEM_BLK_NA) && d.mem_blk & PERF_MEM_BLK_DATA ? " Data" : "");
    add(&w, !(d.mem_blk & PERF_MEM_BLK_NA) && d.mem_blk & PERF_MEM_BLK_ADDR ? " Addr" : "");
    int n =
        snprintf(text, sizeof text, "%16llx %.*s", (unsigned long long)data_src, DATA_SRC_MAX - 18, w.text);
    *width = n > *width ? n : *width;
    buf_printf(out, "%-*s", *width, text);
}

/* ---- registers ---- */

static const char *const x86_names[] = { "AX", "BX",    "CX",  "DX",  "SI",  "DI",  "BP",  "SP",
                                         "IP", "FLAGS", "CS",  "SS",  "DS",  "ES",  "FS",  "GS",
                                         "R8", "R9",    "R10", "R11", "R12", "R13", "R14", "R15" };

static void name_numbered(char dst[8], char letter, unsigned number, unsigned n, const char *const *last)
{
    if (number < n)
        snprintf(dst, 8, "%c%u", letter, number);
    else
        snprintf(dst, 8, "%s", last[number - n]);
}

static void name_register(char dst[8], const char *arch, unsigned number)
{
    static const char *const last_of_arm64[] = { "lr", "sp", "pc" };
    static const char *const last_of_arm[] = { "fp", "ip", "sp", "lr", "pc" };
    bool x86 = !strcmp(arch, "x86_64") || (*arch == 'i' && !strcmp(arch + 2, "86")),
         arm64 = !strncmp(arch, "aarch64", 7);
    snprintf(dst, 8, "unknown");
    if (x86 && number < sizeof x86_names / sizeof *x86_names)
        snprintf(dst, 8, "%s", x86_names[number]);
    else if (x86 && number >= 32)
        snprintf(dst, 8, "XMM%u", (number - 32) / 2 % 16);
    else if (arm64 && number == 46)
        snprintf(dst, 8, "vg");
    else if (arm64 && number < 33)
        name_numbered(dst, 'x', number, 30, last_of_arm64);
    else if (!arm64 && !strncmp(arch, "arm", 3) && number < 16)
        name_numbered(dst, 'r', number, 11, last_of_arm);
}

void script_put_registers(const void *registers, uint64_t abi, uint64_t mask, bool swap, const char *arch,
                          struct buf *out)
{
    struct utsname own;
    char name[8];
    uint32_t n = 0;
    if (!registers)
        return;
    if (!*arch && !uname(&own))
        arch = own.machine;
    buf_printf(out, " ABI:%llu ", (unsigned long long)abi);
    for (unsigned i = 0; i < 64; i++)
        if (mask >> i & 1) {
            name_register(name, arch, i);
            buf_printf(out, "%5s:0x%llx ", name, (unsigned long long)record_u64(registers, n++, swap));
        }
}

/* ---- pages ---- */

void script_put_page_size(uint64_t bytes, struct buf *out)
{
    const char *unit = "BKMG";
    if (!bytes) {
        buf_puts(out, " N/A");
        return;
    }
    for (; bytes / 1024 > 1 && unit[1]; unit++)
        bytes /= 1024;
    buf_printf(out, " %llu%c", (unsigned long long)bytes, *unit);
}

/* ---- branches ---- */

/* Returns a bit field. With the other byte order, bit fields start at the other end. */
static unsigned flag_bits(uint64_t flags, unsigned at, unsigned n, bool swap)
{
    return (unsigned)(flags >> (swap ? 64 - at - n : at) & ((1u << n) - 1));
}

static void put_flags(uint64_t flags, bool swap, struct buf *out)
{
    static const char *const types[] = { "",         "COND", "UNCOND",  "IND",    "CALL",
                                         "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
                                         "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX" };
    static const char *const others[] = { "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
                                          "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5" };
    unsigned type = flag_bits(flags, 20, 4, swap), other = flag_bits(flags, 26, 4, swap);
    bool missed = flag_bits(flags, 0, 1, swap), predicted = flag_bits(flags, 1, 1, swap);
    buf_printf(out, "/%c/%c/%c/%u/%s ",
               predicted ? 'P'
               : missed  ? 'M'
                         : '-',
               flag_bits(flags, 2, 1, swap) ? 'X' : '-', flag_bits(flags, 3, 1, swap) ? 'A' : '-',
               flag_bits(flags, 4, 16, swap),
               type < 15   ? types[type]
               : other < 8 ? others[other]
                           : "");
}

static void put_end(uint64_t address, script_name_fn *names, script_name_fn *after, const void *ctx,
                    struct buf *out)
{
    if (names)
        names(ctx, address, out);
    else
        buf_printf(out, "0x%llx", (unsigned long long)address);
    if (after)
        after(ctx, address, out);
}

void script_put_branches(const struct record *r, script_name_fn *names, script_name_fn *after,
                         const void *ctx, struct buf *out)
{
    for (uint32_t i = 0; i < r->sample.branch_n; i++) {
        buf_puts(out, names ? "" : " ");
        put_end(record_u64(r->sample.branch, 3 * i, r->swap), names, after, ctx, out);
        buf_putc(out, '/');
        put_end(record_u64(r->sample.branch, 3 * i + 1, r->swap), names, after, ctx, out);
        put_flags(record_u64(r->sample.branch, 3 * i + 2, r->swap), r->swap, out);
    }
}
