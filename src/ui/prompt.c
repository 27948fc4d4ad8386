// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/prompt.h"

#include <string.h>

#include "base/text.h"
#include "ui/term.h"

enum { CTRL_A = 1, CTRL_E = 5, CTRL_K = 11, CTRL_U = 21, CTRL_W = 23 };

void prompt_set(struct prompt *p, const char *text)
{
    p->len = text_clean(p->text, sizeof p->text, text, strlen(text));
    p->at = p->len;
    p->selected = false;
}

void prompt_propose(struct prompt *p, const char *text)
{
    prompt_set(p, text);
    p->selected = p->len > 0;
}

static size_t encode(char dst[4], uint32_t c)
{
    if (c < 0x80) {
        dst[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        dst[0] = (char)(0xc0 | c >> 6);
        dst[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        dst[0] = (char)(0xe0 | c >> 12);
        dst[1] = (char)(0x80 | (c >> 6 & 0x3f));
        dst[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    dst[0] = (char)(0xf0 | c >> 18);
    dst[1] = (char)(0x80 | (c >> 12 & 0x3f));
    dst[2] = (char)(0x80 | (c >> 6 & 0x3f));
    dst[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static enum prompt_result insert(struct prompt *p, uint32_t c)
{
    char bytes[8], clean[16];
    size_t n = encode(bytes, c);
    bytes[n] = '\0';
    /* Characters that may not be drawn may not be typed: a paste can contain anything. */
    text_clean(clean, sizeof clean, bytes, n);
    if (strcmp(clean, bytes) != 0 || p->len + n >= sizeof p->text)
        return PROMPT_IGNORED;
    memmove(p->text + p->at + n, p->text + p->at, p->len - p->at + 1);
    memcpy(p->text + p->at, bytes, n);
    p->at += n;
    p->len += n;
    return PROMPT_CHANGED;
}

static enum prompt_result erase(struct prompt *p, size_t from, size_t to)
{
    if (from >= to)
        return PROMPT_IGNORED;
    memmove(p->text + from, p->text + to, p->len - to + 1);
    p->len -= to - from;
    p->at = from;
    return PROMPT_CHANGED;
}

static size_t before(const struct prompt *p)
{
    size_t at = p->at;
    while (at > 0 && ((unsigned char)p->text[--at] & 0xc0) == 0x80)
        ;
    return at;
}

static size_t after(const struct prompt *p)
{
    uint32_t c;
    return p->at < p->len ? p->at + text_decode(p->text + p->at, p->len - p->at, &c) : p->len;
}

static size_t word_before(const struct prompt *p)
{
    size_t at = p->at;
    while (at > 0 && p->text[at - 1] == ' ')
        at--;
    while (at > 0 && p->text[at - 1] != ' ')
        at--;
    return at;
}

static enum prompt_result go(struct prompt *p, size_t at)
{
    p->at = at;
    return PROMPT_MOVED;
}

static bool is_text(uint32_t key)
{
    return key >= 0x20 && key < TK_BASE && key != 0x7f;
}

enum prompt_result prompt_key(struct prompt *p, uint32_t key)
{
    bool erases = key == TK_BACKSPACE || key == TK_DELETE || key == CTRL_W;
    if (p->selected && (erases || is_text(key))) {
        prompt_set(p, "");
        return erases ? PROMPT_CHANGED : insert(p, key);
    }
    p->selected = false;
    switch (key) {
    case TK_ENTER:
        return PROMPT_ACCEPT;
    case TK_ESC:
        return PROMPT_CANCEL;
    case TK_LEFT:
        return go(p, before(p));
    case TK_RIGHT:
        return go(p, after(p));
    case TK_HOME:
    case CTRL_A:
        return go(p, 0);
    case TK_END:
    case CTRL_E:
        return go(p, p->len);
    case TK_BACKSPACE:
        return erase(p, before(p), p->at);
    case TK_DELETE:
        return erase(p, p->at, after(p));
    case CTRL_U:
        return erase(p, 0, p->at);
    case CTRL_K:
        return erase(p, p->at, p->len);
    case CTRL_W:
        return erase(p, word_before(p), p->at);
    default:
        return is_text(key) ? insert(p, key) : PROMPT_IGNORED;
    }
}
