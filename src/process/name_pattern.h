// SPDX-License-Identifier: GPL-2.0-or-later
/* Patterns of the tables of kernel functions: a name, or "prefix*". */
#ifndef FLAMETOP_PROCESS_NAME_PATTERN_H
#define FLAMETOP_PROCESS_NAME_PATTERN_H

#include <stdbool.h>
#include <string.h>

static inline bool name_matches(const char *pattern, const char *name, size_t n)
{
    size_t fixed = strcspn(pattern, "*");
    return pattern[fixed] ? n >= fixed && !strncmp(pattern, name, fixed)
                          : n == fixed && !strncmp(pattern, name, n);
}

/* Without the compiler's suffix, as ".isra.0". */
static inline bool name_matches_function(const char *pattern, const char *function)
{
    return name_matches(pattern, function, strcspn(function, "."));
}

#endif
