// SPDX-License-Identifier: GPL-2.0-or-later
/* What the shells offer for a command line. Options, and words that are always the same, stand in the text that a shell reads;
 * what depends on the machine it asks the program for, by --complete. */
#ifndef FLAMETOP_COMPLETIONS_H
#define FLAMETOP_COMPLETIONS_H

#include "options.h"

/* completions.c: the text for that shell. */
void completions_bash(struct buf *out);
void completions_zsh(struct buf *out);
void completions_fish(struct buf *out);

/* candidates.c: whether --complete knows what this option may be. */
bool candidates_known(enum option_id id);
/* "event=cycles,sched:" → a line for each value that the option may have and that goes on as that text does: the value, a tab,
 * and what it is. Of a list only the last part is completed, the others stand before it. An option that is not known has none. */
void candidates_print(const char *option_and_text, struct buf *out);

#endif
