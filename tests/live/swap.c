// SPDX-License-Identifier: GPL-2.0-or-later
/* A host of two plugins that swap addresses: `swap ALPHA.so BETA.so` loads both, uses and unloads them, in alternating
 * order, so that each plugin is mapped alternately at both addresses. Built with -DPLUGIN=name it is a plugin that works
 * in name_hot. Every stack shows whether its names are true: use_alpha calls alpha_hot, use_beta calls beta_hot. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef PLUGIN
#define PASTE(a, b) a##b
#define NAMED(a, b) PASTE(a, b)

/* The plugins have the same size, so that each fits where the other one was, and their code is at different offsets. */
__asm__(".text\n.skip " PADDING "\n");

void NAMED(PLUGIN, _hot)(volatile unsigned *sum);
void NAMED(PLUGIN, _hot)(volatile unsigned *sum)
{
    for (unsigned i = 0; i < 2000000; i++)
        *sum += i;
}
#else
typedef void work_fn(volatile unsigned *sum);

static volatile unsigned sum;

static void *load(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW);
    if (!plugin) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return plugin;
}

__attribute__((noinline)) static void use_alpha(void *plugin)
{
    work_fn *work = (work_fn *)dlsym(plugin, "alpha_hot");
    work(&sum);
}

__attribute__((noinline)) static void use_beta(void *plugin)
{
    work_fn *work = (work_fn *)dlsym(plugin, "beta_hot");
    work(&sum);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    puts("ready");
    fflush(stdout);
    for (int round = 0;; round++) {
        void *plugins[2];
        for (int i = 0; i < 2; i++)
            plugins[(i + round) % 2] = load(argv[1 + (i + round) % 2]);
        use_alpha(plugins[0]);
        use_beta(plugins[1]);
        dlclose(plugins[0]);
        dlclose(plugins[1]);
    }
}
#endif
