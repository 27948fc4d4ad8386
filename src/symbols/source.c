// SPDX-License-Identifier: GPL-2.0-or-later
/* Read source files as text. They are as untrusted as the program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "symbols/codecache.h"

#define TAB_COLS 4

struct source *source_get(struct source *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void source_put(struct source *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
        return;
    mem_free(s->text);
    mem_free(s->lines);
    mem_free(s);
}

static bool read_text(int fd, struct source *s, struct error *e)
{
    ssize_t got = 1;

    s->text = mem_try_array(SOURCE_BYTES_MAX, 1);
    while (s->text && s->n < SOURCE_BYTES_MAX && got > 0) {
        got = pread(fd, s->text + s->n, SOURCE_BYTES_MAX - s->n, (off_t)s->n);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            s->n += (size_t)got;
    }
    if (s->text && got == 0 && !memchr(s->text, '\0', s->n))
        return true;
    return error_set(e, ERROR_FORMAT,
                     !s->text || s->n == SOURCE_BYTES_MAX ? "it is too large" : "it is not text");
}

static void find_lines(struct source *s)
{
    size_t cap = 0, at = 0;

    while (at < s->n) {
        const char *end = memchr(s->text + at, '\n', s->n - at);
        MEM_GROW(s->lines, cap, s->n_lines + 2);
        s->lines[s->n_lines++] = (uint32_t)at;
        at = end ? (size_t)(end - s->text) + 1 : s->n;
    }
    if (s->n_lines)
        s->lines[s->n_lines] = (uint32_t)s->n;
}

struct source *source_read(int fd, struct error *e)
{
    struct source *s = mem_zalloc(sizeof *s);

    s->refs = 1;
    if (!read_text(fd, s, e)) {
        source_put(s);
        return NULL;
    }
    s->text = mem_resize(s->text, s->n + 1, 1);
    find_lines(s);
    return s;
}

const char *source_line(const struct source *s, uint32_t line, char *dst, size_t cap)
{
    size_t used = 0;
    uint32_t at, end;

    dst[0] = '\0';
    if (!s || !line || line > s->n_lines)
        return dst;
    end = s->lines[line];
    for (at = s->lines[line - 1];
         at < end && used + TAB_COLS + 1 < cap && s->text[at] != '\n' && s->text[at] != '\r'; at++) {
        if (s->text[at] != '\t')
            dst[used++] = s->text[at];
        else
            do
                dst[used++] = ' ';
            while (used % TAB_COLS);
    }
    dst[used] = '\0';
    text_clean(dst, cap, dst, used);
    return dst;
}
