// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/jittext.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HEAD_MAX 64

static bool parse_head(const char *line, size_t n, struct jit_epoch *out)
{
    char head[HEAD_MAX];

    if (n >= sizeof head || n < 2 || line[0] != '=')
        return false;
    memcpy(head, line, n);
    head[n] = '\0';
    return sscanf(head, "= %" SCNx32 " %" SCNx64, &out->pid, &out->from_ns) == 2;
}

static size_t line_bytes(const char *text, size_t n)
{
    const char *newline = n ? memchr(text, '\n', n) : NULL;

    return newline ? (size_t)(newline - text) + 1 : n;
}

bool jittext_next(const char **text, size_t *n, struct jit_epoch *out)
{
    while (*n) {
        size_t line = line_bytes(*text, *n);
        bool begins = parse_head(*text, line, out);

        *text += line;
        *n -= line;
        if (!begins)
            continue;
        out->text = *text;
        while (*n && **text != '=') {
            line = line_bytes(*text, *n);
            *text += line;
            *n -= line;
        }
        out->n = (size_t)(*text - out->text);
        return true;
    }
    return false;
}

bool jittext_line(struct jit_epoch *epoch, uint64_t *start, const char **name, size_t *n)
{
    char head[HEAD_MAX];

    while (epoch->n) {
        const char *line = epoch->text;
        size_t bytes = line_bytes(line, epoch->n), most = bytes < sizeof head ? bytes : sizeof head - 1;
        uint64_t size;
        int used = 0;

        epoch->text += bytes;
        epoch->n -= bytes;
        memcpy(head, line, most);
        head[most] = '\0';
        if (sscanf(head, "%" SCNx64 " %" SCNx64 " %n", start, &size, &used) != 2 || used <= 0)
            continue;
        *name = line + used;
        *n = bytes - (size_t)used;
        if (*n && (*name)[*n - 1] == '\n')
            --*n;
        return true;
    }
    return false;
}

void jittext_begin(struct buf *b, uint32_t pid, uint64_t from_ns)
{
    buf_printf(b, "= %" PRIx32 " %" PRIx64 "\n", pid, from_ns);
}

void jittext_add(struct buf *b, uint64_t start, uint64_t size, const char *name)
{
    buf_printf(b, "%" PRIx64 " %" PRIx64 " ", start, size);
    for (; *name; name++)
        buf_putc(b, *name == '\n' ? ' ' : *name);
    buf_putc(b, '\n');
}
