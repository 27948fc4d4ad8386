// SPDX-License-Identifier: GPL-2.0-or-later
/* The frames of an interpreter in the user stacks of threads_now. Private to src/session. */
#ifndef FLAMETOP_SESSION_THREADS_SCRIPTS_H
#define FLAMETOP_SESSION_THREADS_SCRIPTS_H

#include "session/threads_now.h"

/* Replaces each function that runs frames of an interpreter by the frames that it ran. The row's frames have
 * names. Where both do not match, they remain as they are. */
void threads_scripts_merge(struct threads_now_row *row, struct arena *strings);

#endif
