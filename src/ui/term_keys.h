// SPDX-License-Identifier: GPL-2.0-or-later
/* Key sequences of terminals, without ncurses. */
#ifndef FLAMETOP_UI_TERM_KEYS_H
#define FLAMETOP_UI_TERM_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/term.h"

/* Sequences sent in the mode that terminfo does not describe (cursor keys come as ESC [ or ESC O), and the
 * old ones of Home, End and the first function keys. */
struct term_sequence {
    const char *text;
    uint32_t key; /* enum term_key */
};
extern const struct term_sequence term_sequences[];
extern const size_t term_sequences_n;

uint32_t term_key_of_character(uint32_t c);
/* Detects a double click: a press at the same place within 400 ms, not counting the second press of a
 * pair. */
struct term_click {
    uint64_t ns;
    int y, x;
};
/* Parses a mouse report of xterm's mode 1006, after ESC [: "<0;230;10M". (Older modes end at column 223.)
 * Returns false if it is none, or of an unused button. */
bool term_parse_mouse(const char *text, struct term_mouse *m);
bool term_click_is_double(struct term_click *last, const struct term_mouse *m, uint64_t now_ns);

#endif
