// SPDX-License-Identifier: GPL-2.0-or-later
/* A load with known shares: 50, 30 and 20 % of its CPU time are in hot_a, hot_b and hot_c; hot_a and hot_b are below
 * path_one, hot_c below path_two. Shares are numbers of iterations of the same loop. Runs for argv[1] seconds. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SPIN(name)                                                                                                   \
    __attribute__((noinline)) uint64_t name(uint64_t x, int n)                                                      \
    {                                                                                                                \
        for (int i = 0; i < n; i++) {                                                                                \
            x ^= x << 13;                                                                                            \
            x ^= x >> 7;                                                                                             \
            x ^= x << 17;                                                                                            \
        }                                                                                                            \
        return x;                                                                                                    \
    }
SPIN(hot_a)
SPIN(hot_b)
SPIN(hot_c)

#define UNIT 100 /* a round is far shorter than a sampling period */

__attribute__((noinline)) uint64_t path_one(uint64_t x)
{
    x = hot_a(x, 5 * UNIT);
    return hot_b(x, 3 * UNIT) + 1;
}

__attribute__((noinline)) uint64_t path_two(uint64_t x)
{
    return hot_c(x, 2 * UNIT) + 1;
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 5;
    struct timespec start, now;
    uint64_t x = 88172645463325252u;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 2000; i++)
            x = path_two(path_one(x));
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - start.tv_sec) + (now.tv_nsec - start.tv_nsec) / 1e9 < seconds);
    printf("%llu\n", (unsigned long long)x);
    return 0;
}
