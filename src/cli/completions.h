// SPDX-License-Identifier: GPL-2.0-or-later
/* Shell completions of a command line. The generated script holds the options and their fixed words;
 * candidates that depend on the system come from flametop --complete. */
#ifndef FLAMETOP_COMPLETIONS_H
#define FLAMETOP_COMPLETIONS_H

#include "cli/options.h"

/* completions.c: append the completion script of a shell. */
void completions_bash(struct buf *out);
void completions_zsh(struct buf *out);
void completions_fish(struct buf *out);

/* candidates.c: true if --complete has candidates for this option. */
bool candidates_known(enum option_id id);
/* Appends the candidates for a text such as "event=cycles,sched:", one per line: the value, a tab, its
 * description. Only the last part of a list is completed; the parts before it are repeated in each value. An
 * unknown option has no candidates. */
void candidates_print(const char *option_and_text, struct buf *out);

#endif
