// SPDX-License-Identifier: GPL-2.0-or-later
/* Built-in terminal descriptions, for systems whose terminfo lacks the type or that have no terminfo. */
#pragma once

struct term_type {
    const char *name;     /* of the description, to pass to ncurses */
    const char *terminfo; /* compiled, as text for the variable TERMINFO */
};

/* Returns the description for TERM=type: its own, or that of the terminal it imitates. NULL: none. It is
 * static. */
const struct term_type *term_type_find(const char *type);
