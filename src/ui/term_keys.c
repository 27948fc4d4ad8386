// SPDX-License-Identifier: GPL-2.0-or-later
#include "ui/term_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define DOUBLE_NS (400 * NS_PER_MS)

const struct term_sequence term_sequences[] = {
    { "\033[A", TK_UP },        { "\033OA", TK_UP },    { "\033[B", TK_DOWN },    { "\033OB", TK_DOWN },
    { "\033[C", TK_RIGHT },     { "\033OC", TK_RIGHT }, { "\033[D", TK_LEFT },    { "\033OD", TK_LEFT },
    { "\033[H", TK_HOME },      { "\033OH", TK_HOME },  { "\033[1~", TK_HOME },   { "\033[7~", TK_HOME },
    { "\033[F", TK_END },       { "\033OF", TK_END },   { "\033[4~", TK_END },    { "\033[8~", TK_END },
    { "\033[5~", TK_PGUP },     { "\033[6~", TK_PGDN }, { "\033[3~", TK_DELETE }, { "\033[2~", TK_INSERT },
    { "\033[Z", TK_SHIFT_TAB }, { "\033OP", TK_F1 },    { "\033OQ", TK_F2 },      { "\033OR", TK_F3 },
    { "\033OS", TK_F4 },        { "\033[11~", TK_F1 },  { "\033[12~", TK_F2 },    { "\033[13~", TK_F3 },
    { "\033[14~", TK_F4 },      { "\033[[A", TK_F1 },   { "\033[[B", TK_F2 },     { "\033[[C", TK_F3 },
    { "\033[[D", TK_F4 },       { "\033[[E", TK_F5 },   { "\033[15~", TK_F5 },    { "\033[17~", TK_F6 },
    { "\033[18~", TK_F7 },      { "\033[19~", TK_F8 },  { "\033[20~", TK_F9 },    { "\033[21~", TK_F10 },
};
const size_t term_sequences_n = sizeof term_sequences / sizeof *term_sequences;

uint32_t term_key_of_character(uint32_t c)
{
    switch (c) {
    case '\r':
    case '\n':
        return TK_ENTER;
    case '\t':
        return TK_TAB;
    case 8:
    case 127:
        return TK_BACKSPACE;
    case 27:
        return TK_ESC;
    default:
        return c;
    }
}

#define SGR_MODIFIERS 28 /* shift, alt, ctrl */
#define SGR_WHEEL     64
#define MOUSE_MAX     99999u /* columns, lines */

bool term_parse_mouse(const char *text, struct term_mouse *m)
{
    unsigned button, x, y;
    char end;
    if (strlen(text) > 24 || sscanf(text, "<%5u;%5u;%5u%c", &button, &x, &y, &end) != 4)
        return false;
    /* %u accepts a sign: -1 is a huge number, and 0 - 1 another */
    if (x - 1 >= MOUSE_MAX || y - 1 >= MOUSE_MAX)
        return false;
    *m = (struct term_mouse){ .y = (int)y - 1, .x = (int)x - 1 };
    button &= ~(unsigned)SGR_MODIFIERS;
    if (button == SGR_WHEEL || button == SGR_WHEEL + 1)
        m->what = button == SGR_WHEEL ? TERM_MOUSE_WHEEL_UP : TERM_MOUSE_WHEEL_DOWN;
    else
        m->what = end == 'm' ? TERM_MOUSE_RELEASE : TERM_MOUSE_PRESS;
    return (end == 'M' || (end == 'm' && button < SGR_WHEEL)) &&
           (!button || button == SGR_WHEEL || button == SGR_WHEEL + 1);
}

bool term_click_is_double(struct term_click *last, const struct term_mouse *m, uint64_t now_ns)
{
    bool twice = last->ns && now_ns - last->ns < DOUBLE_NS && m->y == last->y && m->x == last->x;
    *last = (struct term_click){ .ns = twice ? 0 : now_ns, .y = m->y, .x = m->x };
    return twice;
}
