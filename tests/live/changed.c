// SPDX-License-Identifier: GPL-2.0-or-later
/* A program that changes when it gets SIGUSR1, and burns in before() until then: changed HOW [FILE].
 *   exec FILE    executes FILE, a copy of this program, which burns in executed()
 *   open FILE    opens FILE, a library, and burns in its function opened()
 *   rename       renames itself to "renamed", and burns in renamed()
 *   switch       nothing: two processes wake each other as fast as they can, until they are killed */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t changed;
static volatile unsigned long n;

static void change(int sig)
{
    changed = sig;
}

__attribute__((noinline)) static void before(void)
{
    while (!changed)
        n++;
}

__attribute__((noinline)) static void executed(void)
{
    for (;;)
        n++;
}

__attribute__((noinline)) static void renamed(void)
{
    for (;;)
        n++;
}

static int switch_tasks(void)
{
    int there[2], back[2];
    char c = 0;
    if (pipe(there) || pipe(back))
        return 1;
    int *from = back, *to = there;
    if (!fork()) {
        from = there;
        to = back;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    }
    if (from == back && write(to[1], &c, 1) != 1)
        return 1;
    while (read(from[0], &c, 1) == 1 && write(to[1], &c, 1) == 1)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : "";
    if (!strcmp(how, "switch"))
        return switch_tasks();
    if (!strcmp(how, "executed"))
        executed();
    signal(SIGUSR1, change);
    before();
    if (!strcmp(how, "exec"))
        execl(file, file, "executed", (char *)NULL);
    if (!strcmp(how, "rename")) {
        prctl(PR_SET_NAME, "renamed");
        renamed();
    }
    void *library = dlopen(file, RTLD_NOW);
    void (*opened)(void) = library ? (void (*)(void))dlsym(library, "opened") : NULL;
    if (opened)
        opened();
    return 1;
}
