// SPDX-License-Identifier: GPL-2.0-or-later
/* Compiles a program with functions inlined three levels deep and states the true locations of its code. */
#ifndef FLAMETOP_TESTS_LINES_FIXTURE_H
#define FLAMETOP_TESTS_LINES_FIXTURE_H

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "symbols/elf.h"
#include "symbols/table.h"
#include "unit_test.h"

static const char lines_source[] =
    "volatile unsigned sink;\n"                                                    /* 1 */
    "#define INLINE static inline __attribute__((always_inline)) unsigned\n"       /* 2 */
    "INLINE third(unsigned x) { for (unsigned i = 0; i < 7; i++) sink += x * i;\n" /* 3 */
    "    return sink ^ x; }\n"                                                     /* 4 */
    "INLINE second(unsigned x) { unsigned s = 1;\n"                                /* 5 */
    "    while (x--) s += third(x + s);\n"                                         /* 6 */
    "    return s; }\n"                                                            /* 7 */
    "INLINE first(unsigned x) {\n"                                                 /* 8 */
    "    return second(x % 9) +\n"                                                 /* 9 */
    "        third(3); }\n"                                                        /* 10 */
    "__attribute__((noinline)) unsigned work(unsigned n) { unsigned r = 0;\n"      /* 11 */
    "    while (n--)\n"                                                            /* 12 */
    "        r += first(n);\n"                                                     /* 13 */
    "    return r; }\n"                                                            /* 14 */
    "int main(int argc, char **argv) { (void)argv; return (int)work((unsigned)argc); }\n";

/* Returns the line of the call for each (callee, caller). The outermost function is "work". */
static inline unsigned lines_call_line(const char *callee, const char *caller)
{
    static const struct {
        const char *callee, *caller;
        unsigned line;
    } calls[] = {
        { "third", "second", 6 }, { "third", "first", 10 }, { "second", "first", 9 }, { "first", "work", 13 }
    };
    size_t i;

    for (i = 0; i < sizeof calls / sizeof *calls; i++)
        if (!strcmp(calls[i].callee, callee) && !strcmp(calls[i].caller, caller))
            return calls[i].line;
    return 0;
}

static inline bool lines_run(const char *dir, const char *format, ...)
{
    char command[1024];
    va_list ap;
    int n = snprintf(command, sizeof command, "cd %s && (", dir);

    va_start(ap, format);
    n += vsnprintf(command + n, sizeof command - (size_t)n, format, ap);
    va_end(ap);
    snprintf(command + n, sizeof command - (size_t)n, ") >/dev/null 2>&1");
    return system(command) == 0;
}

/* Returns false if there is no such compiler or it does not support the options. */
static inline bool lines_compile(const char *dir, const char *compiler, const char *options, const char *name)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/inlines.c", dir);
    f = fopen(path, "w");
    if (!f || fputs(lines_source, f) == EOF || fclose(f))
        return false;
    return lines_run(dir, "%s -O2 -g %s -c -o %s.o inlines.c && %s -o %s %s.o", compiler, options, name,
                     compiler, name, name);
}

static inline int lines_open_file(const char *dir, const char *name)
{
    char path[128];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Finds the file offset and size of `work`; 0, 0 if it is missing. */
static inline bool lines_find_work(int fd, uint64_t *start, uint64_t *size)
{
    struct table_builder b = { 0 };
    struct table t;
    struct table_entry entry;
    size_t n;
    void *blob;
    bool found = false;
    uint32_t i;

    *start = *size = 0;
    if (elf_read(fd, &b, NULL) && table_build(&b, TABLE_NESTED, &blob, &n, NULL)) {
        if (table_view(&t, blob, n, NULL))
            for (i = 0; !found && table_entry_at(&t, i, &entry); i++)
                found = !strcmp(entry.name, "work");
        if (found) {
            *start = entry.start;
            *size = entry.size;
        }
        mem_free(blob);
    }
    table_builder_done(&b);
    return found;
}

/* Each test's state is its own folder. */
static inline int lines_set_up(void **state)
{
    char *dir = mem_strdup("/tmp/flametop-test-XXXXXX");

    if (!mkdtemp(dir))
        return -1;
    *state = dir;
    return 0;
}

static inline int lines_tear_down(void **state)
{
    lines_run(*state, "rm -rf %s", (char *)*state);
    mem_free(*state);
    return 0;
}

#endif
