// SPDX-License-Identifier: GPL-2.0-or-later
/* A JIT whose code changes at known times: at SIGUSR1 it burns argv[1] ms of CPU time in each of three functions that are at
 * one address one after the other, under the comms phase1 to phase3. Its jitdump describes them, the third one by a move,
 * only afterwards; then it creates the file argv[2], and waits to be killed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#if defined(__aarch64__)
static const uint32_t countdown[] = { 0xf1000400, 0x54ffffe1, 0xd65f03c0 };
#define MACHINE 183
#else /* mov %rdi,%rcx; dec %rcx; jne; ret */
static const unsigned char countdown[] = { 0x48, 0x89, 0xf9, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3 };
#define MACHINE 62
#endif

#define SIZE 0x40

static int dump;
static char *page;

static uint64_t ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t n)
{
    if (write(dump, bytes, n) != (ssize_t)n)
        exit(1);
}

static void begin(void)
{
    const uint32_t head[] = { 0x4a695444, 1, 40, MACHINE, 0, (uint32_t)getpid(), 0, 0, 0, 0 };
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    dump = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    put(head, sizeof head);
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
        exit(1);
}

static void tell_load(uint64_t time_ns, const char *at, uint64_t index, const char *name)
{
    const uint32_t ids[] = { (uint32_t)getpid(), (uint32_t)getpid() };
    const uint64_t code[] = { (uintptr_t)at, (uintptr_t)at, SIZE, index };
    const uint32_t head[] = { 0, 56 + (uint32_t)strlen(name) + 1 + SIZE };
    char bytes[SIZE] = "";
    memcpy(bytes, countdown, sizeof countdown);
    put(head, sizeof head);
    put(&time_ns, sizeof time_ns);
    put(ids, sizeof ids);
    put(code, sizeof code);
    put(name, strlen(name) + 1);
    put(bytes, SIZE);
}

static void tell_move(uint64_t time_ns, const char *from, const char *to, uint64_t index)
{
    const uint32_t ids[] = { (uint32_t)getpid(), (uint32_t)getpid() };
    const uint64_t code[] = { (uintptr_t)to, (uintptr_t)from, (uintptr_t)to, SIZE, index };
    const uint32_t head[] = { 1, 64 };
    put(head, sizeof head);
    put(&time_ns, sizeof time_ns);
    put(ids, sizeof ids);
    put(code, sizeof code);
}

/* Its time is between the last sample of the previous code and the first of the new code. */
static uint64_t phase(const char *comm, uint64_t cpu_ns)
{
    void (*code)(unsigned long);
    prctl(PR_SET_NAME, comm);
    uint64_t now_ns = ns(CLOCK_MONOTONIC), end_ns = ns(CLOCK_PROCESS_CPUTIME_ID) + cpu_ns;
    memcpy(&code, &page, sizeof code);
    while (ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns)
        code(1000000);
    return now_ns;
}

int main(int argc, char **argv)
{
    sigset_t set;
    int signal;
    if (argc < 3)
        return 1;
    uint64_t cpu_ns = strtoull(argv[1], NULL, 10) * 1000000;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    begin();
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    memcpy(page, countdown, sizeof countdown);
    __builtin___clear_cache(page, page + sizeof countdown);
    sigwait(&set, &signal);
    uint64_t first = phase("phase1", cpu_ns), second = phase("phase2", cpu_ns), third = phase("phase3", cpu_ns);
    tell_load(first, page, 1, "first");
    tell_load(first, page + 0x100, 2, "third");
    tell_load(second, page, 3, "second");
    tell_move(third, page + 0x100, page, 2);
    close(open(argv[2], O_CREAT | O_WRONLY, 0600));
    for (;;)
        pause();
}
