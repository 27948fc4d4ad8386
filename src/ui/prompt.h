// SPDX-License-Identifier: GPL-2.0-or-later
/* A one-line editor: UTF-8, arrows, Home End ^A ^E, ^U ^K ^W, Backspace and Delete. Draws nothing.
 * A proposed text is selected: typing replaces it, Backspace and Delete clear it, moving the cursor keeps
 * it. */
#ifndef FLAMETOP_UI_PROMPT_H
#define FLAMETOP_UI_PROMPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum prompt_result { PROMPT_IGNORED, PROMPT_MOVED, PROMPT_CHANGED, PROMPT_ACCEPT, PROMPT_CANCEL };

struct prompt {
    char text[256];
    size_t len, at; /* bytes */
    bool selected;  /* the whole text */
};
void prompt_set(struct prompt *p, const char *text); /* puts the cursor at the end */
void prompt_propose(struct prompt *p, const char *text);
enum prompt_result prompt_key(struct prompt *p, uint32_t key);

#endif
