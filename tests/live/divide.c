// SPDX-License-Identifier: GPL-2.0-or-later
/* A load that spends most of its time in one instruction: a division, in a loop that calls a leaf. With "jit" the code
 * of the division is generated at run time, in memory named by /tmp/perf-PID.map. Runs for argv[1] seconds. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) uint64_t leaf(uint64_t x, uint64_t y)
{
    return x / y;
}

__attribute__((noinline)) uint64_t divide(uint64_t n, uint64_t d)
{
    uint64_t sum = n;
    for (uint64_t i = 1; i < n; i++) {
        sum += 0xfffffffffffffff / (d + (sum & 15));
        if ((i & 15) == 0)
            sum += leaf(sum, i);
    }
    return sum;
}

static int (*make_code(void))(int)
{
#if defined(__x86_64__)
    /* movl $3, %ecx; 1: xorl %edx, %edx; divl %ecx; addl $100, %eax; decl %edi; jne 1b; retq */
    static const unsigned char code[] = { 0xb9, 3,    0,    0,    0,    0x31, 0xd2, 0xf7, 0xf1,
                                          0x83, 0xc0, 0x64, 0xff, 0xcf, 0x75, 0xf5, 0xc3 };
#elif defined(__aarch64__)
    /* mov w1, #3; 1: udiv w2, w2, w1; add w2, w2, #100; subs w0, w0, #1; b.ne 1b; ret */
    static const unsigned int code[] = { 0x52800061, 0x1ac10842, 0x11019042, 0x71000400, 0x54ffffa1, 0xd65f03c0 };
#else
#error "no code for this machine"
#endif
    char path[64];
    unsigned char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *f;
    if (p == MAP_FAILED)
        exit(1);
    memcpy(p + 64, code, sizeof code);
    __builtin___clear_cache((char *)p, (char *)p + 4096);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    f = fopen(path, "w");
    if (!f)
        exit(1);
    fprintf(f, "%lx %zx jit_divide\n", (unsigned long)(p + 64), sizeof code);
    fclose(f);
    return (int (*)(int))(void *)(p + 64);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    int (*made)(int) = argc > 2 && !strcmp(argv[2], "jit") ? make_code() : NULL;
    struct timespec start, now;
    volatile uint64_t x = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        if (made)
            x += (uint64_t)made(1000000);
        else
            x += divide(1000000, x % 7 + 1);
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) + (now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
    return 0;
}
