// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/unnamed.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Frames that say why a callchain has no true root. */
static const char *const broken_names[BROKEN_REASONS] = {
    [BROKEN_GARBAGE] = "[broken]",
    [BROKEN_DUMP] = "[truncated: stack dump too small]",
    [BROKEN_NO_TABLE] = "[truncated: no unwind table]",
    [BROKEN_PENDING] = "[truncated: unwind table not read yet]",
    [BROKEN_NO_MAP] = "[truncated: return address in no mapping]",
    [BROKEN_STEP] = "[truncated: impossible step]",
    [BROKEN_DEEP] = "[truncated: too deep]",
    [BROKEN_ELSEWHERE] = "[truncated: continues on another stack]",
    [BROKEN_UNREAD] = "[truncated: stack not in memory]",
    [BROKEN_NO_POINTER] = "[truncated: no frame pointer]",
    [BROKEN_UNPROVEN] = "[caller unknown]",
};

static const char *format_unnamed(const struct module *m, uint64_t offset, char *dst, size_t cap)
{
    switch (m->kind) {
    case MODULE_FILE:
    case MODULE_VDSO:
        snprintf(dst, cap, "%s+0x%" PRIx64, m->name, offset);
        break;
    case MODULE_BROKEN:
        snprintf(dst, cap, "%s", broken_names[offset < BROKEN_REASONS ? offset : BROKEN_GARBAGE]);
        break;
    case MODULE_UNKNOWN:
        snprintf(dst, cap, "[unknown] 0x%" PRIx64, offset);
        break;
    case MODULE_GUEST:
        snprintf(dst, cap, "[guest] 0x%" PRIx64, offset);
        break;
    default:
        snprintf(dst, cap, "%s 0x%" PRIx64, m->name, offset);
    }
    return dst;
}

const char *unnamed_name(struct symbolizer *sy, struct symbol_module *mod, uint64_t offset)
{
    char text[512];
    bool created;
    uint64_t *slot, known;

    if (mod->unnamed.n >= UNNAMED_MAX)
        return map_get(&mod->unnamed, offset, &known) ? (const char *)(uintptr_t)known
                                                      : "[too many without a name]";
    slot = map_at(&mod->unnamed, offset, 0, &created);
    if (created) {
        format_unnamed(mod->module, offset, text, sizeof text);
        *slot = (uintptr_t)arena_strndup(&sy->names.arena, text, strlen(text));
    }
    return (const char *)(uintptr_t)*slot;
}
