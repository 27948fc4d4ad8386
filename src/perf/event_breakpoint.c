// SPDX-License-Identifier: GPL-2.0-or-later
/* Parse breakpoints: mem:ADDRESS[/LENGTH][:rwx]. */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdlib.h>
#include <string.h>

#include "perf/event_parse.h"

static bool bad_breakpoint(const char *text, const char *at, const char *what, struct error *e)
{
    error_set(e, ERROR_ARGUMENT,
              "event '%s': %s; a breakpoint is mem:0xADDRESS[/LENGTH][:rwx], with a length of 1, 2, 4 or 8",
              text, what);
    return error_at(e, (size_t)(at - text));
}

/* The access type of "rw", "x" and so on; 0 if the word is invalid. */
static uint32_t breakpoint_type(const char *word, size_t n)
{
    uint32_t type = 0;
    for (size_t i = 0; i < n; i++) {
        const char *at = strchr("rwx", word[i]);
        uint32_t bit = at ? (uint32_t[]){ HW_BREAKPOINT_R, HW_BREAKPOINT_W, HW_BREAKPOINT_X }[at - "rwx"] : 0;
        if (!bit || type & bit)
            return 0;
        type |= bit;
    }
    return type;
}

/* Parse "/8" behind the address and advance *s. *len is 0 if absent: the default for this type of access. */
static bool breakpoint_length(const char *text, const char **s, uint64_t *len, struct error *e)
{
    char *end;
    *len = 0;
    if (**s != '/')
        return true;
    const char *digits = *s + 1;
    *len = strtoull(digits, &end, 0);
    if (end == digits || (*len != 1 && *len != 2 && *len != 4 && *len != 8))
        return bad_breakpoint(text, digits, "the length is wrong", e);
    *s = end;
    return true;
}

bool event_parse_breakpoint(const char *text, struct perf_event_attr *attr, const char **rest,
                            struct error *e)
{
    const char *addr_at = text + strlen("mem:"), *s;
    char *end;
    errno = 0;
    uint64_t len, addr = strtoull(addr_at, &end, 0);
    if (end == addr_at || errno || strchr("-+ \t", *addr_at))
        return bad_breakpoint(text, addr_at, "no address follows 'mem:'", e);
    s = end;
    if (!breakpoint_length(text, &s, &len, e))
        return false;
    uint32_t type = HW_BREAKPOINT_RW;
    if (*s == ':') {
        size_t n = strcspn(s + 1, ":/");
        uint32_t access = breakpoint_type(s + 1, n);
        s += access ? n + 1 : 0;
        type = access ? access : type;
    }
    if (*s && *s != ':' && *s != '/')
        return bad_breakpoint(text, s, "something else follows the address", e);
    attr->type = PERF_TYPE_BREAKPOINT;
    attr->bp_addr = addr;
    attr->bp_type = type;
    attr->bp_len = len ? len : type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
    *rest = s;
    return true;
}
