// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs code that it generated: outer() calls small(), which keeps a frame pointer, and bare(), which keeps none. Both are
 * so short that much of their time is spent before their frames are set up and after they are removed. Arguments: a file
 * for the address of small(); any text: the code has names, in /tmp/perf-PID.map. x86-64. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

extern const char code_begin[], code_outer[], code_small[], code_bare[], code_end[];
__asm__(".pushsection .rodata\n"
        "code_begin:\n"
        "code_outer: push %rbp; mov %rsp,%rbp; push %rbx; sub $8,%rsp; mov %rdi,%rbx\n"
        "1: call code_small; call code_bare; dec %rbx; jnz 1b\n"
        "   add $8,%rsp; pop %rbx; pop %rbp; ret\n"
        "code_small: push %rbp; mov %rsp,%rbp; lea 1(%rdi),%rax; imul %rax,%rax; pop %rbp; ret\n"
        "code_bare: sub $24,%rsp; mov %rdi,8(%rsp); mov 8(%rsp),%rax; imul %rax,%rax; add $24,%rsp; ret\n"
        "code_end: .popsection");

static void name(FILE *map, const char *page, const char *from, const char *to, const char *called)
{
    fprintf(map, "%llx %llx %s\n", (unsigned long long)(page + (from - code_begin)), (unsigned long long)(to - from), called);
}

int main(int argc, char **argv)
{
    char path[64];
    void (*outer)(long);
    size_t size = (size_t)(code_end - code_begin);
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    FILE *where = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (!where || page == MAP_FAILED)
        return 1;
    memcpy(page, code_begin, size);
    if (argc > 2) {
        snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
        FILE *map = fopen(path, "w");
        if (!map)
            return 1;
        name(map, page, code_outer, code_small, "outer");
        name(map, page, code_small, code_bare, "small");
        name(map, page, code_bare, code_end, "bare");
        fclose(map);
    }
    memcpy(&outer, &page, sizeof outer);
    fprintf(where, "%llx\n", (unsigned long long)(page + (code_small - code_begin)));
    fclose(where);
    for (;;)
        outer(1000000);
}
