// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies its own code to anonymous memory and replaces the original by it, as programs do to use huge pages; with an
 * argument this happens that many milliseconds after the start.
 * truth: @start;main;outer;inner;hot
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "zoo.h"

static HOT(hot) static LEVEL(inner, hot) static LEVEL(outer, inner)

    /* The executable mapping that contains an address. */
    static int find_code(unsigned long at, unsigned long *start, unsigned long *end)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096], x;
    int found = 0;
    while (maps && !found && fgets(line, sizeof line, maps))
        found =
            sscanf(line, "%lx-%lx %*c%*c%c", start, end, &x) == 3 && x == 'x' && at >= *start && at < *end;
    if (maps)
        fclose(maps);
    return found;
}

static void move_code(void)
{
    unsigned long start, end;
    if (!find_code((unsigned long)move_code, &start, &end))
        exit(1);
    char *copy = mmap(NULL, end - start, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(copy, (void *)start, end - start);
    if (mprotect(copy, end - start, PROT_READ | PROT_WRITE | PROT_EXEC) ||
        mremap(copy, end - start, end - start, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)start) == MAP_FAILED ||
        mprotect((void *)start, end - start, PROT_READ | PROT_EXEC))
        exit(1);
}

static long milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int main(int argc, char **argv)
{
    volatile uint64_t x = 1;
    long until = milliseconds() + (argc > 1 ? atoi(argv[1]) : 0);
    int moved = 0;
    if (argc < 2)
        move_code();
    zoo_ready();
    for (;;) {
        x = outer(x, LONG);
        if (argc > 1 && !moved && milliseconds() >= until) {
            move_code();
            moved = 1;
        }
    }
}
