// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions called as python -X perf calls Python functions: each through its own copy of the same machine code, which
 * /tmp/perf-PID.map names "py::" and the function's name. The copies have no frame pointer and no table.
 * truth: @start;main;outer;py::first:zoo.py;inner;py::second:zoo.py;hot
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "zoo.h"

typedef uint64_t (*function)(uint64_t x, int n);
typedef uint64_t (*trampoline)(uint64_t x, int n, uint64_t unused, function called); /* it is in rcx, as in Python's */

static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
static trampoline first, second;

static HOT(hot)

FRAME static uint64_t inner(uint64_t x, int n)
{
    uint64_t in_rbp = x * 3, y; /* not a frame pointer */
    __asm__ volatile("" : "+r"(in_rbp));
    y = second(x, n, 0, hot) + 1;
    return y + in_rbp;
}

FRAME static uint64_t outer(uint64_t x, int n)
{
    return first(x, n, 0, inner) + 1;
}

int main(void)
{
    unsigned char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile uint64_t result = 1;
    char path[64];
    FILE *map;

    snprintf(path, sizeof path, "/tmp/perf-%d.map", getpid());
    map = fopen(path, "w");
    if (page == MAP_FAILED || !map)
        return 1;
    memcpy(page, code, sizeof code);
    memcpy(page + 16, code, sizeof code);
    first = (trampoline)(void *)page;
    second = (trampoline)(void *)(page + 16);
    fprintf(map, "%lx %zx py::first:zoo.py\n%lx %zx py::second:zoo.py\n", (unsigned long)page, sizeof code,
            (unsigned long)page + 16, sizeof code);
    fclose(map);
    zoo_ready();
    for (;;)
        result = outer(result, LONG);
}
