// SPDX-License-Identifier: GPL-2.0-or-later
/* Repeats one kind of operation for some seconds and prints how many a second it made:
 * latency_load KIND SECONDS FOLDER. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int file = -1, udp = -1, listener = -1;
static struct sockaddr_in here = { .sin_family = AF_INET };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static char *block;

static void call(void)
{
    syscall(SYS_getppid);
}

static void nap(void)
{
    usleep(50);
}

static void direct(void)
{
    static off_t at;
    if (pwrite(file, block, 4096, at++ % 256 * 4096) != 4096)
        exit(1);
}

static void sync_one(void)
{
    if (pwrite(file, block, 4096, 0) != 4096 || fsync(file))
        exit(1);
}

static void datagram(void)
{
    char byte;
    if (send(udp, "x", 1, 0) != 1 || recv(udp, &byte, 1, 0) != 1)
        exit(1);
}

static void map(void)
{
    char *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile char *)p = 1;
    munmap(p, 4096);
}

static void look_up(void)
{
    struct addrinfo *found;
    if (getaddrinfo("localhost", NULL, NULL, &found) == 0)
        freeaddrinfo(found);
}

static void lock(void)
{
    pthread_mutex_lock(&mutex);
    usleep(20);
    pthread_mutex_unlock(&mutex);
}

static void write_more(void)
{
    if (pwrite(file, block, 65536, 0) != 65536)
        exit(1);
}

/* A reset leaves no socket in TIME_WAIT. */
static void close_at_once(int fd)
{
    struct linger none = { .l_onoff = 1 };
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    close(fd);
}

static void connect_once(void)
{
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(client, (void *)&here, sizeof here))
        exit(1);
    int server = accept(listener, NULL, NULL);
    close_at_once(client);
    close(server);
}

static void connect_in_vain(void)
{
    int client = socket(AF_INET, SOCK_STREAM, 0);
    if (!connect(client, (void *)&here, sizeof here))
        exit(1);
    close(client);
}

static void run_program(void)
{
    pid_t pid;
    char *argv[] = { (char *)"true", (char *)"argument", NULL }, *env[] = { NULL };
    if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, env) || waitpid(pid, NULL, 0) != pid)
        exit(1);
}

/* Of a port where nobody listens: it is bound only. */
static void open_port(bool listens)
{
    socklen_t size = sizeof here;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (void *)&here, size) || getsockname(listener, (void *)&here, &size) ||
        (listens && listen(listener, 100)))
        exit(1);
}

static void open_socket(void)
{
    socklen_t size = sizeof here;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    udp = socket(AF_INET, SOCK_DGRAM, 0);
    if (bind(udp, (void *)&here, size) || getsockname(udp, (void *)&here, &size) ||
        connect(udp, (void *)&here, size))
        exit(1);
}

static const struct kind {
    const char *name;
    void (*once)(void);
    bool two_threads;
    int flags; /* of the file; 0: none */
} kinds[] = {
    { "call", call, false, 0 },
    { "nap", nap, false, 0 },
    { "direct", direct, false, O_DIRECT },
    { "sync", sync_one, false, O_RDWR },
    { "datagram", datagram, false, 0 },
    { "map", map, false, 0 },
    { "look-up", look_up, false, 0 },
    { "lock", lock, true, 0 },
    { "inode", write_more, true, O_RDWR },
    { "connect", connect_once, false, 0 },
    { "refuse", connect_in_vain, false, 0 },
    { "run", run_program, false, 0 },
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *repeat(void *kind)
{
    while (!stop)
        ((const struct kind *)kind)->once();
    return NULL;
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds, *end = kinds + sizeof kinds / sizeof *kinds;
    char path[4096];
    pthread_t thread;
    while (kind < end && (argc < 4 || strcmp(kind->name, argv[1]) != 0))
        kind++;
    if (kind == end || posix_memalign((void **)&block, 4096, 65536))
        return 2;
    snprintf(path, sizeof path, "%s/load", argv[3]);
    if (kind->flags && (file = open(path, kind->flags | O_RDWR | O_CREAT, 0600)) < 0)
        return 1;
    if (kind->once == datagram)
        open_socket();
    if (kind->once == connect_once || kind->once == connect_in_vain)
        open_port(kind->once == connect_once);
    if (kind->two_threads)
        pthread_create(&thread, NULL, repeat, (void *)(uintptr_t)kind);
    double begun = now(), until = begun + atof(argv[2]), at;
    long n = 0;
    do {
        for (int i = 0; i < 10; i++, n++)
            kind->once();
        at = now();
    } while (at < until);
    stop = 1;
    if (kind->two_threads)
        pthread_join(thread, NULL);
    printf("%.1f\n", (double)n / (at - begun));
    return 0;
}
