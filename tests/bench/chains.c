// SPDX-License-Identifier: GPL-2.0-or-later
/* A load with deep and many call chains: 512 paths of 16 to 55 frames through 256 functions, then a short spin in one
 * of them. Build with -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls. Runs until it is killed. */
#include <stdint.h>

typedef uint64_t step_fn(const uint8_t *path, uint64_t x);
static step_fn *const steps[256];

static uint64_t spin(uint64_t x, int n)
{
    for (int i = 0; i < n; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    return x;
}

/* path: numbers of functions, 0 behind the last one */
#define STEP(n)                                                                                                      \
    __attribute__((noinline)) uint64_t step_##n(const uint8_t *path, uint64_t x)                                    \
    {                                                                                                                \
        x = path[1] ? steps[path[1]](path + 1, x + 0x##n) : spin(x, 500 + 0x##n);                                    \
        return x * 3 + 0x##n;                                                                                        \
    }
#define STEP4(n)  STEP(n##0) STEP(n##1) STEP(n##2) STEP(n##3)
#define STEP16(n) STEP4(n) STEP(n##4) STEP(n##5) STEP(n##6) STEP(n##7) STEP(n##8) STEP(n##9) STEP(n##a) STEP(n##b)     \
                  STEP(n##c) STEP(n##d) STEP(n##e) STEP(n##f)
STEP16(0) STEP16(1) STEP16(2) STEP16(3) STEP16(4) STEP16(5) STEP16(6) STEP16(7)
STEP16(8) STEP16(9) STEP16(a) STEP16(b) STEP16(c) STEP16(d) STEP16(e) STEP16(f)

#define NAME16(n) step_##n##0, step_##n##1, step_##n##2, step_##n##3, step_##n##4, step_##n##5, step_##n##6,           \
                  step_##n##7, step_##n##8, step_##n##9, step_##n##a, step_##n##b, step_##n##c, step_##n##d,           \
                  step_##n##e, step_##n##f
static step_fn *const steps[256] = {
    NAME16(0), NAME16(1), NAME16(2), NAME16(3), NAME16(4), NAME16(5), NAME16(6), NAME16(7),
    NAME16(8), NAME16(9), NAME16(a), NAME16(b), NAME16(c), NAME16(d), NAME16(e), NAME16(f),
};

static uint64_t next(uint64_t *seed)
{
    return *seed = spin(*seed, 1);
}

int main(void)
{
    static uint8_t paths[512][64];
    uint64_t seed = 88172645463325252u, x = 1;
    for (int p = 0; p < 512; p++) {
        int depth = 16 + (int)(next(&seed) % 40);
        for (int d = 0; d < depth; d++)
            paths[p][d] = (uint8_t)(1 + next(&seed) % 255);
    }
    for (;;) {
        const uint8_t *path = paths[(next(&seed) % 512) * (next(&seed) % 512) / 512]; /* some are hotter */
        x = steps[path[0]](path, x);
    }
    return (int)x;
}
