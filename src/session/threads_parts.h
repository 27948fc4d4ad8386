// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of threads_now.c. Private to src/session. */
#ifndef FLAMETOP_SESSION_THREADS_PARTS_H
#define FLAMETOP_SESSION_THREADS_PARTS_H

#include "session/threads_now.h"

/* threads_notes.c: sentences about missing parts of the list of threads. */
/* Returns true if the threads may be stopped; else adds a note why not. */
bool threads_notes_before(struct threads_now *t);
/* Adds what was refused. failed: error of livestacks_take. */
void threads_notes_after(struct threads_now *t, const struct error *failed);

/* threads_scripts.c: replaces each function that runs frames of an interpreter by the frames that it ran. The
 * row's frames have names. Where both do not match, they remain as they are. */
void threads_scripts_merge(struct threads_now_row *row, struct arena *strings);

#endif
