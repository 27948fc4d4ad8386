// SPDX-License-Identifier: GPL-2.0-or-later
/* Loads the plugins in its arguments one after the other, in a loop, uses each, and unloads it.
 * truth: @start;main;first;second;use;plugin_run;one_second;one_third;one_fourth;one_hot
 * truth: @start;main;first;second;use;plugin_run;two_second;two_third;two_fourth;two_hot
 * truth: @start;main;first;second;use;~.*dl(open|close|sym).*;*
 */
#include <dlfcn.h>
#include <stdlib.h>

#include "zoo.h"

static FRAME uint64_t use(uint64_t x, const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW);
    uint64_t (*run)(uint64_t, int) = plugin ? (uint64_t(*)(uint64_t, int))dlsym(plugin, "plugin_run") : NULL;
    if (!run) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    x = run(x, 100 * LONG);
    dlclose(plugin);
    return x;
}

static FRAME uint64_t second(uint64_t x, const char *path)
{
    return use(x, path) + 1;
}

static FRAME uint64_t first(uint64_t x, const char *path)
{
    return second(x, path) + 1;
}

int main(int argc, char **argv)
{
    volatile uint64_t x = 1;
    zoo_ready();
    for (int i = 0; argc > 1; i++)
        x = first(x, argv[1 + i % (argc - 1)]);
    return 2;
}
