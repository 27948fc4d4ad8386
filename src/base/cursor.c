// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/cursor.h"

const char *cursor_str(struct cursor *c, size_t n)
{
    const char *p = cursor_bytes(c, n);

    if (p && n && memchr(p, '\0', n))
        return p;
    c->bad = true;
    c->p = c->end;
    return NULL;
}
