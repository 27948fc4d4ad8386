// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/tar.h"

#include <string.h>

#include "base/text.h"

/* Offsets of the fields in a header. */
enum {
    TAR_MODE = 100,
    TAR_UID = 108,
    TAR_GID = 116,
    TAR_SIZE = 124,
    TAR_MTIME = 136,
    TAR_SUM = 148,
    TAR_TYPE = 156,
    TAR_MAGIC = 257,
    TAR_SUM_BYTES = 8,
    TAR_DIGITS = 11,
};
static const char magic[8] = "ustar\00000";

/* Returns the sum of all header bytes, with the sum field itself counted as blanks. */
static unsigned sum_of(const uint8_t head[TAR_BLOCK])
{
    unsigned sum = 0;
    for (int i = 0; i < TAR_BLOCK; i++)
        sum += i >= TAR_SUM && i < TAR_SUM + TAR_SUM_BYTES ? ' ' : head[i];
    return sum;
}

static void put_octal(uint8_t *at, int digits, uint64_t v)
{
    for (at += digits; digits--; v >>= 3)
        *--at = (uint8_t)('0' + (v & 7));
}

bool tar_head(const char *name, uint64_t size, uint64_t mtime_s, uint8_t head[TAR_BLOCK])
{
    if (strlen(name) > TAR_NAME_MAX || size > TAR_SIZE_MAX)
        return false;
    memset(head, 0, TAR_BLOCK);
    memcpy(head, name, strlen(name));
    put_octal(head + TAR_MODE, 7, 0600);
    put_octal(head + TAR_UID, 7, 0);
    put_octal(head + TAR_GID, 7, 0);
    put_octal(head + TAR_SIZE, TAR_DIGITS, size);
    put_octal(head + TAR_MTIME, TAR_DIGITS, mtime_s <= TAR_SIZE_MAX ? mtime_s : 0);
    head[TAR_TYPE] = '0';
    memcpy(head + TAR_MAGIC, magic, sizeof magic);
    put_octal(head + TAR_SUM, 6, sum_of(head));
    head[TAR_SUM + 7] = ' ';
    return true;
}

size_t tar_pad(uint64_t size)
{
    return (size_t)(-size % TAR_BLOCK);
}

/* Parses octal digits, with leading blanks and a trailing blank or NUL. */
static bool read_octal(const uint8_t *at, int n, uint64_t *v)
{
    int i = 0, digits = 0;
    for (*v = 0; i < n && at[i] == ' '; i++)
        ;
    for (; i < n && at[i] >= '0' && at[i] <= '7'; i++, digits++)
        *v = *v << 3 | (uint64_t)(at[i] - '0');
    return digits && digits <= TAR_DIGITS && (i == n || !at[i] || at[i] == ' ');
}

bool tar_is_head(const uint8_t head[TAR_BLOCK])
{
    uint64_t sum, size;
    return !memcmp(head + TAR_MAGIC, magic, 5) && read_octal(head + TAR_SUM, TAR_SUM_BYTES, &sum) &&
           sum == sum_of(head) && read_octal(head + TAR_SIZE, TAR_DIGITS + 1, &size);
}

static bool is_blank(const uint8_t head[TAR_BLOCK])
{
    for (int i = 0; i < TAR_BLOCK; i++)
        if (head[i])
            return false;
    return true;
}

static bool take_head(struct tar_reader *t)
{
    char raw[TAR_NAME_MAX + 2] = { 0 }, name[sizeof raw];
    t->head_n = 0;
    if (is_blank(t->head)) {
        t->ended = true;
        return true;
    }
    if (!tar_is_head(t->head) || !read_octal(t->head + TAR_SIZE, TAR_DIGITS + 1, &t->left))
        return false;
    t->pad = tar_pad(t->left);
    t->wanted = t->head[TAR_TYPE] == '0' || !t->head[TAR_TYPE];
    memcpy(raw, t->head, sizeof raw - 1);
    text_clean(name, sizeof name, raw, strlen(raw));
    return !t->wanted || t->member(t->ctx, name, t->left);
}

/* Consumes as many bytes as belong to the current header, content or padding; returns their number. */
static size_t step(struct tar_reader *t, const uint8_t *bytes, size_t n, bool *ok)
{
    size_t take;
    if (t->left) {
        take = n < t->left ? n : (size_t)t->left;
        t->left -= take;
        *ok = !t->wanted || t->bytes(t->ctx, bytes, take);
    } else if (t->pad) {
        take = n < t->pad ? n : (size_t)t->pad;
        t->pad -= take;
    } else {
        take = n < TAR_BLOCK - t->head_n ? n : TAR_BLOCK - t->head_n;
        memcpy(t->head + t->head_n, bytes, take);
        t->head_n += take;
        *ok = t->head_n < TAR_BLOCK || take_head(t);
    }
    return take;
}

bool tar_read(struct tar_reader *t, const uint8_t *bytes, size_t n)
{
    bool ok = true;
    while (n && ok && !t->ended) {
        size_t took = step(t, bytes, n, &ok);
        bytes += took;
        n -= took;
    }
    return ok;
}
