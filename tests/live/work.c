// SPDX-License-Identifier: GPL-2.0-or-later
/* A fixed amount of work that begins when a byte arrives, so that two profilers count the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

volatile int watched;

__attribute__((noinline)) void probed(void)
{
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000;
    char go;
    if (read(0, &go, 1) != 1)
        return 1;
    char *pages = mmap(NULL, (size_t)n * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    madvise(pages, (size_t)n * 4096, MADV_NOHUGEPAGE);
    for (long i = 0; i < n; i++) {
        pages[i * 4096] = 1;
        watched = (int)i;
        probed();
        syscall(SYS_getppid);
        if (i % 10 == 0)
            nanosleep(&(struct timespec){ .tv_nsec = 1000 }, NULL);
    }
    return 0;
}
