// SPDX-License-Identifier: GPL-2.0-or-later
/* Sentences about missing parts of the list of threads. Private to src/session. */
#ifndef FLAMETOP_SESSION_THREADS_NOTES_H
#define FLAMETOP_SESSION_THREADS_NOTES_H

#include "session/threads_now.h"

/* Returns true if the threads may be stopped; else adds a note why not. */
bool threads_notes_before(struct threads_now *t);
/* Adds what was refused. failed: error of livestacks_take. */
void threads_notes_after(struct threads_now *t, const struct error *failed);

#endif
