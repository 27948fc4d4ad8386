// SPDX-License-Identifier: GPL-2.0-or-later
/* kinds N: N rounds of instructions of three kinds, each in a function of its own. */
#include <stdlib.h>

#define WORDS 512

static volatile unsigned sink;
static unsigned words[WORDS];

__attribute__((noinline)) static void add(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        sink += i;
}

__attribute__((noinline)) static void divide(unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        sink = sink / i + 12345678;
}

__attribute__((noinline)) static void store(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        words[i * 37 % WORDS] = words[i % WORDS] + 1;
}

int main(int argc, char **argv)
{
    unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    while (n--) {
        add(3000);
        divide(3000);
        store(3000);
    }
    return 0;
}
