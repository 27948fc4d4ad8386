// SPDX-License-Identifier: GPL-2.0-or-later
/* The load of doc/tutorial.md: a web shop that misbehaves in four ways.
 *
 *   find_article()     compares the names of all articles (with -i it asks an index: yesterday's version)
 *   write_log()        writes its log one byte at a time
 *   remember_visit()   keeps a page of memory per visit
 *   update_prices()    occupies all CPUs for half a second, every six seconds
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline))
#define ARTICLES   2048
#define LINE       48
#define PAGE       4096
#define UPDATERS   4
#define UPDATE_S   0.5
#define VISITS_MAX 50000 /* 200 MB, then all are forgotten */

static struct article {
    char name[24];
    uint32_t price;
} articles[ARTICLES];
static bool has_index;
static int log_fd;
static _Atomic uint32_t visits;
static volatile uint32_t sink;

NOINLINE static int compare_names(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a - *b;
}

NOINLINE static const struct article *find_article(const char *name)
{
    if (has_index)
        return &articles[strtoul(name + 8, NULL, 10) % ARTICLES];
    for (uint32_t i = 0; i < ARTICLES; i++)
        if (!compare_names(articles[i].name, name))
            return &articles[i];
    return NULL;
}

NOINLINE static uint32_t render_page(const struct article *a)
{
    char page[512];
    uint32_t sum = 0;
    for (int i = 0; i < 12; i++) {
        snprintf(page, sizeof page, "<li>%s <b>%u.%02u</b>", a->name, a->price / 100, a->price % 100);
        for (const char *p = page; *p; p++)
            sum = sum * 31 + (unsigned char)*p;
    }
    return sum;
}

NOINLINE static void write_log(const char *name)
{
    char line[LINE + 1];
    int n = snprintf(line, sizeof line, "GET /%s 200\n", name);
    for (int i = 0; i < n; i++)
        (void)!pwrite(log_fd, line + i, 1, i);
}

NOINLINE static void remember_visit(uint32_t page)
{
    static uint32_t *memory;
    uint32_t n = visits++ % VISITS_MAX;
    if (!memory)
        memory =
            mmap(NULL, (size_t)VISITS_MAX * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!n)
        madvise(memory, (size_t)VISITS_MAX * PAGE, MADV_DONTNEED);
    memory[(size_t)n * PAGE / sizeof *memory] = page;
}

NOINLINE static void handle_request(uint32_t number)
{
    char name[24];
    snprintf(name, sizeof name, "article-%05u", (number >> 16) % ARTICLES);
    const struct article *a = find_article(name);
    uint32_t page = render_page(a);
    sink = page;
    if ((number >> 16) % 16 == 0)
        write_log(name);
    if ((number >> 16) % 64 == 0)
        remember_visit(page);
}

static void *serve(void *arg)
{
    uint32_t number = 12345;
    (void)arg;
    for (;;) {
        for (int i = 0; i < 150; i++)
            handle_request(number = number * 1103515245 + 12345);
        nanosleep(&(struct timespec){ .tv_nsec = 4000000 }, NULL);
    }
    return NULL;
}

NOINLINE static uint32_t discount(uint32_t price, uint32_t rounds)
{
    for (uint32_t i = 0; i < rounds; i++)
        price = price * 7 / 5 + i % 11;
    return price;
}

static void *update_part(void *arg)
{
    uint32_t part = (uint32_t)(uintptr_t)arg;
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (uint32_t i = part; i < ARTICLES; i += UPDATERS)
            articles[i].price = discount(articles[i].price, 50) % 100000;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < UPDATE_S);
    return NULL;
}

static void update_prices(void)
{
    pthread_t threads[UPDATERS];
    uint32_t n = 0;
    while (n < UPDATERS && !pthread_create(&threads[n], NULL, update_part, (void *)(uintptr_t)n))
        n++;
    while (n)
        pthread_join(threads[--n], NULL);
}

int main(int argc, char **argv)
{
    pthread_t thread;
    has_index = argc > 2 && !strcmp(argv[2], "-i");
    log_fd = open(argc > 1 ? argv[1] : "shop.log", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    for (uint32_t i = 0; i < ARTICLES; i++) {
        snprintf(articles[i].name, sizeof articles[i].name, "article-%05u", i);
        articles[i].price = 100 + i * 37;
    }
    if (log_fd < 0 || pthread_create(&thread, NULL, serve, NULL))
        return 1;
    pthread_setname_np(thread, "shop-requests");
    for (;;) {
        sleep(6);
        update_prices();
    }
}
