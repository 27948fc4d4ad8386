// SPDX-License-Identifier: GPL-2.0-or-later
/* Read CPython objects from untrusted memory. Each object's type pointer is compared before anything else is
 * used. */
#include <string.h>

#include "base/mem.h"
#include "symbols/python.h"

#define OBJECT_TYPE    8 /* offsets that all versions share */
#define OBJECT_SIZE    16
#define TEXT_LENGTH    16
#define TEXT_STATE     32
#define BYTES_DATA     32
#define CODE_HEAD_MAX  256
#define CODE_BYTES_MAX (16u << 20)
#define LINES_MAX      (1u << 20)
#define CHARS_MAX      200 /* of a name: more are not shown */

static uint64_t word_at(const uint8_t *bytes, size_t at)
{
    uint64_t value;

    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80)
        return to[0] = (char)c, 1;
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 63));
        return 2;
    }
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
        return to[0] = '?', 1;
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 63));
        to[2] = (char)(0x80 | (c & 63));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 63));
    to[2] = (char)(0x80 | (c >> 6 & 63));
    to[3] = (char)(0x80 | (c & 63));
    return 4;
}

/* Copy characters of 1, 2 or 4 bytes. A text that is too long loses its beginning: the end of a path says
 * more. */
static void put_text(const uint8_t *chars, size_t n, unsigned width, char *to, size_t cap)
{
    char all[CHARS_MAX * 4 + 1];
    size_t used = 0, skip;

    for (size_t i = 0; i < n; i++) {
        uint32_t c = 0;
        memcpy(&c, chars + i * width, width);
        used += put_utf8(all + used, c ? c : '?');
    }
    skip = used >= cap ? used - cap + 1 : 0;
    while (skip < used && ((uint8_t)all[skip] & 0xc0) == 0x80)
        skip++;
    memcpy(to, all + skip, used - skip);
    to[used - skip] = '\0';
}

/* Read a str. The bits of its state, from the lowest: interned 2, kind 3, compact 1, ascii 1. */
bool python_text(const struct interpreter_memory *m, const struct interpreter_process *p, uint64_t address,
                 char *to, size_t cap)
{
    uint8_t head[40], chars[CHARS_MAX * 4];
    uint64_t length, skipped;

    if (!address || address % 8 || !m->read(m->ctx, address, head, sizeof head) ||
        word_at(head, OBJECT_TYPE) != p->text_type)
        return false;
    unsigned state = head[TEXT_STATE], width = state >> 2 & 7;
    bool ascii = state >> 6 & 1;
    length = word_at(head, TEXT_LENGTH);
    if (!(state >> 5 & 1) || (width != 1 && width != 2 && width != 4) || length > UINT32_MAX)
        return false;
    skipped = length > CHARS_MAX ? length - CHARS_MAX : 0;
    address += (ascii ? p->at.text_data : p->at.text_wide_data) + skipped * width;
    if (length > skipped && !m->read(m->ctx, address, chars, (size_t)(length - skipped) * width))
        return false;
    put_text(chars, (size_t)(length - skipped), width, to, cap);
    return true;
}

static bool bytes_size(const struct interpreter_memory *m, const struct interpreter_process *p,
                       uint64_t address, uint64_t *n)
{
    uint8_t head[BYTES_DATA];

    if (!address || address % 8 || !m->read(m->ctx, address, head, sizeof head) ||
        word_at(head, OBJECT_TYPE) != p->bytes_type)
        return false;
    *n = word_at(head, OBJECT_SIZE);
    return true;
}

/* Reads a bytes object; owned. NULL: not a bytes object, or longer than `most`. */
static uint8_t *read_bytes(const struct interpreter_memory *m, const struct interpreter_process *p,
                           uint64_t address, uint32_t most, uint32_t *n)
{
    uint64_t size;

    if (!bytes_size(m, p, address, &size) || size > most)
        return NULL;
    uint8_t *bytes = mem_alloc((size_t)size + 1);
    if (size && !m->read(m->ctx, address + BYTES_DATA, bytes, (size_t)size)) {
        mem_free(bytes);
        return NULL;
    }
    *n = (uint32_t)size;
    return bytes;
}

/* Whether files of this name are distinguished by their folder. */
static bool is_common(const char *base)
{
    return !strcmp(base, "__init__.py") || !strcmp(base, "__main__.py");
}

static void shorten(char *path)
{
    char *base = strrchr(path, '/'), *folder;

    if (!base)
        return;
    if (is_common(base + 1) && base > path) {
        for (folder = base; folder > path && folder[-1] != '/';)
            folder--;
        base = folder - 1;
    }
    memmove(path, base + 1, strlen(base + 1) + 1);
}

/* Read the instructions' position and size. From 3.11 on they are part of the object, whose size counts them;
 * before, they are a bytes object. */
static bool take_instructions(const struct interpreter_memory *m, const struct interpreter_process *p,
                              uint64_t address, const uint8_t *head, struct interpreter_code *out)
{
    uint64_t size;

    if (p->minor >= 11) {
        size = word_at(head, OBJECT_SIZE);
        out->start = address + p->at.code_bytes;
        if (size > CODE_BYTES_MAX / 2)
            return false;
        size *= 2;
    } else if (!bytes_size(m, p, word_at(head, p->at.code_bytes), &size)) {
        return false;
    }
    out->size = (uint32_t)size;
    return size <= CODE_BYTES_MAX;
}

bool python_code(const struct interpreter_memory *m, const struct interpreter_process *p, uint64_t address,
                 struct interpreter_code *out)
{
    uint8_t head[CODE_HEAD_MAX];
    uint32_t most = p->at.code_lines, first;

    *out = (struct interpreter_code){ 0 };
    most = p->at.code_name > most ? p->at.code_name : most;
    most = p->at.code_file > most ? p->at.code_file : most;
    most = p->at.code_first > most ? p->at.code_first : most;
    most = p->minor < 11 && p->at.code_bytes > most ? p->at.code_bytes : most;
    if (!address || address % 8 || most + 8 > sizeof head || !m->read(m->ctx, address, head, most + 8) ||
        word_at(head, OBJECT_TYPE) != p->code_type || !take_instructions(m, p, address, head, out))
        return false;
    memcpy(&first, head + p->at.code_first, sizeof first);
    /* _Py_InitCleanup of 3.13: one text for both, and no line */
    if (!first && word_at(head, p->at.code_name) == word_at(head, p->at.code_file)) {
        out->shim = true;
        return true;
    }
    out->first_line = first;
    if (first > INT32_MAX ||
        !python_text(m, p, word_at(head, p->at.code_name), out->name, sizeof out->name) ||
        !python_text(m, p, word_at(head, p->at.code_file), out->file, sizeof out->file))
        return false;
    shorten(out->file);
    out->lines = read_bytes(m, p, word_at(head, p->at.code_lines), LINES_MAX, &out->n_lines);
    return out->lines != NULL;
}
