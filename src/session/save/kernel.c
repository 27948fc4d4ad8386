// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/save/snapshot.h"

#include <stdio.h>
#include <string.h>

bool kernel_text_range(uint64_t *start, uint64_t *end)
{
    FILE *f = fopen("/proc/kallsyms", "re");
    char line[1024], name[512], type;
    unsigned long long addr;
    *start = *end = 0;
    while (f && !*end && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%llx %c %511s", &addr, &type, name) != 3)
            continue;
        if (!strcmp(name, "_text") || (!strcmp(name, "_stext") && !*start))
            *start = addr;
        else if (!strcmp(name, "_etext"))
            *end = addr;
    }
    if (f)
        fclose(f);
    return *start && *end > *start;
}
