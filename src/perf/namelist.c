// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf/namelist.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* Far above what any kernel shows; a bound, as the folder is not under our control. */
#define NAMES_MAX (1u << 20)

void namelist_add(struct namelist *names, const char *name)
{
    if (names->n >= NAMES_MAX)
        return;
    *VEC_PUSH(names) = mem_strdup(name);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool wanted(const struct dirent *d, bool only_folders)
{
    if (d->d_name[0] == '.')
        return false;
    /* The entries of /sys/bus/…/devices are links to folders. */
    return !only_folders || d->d_type == DT_DIR || d->d_type == DT_LNK || d->d_type == DT_UNKNOWN;
}

bool namelist_add_dir(struct namelist *names, const char *dir, bool only_folders, struct error *e)
{
    DIR *d = opendir(dir);
    if (!d)
        return error_sys(e, errno, "cannot list %s", dir);
    for (struct dirent *entry; (entry = readdir(d));)
        if (wanted(entry, only_folders))
            namelist_add(names, entry->d_name);
    closedir(d);
    if (names->n)
        qsort(names->items, names->n, sizeof *names->items, compare);
    return true;
}

const char *namelist_nearest(const struct namelist *names, const char *word)
{
    int near = text_nearest(word, (const char *const *)names->items, names->n);
    if (near >= 0)
        return names->items[near];
    size_t len = strlen(word);
    for (size_t i = 0; len && i < names->n; i++)
        if (!strncmp(names->items[i], word, len))
            return names->items[i];
    return NULL;
}

void namelist_join(const struct namelist *names, char *dst, size_t cap)
{
    size_t len = 0;
    dst[0] = '\0';
    for (size_t i = 0; i < names->n && len < cap; i++)
        len += (size_t)snprintf(dst + len, cap - len, "%s%s", i ? ", " : "", names->items[i]);
}

void namelist_done(struct namelist *names)
{
    for (size_t i = 0; i < names->n; i++)
        mem_free(names->items[i]);
    mem_free(names->items);
    *names = (struct namelist){ 0 };
}
