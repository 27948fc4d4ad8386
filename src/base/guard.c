// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

/* The signal handler may read the list at any time, so entries are never freed but reused. */
static struct guard *_Atomic guards;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction before;
static void (*_Atomic crash_words)(void);

static struct guard *find(uintptr_t addr)
{
    struct guard *g = atomic_load(&guards);

    while (g && (addr < atomic_load(&g->start) || addr >= atomic_load(&g->end)))
        g = g->next;
    return g;
}

/* Async-signal-safe: mmap and sigaction are bare system calls. A fault outside all guards recurs on return
 * and then runs the previous handler. */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uintptr_t page = (uintptr_t)info->si_addr & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);
    struct guard *g = find(page);
    void (*last_words)(void) = atomic_load(&crash_words);

    (void)context;
    if (g && mmap((void *)page, (size_t)sysconf(_SC_PAGESIZE), PROT_READ,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
        atomic_store(&g->hit, true);
    } else {
        if (last_words)
            last_words();
        (void)sigaction(sig, &before, NULL);
    }
    errno = saved_errno;
}

/* Installs the handler again if other code has replaced it. */
static void take_signal(void)
{
    struct sigaction sa = { .sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO | SA_ONSTACK }, now;

    sigemptyset(&sa.sa_mask);
    if (sigaction(SIGBUS, NULL, &now) || now.sa_sigaction == on_bus_error)
        return;
    before = now;
    (void)sigaction(SIGBUS, &sa, NULL);
}

static struct guard *take_free(void)
{
    struct guard *g = atomic_load(&guards);

    while (g && atomic_load(&g->end))
        g = g->next;
    if (g)
        return g;
    g = mem_zalloc(sizeof *g);
    g->next = atomic_load(&guards);
    atomic_store(&guards, g);
    return g;
}

struct guard *guard_add(const void *start, size_t size)
{
    struct guard *g;

    pthread_mutex_lock(&lock);
    take_signal();
    g = take_free();
    atomic_store(&g->hit, false);
    atomic_store(&g->start, (uintptr_t)start);
    atomic_store(&g->end, (uintptr_t)start + size);
    pthread_mutex_unlock(&lock);
    return g;
}

void guard_remove(struct guard *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&lock);
    atomic_store(&g->end, 0);
    pthread_mutex_unlock(&lock);
}

void guard_on_crash(void (*last_words)(void))
{
    atomic_store(&crash_words, last_words);
}
