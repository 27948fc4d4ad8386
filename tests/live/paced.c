// SPDX-License-Identifier: GPL-2.0-or-later
/* A load of known size that waits for a signal: at SIGUSR1 it touches argv[1] pages, has a child touch as many, sleeps
 * argv[2] times, creates the file argv[3], and waits to be killed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void touch(size_t pages)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        exit(1);
    madvise(p, pages * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)p)[i * page] = 1;
    munmap(p, pages * page);
}

int main(int argc, char **argv)
{
    sigset_t set;
    int signal;
    if (argc < 4)
        return 1;
    size_t pages = strtoul(argv[1], NULL, 10);
    long sleeps = atol(argv[2]);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigwait(&set, &signal);
    touch(pages);
    pid_t pid = fork();
    if (!pid) {
        touch(pages);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    for (long i = 0; i < sleeps; i++)
        nanosleep(&(struct timespec){ 0, 1000 }, NULL);
    close(open(argv[3], O_CREAT | O_WRONLY, 0600));
    for (;;)
        pause();
}
